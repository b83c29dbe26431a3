"""Who plays a game: GameSpec bytes in, GameRecord bytes out."""
