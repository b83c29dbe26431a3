"""Where the pages of a report lie: files that no bot's name can reach, and links; pure.

A bot's name may be anything, so a file is named after it only as far as it is harmless; what is
left out is told apart by a hash. Names that differ have files that differ, on disks that take
capital letters for small ones too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Set
from functools import lru_cache
from urllib.parse import quote

import msgspec

from arena.referee.record import SideWord
from reports.site.games.table import PAGE as GAMES
from reports.site.games.table import address

__all__ = ["Places", "bot_slug", "pairing_slug"]

LONGEST = 40  # characters of a name in a file's name
_HARMLESS = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
# A disk of Windows takes these for devices, whatever comes behind a dot.
_DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
_HASHED = re.compile(r"(.*-)?x[0-9a-f]{8}")  # as other names' files are named


@lru_cache(maxsize=10_000)
def bot_slug(name: str) -> str:
    """A bot's name as a file's name without its ending.

    A harmless name is its own; any other is what is harmless of it, and eight hex digits. None
    holds two dashes in a row, which stand between the two bots of a pairing.
    """
    taken = _DEVICES.fullmatch(name) or _HASHED.fullmatch(name)
    if len(name) <= LONGEST and _HARMLESS.fullmatch(name) and not taken:
        return name
    kept = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].rstrip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{kept}-x{digest}" if kept else f"x{digest}"


def pairing_slug(one: str, other: str) -> str:
    """Two bots' names, whichever comes first, as a file's name without its ending."""
    return "--".join(sorted((bot_slug(one), bot_slug(other))))


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Links from one page of a report.

    Attributes:
        up: the way to the folder: empty, or `../` from a page in a folder of its own.
        single: whether all is one page.
        bots: those with a page.
        pairings: slugs of those with a page.
        replays: game id → path in the folder.
    """

    up: str = ""
    single: bool = False
    bots: Set[str] = frozenset()
    pairings: Set[str] = frozenset()
    replays: Mapping[str, str] = {}

    def index(self, anchor: str = "") -> str:
        """The first page, or a section of it."""
        page = "" if self.single else f"{self.up}index.html"
        return f"{page}#{anchor}" if anchor or self.single else page

    def bot(self, name: str) -> str | None:
        """A bot's page."""
        if name not in self.bots:
            return None
        slug = quote(bot_slug(name))
        return f"#bot-{slug}" if self.single else f"{self.up}bots/{slug}.html"

    def pairing(self, one: str, other: str) -> str | None:
        """The page of two bots."""
        slug = pairing_slug(one, other)
        if slug not in self.pairings:
            return None
        return f"#pairing-{slug}" if self.single else f"{self.up}pairings/{slug}.html"

    def games(
        self,
        *,
        bot: str | None = None,
        against: str | None = None,
        side: SideWord | None = None,
        winner: str | None = None,
        fault: str | None = None,
        note: str | None = None,
    ) -> str:
        """The table of games with these filters; see `reports.site.games.table.address`."""
        asked = address(bot=bot, against=against, side=side, winner=winner, fault=fault, note=note)
        if self.single:
            return asked if asked != "#" else "#games"
        return f"{self.up}{GAMES}{asked if asked != '#' else ''}"

    def replay(self, game: str) -> str | None:
        """The replay of a game."""
        path = self.replays.get(game)
        return None if path is None else f"{self.up}{path}"
