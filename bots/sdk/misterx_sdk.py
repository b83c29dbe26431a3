"""The Python SDK of misterx-arena: one file, the standard library alone, Python 3.9 and on.

A bot is one function a side. It is given a `Turn` and returns the plies of that turn:

    from misterx_sdk import move, play

    def mister_x(turn):
        ticket, to = turn.deal.dice.choice(turn.singles())
        return [move("x", ticket, to)]

    def detectives(turn):
        team = turn.team()
        for figure, steps in team:
            team.go(figure, *turn.deal.dice.choice(steps))
        return team.plies

    if __name__ == "__main__":
        play(name="mybot", mister_x=mister_x, detectives=detectives)

`print` goes to standard error, the bot's own log; nothing can disturb the talk with the referee.
Boards, steps and belief sets here are London's; `misterx_europe.py` has those of Europe.
"""

from __future__ import annotations

import json
import os
import random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any, NoReturn

    Step = tuple[str, int]  # ticket and station
    Brain = Callable[["Turn"], Sequence[dict[str, Any]]]
    Wants = Sequence[str] | Callable[[Sequence[str]], Sequence[str]]

__all__ = [
    "EUROPE",
    "LONDON",
    "PROTOCOL",
    "Belief",
    "Board",
    "Deal",
    "Team",
    "Turn",
    "after",
    "move",
    "play",
]

PROTOCOL = 1
LONDON = ("london-2013", "london-classic", "london-coursework")
EUROPE = ("europe-2009",)
NOTE_BYTES = 1024
LOG_BYTES = 1024  # a whole line

_TICKETS = ("taxi", "bus", "metro", "black")
_dumps = json.JSONEncoder(separators=(",", ":")).encode
_loads = json.JSONDecoder().decode


def move(figure: str, ticket: str, to: int) -> dict[str, Any]:
    """Return one ply of London: figure `x`, `d1`…, `b1`…; a Bobby's ticket is its vehicle."""
    return {"figure": figure, "ticket": ticket, "to": to}


