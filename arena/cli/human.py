"""`human` as a bot: a person at the terminal, behind the same channel as every bot.

A move that the rules refuse is answered with the reason, and asked for again; no clock runs.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec
import trio

from arena.cli.following import Following
from arena.errors import ConfigError, HostFault, IllegalMove
from arena.referee.record import BotSpec
from arena.rules.ruleset import Side
from arena.sandbox.pondering import OffTurnUse
from protocol.codec import decode_request, encode
from protocol.messages import PROTOCOL, Deal, Hello, HelloAnswer, Play, Ready, Turn

__all__ = ["HUMAN", "HumanChannel", "PersonLeft", "Prompter", "human_spec", "is_human"]

HUMAN = "human"
DONE = "done"
NOTHING = (DONE, "pass")  # an empty turn, or the end of one
HELP = ("?", "help")
QUIT = ("quit", "exit")
HOW = (
    "Type a move and Enter, several with `;` between them; Tab completes, `?` lists what is "
    "possible, `quit` leaves the game."
)


class PersonLeft(HostFault):
    """The person at the terminal left: the game is nobody's."""


class Prompter(Protocol):
    """Asks a person for lines; the seam for fakes."""

    async def ask(self, prompt: str, complete: Completer) -> str:
        """Wait for a line.

        Raises:
            EOFError: if the person is gone.
        """

    def tell(self, text: str) -> None:
        """Show a text by the prompt."""


class Completer(Protocol):
    """Gives all whole texts that could be meant by what was typed."""

    def __call__(self, text: str, /) -> Sequence[str]:
        """Return them, in a fixed order."""


def human_spec(ruleset: str) -> BotSpec:
    """Return a person as a bot. No two are the same one: each game with one is a new game."""
    identity = hashlib.sha256(secrets.token_bytes(32)).hexdigest()
    return BotSpec(
        name=HUMAN,
        version="",
        hash=identity,
        command=(HUMAN,),
        folder="",
        trusted=True,
        rulesets=(ruleset,),
    )


def is_human(bot: BotSpec) -> bool:
    """Whether a bot is a person at the terminal."""
    return bot.trusted and bot.command == (HUMAN,) and not bot.folder


class HumanChannel:
    """A LineChannel to a person. Time is not charged, and no limit holds.

    Args:
        side: which the person plays.
        following: the game, for legal moves and refusals.
        prompter: how the person is asked.
    """

    lost_s = 0.0

    def __init__(self, side: Side, following: Following, prompter: Prompter) -> None:
        self._side = side
        self._following = following
        self._prompter = prompter
        self._greeted = False

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        """Ask the person for a turn; greetings answer themselves. See `LineChannel.ask`.

        Args:
            line: the request.
            limit_s: does not hold.

        Raises:
            PersonLeft: if the person wants no more.
        """
        del limit_s
        await trio.lowlevel.checkpoint()
        request = decode_request(line.rstrip(b"\n"))
        if isinstance(request, Hello):
            answer: Any = HelloAnswer(
                id=request.id,
                protocol=PROTOCOL,
                name=HUMAN,
                rulesets=request.rulesets,
                features=("nodes",),
            )
        elif isinstance(request, Deal):
            answer = Ready(id=request.id)
        elif isinstance(request, Turn):
            answer = await self._turn(request)
        else:  # pragma: no cover - nothing else is asked
            raise PersonLeft("a person can't answer this")
        return encode(answer).rstrip(b"\n")

    async def _turn(self, request: Turn) -> Play:
        if not self._greeted:
            self._prompter.tell(HOW)
            self._greeted = True
        moves = Moves(self._following.ruleset, self._following.state)
        while True:
            try:
                prompt = self._prompt(may_end=moves.may_end)
                text = (await self._prompter.ask(prompt, moves.complete)).strip()
            except EOFError:
                raise PersonLeft("the person at the terminal left the game") from None
            if text.lower() in QUIT:
                raise PersonLeft("the person at the terminal left the game")
            if text.lower() in HELP:
                self._prompter.tell(moves.listed())
                continue
            if not text:
                self._prompter.tell(HOW)
                continue
            try:
                plies, more = moves.read(text)
            except (ConfigError, IllegalMove) as refused:
                self._prompter.tell(f"No: {refused}")
                continue
            return Play(id=request.id, plies=plies, more=more)

    def _prompt(self, *, may_end: bool) -> str:
        view = msgspec.to_builtins(self._following.ruleset.view(self._following.state, self._side))
        words = ["Mister X" if self._side is Side.MISTER_X else "Detectives"]
        place = view.get("station", view.get("city"))
        if self._side is Side.MISTER_X and place is not None:
            words.append(f"on {place}")
        if view.get("unmoved"):
            words.append(f"({' '.join(view['unmoved'])} to move)")
        if may_end:
            words.append(f"({DONE} ends the turn)")
        return f"{' '.join(words)}> "

    def spent_s(self) -> float:
        """Return nothing: a person has no clock."""
        return 0.0

    def off_turn(self) -> OffTurnUse | None:
        """Return None: nobody looks."""
        return None

    async def listen(self) -> bytes:
        """Never called: every answer is whole."""
        raise PersonLeft("nothing more is said")  # pragma: no cover

    def take_line(self) -> bytes | None:
        """Return None: nothing is said unasked."""
        return None

    def has_unread(self) -> bool:
        """Return False: nothing is said unasked."""
        return False

    def has_ended(self) -> bool:
        """Return False: a person who leaves is seen when asked."""
        return False

    def tell(self, line: bytes) -> bool:
        """Take what has no answer; the end is shown by the command itself."""
        del line
        return True

    def take_stderr(self) -> tuple[str, int]:
        """Return nothing."""
        return "", 0

    def evidence(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}

    async def end(self, *, grace_s: float = 0.0) -> None:
        """End nothing."""
        del grace_s
        await trio.lowlevel.checkpoint()


