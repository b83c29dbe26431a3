"""Floor 3: one game, from the first greeting to its record."""
