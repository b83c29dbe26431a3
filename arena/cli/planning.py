"""From settings to a plan: bots are found, staged and greeted, or refused with every reason."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from arena.cli.config import Tournament
from arena.cli.executing import check_open_files, where_of
from arena.cli.limits import clock_of, limits_of
from arena.cli.sandboxing import Sandboxing, sandboxing
from arena.cli.writable import make_writable
from arena.errors import BotRefused, ConfigError
from arena.referee.greeting import greet
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, SideWord
from arena.rules import registry
from arena.rules.ruleset import Ruleset
from arena.sandbox.startable import check_startable
from arena.tournament import seeds
from arena.tournament.entrants import Entrant, equal_names, find_bot, reference_names
from arena.tournament.plan import Plan, Section
from protocol.messages import PROTOCOL, HelloAnswer, Limits

if TYPE_CHECKING:
    from arena.cli.talk import Talk

__all__ = ["enlist", "look_over", "plan_of", "sides_of"]

BOTH: tuple[SideWord, ...] = ("mister_x", "detectives")
_NOBODY: Mapping[str, BotSpec] = MappingProxyType({})
AT_ONCE = 8  # greetings; a slow interpreter is no reason to wait for it alone


def plan_of(
    settings: Tournament, data: Path, talk: Talk, *, people: Mapping[str, BotSpec] = _NOBODY
) -> tuple[Plan, Sandboxing]:
    """Return the plan of a tournament, every bot staged and greeted, and how bots are kept.

    Args:
        settings: of the tournament.
        data: the data folder.
        talk: of the command.
        people: BOTs that are no programs, by the name that they are asked for by.

    Raises:
        ConfigError: if settings or bots can't be used, with the reason for each bot; or if bots
            can't be kept in the sandbox.
    """
    rulesets = [registry.make(name) for name, _ in settings.rulesets]
    kept = kept_for(settings, data, talk, people=people)
    bots = enlist(settings, rulesets, data, talk, kept, people=people)
    return plan_for(settings, rulesets, bots), kept


def kept_for(
    settings: Tournament,
    data: Path,
    talk: Talk,
    *,
    people: Mapping[str, BotSpec] = _NOBODY,
    remember: bool = True,
) -> Sandboxing:
    """Decide how the bots of a tournament are kept; see `sandboxing`.

    Raises:
        ConfigError: as `sandboxing`, or if there are too few open files for so many games at once.
    """
    jobs = settings.jobs if settings.executor == "local" else None
    if jobs is not None:
        check_open_files(jobs)
    return sandboxing(
        talk,
        mode=settings.sandbox,
        bwrap=settings.bwrap,
        show=settings.show,
        user_ids=settings.user_ids,
        jobs=jobs,
        data=data,
        has_strangers=not set(sides_of(settings)) <= {*reference_names(), *people},
        remember=remember,
    )


def plan_for(
    settings: Tournament, rulesets: Sequence[Ruleset[Any, Any]], bots: tuple[BotSpec, ...]
) -> Plan:
    """Return the plan of a tournament with these bots.

    Raises:
        ConfigError: if nobody meets anybody, or a challenger is none of them.
    """
    sections = [
        Section(
            ruleset=ruleset.text,
            behaviour=ruleset.behaviour,
            board=ruleset.board_hash,
            deals=deals,
        )
        for ruleset, (_, deals) in zip(rulesets, settings.rulesets, strict=True)
    ]
    open_seed = None if settings.seed is None else str(settings.seed)
    secret = seeds.new_secret() if open_seed is None else seeds.open_secret(open_seed)
    return Plan(
        kind=settings.kind,
        ruleset=sections[0].ruleset,
        behaviour=sections[0].behaviour,
        board=sections[0].board,
        entrants=bots,
        challengers=settings.challengers,
        deals=sections[0].deals,
        also=tuple(sections[1:]),
        self_play=settings.self_play,
        secret=secret.hex(),
        open_seed=open_seed,
        clock=clock_of(settings.clock) if settings.nodes is None else None,
        nodes=settings.nodes,
        limits=limits_of(settings.limits),
        keep=settings.restart == "keep",
        sandbox=settings.sandbox,
        bwrap=settings.bwrap,
        show=settings.show,
        user_ids=settings.user_ids,
        bench_after=settings.bench_after,
        jobs=settings.jobs,
        executor=settings.executor,
    )


def sides_of(settings: Tournament) -> dict[str, tuple[SideWord, ...]]:
    """Return each BOT as it was named, with the sides that it is to play."""
    asked: dict[str, set[SideWord]] = {}
    for text in settings.bots:
        asked.setdefault(text, set()).update(BOTH)
    for text in settings.mister_x:
        asked.setdefault(text, set()).add("mister_x")
    for text in settings.detectives:
        asked.setdefault(text, set()).add("detectives")
    return {text: tuple(side for side in BOTH if side in sides) for text, sides in asked.items()}


def enlist(
    settings: Tournament,
    rulesets: Sequence[Ruleset[Any, Any]],
    data: Path,
    talk: Talk,
    kept: Sandboxing,
    *,
    people: Mapping[str, BotSpec] = _NOBODY,
) -> tuple[BotSpec, ...]:
    """Find, stage and greet every bot, kept as it will be in its games; people are just seated.

    Raises:
        BotRefused: if one or more can't be played with; a line for each.
    """
    asked = sides_of(settings)
    limits = limits_of(settings.limits)
    find = partial(find_bot, data=data, limits=limits, profile=kept.profile)
    found, refused = find_all([text for text in asked if text not in people], find)
    for entrant in found.values():
        for line in entrant.talk:
            talk.say(line)
    on_nodes = settings.nodes is not None
    answers = trio.run(
        greet_all, found, tuple(each.text for each in rulesets), limits, on_nodes, kept
    )
    bots: list[BotSpec] = []
    for text in asked:
        if text in people:
            bots.append(msgspec.structs.replace(people[text], sides=asked[text]))
            continue
        if text not in answers:  # refused already
            continue
        entrant, answer = found[text], answers[text]
        if isinstance(answer, BotRefused):
            refused.append(str(answer))
            continue
        try:
            bots.append(seated(entrant, answer, asked[text], rulesets))
        except BotRefused as error:
            refused.append(str(error))
    if refused:
        count = len(refused)
        head = "a bot can't play" if count == 1 else f"{count} bots can't play"
        raise BotRefused("\n  ".join([f"{head}, so no game was started:", *refused]))
    return tuple(bots)


def find_all(
    texts: Iterable[str], find: Callable[[str], Entrant]
) -> tuple[dict[str, Entrant], list[str]]:
    """Find bots that are to play together; give them by their BOT, and a line for each refusal."""
    found: dict[str, Entrant] = {}
    refused: list[str] = []
    for text in texts:
        try:
            found[text] = find(text)
        except BotRefused as error:
            refused.append(str(error))
    refused += equal_names(found.values())
    return found, refused


def look_over(settings: Tournament, data: Path, talk: Talk) -> list[str]:
    """Do all that `plan_of` does without starting or building a bot, and keep nothing of it.

    A bot is taken to play all that its `bot.toml` lets it: what it says itself is not asked.

    Args:
        settings: of the tournament.
        data: the data folder, which no bot's folder may hold; it need not exist.
        talk: of the command.

    Returns:
        A line for each reason for which it can't be played.
    """
    rulesets = [registry.make(name) for name, _ in settings.rulesets]
    asked = sides_of(settings)
    bots: list[BotSpec] = []
    machine: list[str] = []
    kept = Sandboxing(mode="none")
    try:
        where_of(settings.executor, None)
        kept = kept_for(settings, data, talk, remember=False)
    except ConfigError as error:
        machine.append(str(error))
    with tempfile.TemporaryDirectory(prefix="arena-check-") as folder:
        find = partial(
            find_bot, data=data, limits=limits_of(settings.limits), into=Path(folder), builds=False
        )
        try:
            found, refused = find_all(asked, find)
            refused += filter(None, (unstartable(each, kept) for each in found.values()))
        finally:
            make_writable(Path(folder))
    for text, entrant in found.items():
        try:
            bots.append(seated(entrant, willing(entrant, rulesets), asked[text], rulesets))
        except BotRefused as error:
            refused.append(str(error))
    if not refused:
        try:
            plan_for(settings, rulesets, tuple(bots))
        except ConfigError as error:
            refused.append(str(error))
    return [*refused, *machine]


def unstartable(entrant: Entrant, kept: Sandboxing) -> str:
    """Return why a bot's program can't be started where its copy lies; empty if it can."""
    if not entrant.is_built:
        return ""
    visible = None if kept.profile is None else kept.profile.visible.trees
    try:
        check_startable(entrant.spec.command, Path(entrant.spec.folder), visible=visible)
    except BotRefused as error:
        return f"{entrant.source}: {error}"
    return ""


def willing(entrant: Entrant, rulesets: Sequence[Ruleset[Any, Any]]) -> HelloAnswer:
    """Return the greeting of a bot that plays whatever its `bot.toml` lets it, and all rulesets."""
    texts = [ruleset.text for ruleset in rulesets]
    return HelloAnswer(
        id="",
        protocol=PROTOCOL,
        name=entrant.spec.name,
        sides=BOTH,
        rulesets=tuple(dict.fromkeys((*texts, *(entrant.rulesets or ())))),
    )


async def greet_all(
    found: Mapping[str, Entrant],
    rulesets: tuple[str, ...],
    limits: Limits,
    nodes: bool,
    kept: Sandboxing,
) -> dict[str, HelloAnswer | BotRefused]:
    """Start each bot once and greet it; several at a time, answers in the order of the names."""
    answers: dict[str, HelloAnswer | BotRefused] = {}
    room = trio.CapacityLimiter(AT_ONCE)

    async def one(text: str, spec: BotSpec) -> None:
        async with room:
            try:
                answers[text] = await greet(
                    spec,
                    rulesets=rulesets,
                    limits=limits,
                    nodes=nodes,
                    sandbox=kept.mode,
                    pool=pool,
                )
            except BotRefused as error:
                answers[text] = error

    async with BotPool(profile=kept.profile) as pool, trio.open_nursery() as nursery:
        for text, entrant in found.items():
            nursery.start_soon(one, text, entrant.spec)
    return {text: answers[text] for text in found}


def seated(
    entrant: Entrant,
    hello: HelloAnswer,
    asked: tuple[SideWord, ...],
    rulesets: Sequence[Ruleset[Any, Any]],
) -> BotSpec:
    """Return a greeted bot as it will play: on the sides that it can play and was asked for.

    Raises:
        BotRefused: if no side is left, or it plays none of the rulesets.
    """
    spec = entrant.greeted(hello)
    sides = tuple(side for side in asked if side in spec.sides)
    if not sides:
        raise BotRefused(
            f"{entrant.source}: asked to play {' and '.join(asked)}, but plays "
            f"{' and '.join(spec.sides)} only"
        )
    names = {name for ruleset in rulesets for name in (ruleset.name, ruleset.text)}
    if not names & set(spec.rulesets):
        wanted = " or ".join(ruleset.text for ruleset in rulesets)
        raise BotRefused(
            f"{entrant.source}: plays {', '.join(spec.rulesets)} only, and is to play "
            f"{wanted}; choose other rules with --ruleset, or widen `rulesets` of its "
            "bot.toml"
        )
    return msgspec.structs.replace(spec, sides=sides)