class Moves:
    """What can be typed in a state.

    Args:
        ruleset: of the game.
        state: in which the person is asked.
    """

    def __init__(self, ruleset: Any, state: Any) -> None:
        self._ruleset = ruleset
        self._state = state

    @property
    def may_end(self) -> bool:
        """True if the turn can be ended with nothing more done in it."""
        return self._may_end(())

    def read(self, text: str) -> tuple[tuple[Any, ...], bool]:
        """Return the plies that were typed, and whether the turn is to stay open.

        It stays open as long as there is anything more to do in it, if the rules let it: in Europe
        an action and tickets to put back come after the moves. `done` behind the plies ends it.

        Raises:
            ConfigError: if it is no ply of the ruleset.
            IllegalMove: with the rule's name.
        """
        ruleset = self._ruleset
        texts = [one for one in text.split(";") if one.strip()]
        ends = not texts or texts[-1].strip().lower() in NOTHING
        if texts and ends:
            texts.pop()
        plies = tuple(ruleset.parse(one) for one in texts)
        more = not ends and self._goes_on(plies)
        if not more:
            ruleset.play(self._state, plies, more=False)
        return tuple(msgspec.to_builtins(plies)), more

    def complete(self, text: str) -> list[str]:
        """Return whole lines that what was typed could become; the last of its plies counts."""
        before, semicolon, last = text.rpartition(";")
        start = last.lstrip().lower()
        start = " ".join(start.split()) + " " * (start.endswith(" ") and bool(start.strip()))
        head = f"{before}{semicolon} " if semicolon else ""
        kinds = None if start else 1  # of a ply's forms: with nothing typed the shortest alone
        found = [form for ply in self._possible(before) for form in self._forms(ply)[:kinds]]
        plies = self._typed(before)
        if plies is not None and self._may_end(plies) and (not plies or self._goes_on(plies)):
            found.append(DONE)
        return [head + form for form in dict.fromkeys(found) if form.startswith(start)]

    def listed(self) -> str:
        """Return all that is possible now, those with one beginning together."""
        rows: dict[str, list[str]] = {}
        for ply in self._ruleset.legal(self._state):
            first, _, last = self._forms(ply)[0].rpartition(" ")
            rows.setdefault(first, []).append(last)
        lines = [f"{first} {', '.join(lasts)}".strip() for first, lasts in rows.items()]
        return "\n".join([*lines, f"{DONE}: ends the turn"] if self.may_end else lines)

    def _possible(self, before: str) -> Sequence[Any]:
        """The plies that can follow those typed before, as far as the rules tell."""
        ruleset, state = self._ruleset, self._state
        plies = self._typed(before)
        if plies is None:
            return ()
        if not plies:
            possible: Sequence[Any] = ruleset.legal(state)
            return possible
        try:
            return tuple(ruleset.legal(ruleset.play(state, plies, more=True).state))
        except IllegalMove:  # a turn that is sent whole: what can follow its first ply
            followers = getattr(ruleset, "followers", None)
            if followers is None or len(plies) > 1 or plies[0] not in ruleset.legal(state):
                return ()
            following: Sequence[Any] = followers(state, plies[0])
            return following

    def _typed(self, before: str) -> list[Any] | None:
        """The plies that were typed; None if something else was."""
        try:
            return [self._ruleset.parse(one) for one in before.split(";") if one.strip()]
        except ConfigError:
            return None

    def _goes_on(self, plies: Sequence[Any]) -> bool:
        """True if there is anything more to do behind these plies, and they can be a part."""
        with suppress(IllegalMove):  # a turn that is sent whole, or no legal one
            return bool(self._ruleset.play(self._state, plies, more=True).goes_on)
        return False

    def _may_end(self, plies: Sequence[Any]) -> bool:
        """True if a turn of these plies leaves nothing undone."""
        try:
            self._ruleset.play(self._state, plies, more=False)
        except IllegalMove:
            return False
        return True

    def _forms(self, ply: Any) -> list[str]:
        """The ways to type a ply, shortest first.

        Its values, all but the first of them, or its kind (what a ruleset tags it with) and then
        the values, as far as the ruleset reads them; else what it says itself.
        """
        values = [str(value) for value in msgspec.structs.astuple(ply)]
        ways = [values[1:], values]
        if (kind := ply.__struct_config__.tag) is not None:
            ways.append([str(kind), *values])
        forms = [text for text in map(" ".join, ways) if self._is(text, ply)]
        return forms or [self._ruleset.say(ply)]

    def _is(self, text: str, ply: Any) -> bool:
        try:
            return bool(self._ruleset.parse(text) == ply)
        except ConfigError:
            return False
