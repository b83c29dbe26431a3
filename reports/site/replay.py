"""The page of one game: the viewer's modules, its style and the game's data in one HTML text."""

from __future__ import annotations

import base64
import html
import zlib
from importlib.resources import files
from pathlib import Path
from string import Template

import msgspec

from arena.errors import ConfigError, cannot_write
from reports.replacing import replace_file
from reports.replays import Replay, page_json
from reports.site.inlining import inlined, policy

__all__ = [
    "MAX_BYTES",
    "drawing_script",
    "drawings",
    "replay_page",
    "summary_of",
    "title_of",
    "write_replay",
]

MAX_BYTES = 250_000  # of the page of one game

_SIDES = {"mister_x": "Mister X", "detectives": "the detectives", None: "nobody"}
_OTHERS = frozenset(
    {"data", "main", "panels", "pawns", "player", "shapes", "timeline", "unpacking", "zoom"}
)


def drawings() -> tuple[str, ...]:
    """Return the families of rulesets that there is a drawing for.

    Parts of a drawing have a hyphen in their names, as `europe-map.js`.
    """
    here = files("reports.site").joinpath("viewer")
    names = (file.name.removesuffix(".js") for file in here.iterdir() if file.name.endswith(".js"))
    return tuple(sorted({name for name in names if "-" not in name} - _OTHERS))


def replay_page(replay: Replay) -> str:
    """Return the page; a game that would make it longer than `MAX_BYTES` is packed.

    Raises:
        ConfigError: if there is no drawing for the ruleset.
    """
    script = "\n" + drawing_script(replay) + "\n"
    page = _filled(replay, script, page_json(replay))
    if len(page.encode()) <= MAX_BYTES:
        return page
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(replay), 9)).decode()
    unpacking = inlined("unpacking.js", _read, names={})
    script = f"\n{unpacking}\n$unpacking.unpack().then(() => {{{script}}});\n"
    return _filled(replay, script, page_json({"packed": packed}))


def _filled(replay: Replay, script: str, data: str) -> str:
    style = "\n" + _read("viewer.css").strip() + "\n"
    return Template(_read("viewer.html")).substitute(
        policy=html.escape(policy(script, style), quote=True),
        title=html.escape(title_of(replay)),
        style=style,
        script=script,
        data=data,
        summary=html.escape(summary_of(replay)),
        path="",
    )


def drawing_script(replay: Replay) -> str:
    """Return the viewer as one script, with the drawing of the game's ruleset.

    Raises:
        ConfigError: if there is no drawing for the ruleset.
    """
    if replay.drawing not in drawings():
        raise ConfigError(
            f"{replay.ruleset}: the viewer has a drawing for {', '.join(drawings())} only; "
            "`arena export --format jsonl` writes games as text."
        )
    return inlined("main.js", _read, names={"drawing.js": f"{replay.drawing}.js"})


def _read(file: str) -> str:
    """A file of the viewer."""
    return files("reports.site").joinpath("viewer").joinpath(file).read_text("utf-8")


def title_of(replay: Replay) -> str:
    """Return the page's title."""
    x, d = replay.seats["mister_x"], replay.seats["detectives"]
    return f"{x.name} – {d.name}, game {replay.game[:10]}"  # noqa: RUF001 - a dash


def summary_of(replay: Replay) -> str:
    """Return the game in a sentence."""
    x, d = replay.seats["mister_x"], replay.seats["detectives"]
    return (
        f"{x.name} as Mister X against {d.name} as the detectives: "
        f"{_SIDES[replay.winner]} won ({replay.reason}), {replay.rounds} rounds."
    )


def write_replay(replay: Replay, file: Path, *, make_folder: bool = True) -> int:
    """Write the page of a game; return its bytes.

    Args:
        replay: the game.
        file: where to.
        make_folder: whether the file's folder is made where it is missing.

    Raises:
        ConfigError: if there is no drawing for the ruleset, or the file can't be written.
        StoreError: if the disk is full.
    """
    page = replay_page(replay).encode()
    try:
        replace_file(file, [page], make_folder=make_folder)
    except OSError as exc:
        raise cannot_write(f"{file}: can't be written", exc) from exc
    return len(page)
