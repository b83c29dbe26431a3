"""Floor 6: all statistics and all presentation."""
