"""Draws the chosen games of a run into the report's folder, one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from arena.errors import ConfigError, RecordError
from arena.referee.record import GameRecord
from reports.replays import replay_data
from reports.site.manifest import FolderWriter
from reports.site.replays import ReplayFolder

__all__ = ["draw"]


def draw(
    chosen: Iterable[str], record: Callable[[str], GameRecord], writer: FolderWriter
) -> tuple[dict[str, str], list[str]]:
    """Write a replay of each game.

    Args:
        chosen: ids of games.
        record: gives a game's record.
        writer: of the report's folder.

    Returns:
        The path of each replay in the folder, by game; and sentences on games that have none.

    Raises:
        StoreError: if the disk is full.
        ConfigError: if the folder can't be written to, or a record is damaged.
    """
    shared: ReplayFolder | None = None
    paths: dict[str, str] = {}
    failed: Counter[str] = Counter()
    for game in chosen:
        try:
            replay = replay_data(record(game))
        except RecordError as error:
            failed[str(error)] += 1
            continue
        if shared is None:
            try:
                shared = ReplayFolder(replay)
            except ConfigError as error:  # the same for every game of a run
                return {}, [f"There are no replays: {error}"]
            writer.write("replays/viewer.js", shared.viewer())
        paths[game] = f"replays/{game}.html"
        writer.write(paths[game], shared.page(replay))
    if not failed:
        return paths, []
    games = f"{failed.total():,} games" if failed.total() > 1 else "1 game"
    return paths, [f"{games} can't be replayed; the first: {next(iter(failed))}"]
