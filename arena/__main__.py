"""The entry point: the command `arena`, and `python -m arena` where it is not on the path.

So small that hardly a Ctrl-C can fall before it; the rest is loaded where one is caught.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process; Ctrl-C while it is still loading ends with 130."""
    try:
        from arena.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
