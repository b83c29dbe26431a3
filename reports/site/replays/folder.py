"""Replay pages that lie beside each other: each holds its game alone, and `viewer.js` the rest.

From `file://` a page can read no other file, but it can run a classic script beside it. Its
content policy lets one inlined module run, by its SHA-256, and what that module loads
(`strict-dynamic`): `viewer.js`, which holds the viewer, its style and the board.
"""

from __future__ import annotations

import base64
import html
import zlib
from importlib.resources import files
from string import Template
from typing import Any

import msgspec

from reports.replays import Replay, page_json
from reports.site.inlining import inlined, source_hash
from reports.site.replay import drawing_script, summary_of, title_of

__all__ = ["SHARED", "ReplayFolder"]

SHARED = ("board", "numbers")  # what all games of a run have alike
_PATH = Template(  # the report's folder is the one above
    '<nav aria-label="Path"><ol><li><a href="../index.html">Report</a></li>'
    '<li><a href="../games.html">Games</a></li><li aria-current="page">$game</li></ol></nav>\n'
)
_STYLE = "\n:root { color-scheme: light dark; }\n"  # until the viewer's own is there


class ReplayFolder:
    """Makes the pages of one run's games and the script that they share.

    Args:
        first: a game of the run: its board and its drawing are those of all.

    Raises:
        ConfigError: if there is no drawing for the ruleset.
    """

    def __init__(self, first: Replay) -> None:
        here = files("reports.site")
        viewer = here.joinpath("viewer")
        self._style = viewer.joinpath("viewer.css").read_text("utf-8")
        self._page = Template(viewer.joinpath("viewer.html").read_text("utf-8"))
        loader = here.joinpath("replays").joinpath("loader.js").read_text("utf-8")
        self._loader = "\n" + inlined("loader.js", lambda _: loader, names={}) + "\n"
        self._script = drawing_script(first)
        self._shared = _plain(first, only=SHARED)

    def viewer(self) -> str:
        """`viewer.js`: sets `arenaViewer`, and does nothing until a page asks it to draw."""
        return (
            "// The viewer of this report's replays, their board and their style.\n"
            '"use strict";\n'
            "globalThis.arenaViewer = {\n"
            f"shared: {page_json(self._shared)},\n"
            f"style: {page_json(self._style)},\n"
            f"draw() {{\n{self._script}\n}},\n}};\n"
        )

    def page(self, replay: Replay) -> str:
        """The page of one game; what it has alike with the others stays in `viewer.js`."""
        own = {
            key: value
            for key, value in _plain(replay).items()
            if key not in SHARED or value != self._shared[key]
        }
        packed = base64.b64encode(zlib.compress(msgspec.json.encode(own), 9)).decode()
        policy = (
            f"default-src 'none'; script-src '{source_hash(self._loader)}' 'strict-dynamic'; "
            f"style-src '{source_hash(_STYLE)}' '{source_hash(self._style)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        return self._page.substitute(
            policy=html.escape(policy, quote=True),
            title=html.escape(title_of(replay)),
            style=_STYLE,
            script=self._loader,
            data=page_json({"packed": packed}),
            summary=html.escape(summary_of(replay)),
            path=_PATH.substitute(game=html.escape(replay.game[:10])),
        )


def _plain(replay: Replay, only: tuple[str, ...] | None = None) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(replay))
    return built if only is None else {key: built[key] for key in only}
