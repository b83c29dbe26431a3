"""A game as data for the replay viewer: what each side knew after every ply; pure.

A **moment** is the game after one more ply. It holds the views of both sides, as changes from the
moment before, and the detectives' belief set. Nothing here knows any game: views and plies are the
ruleset's own JSON, which its drawing in the viewer reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from arena.referee.record import BotName, GameRecord, SeatAside, SideWord, TurnTime
from arena.referee.replay import Replayed, replay
from arena.rules.ruleset import Side, Watched
from reports.names import shortened, shown, what_happened

__all__ = [
    "Change",
    "Fault",
    "Moment",
    "Replay",
    "Seat",
    "Turn",
    "changes",
    "cut",
    "page_json",
    "replay_data",
]

MAX_TEXT = 16 * 1024  # bytes of a side's standard error and log in a page, as they are written
MAX_NOTES = 16 * 1024  # the same of its notes
LONGEST_NAME = 80
LONGEST_VERSION = 40

# One of {"set": value}; of a list {"add": items at the end}, {"at": {place: item}} or
# {"cut": [place, how many go, items that come]}; of what holds others {"in": {key: change}}.
Change = dict[str, Any]


class Moment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The game after one more ply.

    Attributes:
        turn: place of its turn (or part of one) in `Replay.turns`; None at the deal.
        plies: what was played since the moment before; one, unless the ruleset can't tell what
            lies between.
        both: what the views of both sides changed in alike: top-level key → change.
        mister_x, detectives: what the view of one side changed in besides.
        gone, come: stations that left and entered the belief set.
    """

    turn: int | None
    plies: tuple[Any, ...]
    both: dict[str, Change]
    mister_x: dict[str, Change] = {}
    detectives: dict[str, Change] = {}
    gone: tuple[int, ...] = ()
    come: tuple[int, ...] = ()


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of a bot; the last may be one that a fault kept from counting.

    Attributes:
        note: what the bot said to it, as text.
        charged_ms, bank_ms: its time; None where it was not kept.
        counted: whether plies came of it.
    """

    side: SideWord
    note: str | None = None
    charged_ms: float | None = None
    bank_ms: int | None = None
    counted: bool = True


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What a bot did wrong."""

    side: SideWord
    kind: str
    phase: str
    text: str | None
    hint: str | None


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """A bot, and what it left behind besides its plies; `cut` counts characters left out."""

    name: str
    version: str
    hash: str
    start_ms: float | None
    stderr: str
    stderr_cut: int
    log: str
    log_cut: int
    log_dropped: int  # lines that the referee did not keep


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """All that a replay page shows; `drawing` names the module that draws the ruleset."""

    format: int = 1
    drawing: str
    game: str
    arena: str
    ruleset: str
    options: dict[str, Any]
    numbers: Any
    board: Any
    deal: int
    started: str
    marks: tuple[str, ...]
    clock: Any
    nodes: int | None
    seats: dict[SideWord, Seat]
    winner: SideWord | None
    reason: str
    rounds: int
    void: str | None
    faults: tuple[Fault, ...]
    believed: bool  # whether the ruleset tells belief sets
    turns: tuple[Turn, ...]
    moments: tuple[Moment, ...]


