"""`arena play`: one game of two bots, stored like every other."""

from __future__ import annotations

import secrets
import shlex
import sys
import time
from pathlib import Path
from typing import Literal

import click
import click.shell_completion
import msgspec
import trio

from arena.cli import answers
from arena.cli.config import Tournament
from arena.cli.ctrl_c import put_off
from arena.cli.exits import Exit
from arena.cli.human import HUMAN, PersonLeft, human_spec
from arena.cli.options import (
    NumberRange,
    SideChoice,
    Word,
    complete_bot,
    data_option,
    ruleset_option,
    talking,
)
from arena.cli.planning import plan_of
from arena.cli.sandboxing import Sandboxing, sandbox_options
from arena.cli.stored import open_data
from arena.cli.talk import Talk
from arena.errors import ConfigError, StoreError
from arena.referee.pool import BotPool
from arena.referee.record import GameRecord, GameSpec, SideWord
from arena.referee.referee import play_game
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament.plan import Plan

__all__ = ["command"]

LEAST_OFF_TURN_MS = 1.0  # that is told; every bot uses a little after an answer
STDERR_LINES = 20  # of the bot that faulted
STORE_S = 30.0  # for how long a game is tried to be stored, whatever is in the way
AGAIN_S = 0.5  # between two tries; in each a locked database is waited for too
SIDES: dict[SideWord, str] = {"mister_x": "Mister X", "detectives": "the detectives"}


