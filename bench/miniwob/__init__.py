"""MiniWoB's tasks on a simulated phone, over adb: with a scripted oracle for the choice of action, or any other agent."""
