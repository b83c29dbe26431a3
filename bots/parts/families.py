"""What a bot needs that plays both families, London and Europe.

A game of London loads nothing of Europe's, so that it starts as fast as ever.
"""

from __future__ import annotations

from misterx_sdk import EUROPE, LONDON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from misterx_sdk import Deal

BOTH = (*LONDON, *EUROPE)


def wants(rulesets: Sequence[str]) -> tuple[str, ...]:
    """Return what the referee is to send along: `legal` only where the team's steps need it.

    That is where one player leads several detectives, so with fewer players than there can be.
    """
    europe = [text for text in rulesets if text.partition(":")[0] in EUROPE]
    if not europe:
        return ("board",)
    crowded = any("players=" in text for text in europe)
    return ("board", "events", "legal") if crowded else ("board", "events")


def wants_legal(rulesets: Sequence[str]) -> tuple[str, ...]:
    """Return the same for a bot that plays Europe by the legal plies alone."""
    is_europe = any(text.partition(":")[0] in EUROPE for text in rulesets)
    return ("board", "legal") if is_europe else ("board",)


def prepare(deal: Deal) -> None:
    """Load and build before `ready` is said, where time is not charged, what Europe takes."""
    if deal.is_europe:
        import europe_chasing  # noqa: F401 (loaded is all that it has to be)
        import europe_running  # noqa: F401 (loaded is all that it has to be)
        from misterx_europe import board

        board(deal)