class Board:
    """The map of a deal: where each ticket leads, and how far apart stations are.

    Attributes:
        raw: the board as the referee sent it: `stations`, `links` by vehicle, and more.
        stations: all station numbers, in order.
        reach: ticket → station → stations one step away. Black takes every vehicle, ferries too.
        steps: station → its steps for a detective, as (ticket, station), in order.
        x_steps: the same for Mister X, black tickets included.
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.stations: list[int] = [station["id"] for station in raw["stations"]]
        near: dict[str, dict[int, set[int]]] = {}
        for vehicle, pairs in raw["links"].items():
            ends = near[vehicle] = {number: set[int]() for number in self.stations}
            for start, end in pairs:
                ends[start].add(end)
                ends[end].add(start)
        self.reach: dict[str, dict[int, tuple[int, ...]]] = {
            ticket: {number: tuple(sorted(to)) for number, to in near[ticket].items()}
            for ticket in _TICKETS[:3]
        }
        self.reach["black"] = {
            number: tuple(sorted(set[int]().union(*(to[number] for to in near.values()))))
            for number in self.stations
        }
        self.steps: dict[int, list[Step]] = {}
        self.x_steps: dict[int, list[Step]] = {}
        for number in self.stations:
            steps = [(ticket, to) for ticket in _TICKETS[:3] for to in self.reach[ticket][number]]
            self.steps[number] = steps
            self.x_steps[number] = [*steps, *(("black", to) for to in self.reach["black"][number])]
        self._rows: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})

    def distance(self, start: int, end: int, *, ferry: bool = False) -> int:
        """Return the number of steps between two stations, whatever the tickets."""
        return self.distances(start, ferry=ferry)[end]

    def distances(self, start: int, *, ferry: bool = False) -> list[int]:
        """Return the number of steps from one station to each, indexed by station number.

        A number that is no station, or can't be reached, has `len(stations)`. Each row is made
        when it is first asked for, and kept.
        """
        rows = self._rows[ferry]
        if start not in rows:
            rows[start] = self._row(start, "black" if ferry else "")
        return rows[start]

    def _row(self, start: int, ticket: str) -> list[int]:
        """Breadth-first search, over ordinary links or (black) over ferries too."""
        rows = [self.reach[ticket]] if ticket else [self.reach[t] for t in _TICKETS[:3]]
        far = len(self.stations)
        found = [far] * (max(self.stations) + 1)
        found[start] = steps = 0
        edge = [start]
        while edge:
            steps += 1
            beyond: list[int] = []
            for here in edge:
                for row in rows:
                    for there in row[here]:
                        if found[there] == far:
                            found[there] = steps
                            beyond.append(there)
            edge = beyond
        return found


class Belief:
    """The set of stations where Mister X may be, by all that the detectives know.

    It is exact: each station in it ends a path that fits every ticket, reveal and arrival so far.
    """

    def __init__(self, board: Board, starts: Iterable[int], taken: Collection[int]) -> None:
        self.board = board
        self.stations: set[int] = set(starts).difference(taken)

    def ply(self, ticket: str, taken: Collection[int], shown: int | None = None) -> None:
        """Mister X paid `ticket` while the team stood on `taken`; `shown` is a reveal.

        A double move is two of these, one after the other.
        """
        self.stations = after(self.board, self.stations, ticket, taken)
        if shown is not None:
            self.stations.intersection_update((shown,))

    def arrive(self, taken: Collection[int]) -> None:
        """The team stands on `taken`, and nobody was captured: he is not there."""
        self.stations.difference_update(taken)


def after(board: Board, stations: Iterable[int], ticket: str, taken: Collection[int]) -> set[int]:
    """Return where Mister X may be after he paid `ticket` from one of `stations`."""
    reach = board.reach[ticket]
    found: set[int] = set()
    for station in stations:
        found.update(reach[station])
    found.difference_update(taken)
    return found


class Deal:
    """One game, as the referee dealt it; the same object for all of its turns.

    Attributes:
        ruleset, behaviour, numbers: which rules, and all their numbers.
        side: `mister_x` or `detectives`.
        clock: `move_ms`, `bank_ms`, `increment_ms`; None in a game without a clock.
        nodes: how many nodes a turn may take, in a game on nodes; else None.
        seed: for this side's own dice in this game.
        view: what this side knows before the first turn.
        raw_board: the map as the referee sent it; None if the bot didn't want it.
        memory: a place of your own, for what you want to keep through the game.
        seen: requests of this game that no belief set has followed yet.
        kept: what `misterx_europe` keeps through a game.
    """

    def __init__(self, message: dict[str, Any], board: Board | None = None) -> None:
        self.ruleset: str = message["ruleset"]
        self.behaviour: int = message["behaviour"]
        self.numbers: dict[str, Any] = message["numbers"]
        self.side: str = message["side"]
        self.clock: dict[str, int] | None = message["clock"]
        budget = message["budget"]
        self.nodes: int | None = budget["nodes"] if budget else None
        self.seed: int = message["seed"]
        self.view: dict[str, Any] = message["view"]
        self.raw_board: dict[str, Any] | None = message.get("board")
        self.memory: Any = None
        self.seen: list[dict[str, Any]] = []
        self.kept: Any = None
        self._board = board
        self._dice: random.Random | None = None
        self._belief: Belief | None = None
        self._last = self.view

    @property
    def dice(self) -> random.Random:
        """This side's own dice: the same seed gives the same throws on every machine."""
        if self._dice is None:
            self._dice = random.Random(self.seed)
        return self._dice

    @property
    def is_europe(self) -> bool:
        """True in a game of Europe, which `misterx_europe` reads."""
        return self.ruleset.partition(":")[0] in EUROPE

    @property
    def board(self) -> Board:
        """London's map; only if `play` was told that the bot wants it (it is by default)."""
        if self._board is None:
            if self.raw_board is not None:
                _stop(f"{self.ruleset} has no map of London: see deal.raw_board")
            _stop("this bot asked for no board: say play(…, wants=('board',))")
        return self._board

    def follow(self) -> Belief:
        """Return the belief set as it stands at the turn that was last asked for."""
        if self._belief is None:
            starts = self.numbers["cards"]["mister_x"]
            self._belief = Belief(self.board, starts, _taken(self.view))
        for message in self.seen:
            view = message["view"]
            # The team doesn't move while Mister X does. In a view of his it has moved since his
            # last steps, in a view of the team's it had moved before his new ones.
            old, new = _taken(self._last), _taken(view)
            taken = old if self.side == "mister_x" else new
            self._belief.arrive(taken)
            for slot in view["log"][len(self._last["log"]) :]:
                self._belief.ply(slot["ticket"], taken, slot["station"])
            self._belief.arrive(new)
            self._last = view
        self.seen.clear()
        return self._belief


