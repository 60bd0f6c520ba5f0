"""A task on a phone, as a graph on the engine: `graph.py` has its nodes in order, `state.py` what it knows."""
