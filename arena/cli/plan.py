"""`arena plan`: what a run would play, what it would cost, and what it could see."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
import trio

from arena.cli import answers
from arena.cli.options import data_option, talking
from arena.cli.planning import plan_of
from arena.cli.sandboxing import Sandboxing
from arena.cli.seen import Seen, seen
from arena.cli.settings import join, tournament_options
from arena.cli.talk import Talk, plural, table
from arena.cli.tally import duration
from arena.referee.pool import BotPool
from arena.referee.record import GameRecord
from arena.referee.referee import play_game
from arena.sandbox.metered import wall_stop_s
from arena.tournament.executors.cpus import usable_cores, usual_jobs
from arena.tournament.packed import pack
from arena.tournament.plan import Plan

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["command"]

SAMPLED_S = 4.0  # games are tried for so long, to know what one takes
SAMPLED_GAMES = 30
ROW_BYTES = 700  # of a game in the database beside its record: rows, indices, times
USUAL_RATE = 0.35  # of Mister X, where the games tried tell too little
USUAL_DEAL_SD = 1.0  # logits by which deals differ
FEW_GAMES = 20
GAPS = (100.0, 50.0, 20.0, 10.0)  # Elo points, of which the pairs needed are told


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """What games took that were tried."""

    games: int
    game_s: float
    game_bytes: float
    escaped: int


@click.command("plan")
@tournament_options
@data_option
@talking
def command(talk: Talk, what: tuple[str, ...], data: Path, **options: Any) -> None:
    """Say what a run would play, cost and be able to see.

    A few games are tried for some seconds to know what one takes; none is stored. What a run needs
    too is kept under --data: copies of the bots, built, and that the sandbox passed its test. Pairs
    needed go by how often Mister X won, and how often pairs were split, in the last run of these
    rules under --data, if there is one.
    """
    settings = join(what, **options)
    plan, kept = plan_of(settings, data, talk)
    sample = trio.run(try_games, plan, kept)
    answer = answer_of(plan, sample, None if plan.also else seen(data, plan.ruleset))
    talk.result(rulesets_table(plan))
    talk.result("")
    talk.result(
        table(
            ("of the run", "#"),
            [
                ("bots", f"{len(plan.entrants):,}"),
                ("games", f"{plan.count:,}"),
                ("game pairs (a deal twice, sides swapped)", f"{plan.pairs:,}"),
                ("time expected", lasting(answer.expected_s)),
                ("time at most, by the clock", lasting(answer.longest_s)),
                ("disk expected", size(answer.expected_bytes)),
                ("smallest gap of two bots that shows", gap(answer.smallest_gap_elo)),
            ],
        )
    )
    if answer.gaps:
        talk.result("")
        talk.result(gaps_table(answer))
    talk.say(
        f"Time and disk go by {plural(sample.games, 'game')} tried"
        + (f", with {plan.jobs or usual_jobs()} at once" if sample.games else "")
        + f". Gaps go by 95 % two-sided, 80 % power, {grounds(answer)}."
    )
    talk.answer(answer)
    talk.next(shlex.join(["arena", "run", *what, *said(options)]), data=True)


def rulesets_table(plan: Plan) -> Table:
    """Return what is played of each ruleset; every pairing plays the same deals."""
    return table(
        ("ruleset", "#deals", "#games"),
        (
            (section.ruleset, f"{section.deals:,}", f"{plan.count_of(section):,}")
            for section in plan.sections
        ),
    )


def gaps_table(answer: answers.Plan) -> Table:
    """Return how many pairs of two bots show a gap: by a fixed number, and by a sequential test."""
    return table(
        ("#gap of two bots", "#pairs that show it", "#`arena sprt` needs about"),
        (
            (f"{one.elo:g} Elo", f"{one.pairs:,}", f"{one.sequential_pairs:,}")
            for one in answer.gaps
        ),
    )


def grounds(answer: answers.Plan) -> str:
    """Return what the pairs needed are worked out from."""
    rate = f"Mister X winning {100 * answer.mister_x_rate:.0f} %"
    if answer.seen is None:
        return rate
    return (
        f"{rate} between equals, as in run {answer.seen.run}, where "
        f"{100 * answer.seen.split_rate:.0f} % of {plural(answer.seen.pairs, 'pair')} were split"
    )


def said(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options of a command line again."""
    for name, value in options.items():
        if value is not None:
            yield from (f"--{name}", str(value))


