"""How many files a worker process may have open, and for how many games at once that is enough."""

from __future__ import annotations

__all__ = ["games_with", "most_open_files", "raise_open_files"]

_A_GAME = 16  # both bots: pipes, processes, sandboxes
_OWN = 64  # of a worker
_ENOUGH = 65_536  # for what a worker can ever play; limits may be a thousand times that


def most_open_files() -> int:
    """Return how many files a worker process may have open at once."""
    import resource  # Windows has none, and no bots

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)


def raise_open_files() -> None:
    """Let this process open so many.

    What it gets from a shell, 1,024 as a rule, is meant for programs that wait with `select`.
    Bots have a limit of their own.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < most_open_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_open_files(), hard))


def games_with(workers: int) -> int:
    """Return how many games so many worker processes can have in play together, 1 or more."""
    return max(1, max(0, most_open_files() - _OWN) // _A_GAME) * workers
