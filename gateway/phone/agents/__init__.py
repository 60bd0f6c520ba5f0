"""Who chooses the next action on a phone: `agent.py` is the face, `builtin.py` our own, `foreign.py` anybody's."""
