"""`python -m echelon`."""

from echelon.cli import main

main()
