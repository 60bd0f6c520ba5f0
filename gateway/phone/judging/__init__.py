"""What an act on a phone touches, whether it can be taken back, and what came of it: told by code, from two looks."""
