"""MiniWoB's tasks on a simulated phone, over adb: by an oracle, which is scripted, or by any other agent."""