def replay_data(record: GameRecord) -> Replay:
    """Return what the page of a game shows.

    Raises:
        RecordError: if the record breaks the rules or is another version's.
        ConfigError: if the ruleset is not known here.
    """
    core, aside = record.core, record.aside
    replayed = replay(core, record.notes)
    rules = replayed.ruleset
    ends = [moment.state for moment in replayed.moments[1:]]
    if len(ends) < len(core.plays):
        ends.append(replayed.state)
    notes = {side: _notes(record, side) for side in ("mister_x", "detectives")}
    times = {one.play: one for seat in (aside.mister_x, aside.detectives) for one in seat.times}
    turns = []
    for place, moment in enumerate(replayed.moments):
        side: SideWord = moment.side.value
        time: TurnTime | None = times.get(place)
        charged_ms = None if time is None else time.charged_ms
        if moment.plies is None:  # the answer that a fault stands in place of
            charged_ms = getattr(aside, side).fault_ms
        turns.append(
            Turn(
                side=side,
                note=notes[side].get(place),
                charged_ms=None if charged_ms is None else round(charged_ms, 3),
                bank_ms=None if time is None else time.bank_ms,
                counted=moment.plies is not None,
            )
        )
    return Replay(
        drawing=rules.name.partition("-")[0],
        game=core.game,
        arena=core.arena,
        ruleset=core.ruleset,
        options=dict(rules.options),
        numbers=_plain(rules.numbers),
        board=_plain(rules.board),
        deal=core.deal,
        started=aside.started,
        marks=aside.marks,
        clock=_plain(core.clock),
        nodes=core.nodes,
        seats={
            "mister_x": _seat(core.mister_x, aside.mister_x),
            "detectives": _seat(core.detectives, aside.detectives),
        },
        winner=core.winner,
        reason=core.reason,
        rounds=core.rounds,
        void=None if aside.void is None else shown(aside.void),
        faults=tuple(
            Fault(
                side=fault.side,
                kind=fault.kind,
                phase=fault.phase,
                text=_happened(getattr(aside, fault.side).fault_text, core.game),
                hint=_line(getattr(aside, fault.side).hint),
            )
            for fault in core.faults
        ),
        believed=isinstance(rules, Watched),
        turns=tuple(turns),
        moments=tuple(_moments(replayed, ends)),
    )


def _moments(replayed: Replayed, ends: Sequence[Any]) -> Iterator[Moment]:
    """One for the deal, then one for each ply, then one for an answer that did not count."""
    rules = replayed.ruleset
    first = replayed.moments[0].state if replayed.moments else replayed.state
    trail: list[tuple[int | None, tuple[Any, ...], Any]] = [(None, (), first)]
    watched = rules if isinstance(rules, Watched) else None  # asked once: it takes long
    for turn, (moment, end) in enumerate(zip(replayed.moments, ends, strict=False)):
        plies = moment.plies or ()
        if watched is not None and plies:
            states = [*watched.between(moment.state, plies), end]
            trail += [(turn, (ply,), state) for ply, state in zip(plies, states, strict=True)]
        else:
            trail.append((turn, plies, end))
    if len(ends) < len(replayed.moments):
        trail.append((len(ends), (), replayed.state))
    sets: Sequence[frozenset[int]] = [frozenset()] * len(trail)
    if watched is not None:
        sets = watched.beliefs([state for _, _, state in trail])
    views: dict[Side, dict[str, Any]] = {side: {} for side in Side}
    belief: frozenset[int] = frozenset()
    for (turn_of, plies, state), now in zip(trail, sets, strict=True):
        changed = {}
        for side in Side:
            view = _plain(rules.view(state, side))
            changed[side] = changes(views[side], view)
            views[side] = view
        x, d = changed[Side.MISTER_X], changed[Side.DETECTIVES]
        both = {key: change for key, change in x.items() if d.get(key) == change}
        yield Moment(
            turn=turn_of,
            plies=tuple(map(_plain, plies)),
            both=both,
            mister_x=_without(x, both),
            detectives=_without(d, both),
            gone=tuple(sorted(belief - now)),
            come=tuple(sorted(now - belief)),
        )
        belief = now


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Change]:
    """Return what changed in a view, key by key; the viewer puts it together again.

    A list that only grew is told by what was added, one in which items changed by these, any other
    by the stretch that changed; of an item that is an object its changed values are told. An object
    with the same keys, and a list of as many lists, are told by what changed inside.
    """
    return {
        key: _change(old[key], value) if key in old else {"set": value}
        for key, value in new.items()
        if key not in old or old[key] != value
    }


