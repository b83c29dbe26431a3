"""The page of one game: the viewer's modules, its style and the game's data in one HTML text."""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path
from string import Template

from arena.errors import ConfigError, cannot_write
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
_OTHERS = frozenset({"data", "main", "panels", "pawns", "player", "shapes", "timeline", "zoom"})


def drawings() -> tuple[str, ...]:
    """Return the families of rulesets that there is a drawing for.

    Parts of a drawing have a hyphen in their names, as `europe-map.js`.
    """
    here = files("reports.site").joinpath("viewer")
    names = (file.name.removesuffix(".js") for file in here.iterdir() if file.name.endswith(".js"))
    return tuple(sorted({name for name in names if "-" not in name} - _OTHERS))


def replay_page(replay: Replay) -> str:
    """Return the page.

    Raises:
        ConfigError: if there is no drawing for the ruleset.
    """
    here = files("reports.site").joinpath("viewer")

    def read(file: str) -> str:
        return here.joinpath(file).read_text("utf-8")

    script = "\n" + drawing_script(replay) + "\n"
    style = "\n" + read("viewer.css").strip() + "\n"
    return Template(read("viewer.html")).substitute(
        policy=html.escape(policy(script, style), quote=True),
        title=html.escape(title_of(replay)),
        style=style,
        script=script,
        data=page_json(replay),
        summary=html.escape(summary_of(replay)),
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
    here = files("reports.site").joinpath("viewer")
    return inlined(
        "main.js",
        lambda file: here.joinpath(file).read_text("utf-8"),
        names={"drawing.js": f"{replay.drawing}.js"},
    )


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


def write_replay(replay: Replay, file: Path) -> int:
    """Write the page of a game; return its bytes.

    Raises:
        ConfigError: if there is no drawing for the ruleset, or the file can't be written.
        StoreError: if the disk is full.
    """
    page = replay_page(replay).encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page)
    except OSError as exc:
        raise cannot_write(f"{file}: can't be written", exc) from exc
    return len(page)
