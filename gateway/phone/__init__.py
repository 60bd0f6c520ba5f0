"""The bridge to an Android phone: what its screen shows, and what can be done on it, over adb."""

PHONE = "phone"  # the kind of run that a task on a phone is
