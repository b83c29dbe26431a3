"""`arena rerun`: the messages of a recorded game to a bot, up to the first other answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click
import msgspec
import trio

from arena.cli import answers
from arena.cli.debugging import own_terminal, stopping_at
from arena.cli.exits import Exit
from arena.cli.fed_again import Answered, Fed, feed
from arena.cli.options import SideChoice, Word, complete_bot, data_option, talking
from arena.cli.record_files import read_records
from arena.cli.sandboxing import Sandboxing, sandbox_options, sandboxing
from arena.cli.stored import check_open_to_all, find_game, open_data, spoil_option
from arena.cli.talk import Talk, plural
from arena.errors import ConfigError
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord, SideWord
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from arena.tournament.entrants import find_bot, reference_names
from arena.tournament.paths import is_file, why_not
from protocol.messages import Limits, Turn

__all__ = ["command"]

STDERR_LINES = 20  # of the bot that faulted
WORDS = {"mister_x": "Mister X", "detectives": "the detectives"}


@click.command("rerun")
@click.argument("game", required=False, metavar="[GAME]", type=Word())
@click.option(
    "--side",
    "--as",
    "side",
    type=SideChoice(["mister_x", "detectives"]),
    required=True,
    help="Whose messages; `x` is short for mister_x.",
)
@click.option(
    "--bot",
    required=True,
    metavar="BOT",
    type=Word(),
    shell_complete=complete_bot,
    help="Who answers them now.",
)
@click.option(
    "--at",
    metavar="TURN",
    type=click.IntRange(min=1),
    help="Go silently to this turn of the side, from 1, and show it.",
)
@click.option("--no-clock", is_flag=True, help="Wait for ever: for a debugger inside the bot.")
@click.option(
    "--pdb",
    "in_pdb",
    is_flag=True,
    help="Stop a Python bot in pdb as it is asked for the turn of --at; no clock, no sandbox.",
)
@sandbox_options
@spoil_option
@data_option
@talking
def command(
    talk: Talk,
    game: str | None,
    side: SideWord,
    bot: str,
    at: int | None,
    sandbox: Literal["auto", "none"] | None,
    bwrap: str | None,
    data: Path,
    *,
    no_clock: bool,
    in_pdb: bool,
    spoil: bool,
) -> int:
    """Feed a recorded game to a bot again, up to its first other answer.

    GAME is the beginning of a game's id (left out, the last game), or a file with records as
    `arena export --format jsonl` writes it; FILE:GAME names one of several. Ids and dice are the
    game's own, so a bot that goes by its messages alone answers the same. The bot is held to the
    limits of the game's run, or, of a file, to those that the record has. Ends with 0 if all
    answers are as recorded, 1 if one differs, 3 if the bot faults.
    """
    terminal = ""
    if in_pdb:
        if at is None:
            raise click.UsageError(
                "--pdb needs --at TURN: without both, this command finds the first other answer."
            )
        if sandbox == "auto":
            raise click.UsageError("--pdb needs a terminal, and in the sandbox there is none.")
        sandbox, no_clock, terminal = "none", True, own_terminal()
    record, of_run = find_record(game, data, spoil=spoil)
    limits = of_run or as_recorded(talk, record, side)
    kept = sandboxing(
        talk,
        mode=sandbox or "auto",
        bwrap=bwrap,
        data=data,
        has_strangers=bot not in reference_names(),
    )
    entrant = find_bot(bot, data, limits=of_run, profile=kept.profile)
    for line in entrant.talk:
        talk.say(line)
    spec = entrant.spec
    if in_pdb and at is not None:
        spec = stopping_at(spec, at, terminal)
        talk.say(f"pdb comes at turn {at}: `n` and `s` step, `c` lets the bot answer, `q` ends it.")
    fed = trio.run(run, record, Side(side), spec, kept, limits, at, no_clock)
    if at is not None and not fed.shown and fed.fault is None:
        raise ConfigError(
            f"--at {at}: {WORDS[side]} had only {plural(turns_of(fed), 'turn')} in this game."
        )
    if at is None:
        first = tell_first(talk, record, fed, side)
    else:
        first = tell_turn(talk, record, fed, side, at)
    talk.answer(answer_of(record, fed, side, entrant.spec.name))
    talk.next(first)
    if fed.fault is not None:
        return Exit.FAULTS
    return Exit.DONE if all(one.same for one in fed.shown) else Exit.NO


async def run(
    record: GameRecord,
    side: Side,
    spec: BotSpec,
    kept: Sandboxing,
    limits: Limits,
    at: int | None,
    no_clock: bool,
) -> Fed:
    """Feed the game to a fresh process."""
    async with BotPool(profile=kept.profile) as pool:
        return await feed(
            record,
            side,
            spec,
            pool,
            limits=limits,
            sandboxed=kept.mode == "auto",
            no_clock=no_clock,
            at=at,
        )


def find_record(game: str | None, data: Path, *, spoil: bool) -> tuple[GameRecord, Limits | None]:
    """Return a stored or exported game, and the limits of its run; of an exported one None.

    Raises:
        ConfigError: if there is no such game, more than one, or it is still a secret.
    """
    if game is not None:
        whole, _, prefix = game.rpartition(":")
        for name, begins in ((game, ""), (whole, prefix)):
            if name and is_file(name):
                return in_file(Path(name), begins), None
        why = why_not(game)
        if why:
            raise ConfigError(f"{game} can't be looked at ({why}); name a game, or another file.")
    with open_data(data) as database:
        ref = find_game(database, game)
        stored = database.find_run(ref.run)
        check_open_to_all(stored, spoil=spoil)
        return database.record(ref), stored.plan.limits


def as_recorded(talk: Talk, record: GameRecord, side: SideWord) -> Limits:
    """Return what a side's bot was held to as far as the record of its game has it, and say so."""
    seat = record.aside.mister_x if side == "mister_x" else record.aside.detectives
    held = seat.held_to
    if held is None:
        talk.say("The record has no limits of its bot: held to the usual ones (`arena limits`).")
        return default_limits()
    told = {key: value for key, value in msgspec.structs.asdict(held).items() if value is not None}
    limits = msgspec.structs.replace(default_limits(), **told)
    talk.say(
        f"Held to what the record's bot was: {limits.memory_mib:,} MiB of memory, "
        f"{plural(limits.processes, 'process', 'processes')}, "
        f"{plural(limits.open_files, 'open file')}, {limits.file_mib:,} MiB a file; in all else to "
        "the usual (`arena limits`)."
    )
    return limits