def _taken(view: dict[str, Any]) -> list[int]:
    """Return where the team's figures stand in a view."""
    return [figure["station"] for figure in view["figures"]]


class Turn:
    """A turn that the bot is asked for, or after `part` the rest of it.

    Attributes:
        deal: the game.
        view: all that this side may know; see `protocol/SPEC.md` and the ruleset's schema.
        bank_ms: what is left in the bank; None without a clock.
        charged_ms: what the last turn was charged; None before the first.
        note: any JSON of at most 1 KiB, shown beside this turn in the replay; set it before
            returning.
    """

    __slots__ = ("_message", "_talk", "bank_ms", "charged_ms", "deal", "note", "view")

    def __init__(self, deal: Deal, message: dict[str, Any], talk: _Talk | None = None) -> None:
        self.deal = deal
        self.view: dict[str, Any] = message["view"]
        self.bank_ms: int | None = message["bank_ms"]
        self.charged_ms: float | None = message["charged_ms"]
        self.note: Any = None
        self._message = message
        self._talk = talk
        deal.seen.append(message)

    @property
    def legal(self) -> list[dict[str, Any]]:
        """Single plies possible now; only with `wants=("legal",)`."""
        return self._wanted("legal")

    @property
    def events(self) -> list[dict[str, Any]]:
        """What happened since this side was last asked; only with `wants=("events",)`."""
        return self._wanted("events")

    def _wanted(self, key: str) -> list[dict[str, Any]]:
        if key not in self._message:
            _stop(f"this bot did not ask for {key}: say play(…, wants=('board', '{key}'))")
        found: list[dict[str, Any]] = self._message[key]
        return found

    @property
    def belief(self) -> set[int]:
        """Where Mister X may be, by all that the detectives know. Don't change the set."""
        return self.deal.follow().stations

    @property
    def station(self) -> int:
        """Mister X's own station; he alone has it in his view."""
        station: int = self.view["station"]
        return station

    @property
    def stations(self) -> dict[str, int]:
        """Where each figure of the team stands, detectives first."""
        return {figure["figure"]: figure["station"] for figure in self.view["figures"]}

    def team(self) -> Team:
        """Return the rest of the team's turn, to be put together figure by figure."""
        return Team(self)

    def purse(self) -> dict[str, int]:
        """Return how many tickets of each kind Mister X can pay with."""
        view = self.view
        ordinary = view["supply"]
        purse = dict(ordinary) if ordinary else {"taxi": 99, "bus": 99, "metro": 99}
        purse["black"] = view["blacks"]
        return purse

    def singles(self) -> list[Step]:
        """Return Mister X's single moves, as (ticket, station), in a fixed order."""
        return self._x_steps(self.station, self.purse(), _taken(self.view))

    def doubles(self) -> list[tuple[Step, Step]]:
        """Return Mister X's double moves, each as two steps, in a fixed order."""
        view, numbers = self.view, self.deal.numbers
        room = numbers["slots"] - len(view["log"])
        if not view["doubles"] or room < 2:
            return []
        taken, purse = _taken(view), self.purse()
        found: list[tuple[Step, Step]] = []
        seconds: dict[Step, list[Step]] = {}
        for first in self._x_steps(self.station, purse, taken):
            ticket, to = first
            purse[ticket] -= 1
            key = (ticket if not purse[ticket] else "", to)  # what can be paid goes by this alone
            if key not in seconds:
                seconds[key] = self._x_steps(to, purse, taken)
            purse[ticket] += 1
            found += [(first, second) for second in seconds[key]]
        return found

    def _x_steps(self, start: int, purse: dict[str, int], taken: Collection[int]) -> list[Step]:
        steps = self.deal.board.x_steps[start]
        return [step for step in steps if purse[step[0]] and step[1] not in taken]

    def part(self, plies: Sequence[dict[str, Any]]) -> Turn:
        """Send some plies of this turn, and return the rest of the turn once they are played.

        If they end the turn or the game, the bot's function is left at this place.
        """
        if self._talk is None:
            raise RuntimeError("a turn made by hand has no referee to send a part to")
        self._talk.answer(self._message["id"], plies, self.note, more=True)
        return self._talk.next_turn(self.deal)

    def log(self, text: str) -> None:
        """Send a line to the bot's author; longer than about 1 KiB is cut."""
        if self._talk is not None:
            self._talk.log(text)


