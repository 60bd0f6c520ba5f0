"""What a task on a phone leaves behind: `trajectory.json`, screenshots, an animated picture."""
