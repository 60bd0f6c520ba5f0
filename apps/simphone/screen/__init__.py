"""The phone's screen: Chromium without a window, what is shown in it, and the touches it takes."""
