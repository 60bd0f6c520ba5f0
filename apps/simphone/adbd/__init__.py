"""The device's end of ADB: what runs as `adbd` on a phone, over TCP."""
