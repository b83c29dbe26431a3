"""Who plays a game: GameSpec bytes in, packed records out."""