def in_file(file: Path, prefix: str) -> GameRecord:
    """Return the one record of a file whose game's id begins like this."""
    found = [record for name, record in read_records(file) if name.startswith(prefix)]
    if not found:
        raise ConfigError(f"{file}: holds no game whose id begins with {prefix!r}.")
    if len(found) > 1:
        raise ConfigError(
            f"{file}: holds {len(found):,} such games; name one, as in "
            f"{file}:{found[0].core.game[:10]}."
        )
    return found[0]


def turns_of(fed: Fed) -> int:
    """Return how many turns the side had as far as it was fed."""
    return fed.at[0]


# --- words --------------------------------------------------------------------------------------


def tell_first(talk: Talk, record: GameRecord, fed: Fed, side: SideWord) -> str:
    """Say how all answers compare; returns what to do next."""
    if fed.fault is not None:
        tell_fault(talk, record, fed, side)
        return "correct the bot, and the same command again"
    if not fed.shown:
        talk.result(f"All {plural(fed.asked, 'answer')} of {WORDS[side]} are as recorded.")
        return f"{talk.here('arena verify')}   (was the game played by the rules?)"
    one = fed.shown[0]
    before = plural(fed.asked - 1, "answer")
    talk.result(f"The answer in {place(one)} differs; {before} before it as recorded.")
    show(talk, fed, one)
    return f"the same command with --at {one.turn}   (and with --pdb, if the bot is Python)"


def tell_turn(talk: Talk, record: GameRecord, fed: Fed, side: SideWord, at: int) -> str:
    """Show one turn and how its answers compare; returns what to do next."""
    for one in fed.shown:
        talk.result(f"The answer in {place(one)} {'is as recorded' if one.same else 'differs'}.")
        show(talk, fed, one)
    if fed.fault is not None:
        tell_fault(talk, record, fed, side)
    earlier = fed.differing - sum(not one.same for one in fed.shown)
    if earlier:
        talk.result(f"Before it {plural(earlier, 'answer')} differed; without --at see the first.")
    return f"the same command with --at {at + 1}"


def place(one: Answered) -> str:
    """Return where an answer belongs, in words."""
    part = f", part {one.part}" if one.part > 1 or one.said.more else ""
    return f"turn {one.turn}{part} (play {one.play})"


