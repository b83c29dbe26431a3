"""Floor 2: one bot's process, kept in bounds."""
