"""What ratings say of games to come: chances that do not depend on who is asked about first; pure.

They are averages over deals, as the ratings of all games are.
"""

from __future__ import annotations

from scipy.special import expit

from reports.logistic import ELO

__all__ = ["escape_chance", "pair_score"]


def escape_chance(gap_elo: float, role_elo: float) -> float:
    """Chance that Mister X escapes, from 0 to 1; the detectives have the rest.

    Args:
        gap_elo: rating of the bot that plays Mister X, less that of the detectives.
        role_elo: advantage of Mister X among equals.
    """
    return float(expit((gap_elo + role_elo) / ELO))


def pair_score(gap_elo: float, role_elo: float) -> float:
    """Share of a game pair's points that a bot should take, ½ among equals.

    Of the two bots of a pair the shares add up to 1.

    Args:
        gap_elo: its rating, less the other bot's.
        role_elo: advantage of Mister X among equals.
    """
    as_mister_x = expit((gap_elo + role_elo) / ELO)
    as_detectives = expit((gap_elo - role_elo) / ELO)
    return float(as_mister_x + as_detectives) / 2
