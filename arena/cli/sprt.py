"""`arena sprt`: sequential tests on counts of game pairs."""

from __future__ import annotations

import click

from arena.cli.answers import SequentialTest, Sprt
from arena.cli.exits import Exit
from arena.cli.options import talking
from arena.cli.ratings_shown import elo, ends, percent, small
from arena.cli.talk import Talk, plural, table

__all__ = ["command"]

MAX_COUNT = 10**9  # pairs of a kind
ALIKE = "every pair ended alike"
NO_PAIRS = "there are no pairs"


class Counts(click.ParamType[tuple[int, int, int]]):
    """Three counts: pairs lost both times, split, won both times."""

    name = "counts"

    def convert(
        self,
        value: str | tuple[int, int, int],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[int, int, int]:
        """Read `LL,SPLIT,WW`, or refuse it."""
        if isinstance(value, tuple):
            return value
        words = value.split(",")
        counts = [int(word) for word in words if word.strip().isdecimal() and len(word) <= 12]
        if len(words) != 3 or len(counts) != 3 or max(counts) > MAX_COUNT:
            self.fail(
                f"{value!r} is not LL,SPLIT,WW: three whole numbers from 0 to {MAX_COUNT:,} with "
                "commas between them, such as 100,300,130.",
                param,
                ctx,
            )
        lost, split, won = counts
        return lost, split, won


@click.command("sprt")
@click.option(
    "--pairs",
    "counts",
    metavar="LL,SPLIT,WW",
    type=Counts(),
    required=True,
    help="Game pairs that the first bot lost both times, split, and won both times.",
)
@click.option(
    "--elo0", metavar="E", type=float, required=True, help="The gap if H0 is true, in Elo points."
)
@click.option("--elo1", metavar="E", type=float, required=True, help="The gap if H1 is true.")
@click.option(
    "--alpha",
    metavar="A",
    type=float,
    default=0.05,
    show_default=True,
    help="How often H1 may be accepted although H0 is true.",
)
@click.option(
    "--beta",
    metavar="B",
    type=float,
    default=0.05,
    show_default=True,
    help="How often H0 may be accepted although H1 is true.",
)
@talking
def command(
    talk: Talk, counts: tuple[int, int, int], elo0: float, elo1: float, alpha: float, beta: float
) -> Exit:
    """Test a gap of two bots on counts of game pairs.

    A game pair is one deal played twice with sides swapped; count them in plan order, complete ones
    only. The decision is that of the double dichotomy (Wald 1947), in which E is the gap on one
    deal and split pairs tell nothing. The two tests beside it are those of chess: E is then Elo of
    the score, or normalized Elo.

    Ends with 0 if H1 is accepted, 1 if H0 is, 5 if neither is yet.
    """
    answer = test(counts, elo0=elo0, elo1=elo1, alpha=alpha, beta=beta)
    talk.result(
        table(
            ("test", "#LLR", "#accepts H0 at", "#accepts H1 at", "verdict"),
            [
                (name, *cells(one, answer.reasons.get(field, "")))
                for name, field, one in (
                    ("dichotomy (decides)", "dichotomy", answer.dichotomy),
                    ("logistic GSPRT", "gsprt_logistic", answer.gsprt_logistic),
                    ("normalized GSPRT", "gsprt_normalized", answer.gsprt_normalized),
                )
            ],
        )
    )
    talk.result("")
    talk.result(table(("of the first bot", "#value", "#95 %"), values(answer)))
    lost, split, won = counts
    talk.say(
        f"{plural(lost + split + won, 'pair')}, {lost + won:,} decided; "
        f"H0: a gap of {elo0:g} Elo, H1: of {elo1:g}."
    )
    talk.answer(answer)
    verdict = answer.dichotomy.verdict
    if verdict == "undecided":
        talk.next("play more pairs and test again", "stop only where the test does")
        return Exit.NOT_KNOWN
    nearer, farther = (elo1, elo0) if verdict == "H1" else (elo0, elo1)
    talk.say(
        f"{verdict} is accepted: the gap is nearer to {nearer:g} than to {farther:g} Elo. Where a "
        "test stopped, estimates come out too large in size."
    )
    talk.next("arena rate RESULTS.csv --pairs", "every two bots of any results")
    return Exit.DONE if verdict == "H1" else Exit.NO


def test(
    counts: tuple[int, int, int], *, elo0: float, elo1: float, alpha: float, beta: float
) -> Sprt:
    """Work out everything; numbers are rounded, and what is not defined has its reason.

    Args:
        counts: pairs lost, split, won.
        elo0: gap of H0.
        elo1: gap of H1.
        alpha: rate of wrongly accepting H1.
        beta: rate of wrongly accepting H0.

    Raises:
        ConfigError: if hypotheses or rates make no sense.
    """
    # Statistics take a third of a second to load: only the command itself waits for them.
    from reports import rounding
    from reports.pairs import PairCounts, conditional, five, scored
    from reports.sequential import Hypotheses, dichotomy, gsprt_logistic, gsprt_normalized, judge

    hypotheses = Hypotheses(elo0=elo0, elo1=elo1, alpha=alpha, beta=beta)
    hypotheses.check()
    lost, split, won = counts
    pairs = PairCounts(lost=lost, split=split, won=won)
    reasons: dict[str, str] = {}

    def tested(field: str, llr: float | None, lack: str) -> SequentialTest | None:
        if llr is None:
            reasons[field] = lack
            return None
        outcome = judge(llr, hypotheses)
        return SequentialTest(
            llr=rounding.ratio(outcome.llr),
            lower=rounding.ratio(outcome.lower),
            upper=rounding.ratio(outcome.upper),
            verdict=outcome.verdict,
        )

    first = tested("dichotomy", dichotomy(pairs, hypotheses), "")
    assert first is not None  # noqa: S101 - it is defined for any counts
    some = pairs.pairs > 0
    lack = "the hypotheses lie too far from these counts" if some else NO_PAIRS
    logistic = tested(
        "gsprt_logistic", gsprt_logistic(five(pairs), hypotheses) if some else None, lack
    )
    normalized = tested(
        "gsprt_normalized", gsprt_normalized(five(pairs), hypotheses) if some else None, lack
    )
    told = conditional(pairs)
    if told is None or told.elo is None:
        reasons["elo_conditional"] = reasons["se"] = why_no_gap(pairs.lost, pairs.won, pairs.pairs)
    if told is None:
        reasons["los"] = reasons["p_better"] = reasons["p_different"] = NO_PAIRS
    varied = sum(count > 0 for count in counts) > 1
    score = scored(five(pairs)) if varied else None
    if score is None:
        reasons["elo_score"] = reasons["elo_normalized"] = ALIKE if some else NO_PAIRS
    return Sprt(
        pairs=counts,
        elo0=elo0 + 0.0,
        elo1=elo1 + 0.0,
        alpha=alpha,
        beta=beta,
        dichotomy=first,
        gsprt_logistic=logistic,
        gsprt_normalized=normalized,
        elo_conditional=rounding.elo(told.elo) if told else None,
        se=rounding.error(told.se) if told else None,
        low=rounding.elo(told.low) if told else None,
        high=rounding.elo(told.high) if told else None,
        los=rounding.chance(told.los) if told else None,
        p_better=rounding.chance(told.p_better) if told else None,
        p_different=rounding.chance(told.p_different) if told else None,
        elo_score=rounding.elo(score.elo) if score else None,
        elo_score_half=rounding.error(score.elo_half) if score else None,
        elo_normalized=rounding.elo(score.normalized) if score else None,
        elo_normalized_half=rounding.error(score.normalized_half) if score else None,
        reasons=reasons,
    )


def why_no_gap(lost: int, won: int, pairs: int) -> str:
    """Return why the decided pairs give no gap."""
    if not pairs:
        return NO_PAIRS
    if not lost and not won:
        return "no pair was decided"
    return "no pair was won both times" if not won else "no pair was lost both times"


def cells(one: SequentialTest | None, reason: str) -> tuple[str, str, str, str]:
    """Return a test's cells, or why it is not defined."""
    if one is None:
        return "n/a", "", "", f"n/a: {reason}"
    verdict = one.verdict if one.verdict == "undecided" else f"{one.verdict} accepted"
    return f"{round(one.llr, 2) + 0.0:.2f}", f"{one.lower:.2f}", f"{one.upper:.2f}", verdict


def values(answer: Sprt) -> list[tuple[str, str, str]]:
    """Return the numbers that stand beside the tests."""

    def shown(field: str, text: str) -> str:
        return f"n/a: {answer.reasons[field]}" if field in answer.reasons else text

    def half(value: float | None) -> str:
        return "" if value is None else f"± {max(value, 1):.0f}"

    gap = f"{elo(answer.elo_conditional)}"
    if answer.se is not None:
        gap += f" (error {max(answer.se, 1):.0f})"
    return [
        (
            "Elo on one deal, by decided pairs",
            shown("elo_conditional", gap),
            ends(answer.low, answer.high),
        ),
        ("stronger, likelihood in %", shown("los", percent(answer.los)), ""),
        ("p of equal bots doing so well", shown("p_better", small(answer.p_better)), ""),
        (
            "Elo of the score, as in chess",
            shown("elo_score", elo(answer.elo_score)),
            half(answer.elo_score_half),
        ),
        (
            "normalized Elo, as in chess",
            shown("elo_normalized", elo(answer.elo_normalized)),
            half(answer.elo_normalized_half),
        ),
    ]
