"""`python -m arena`: the command `arena`, where it is not on the path."""

from arena.cli.main import main

if __name__ == "__main__":
    main()