def _change(old: Any, new: Any) -> Change:
    """How one value becomes another that differs."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return {"in": changes(old, new)}
    if not (isinstance(old, list) and isinstance(new, list)):
        return {"set": new}
    if len(new) == len(old):
        pairs = [(n, a, b) for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        if all(isinstance(a, list) and isinstance(b, list) for _, a, b in pairs):
            return {"in": {str(n): _change(a, b) for n, a, b in pairs}}
        return {"at": {str(n): _item(a, b) for n, a, b in pairs}}
    head = _alike(old, new)
    if head == len(old):
        return {"add": new[head:]}
    tail = _alike(old[head:][::-1], new[head:][::-1])
    if head + tail == 0:
        return {"set": new}
    return {"cut": [head, len(old) - head - tail, new[head : len(new) - tail]]}


def _alike(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items two lists have in common from their beginning."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _item(old: Any, new: Any) -> Any:
    """An item of a list; of an object only those of its values that changed."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return {key: value for key, value in new.items() if old[key] != value}
    return new


def _without(changed: dict[str, Change], both: dict[str, Change]) -> dict[str, Change]:
    return {key: change for key, change in changed.items() if key not in both}


def _seat(bot: BotName, seat: SeatAside) -> Seat:
    log, log_cut = cut("\n".join(map(_text, seat.log)), MAX_TEXT // 2)
    room = MAX_TEXT - written(log)
    stderr, stderr_cut = cut(_text(seat.stderr), room)
    return Seat(
        name=shortened(bot.name, LONGEST_NAME),
        version=shortened(bot.version, LONGEST_VERSION),
        hash=bot.hash,
        start_ms=seat.start_ms,
        stderr=stderr,
        stderr_cut=stderr_cut,
        log=log,
        log_cut=log_cut,
        log_dropped=seat.log_dropped,
    )


def _notes(record: GameRecord, side: SideWord) -> dict[int, str]:
    """The notes of a side as text, by play; what is over the limit is left out from the end."""
    room = MAX_NOTES
    found = {}
    for place, note in sorted(record.notes.items()):
        if record.core.plays[place].side != side:
            continue
        text = note if isinstance(note, str) else json.dumps(note, ensure_ascii=False)
        found[place], left_out = cut(shown(text), room)
        if left_out:
            found[place] = found[place] or "(left out: this side's notes are too long)"
        room = max(0, room - written(found[place]))
    return found


def cut(text: str, room: int) -> tuple[str, int]:
    """Return a text whose middle is left out where it takes more than `room` bytes in a page.

    Its last three quarters of the room show the end: how a program stopped matters most.

    Returns:
        The text, and how many characters were left out.
    """
    if written(text) <= room:
        return text, 0
    head = _fitting(text, room // 4)
    tail = _fitting(text[::-1], room - room // 4)
    left_out = len(text) - head - tail
    return f"{text[:head]}\n…\n{text[len(text) - tail :]}" if room else "", left_out


def _fitting(text: str, room: int) -> int:
    """How many characters at the beginning take at most `room` bytes."""
    count = 0
    for char in text:
        room -= written(char)
        if room < 0:
            break
        count += 1
    return count


def written(text: str) -> int:
    """Bytes that a text takes in the page's JSON: `page_json` writes `<` as a number."""
    return len(msgspec.json.encode(text)) - 2 + 5 * text.count("<")


def page_json(data: Any) -> str:
    """JSON that may stand in a `script` element: no markup in it can begin or end one."""
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    """A struct as the page reads it: objects and lists."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _text(text: str) -> str:
    """Text of several lines, safe to show."""
    return "\n".join(shown(line) for line in text.split("\n"))


def _happened(text: str | None, game: str) -> str | None:
    return None if text is None else what_happened(shown(text), game)


def _line(text: str | None) -> str | None:
    return None if text is None else shown(text)
