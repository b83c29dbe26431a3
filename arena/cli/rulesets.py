"""`arena rulesets`: what can be played, by which options; whether a typed-in board is sound."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import click
import msgspec

from arena.cli import answers
from arena.cli.options import PathName, complete_ruleset, talking
from arena.cli.talk import Talk, plural, table
from arena.errors import ConfigError
from arena.rules import registry
from arena.rules.europe.board import ACTIONS, TRANSPORTS, Board, board_hash, load_board, warnings
from arena.rules.europe.presets import BOARDS, NAME, is_name

__all__ = ["command"]


@click.command("rulesets")
@click.argument("rulesets", nargs=-1, metavar="[R]…", shell_complete=complete_ruleset)
@click.option(
    "--check",
    "board",
    metavar="FILE",
    type=PathName(path_type=Path),
    help="Say whether a board of Europe that was typed in is sound, and what stands in it.",
)
@talking
def command(talk: Talk, rulesets: tuple[str, ...], board: Path | None) -> None:
    """List the rulesets and their options, or those named.

    R is name[:key=value,…], e.g. london-2013:players=2.
    """
    if board is not None:
        if rulesets:
            raise ConfigError("--check looks at a board alone; leave the rulesets out")
        _check(talk, board)
        return
    made = [registry.make(text) for text in rulesets or registry.names()]
    rules = tuple(
        answers.Rules(
            name=one.name,
            text=one.text,
            behaviour=one.behaviour,
            options=dict(one.options),
            numbers=msgspec.to_builtins(one.numbers),
            board=one.board_hash,
            max_turns=one.max_turns,
        )
        for one in made
    )
    presets = {one.text: registry.preset(one.text) for one in rules}
    told = {(preset.name, preset.options): preset for preset in presets.values()}  # each once
    talk.result(
        table(
            ("ruleset", "#turns at most", "about"),
            ((one.text, one.max_turns, presets[one.text].summary) for one in rules),
        )
    )
    talk.result("")
    talk.result(
        table(
            ("option", "values, the default first", "what"),
            (
                (
                    f"{preset.name}:{option.name}",
                    ", ".join(map(str, option.values)),
                    option.meaning,
                )
                for preset in told.values()
                for option in preset.options
            ),
        )
    )
    talk.answer(answers.Rulesets(rulesets=rules))
    talk.next(f"arena run --ruleset {rules[0].text}")


def _check(talk: Talk, file: Path) -> None:
    """Tell what stands in a board of Europe."""
    board = load_board(file)
    warned = warnings(board)
    found = _found(file, board, warned)
    talk.result(f"{file}: a sound board, {board.name}")
    talk.result(f"origin: {board.origin}")
    talk.result("")
    talk.result(
        table(
            ("", *(f"#{transport}" for transport in TRANSPORTS), "#all"),
            (
                _row("cities by kind", found.cities),
                _row("links", found.links),
                *(
                    _row(
                        f"tickets with {action}", {t: found.tickets[t][action] for t in TRANSPORTS}
                    )
                    for action in ACTIONS
                ),
                _row("tickets", {t: sum(found.tickets[t].values()) for t in TRANSPORTS}),
            ),
        )
    )
    talk.result("")
    talk.result(
        table(
            ("mission", "#starts", "#targets"),
            ((colour, one.starts, one.targets) for colour, one in found.missions.items()),
        )
    )
    talk.result("")
    talk.result(
        f"{plural(found.joined, 'pair')} of cities joined, "
        f"{plural(found.detective_starts, 'start card')}, SHA-256 {found.board}"
    )
    for text in warned:
        talk.warn(f"{file}: {text}")
    talk.answer(found)
    if is_name(file.stem) and file.suffix == ".json":
        folder = shlex.quote(str(file.resolve().parent))
        talk.next(f"{BOARDS}={folder} arena run --ruleset {NAME}:board={file.stem}")
    else:
        talk.say(
            f"To play on it call the file NAME.json, NAME being up to 40 small letters, digits, _ "
            f"and -, and not own: {NAME}:board=NAME"
        )


def _found(file: Path, board: Board, warned: tuple[str, ...]) -> answers.BoardCheck:
    kinds = Counter(city.kind for city in board.cities)
    links = {transport: getattr(board.links, transport) for transport in TRANSPORTS}
    counts = {(one.transport, one.action): one.count for one in board.tickets}
    return answers.BoardCheck(
        file=str(file),
        name=board.name,
        origin=board.origin,
        board=board_hash(board),
        cities={transport: kinds[transport] for transport in TRANSPORTS},
        links={transport: len(pairs) for transport, pairs in links.items()},
        joined=len({frozenset(pair) for pairs in links.values() for pair in pairs}),
        missions={
            colour: answers.MissionFound(starts=len(one.starts), targets=len(one.targets))
            for colour, one in board.missions.items()
        },
        detective_starts=len(board.detective_starts),
        tickets={
            transport: {action: counts[transport, action] for action in ACTIONS}
            for transport in TRANSPORTS
        },
        warnings=warned,
    )


def _row(label: str, counts: dict[str, int]) -> tuple[str | int, ...]:
    return (label, *(counts[transport] for transport in TRANSPORTS), sum(counts.values()))
