"""A simulated Android phone that a real adb connects to."""
