"""The bridge to an Android phone: what its screen shows, and what can be done on it, over adb."""
