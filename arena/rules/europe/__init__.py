"""Europe: "Mister X: Flucht durch Europa", edition of 2009, on a board of our own."""