class Team:
    """A turn of the team in the making: what stands where, and can still move, as planned so far.

    Going through it gives each figure that can move, with its steps, until none is left; each must
    be told to `go` before the next comes. That makes a whole turn by the rules:

        team = turn.team()
        for figure, steps in team:
            team.go(figure, *choose(figure, steps))
        return team.plies

    Attributes:
        stations: figure → station, detectives first.
        plies: what was planned so far, to be returned.
    """

    def __init__(self, turn: Turn) -> None:
        view = turn.view
        self.stations: dict[str, int] = {}
        self.plies: list[dict[str, Any]] = []
        self._steps = turn.deal.board.steps
        self._tickets: dict[str, dict[str, int] | None] = {}  # None: a Bobby, who needs none
        pool: dict[str, int] | None = dict(view["pool"]) if view["pool"] else None
        for figure in view["figures"]:
            name = figure["figure"]
            self.stations[name] = figure["station"]
            own = dict(figure["tickets"]) if figure["tickets"] else pool  # a pool is shared
            self._tickets[name] = None if figure["kind"] == "bobby" else own
        self._unmoved: list[str] = list(view["unmoved"])

    def __iter__(self) -> Iterator[tuple[str, list[Step]]]:
        while True:
            for figure in self._unmoved:  # from the front: a step may have set one free
                steps = self.steps(figure)
                if steps:
                    yield figure, steps
                    if figure in self._unmoved:
                        raise RuntimeError(f"{figure} was not told to go anywhere")
                    break
            else:
                return

    def steps(self, figure: str) -> list[Step]:
        """Return a figure's steps now, as (ticket, station), in a fixed order."""
        taken = self.stations.values()
        steps = self._steps[self.stations[figure]]
        tickets = self._tickets[figure]
        if tickets is None:
            return [step for step in steps if step[1] not in taken]
        return [step for step in steps if tickets[step[0]] > 0 and step[1] not in taken]

    def waiting(self) -> list[str]:
        """Return the figures that have still to move and can, in a fixed order."""
        return [figure for figure in self._unmoved if self.steps(figure)]

    def go(self, figure: str, ticket: str, to: int) -> None:
        """Plan a figure's step."""
        self._unmoved.remove(figure)
        tickets = self._tickets[figure]
        if tickets is not None:
            tickets[ticket] -= 1
        self.stations[figure] = to
        self.plies.append(move(figure, ticket, to))


class _TurnOver(Exception):
    """The turn or the game was over while the bot waited for the rest of its turn."""


