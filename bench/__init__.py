"""What `make bench` and `make demo` run."""
