"""Models that run on this machine: which there are, where their files come from, and the server that runs them."""
