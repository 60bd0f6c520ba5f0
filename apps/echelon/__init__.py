"""What people start: the command line, thin over `gateway`."""
