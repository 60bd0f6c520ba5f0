"""Where the phone's command lines run: apart from the host, or not at all."""