class _Talk:
    """The lines to and from the referee."""

    def __init__(self, read: Callable[[], bytes], write: Callable[[bytes], object]) -> None:
        self._read = read
        self._write = write
        self.turn: Turn | None = None  # what was asked last, and the id of the request
        self.asked = ""

    def next(self) -> dict[str, Any]:
        """Return the referee's next message; its going away is a `bye`."""
        line = self._read()
        return _loads(line.decode()) if line else {"type": "bye"}

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._write(_dumps(message).encode() + b"\n")

    def answer(
        self, number: str, plies: Sequence[dict[str, Any]], note: object, *, more: bool
    ) -> None:
        """Send the plies of a turn or of a part of it."""
        message: dict[str, Any] = {"type": "play", "id": number, "plies": plies}
        if more:
            message["more"] = True
        if note is not None:
            if len(_dumps(note)) > NOTE_BYTES:
                raise ValueError(f"a note has at most {NOTE_BYTES} bytes of JSON")
            message["note"] = note
        self.say(message)

    def log(self, text: str) -> None:
        """Send a line for the bot's author, cut to what the referee takes."""
        text = text.encode(errors="backslashreplace").decode()  # half a surrogate pair is no JSON
        room = LOG_BYTES - len('{"type":"log","text":}') - 1
        while (size := len(_dumps(text))) > room:
            text = text[: len(text) * room // size]
        self.say({"type": "log", "text": text})

    def next_turn(self, deal: Deal) -> Turn:
        """Return the rest of a turn.

        Raises:
            _TurnOver: with the referee's message, if there is none.
        """
        message = self.next()
        if message["type"] != "turn" or message["part"] == 1:
            raise _TurnOver(message)
        return self.begin(deal, message)

    def begin(self, deal: Deal, message: dict[str, Any]) -> Turn:
        """Return the turn, or the part of one, that a message asks for."""
        self.turn = Turn(deal, message, self)
        self.asked = message["id"]
        return self.turn


def play(
    *,
    name: str,
    mister_x: Brain | None = None,
    detectives: Brain | None = None,
    version: str = "",
    rulesets: Sequence[str] = LONDON,
    wants: Wants = ("board",),
    nodes: bool = False,
    prepare: Callable[[Deal], None] | None = None,
    finish: Callable[[Deal, dict[str, Any]], None] | None = None,
) -> None:
    """Talk with the referee until it says good-bye. A bot's last line.

    Args:
        name: letters, digits, `.`, `_`, `+`, `-`, at most 40; `bot.toml`'s name goes before it.
        mister_x: given a turn of Mister X, returns its plies: one, or two for a double move.
        detectives: given a turn of the team, returns its plies; it may send parts.
        version: shown beside the name.
        rulesets: what the bot plays.
        wants: of `board`, `legal`, `events`: what the referee is to send along; or a function that
            is given the rulesets that may be dealt, as full texts, and returns them.
        nodes: the bot keeps to `turn.deal.nodes` when that is not None.
        prepare: called with each deal before `ready` is said: load and compute here.
        finish: called with each deal and the referee's `end` message.
    """
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what C code or a child process prints goes to standard error too
    sys.stdout = sys.stderr
    talk = _Talk(sys.stdin.buffer.readline, out.write)
    brains = {"mister_x": mister_x, "detectives": detectives}
    greeting: dict[str, Any] = {
        "type": "hello",
        "protocol": PROTOCOL,
        "name": name,
        "version": version,
        "sides": [side for side, brain in brains.items() if brain is not None],
        "rulesets": list(rulesets),
        "wants": wants,
        "features": ["nodes", "reuse"] if nodes else ["reuse"],
    }
    try:
        _converse(talk, greeting, brains, prepare, finish)
    except (BrokenPipeError, KeyboardInterrupt):
        return  # the referee is gone: there is nobody to tell


def _converse(
    talk: _Talk,
    greeting: dict[str, Any],
    brains: dict[str, Brain | None],
    prepare: Callable[[Deal], None] | None,
    finish: Callable[[Deal, dict[str, Any]], None] | None,
) -> None:
    """Answer every message of the referee, until it says good-bye."""
    deal: Deal | None = None
    board: Board | None = None  # of the last deal: most often the next one's too
    brain: Brain | None = None
    message = talk.next()
    while True:
        kind = message["type"]
        if kind == "turn" and deal is not None and brain is not None:
            try:
                plies = brain(talk.begin(deal, message))
            except _TurnOver as over:
                message = over.args[0]
                continue
            note = talk.turn.note if talk.turn is not None else None  # of the last part
            talk.answer(talk.asked, plies, note, more=False)
        elif kind == "deal":
            raw = message.get("board")
            if raw is None or message["ruleset"].partition(":")[0] not in LONDON:
                deal = Deal(message)
            else:
                if board is None or board.raw != raw:
                    board = Board(raw)
                deal = Deal(message, board)
            brain = brains[deal.side]
            if prepare is not None:
                prepare(deal)
            talk.say({"type": "ready", "id": message["id"]})
        elif kind == "end":
            if finish is not None and deal is not None:
                finish(deal, message)
            deal = None
        elif kind == "hello":
            wants: Wants = greeting["wants"]
            asked = wants(message["rulesets"]) if callable(wants) else wants
            talk.say({**greeting, "wants": list(asked), "id": message["id"]})
        elif kind == "bye":
            return
        message = talk.next()


def _stop(text: str) -> NoReturn:
    raise RuntimeError(text)
