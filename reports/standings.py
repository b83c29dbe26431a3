"""From games to a table of ratings: both models fitted, joined, rounded.

`rate` gives one plain object that goes to JSON as it is: equal games give equal bytes.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from arena.errors import ConfigError
from reports.assembly import Assembly
from reports.played import Played
from reports.ratings import Anchor, Settings, rate_bots
from reports.roles import rate_roles
from reports.shown import (
    SCHEMA,
    Model,
    PartStanding,
    RoleAdvantage,
    RoleTest,
    Standing,
    Standings,
)

__all__ = [
    "SCHEMA",
    "Model",
    "PartStanding",
    "RoleAdvantage",
    "RoleTest",
    "Standing",
    "Standings",
    "parse_anchor",
    "rate",
    "standings",
]


class HasPlayed(Protocol):
    """Anything that has games with a winner, such as `reports.frames.Games`."""

    def played(self) -> Played:
        """The games that count, as arrays."""
        ...


def parse_anchor(text: str) -> Anchor:
    """Read `NAME=ELO`, or `NAME=ELO~SD` for an anchor known up to a normal error.

    Raises:
        ConfigError: if the text has another form.
    """
    name, _, value = text.rpartition("=")
    elo, tilde, sd = (value if name else "").partition("~")
    try:
        return Anchor(bot=name, elo=float(elo), sd=float(sd) if tilde else None)
    except ValueError as exc:
        raise ConfigError(
            f"--anchor {text!r} is not NAME=ELO; write for instance greedy=1500, or "
            "greedy=1500~20 for a rating known up to 20 Elo"
        ) from exc


def rate(
    games: HasPlayed,
    *,
    prior: float = 1.0,
    anchor: str | Anchor | list[Anchor] | tuple[Anchor, ...] | None = None,
    model: Model = "a",
) -> dict[str, object]:
    """Rate bots; the result holds only what JSON has, and never a NaN.

    Args:
        games: those with a winner count.
        prior: virtual games a bot and role; 0 for plain maximum likelihood.
        anchor: `NAME=ELO`, or anchors; `None` puts each part's mean at 0.
        model: `a` for one strength a bot, `b` for one a side (their mean is then the rating).

    Raises:
        ConfigError: if an anchor or the prior can't be met.
    """
    anchors: tuple[Anchor, ...] = ()
    if isinstance(anchor, str):
        anchors = (parse_anchor(anchor),)
    elif isinstance(anchor, Anchor):
        anchors = (anchor,)
    elif anchor is not None:
        anchors = tuple(anchor)
    settings = Settings(prior=prior, anchors=anchors)
    made = msgspec.to_builtins(standings(games.played(), settings, model=model))
    assert isinstance(made, dict)  # noqa: S101 - for the type checker; a struct gives a dict
    return made


def standings(played: Played, settings: Settings, *, model: Model = "a") -> Standings:
    """Rate bots by one of the models; strengths by side come from model B wherever it can tell.

    Raises:
        ConfigError: if an anchor or the prior can't be met.
    """
    one = rate_bots(played, settings)
    exact = len(settings.anchors) == 1 and settings.anchors[0].sd is None
    by_side = settings
    if model == "a" and settings.anchors and not exact:
        by_side = msgspec.structs.replace(settings, anchors=())
    two = rate_roles(played, by_side)
    return Assembly(played, settings, model, one, two).make()
