"""Floor 4: many games."""
