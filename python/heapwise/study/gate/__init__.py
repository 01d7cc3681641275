"""Two builds against limits."""
