"""Exit conditions: what has to hold for a session to have reached its end, each found by a program that is run."""
