"""Tools that the conditions of sessions are, for turns."""