def complete_player(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """Offer bots to the shell, and a person."""
    items = complete_bot(ctx, param, incomplete)
    if HUMAN.startswith(incomplete):
        items.insert(0, click.shell_completion.CompletionItem(HUMAN))
    return items


@click.command("play")
@click.argument("mister_x", metavar="X_BOT", shell_complete=complete_player)
@click.argument("detectives", metavar="DETECTIVES_BOT", shell_complete=complete_player)
@ruleset_option
@click.option(
    "--seed",
    metavar="S",
    type=Word(),
    help="Play this seed's deal again; each game prints its own.",
)
@sandbox_options
@click.option("--no-clock", is_flag=True, help="Wait for ever: for a debugger inside a bot.")
@click.option("--watch", is_flag=True, help="Show the game in the terminal, turn by turn.")
@click.option("--step", is_flag=True, help="Wait for a key between two turns; implies --watch.")
@click.option(
    "--pace",
    metavar="SECONDS",
    type=NumberRange(min=0, max=60),
    default=0.4,
    show_default=True,
    help="Between two turns that are watched.",
)
@click.option(
    "--as",
    "eyes",
    type=SideChoice(["mister_x", "detectives", "everything"]),
    help="What is shown.  [default: everything, or what the person who plays may see]",
)
@data_option
@talking
def command(
    talk: Talk,
    mister_x: str,
    detectives: str,
    ruleset: str | None,
    seed: str | None,
    sandbox: Literal["auto", "none"] | None,
    bwrap: str | None,
    data: Path,
    *,
    no_clock: bool,
    watch: bool,
    step: bool,
    pace: float,
    eyes: Literal["mister_x", "detectives", "everything"] | None,
) -> int:
    """Play one game.

    Both are named like every BOT: a reference bot, a folder, a file, or a quoted command line.
    `human` is you, at this terminal: Tab completes a move, and no clock runs. A game that you quit
    is not stored; its seed deals it again.
    """
    if step and not sys.stdin.isatty():
        raise click.UsageError("--step waits for keys, and standard input is no terminal.")
    plan, kept = plan_of_one(
        talk,
        Tournament(
            ruleset=ruleset or Tournament().ruleset,
            deals=1,
            seed=seed if seed is not None else secrets.token_hex(4),
            sandbox=sandbox or "auto",
            bwrap=bwrap,
        ),
        (mister_x, detectives),
        data,
        no_clock=no_clock,
    )
    with open_data(data, create=True) as database:
        database.check_writable()  # a game, and a person's time, would be lost
        started = time.monotonic()
        spec = plan.spec(0)
        if watch or step or HUMAN in (mister_x, detectives):
            from arena.cli.watching import play_watched

            record = play_watched(
                spec,
                talk.console(stderr=True),
                profile=kept.profile,
                watch=watch or step,
                step=step,
                eyes=eyes,
                pace_s=pace,
            )
        else:
            record = trio.run(play_kept, spec, kept)
        took_s = time.monotonic() - started
        answer = answer_of(record, str(plan.open_seed), took_s)
        # Not before: of a game that is broken off or void nothing stays that could be gone on with.
        if record.aside.void is None:
            try:
                store_in_time(talk, database, plan, record)
            except KeyboardInterrupt:  # who does not wait for the database still wants to know
                tell(talk, record, answer)
                raise
            except StoreError as error:
                tell(talk, record, answer)
                words = (mister_x, detectives, "--ruleset", plan.ruleset, "--seed", answer.seed)
                raise StoreError(
                    f"the game can't be stored ({error.__cause__ or error}) and is lost; "
                    f"`arena play {shlex.join(words)}` plays its deal again"
                ) from error
    tell(talk, record, answer)
    suggest(talk, answer, {"mister_x": mister_x, "detectives": detectives})
    talk.answer(answer)
    return exit_of(record)


def store_in_time(talk: Talk, database: Database, plan: Plan, record: GameRecord) -> None:
    """Store a game as `store` does, trying for a while whatever is in the way.

    Raises:
        StoreError: as `store`, once the time is over.
    """
    until = time.monotonic() + STORE_S
    told = False
    while True:
        with put_off():  # a Ctrl-C that came is taken behind it, stored or not
            try:
                return store(talk, database, plan, record)
            except StoreError as error:
                failed = error
        if time.monotonic() > until:
            raise failed
        if not told:
            why = failed.__cause__ or failed
            talk.warn(f"the game can't be stored yet ({why}); this is tried for {STORE_S:.0f} s")
        told = True
        time.sleep(AGAIN_S)


def store(talk: Talk, database: Database, plan: Plan, record: GameRecord) -> None:
    """Store a game as a run of its own that is over; of one that is stored say if it is the same.

    Raises:
        StoreError: if the database refuses, or another process is storing the same game.
    """
    run = database.begin(plan, afresh=True)
    with database.claim(run):
        if any(True for _ in database.missing(run)):
            database.add_record(run, record)
        elif run.state == "over":
            compare(talk, database, run, record)
        database.finish(run)  # also where an earlier try came no further


def has_left(record: GameRecord) -> bool:
    """Whether a game was broken off by the person who sat at its table, or watched it."""
    return (record.aside.void or "").startswith(f"{PersonLeft.__name__}: ")


def exit_of(record: GameRecord) -> Exit:
    """Return the exit code of a game."""
    if has_left(record):
        return Exit.STOPPED
    if record.aside.void is not None:
        return Exit.OURS
    return Exit.FAULTS if record.core.faults else Exit.DONE


async def play_kept(spec: GameSpec, kept: Sandboxing) -> GameRecord:
    """Play one game with bots kept as it was decided."""
    async with BotPool(profile=kept.profile) as pool:
        return await play_game(spec, pool)


def plan_of_one(
    talk: Talk, settings: Tournament, bots: tuple[str, str], data: Path, *, no_clock: bool
) -> tuple[Plan, Sandboxing]:
    """Return the plan of one game: a run like any other, but not a rated one."""
    mister_x, detectives = bots
    if mister_x == detectives:
        settings = msgspec.structs.replace(settings, bots=(mister_x,), self_play=True)
    else:
        settings = msgspec.structs.replace(settings, mister_x=(mister_x,), detectives=(detectives,))
    people = {HUMAN: human_spec(settings.rulesets[0][0])} if HUMAN in bots else {}
    plan, kept = plan_of(settings, data, talk, people=people)
    if plan.count != 1:
        raise ConfigError(f"{mister_x} can't sit on both sides; it plays one of them only.")
    clock = None if no_clock else plan.clock
    return msgspec.structs.replace(plan, rated=False, clock=clock), kept


def compare(talk: Talk, database: Database, run: Run, record: GameRecord) -> None:
    """Say whether a game that is stored already came out the same once more."""
    ref = database.find_game(record.core.game, run=run)
    stored = database.record(ref).core
    if msgspec.json.encode(stored) == msgspec.json.encode(record.core):
        talk.say("This game is stored already, and came out the same again.")
    else:
        talk.warn(
            "this game is stored already and came out differently now: a bot in it does not go by "
            "the messages of the game alone. The first one stays stored."
        )


def answer_of(record: GameRecord, seed: str, took_s: float) -> answers.Play:
    """Return what `--json` prints of a game."""
    core = record.core
    faults = []
    for fault in core.faults:
        seat = record.aside.mister_x if fault.side == "mister_x" else record.aside.detectives
        faults.append(
            answers.FaultShown(
                side=fault.side,
                kind=fault.kind,
                phase=fault.phase,
                text=seat.fault_text or "",
                hint=seat.hint,
                stderr=seat.stderr,
            )
        )
    return answers.Play(
        game=core.game,
        mister_x=core.mister_x.name,
        detectives=core.detectives.name,
        winner=core.winner,
        reason=core.reason,
        fault=faults[0] if faults else None,
        faults=tuple(faults),
        rounds=core.rounds,
        seed=seed,
        took_s=round(took_s, 3),
        void=record.aside.void,
    )


def off_turn(record: GameRecord) -> list[str]:
    """Return a line for each side that used CPU time while the other one was to move."""
    lines = []
    for side, words in SIDES.items():
        seat = record.aside.mister_x if side == "mister_x" else record.aside.detectives
        used_ms = seat.off_turn_cpu_ms
        if used_ms is not None and used_ms >= LEAST_OFF_TURN_MS:
            stopped = "; the bot was stopped for it" if seat.caught_pondering else ""
            who = words[0].upper() + words[1:]
            lines.append(f"{who} used {used_ms:,.0f} ms of CPU time off turn{stopped}.")
    return lines


def given_back(record: GameRecord) -> list[str]:
    """Return a line for each side that this machine kept from running until its deadline."""
    lines = []
    for side, words in SIDES.items():
        seat = record.aside.mister_x if side == "mister_x" else record.aside.detectives
        if seat.given_back_ms:
            lines.append(
                f"This machine kept the bot of {words} from running: its time was made "
                f"{seat.given_back_ms:,.0f} ms longer in all."
            )
    return lines


def tell(talk: Talk, record: GameRecord, answer: answers.Play) -> None:
    """Print how a game ended and, if a bot faulted, all that helps its author."""
    names: dict[SideWord, str] = {"mister_x": answer.mister_x, "detectives": answer.detectives}
    if answer.void is not None:
        kind, colon, why = answer.void.partition(": ")  # the record names the error's class too
        why = why if colon and kind.isidentifier() else answer.void
        talk.result(f"The game is void, and nobody's: {why}")
        talk.say(f"Nothing of it is stored. Its deal is that of --seed {answer.seed}.")
        return
    if answer.winner is None:
        talk.result(f"Nobody won: {answer.reason}, round {answer.rounds}.")
    else:
        talk.result(
            f"{names[answer.winner]} won as {SIDES[answer.winner]}: {answer.reason}, "
            f"round {answer.rounds}."
        )
    for fault in answer.faults:
        talk.result(f"Fault of {SIDES[fault.side]} ({fault.kind}, {fault.phase}): {fault.text}")
        if fault.hint:
            talk.result(f"  what to do: {fault.hint}")
        tail = fault.stderr.splitlines()[-STDERR_LINES:]
        if tail:
            talk.result("  the end of its standard error:")
            for line in tail:
                talk.result(f"    {line}")
    for line in (*off_turn(record), *given_back(record)):
        talk.say(line)
    talk.say(
        f"Game {answer.game[:10]}, seed {answer.seed}, {answer.took_s:.1f} s"
        + "".join(f", {mark}" for mark in record.aside.marks)
        + "."
    )


def suggest(talk: Talk, answer: answers.Play, bots: dict[SideWord, str]) -> None:
    """Say what to do next: after a fault, the same messages to the bot once it is mended."""
    game = answer.game[:10]
    if answer.void is not None:
        talk.next("the same command again")
    elif answer.fault is not None and answer.fault.phase != "start-up":
        side = answer.fault.side
        command = f"arena rerun {game} --side {side} --bot {shlex.quote(bots[side])}"
        talk.next(command, "once the bot is mended", data=True)
    else:
        talk.next(f"arena replay {game}", "see it ply by ply, as each side saw it", data=True)
