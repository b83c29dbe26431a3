"""Floor 5: what is kept."""
