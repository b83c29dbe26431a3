"""Games with published or twice computed answers, and small makers of games."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reports.played import Played, gather

# (Mister X's bot, detectives' bot, whether Mister X won, deal)
Game = tuple[str, str, bool, str | None]

# Agresti, Categorical Data Analysis (2002), p. 437-438: 1987 American League East; the home team
# plays Mister X. "home away: home wins-away wins".
BASEBALL = """
Mil-Det 4-3, Mil-Tor 4-2, Mil-NY 4-3, Mil-Bos 6-1, Mil-Cle 4-2, Mil-Bal 6-0, Det-Mil 3-3,
Det-Tor 4-2, Det-NY 4-3, Det-Bos 6-0, Det-Cle 6-1, Det-Bal 4-3, Tor-Mil 2-5, Tor-Det 4-3,
Tor-NY 2-4, Tor-Bos 4-3, Tor-Cle 4-2, Tor-Bal 6-0, NY-Mil 3-3, NY-Det 5-1, NY-Tor 2-5, NY-Bos 4-3,
NY-Cle 4-2, NY-Bal 6-1, Bos-Mil 5-1, Bos-Det 2-5, Bos-Tor 3-3, Bos-NY 4-2, Bos-Cle 5-2, Bos-Bal 6-0,
Cle-Mil 2-5, Cle-Det 3-3, Cle-Tor 3-4, Cle-NY 4-3, Cle-Bos 4-2, Cle-Bal 2-4, Bal-Mil 2-5,
Bal-Det 1-5, Bal-Tor 1-6, Bal-NY 2-4, Bal-Bos 1-6, Bal-Cle 3-4
"""

# Agresti, An Introduction to Categorical Data Analysis (3rd ed.): tennis; rows beat columns.
TENNIS_NAMES = ("Djokovic", "Federer", "Murray", "Nadal", "Wawrinka")
TENNIS = (
    (0, 9, 14, 9, 4),
    (6, 0, 5, 5, 7),
    (3, 0, 0, 2, 2),
    (2, 1, 4, 0, 4),
    (3, 2, 2, 3, 0),
)

# Three bots on forty deals; character k is deal k, 1 if Mister X (the first named) won.
THREE_BOTS = {
    "AB": "0011010110000011010011000111010001110000",
    "AC": "1100100100001000111111111111110111111101",
    "BA": "1000000010000010000010001000010001101000",
    "BC": "0100000010010100011010101000010010101100",
    "CA": "0000000110001000000110011000111100100000",
    "CB": "0000000100000010001000000000000011000000",
}

# Two bots that play Mister X only, two that play the detectives only; twenty deals.
ONE_SIDED = {
    "PR": "01101001101101110101",
    "PS": "11011101111101101111",
    "QR": "00100001000100101000",
    "QS": "01101001010001110010",
}


def played(games: Iterable[Game]) -> Played:
    """Arrays of games given one by one."""
    rows = list(games)
    return gather(
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
        [row[3] for row in rows],
    )


def score(mister_x: str, detectives: str, won: int, lost: int) -> list[Game]:
    """Games on deals of their own."""
    return [(mister_x, detectives, k < won, None) for k in range(won + lost)]


def baseball() -> list[Game]:
    """All 273 games."""
    games: list[Game] = []
    for entry in BASEBALL.replace("\n", " ").strip().split(","):
        teams, result = entry.split()
        home, away = teams.split("-")
        won, lost = result.split("-")
        games += score(home, away, int(won), int(lost))
    return games


def tennis() -> list[Game]:
    """All matches, the winner as Mister X: for fits without a role term."""
    return [
        game
        for winner, row in zip(TENNIS_NAMES, TENNIS, strict=True)
        for loser, times in zip(TENNIS_NAMES, row, strict=True)
        for game in score(winner, loser, times, 0)
    ]


def three_bots() -> list[Game]:
    """All 240 games."""
    return [
        (pair[0], pair[1], result == "1", str(deal))
        for pair, results in THREE_BOTS.items()
        for deal, result in enumerate(results)
    ]


def one_sided() -> list[Game]:
    """All 80 games."""
    return [
        (pair[0], pair[1], result == "1", str(deal))
        for pair, results in ONE_SIDED.items()
        for deal, result in enumerate(results)
    ]


def two_bots(both: int, only_a: int, only_b: int, neither: int) -> list[Game]:
    """Pairs of A and B by who won as Mister X."""
    games: list[Game] = []
    kinds = ((True, True, both), (True, False, only_a), (False, True, only_b))
    for a_won, b_won, times in (*kinds, (False, False, neither)):
        for _ in range(times):
            deal = str(len(games) // 2)
            games += [("A", "B", a_won, deal), ("B", "A", b_won, deal)]
    return games


def simulated(
    rng: np.random.Generator,
    strengths: Sequence[float],
    *,
    role: float,
    deals: int,
    deal_sd: float = 0.0,
) -> list[Game]:
    """A round robin of every ordered pair on every deal; strengths and `role` in logits."""
    games: list[Game] = []
    for deal in range(deals):
        luck = rng.normal(0, deal_sd) if deal_sd else 0.0
        for i, mine in enumerate(strengths):
            for j, theirs in enumerate(strengths):
                if i != j:
                    chance = 1 / (1 + np.exp(-(role + luck + mine - theirs)))
                    games.append((f"b{i}", f"b{j}", bool(rng.random() < chance), str(deal)))
    return games
