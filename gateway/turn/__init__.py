"""A request carried out: planned, executed with tools, answered."""

TURN = "turn"  # the kind of run that a turn is