async def try_games(plan: Plan, kept: Sandboxing) -> Sample:
    """Play games from all over the plan, one after the other, for a few seconds."""
    wanted = min(SAMPLED_GAMES, plan.count)
    records: list[GameRecord] = []
    started = time.monotonic()
    async with BotPool(profile=kept.profile) as pool:
        with trio.move_on_after(SAMPLED_S):
            for number in range(wanted):
                record = await play_game(plan.spec(number * plan.count // wanted), pool)
                if record.aside.void is None:
                    records.append(record)
    took_s = time.monotonic() - started
    if not records:
        return Sample(games=0, game_s=0.0, game_bytes=0.0, escaped=0)
    return Sample(
        games=len(records),
        game_s=min(sum(record.aside.took_s for record in records), took_s) / len(records),
        game_bytes=sum(len(game.core) + len(game.remainder) for game in map(pack, records))
        / len(records),
        escaped=sum(record.core.winner == "mister_x" for record in records),
    )


def answer_of(plan: Plan, sample: Sample, found: Seen | None) -> answers.Plan:
    """Return what `--json` prints."""
    from reports.power import pairs_needed, sequential_pairs, smallest_gap

    rate, deal_sd = USUAL_RATE, USUAL_DEAL_SD
    if found is not None:
        rate, deal_sd = found.mister_x_rate, found.deal_sd
    elif sample.games >= FEW_GAMES:
        rate = min(max(sample.escaped / sample.games, 0.05), 0.95)
    at_once = min(plan.jobs or usual_jobs(), plan.count)
    cores = min(at_once, usable_cores())
    tried = sample.games > 0
    return answers.Plan(
        ruleset=plan.rulesets,
        bots=tuple(bot.name for bot in plan.entrants),
        deals=min(section.deals for section in plan.sections),
        games=plan.count,
        pairs=plan.pairs,
        sampled=sample.games,
        expected_s=round(sample.game_s * plan.count / cores, 1) if tried else None,
        longest_s=longest_s(plan, at_once),
        expected_bytes=round((sample.game_bytes + ROW_BYTES) * plan.count) if tried else None,
        mister_x_rate=round(rate, 3),
        smallest_gap_elo=smallest_gap(
            min(section.deals for section in plan.sections), mister_x_rate=rate, deal_sd=deal_sd
        )
        if plan.pairs
        else None,
        deal_sd=round(deal_sd, 3),
        seen=None
        if found is None
        else answers.SeenPairs(
            run=found.run, pairs=found.pairs, split_rate=round(found.split_rate, 3)
        ),
        gaps=tuple(
            answers.PairsNeeded(
                elo=elo,
                pairs=math.ceil(pairs_needed(elo, mister_x_rate=rate, deal_sd=deal_sd)),
                sequential_pairs=math.ceil(
                    sequential_pairs(elo, mister_x_rate=rate, deal_sd=deal_sd)
                ),
            )
            for elo in GAPS
            if plan.pairs
        ),
    )


def longest_s(plan: Plan, at_once: int) -> float | None:
    """Return the time that the clock lets a run take; None without a clock."""
    from arena.rules import registry

    if plan.clock is None:
        return None
    turns = max(registry.make(section.ruleset).max_turns for section in plan.sections)
    clock = plan.clock
    game_ms = 2.0 * clock.bank_ms + turns * (clock.move_ms + clock.increment_ms)
    if clock.kind == "cpu":
        game_ms = 1000 * turns * wall_stop_s(game_ms / turns / 1000)
    return round((game_ms + plan.limits.first_ready_ms) / 1000 * plan.count / at_once, 1)


def lasting(seconds: float | None) -> str:
    """Return a time, or that it is not known."""
    return "not known" if seconds is None else duration(seconds)


def size(count: int | None) -> str:
    """Return bytes as people read them."""
    if count is None:
        return "not known"
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def gap(elo: float | None) -> str:
    """Return a gap in Elo points."""
    return "none: too few pairs" if elo is None else f"{elo:.3g} Elo"
