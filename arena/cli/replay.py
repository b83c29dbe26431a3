"""`arena replay`: a game as one page that opens from disk."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from arena.cli import answers
from arena.cli.options import PathName, Word, data_option, talking
from arena.cli.stored import (
    check_no_database,
    check_open_to_all,
    find_game,
    open_data,
    spoil_option,
)
from arena.cli.talk import Talk
from arena.errors import RecordError

__all__ = ["command"]


@click.command("replay")
@click.argument("game", required=False, metavar="[GAME]", type=Word())
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=PathName(dir_okay=False, path_type=Path),
    help="Where to; left out, reports/replays/GAME.html in the data folder.",
)
@click.option("--open", "open_", is_flag=True, help="Show it in the browser.")
@spoil_option
@data_option
@talking
def command(
    talk: Talk, game: str | None, output: Path | None, data: Path, *, open_: bool, spoil: bool
) -> None:
    """Write a game as one page: the map, ply by ply, as each side saw it.

    GAME is the beginning of a game's id, or RUN/GAME; left out, it is the game stored last. The
    page needs no network: open it from disk, send it to anybody.
    """
    from reports.replays import replay_data
    from reports.site.replay import write_replay

    check_no_database(output, data)
    with open_data(data) as database:
        ref = find_game(database, game)
        check_open_to_all(database.find_run(ref.run), spoil=spoil)
        record = database.record(ref)
    try:
        replay = replay_data(record)
    except RecordError as error:
        raise RecordError(f"game {ref.game} can't be replayed: {error}") from error
    file = output or data / "reports" / "replays" / f"{ref.game}.html"
    size = write_replay(replay, file, make_folder=output is None)
    talk.result(f"Replay: {file}")
    talk.answer(answers.Replayed(run=ref.run, game=ref.game, file=str(file), bytes=size))
    if open_:
        if not webbrowser.open(file.resolve().as_uri()):
            talk.warn("no browser was found to open it with")
    else:
        talk.next("open it in a browser", "arrows step, space plays, 1 2 3 change the view")
