"""Task patterns: Markdown that models read, compiled into the moves that are legal at every state of a task."""
