"""Floor 1: what a game is. Pure values and functions."""