def show(talk: Talk, fed: Fed, one: Answered) -> None:
    """Print a request with both of its answers, in words and as JSON."""
    recorded = "none: here the side had its fault"
    if one.recorded is not None:
        recorded = said(fed, one.recorded.plies, more=one.recorded.more)
    talk.result(f"  asked:     {in_short(one.request)}")
    talk.result(f"  recorded:  {recorded}")
    talk.result(f"  now:       {said(fed, one.plies, more=one.said.more)}")
    talk.result(f"  request:   {request_text(one.request)}")
    if one.recorded is not None:
        talk.result(f"  recorded:  {text_of(recorded_json(one))}")
    talk.result(f"  now:       {text_of(one.said)}")


def tell_fault(talk: Talk, record: GameRecord, fed: Fed, side: SideWord) -> None:
    """Say what the bot did wrong, beside what the record has of a fault."""
    fault = fed.fault
    if fault is None:
        return
    turn, part = fed.at
    where = "at its start" if not turn else f"in turn {turn}" + (f", part {part}" * (part > 1))
    talk.result(f"The bot faulted {where} ({fault.kind}, {fault.phase}): {fault.text}")
    talk.result(f"  what to do: {fault.hint}")
    if any((one.side, one.kind) == (side, fault.kind) for one in record.core.faults):
        talk.result("  The game ended by a fault of this kind too.")
    if fed.last is not None:
        talk.result(f"  asked:     {in_short(fed.last)}")
        talk.result(f"  request:   {request_text(fed.last)}")
    tail = fed.stderr.splitlines()[-STDERR_LINES:]
    if tail:
        talk.result("  the end of its standard error:")
        for line in tail:
            talk.result(f"    {line}")


def said(fed: Fed, plies: tuple[Any, ...], *, more: bool) -> str:
    """Return plies in words."""
    if fed.replayed is None:
        return ""
    ruleset = fed.replayed.ruleset
    kind: Any = tuple.__class_getitem__((ruleset.ply_type, ...))
    words = [ruleset.say(ply) for ply in msgspec.convert(msgspec.to_builtins(plies), kind)]
    return ("; ".join(words) or "nothing") + (" … and asks to go on" if more else "")


def in_short(request: Turn) -> str:
    """Return a request in words, as far as every ruleset's view lets it."""
    view = msgspec.to_builtins(request.view)
    parts = [f"round {view['round']}"] if "round" in view else []
    parts += [f"part {request.part}"] if request.part > 1 else []
    if place_of(view) is not None:
        parts.append(f"x on {place_of(view)}")
    figures = view.get("figures", ())  # as London and Europe tell of them; else they are left out
    for figure in figures if isinstance(figures, list | tuple) else ():
        if isinstance(figure, dict) and "figure" in figure and place_of(figure) is not None:
            parts.append(f"{figure['figure']} on {place_of(figure)}")
    if request.legal is not msgspec.UNSET:
        parts.append(plural(len(msgspec.to_builtins(request.legal)), "legal ply", "legal plies"))
    return ", ".join(parts)


def place_of(thing: dict[str, Any]) -> int | None:
    """Return where somebody is, if that is known: on a station, or in a city."""
    found: int | None = thing.get("station", thing.get("city"))
    return found


def request_text(request: Turn) -> str:
    """Return a request as JSON, its list of legal plies left out: it follows from the view."""
    return text_of(msgspec.structs.replace(request, legal=msgspec.UNSET))


def recorded_json(one: Answered) -> Any:
    """Return a recorded answer as the message that it was."""
    assert one.recorded is not None  # noqa: S101 - callers look first
    return {
        "type": "play",
        "id": one.request.id,
        "plies": one.recorded.plies,
        "more": one.recorded.more,
        **({} if one.note is msgspec.UNSET else {"note": one.note}),
    }


def text_of(message: Any) -> str:
    """Return a message as JSON."""
    return msgspec.json.encode(message).decode()


def answer_of(record: GameRecord, fed: Fed, side: SideWord, bot: str) -> answers.Rerun:
    """Return what `--json` prints."""
    fault = fed.fault
    shown = tuple(
        answers.Rerunning(
            turn=one.turn,
            part=one.part,
            play=one.play,
            same=one.same,
            request=msgspec.to_builtins(one.request),
            recorded=None if one.recorded is None else msgspec.to_builtins(recorded_json(one)),
            answered=msgspec.to_builtins(one.said),
        )
        for one in fed.shown
    )
    return answers.Rerun(
        game=record.core.game,
        side=side,
        bot=bot,
        asked=fed.asked,
        differing=fed.differing,
        shown=shown,
        fault=None
        if fault is None
        else answers.FaultShown(
            side=side,
            kind=fault.kind,
            phase=fault.phase,
            text=fault.text,
            hint=fault.hint,
            stderr=fed.stderr,
        ),
    )
