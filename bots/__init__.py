"""Programs that play; started as processes, never imported by the arena."""
