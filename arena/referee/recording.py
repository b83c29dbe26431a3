"""What is written down while a game is played, and the record that comes of it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from arena import __version__
from arena.referee.clock import in_ms
from arena.referee.faults import Caught, describe, forfeit
from arena.referee.record import (
    FORMAT,
    Aside,
    BotName,
    BotSpec,
    Core,
    GameRecord,
    GameSpec,
    Play,
    SeatAside,
    SideWord,
    TurnTime,
)
from arena.rules.ruleset import Ply, Ruleset, Side, Verdict
from arena.sandbox.limits import NOTES_BYTES
from arena.sandbox.pondering import OffTurnUse
from protocol.messages import PROTOCOL
from protocol.messages import Play as Answer
from protocol.quoting import quote

if TYPE_CHECKING:  # who reads records starts no bots, and may be on any system
    from arena.referee.seat import Seat

__all__ = ["FORFEIT", "VOID", "Recorder", "SideNotes"]

FORFEIT = "fault"  # the reason of a verdict that a fault gave
VOID = "void"  # the reason of a game that counts for nobody
_EVIDENCE_BYTES = 4_096  # of the last request and of the last line


class SideNotes:
    """What one side leaves behind besides its plies.

    Args:
        word: the side, as records say it.
    """

    def __init__(self, word: SideWord) -> None:
        self.word = word
        self.times: list[TurnTime] = []
        self.note_bytes = 0
        self.notes_dropped = 0
        self.start_ms: float | None = None
        self.stderr = ""
        self.stderr_dropped = 0
        self.log: tuple[str, ...] = ()
        self.log_dropped = 0
        self.off_turn: OffTurnUse | None = None
        self.given_back_s = 0.0
        self.seat: Seat | None = None
        self.fault: Caught | None = None
        self.fault_ms: float | None = None
        self.evidence: dict[str, Any] | None = None


class Recorder:
    """Writes one game down.

    Attributes:
        plays: what was played; the plies are the ruleset's own.
        notes: by the index of the play.
        sides: what each side left behind.
        faults: as they were noticed.
    """

    def __init__(self, spec: GameSpec, ruleset: Ruleset[Any, Any]) -> None:
        self.plays: list[Play] = []
        self.notes: dict[int, Any] = {}
        self.sides = {side: SideNotes(side.value) for side in Side}
        self.faults: list[Caught] = []
        self._spec = spec
        self._ruleset = ruleset
        self._started = datetime.now(UTC)
        self._started_at = monotonic()

    def play(
        self,
        side: Side,
        answer: Answer,
        plies: tuple[Ply, ...],
        charged_ms: float,
        bank_ms: int | None,
    ) -> None:
        """Write down what a side played.

        Args:
            side: who played.
            answer: what it said.
            plies: those that counted.
            charged_ms: what it was charged.
            bank_ms: what is left in its bank; None without a clock.
        """
        index = len(self.plays)
        if answer.note is not UNSET:
            self._note(side, index, answer.note)
        notes = self.sides[side]
        notes.times.append(TurnTime(play=index, charged_ms=charged_ms, bank_ms=bank_ms))
        # The plies as they are: they encode to what a record holds, and nothing is made twice.
        self.plays.append(Play(side=notes.word, plies=plies, more=answer.more))

    def _note(self, side: Side, index: int, note: object) -> None:
        """Keep the note of a play, if its side has room for it."""
        notes = self.sides[side]
        size = len(msgspec.json.encode(note))
        if notes.note_bytes + size > NOTES_BYTES:
            notes.notes_dropped += 1
            return
        notes.note_bytes += size
        self.notes[index] = note

    def give_back(self, side: Side, lost_s: float) -> None:
        """Note that a deadline was moved, since the machine kept a bot from running until it."""
        self.sides[side].given_back_s += lost_s

    def fault(self, fault: Caught, seat: Seat | None, charged_ms: float | None = None) -> None:
        """Note the fault of a side and what shows it; a side has one at most.

        Args:
            fault: what it did wrong.
            seat: where it sits; None if it was never seated.
            charged_ms: for the answer that did not come or does not count; None off turn.
        """
        notes = self.sides[Side(fault.side)]
        self.faults.append(fault)
        notes.fault, notes.fault_ms = fault, charged_ms
        if seat is not None:
            notes.evidence = {
                "last_request": quote(seat.last_request.rstrip(b"\n"), _EVIDENCE_BYTES),
                "last_line": quote(seat.last_line, _EVIDENCE_BYTES),
                **seat.channel.evidence(),
            }

    def seat_left(self, side: Side, seat: Seat) -> None:
        """Note what is known of a bot once its game is over and its process ended or kept."""
        notes = self.sides[side]
        notes.seat = seat
        notes.start_ms = seat.start_ms
        notes.off_turn = seat.off_turn()
        notes.log, notes.log_dropped = tuple(seat.log), seat.log_dropped
        notes.stderr, notes.stderr_dropped = seat.channel.take_stderr()

    def verdict(self, state: Any) -> Verdict:
        """Return how the game ended: by a fault, else by the rules."""
        if self.faults:
            winner, _ = forfeit(self.faults)
            return Verdict(winner=None if winner is None else Side(winner), reason=FORFEIT)
        return self._ruleset.verdict(state) or Verdict(winner=None, reason=VOID)

    def fault_line(self, side: Side) -> str | None:
        """Return a side's own fault as one line, None if it had none."""
        fault = self.sides[side].fault
        if fault is None:
            return None
        bot = self._spec.mister_x if side is Side.MISTER_X else self._spec.detectives
        return describe(fault, bot=bot.name, game=self._spec.game, play=len(self.plays))

    def record(
        self, state: Any, *, void: str | None = None, sandbox: str | None = None
    ) -> GameRecord:
        """Return the game's record.

        Args:
            state: the last one.
            void: why the game counts for nobody, if it does.
            sandbox: what held those bots that were kept in the sandbox.
        """
        spec, ruleset = self._spec, self._ruleset
        verdict = Verdict(winner=None, reason=VOID) if void else self.verdict(state)
        facts = dict(ruleset.facts(state))
        core = Core(
            format=FORMAT,
            arena=__version__,
            ruleset=ruleset.text,
            behaviour=ruleset.behaviour,
            protocol=PROTOCOL,
            board=ruleset.board_hash,
            game=spec.game,
            index=spec.index,
            deal=spec.deal,
            deal_seed=spec.deal_seed,
            game_key=spec.game_key,
            mister_x=_name(spec.mister_x),
            detectives=_name(spec.detectives),
            clock=spec.clock,
            nodes=spec.nodes,
            plays=tuple(self.plays),
            winner=None if verdict.winner is None else verdict.winner.value,
            reason=verdict.reason,
            faults=() if void else forfeit(self.faults)[1],
            rounds=int(facts.get("rounds", 0)),
            facts=facts,
        )
        aside = Aside(
            host=_host(),
            started=self._started.isoformat(timespec="milliseconds"),
            took_s=round(monotonic() - self._started_at, 6),
            marks=self._marks(),
            mister_x=self._aside(Side.MISTER_X),
            detectives=self._aside(Side.DETECTIVES),
            void=void,
            sandbox=sandbox if any(seat.sandboxed for seat in self._seats()) else None,
        )
        return GameRecord(core=core, notes=self.notes, aside=aside)

    def _marks(self) -> tuple[str, ...]:
        marks = []
        if self._spec.sandbox == "none" or not all(seat.sandboxed for seat in self._seats()):
            marks.append("unsandboxed")
        if self._spec.keep:
            marks.append("kept")
        if any(notes.given_back_s for notes in self.sides.values()):
            marks.append("overloaded")
        return tuple(marks)

    def _seats(self) -> list[Seat]:
        """Return the seats whose bots were started."""
        return [notes.seat for notes in self.sides.values() if notes.seat is not None]

    def _aside(self, side: Side) -> SeatAside:
        notes = self.sides[side]
        off_turn = notes.off_turn
        return SeatAside(
            start_ms=None if notes.start_ms is None else round(notes.start_ms, 3),
            times=tuple(notes.times),
            stderr=notes.stderr,
            stderr_dropped=notes.stderr_dropped,
            log=notes.log,
            log_dropped=notes.log_dropped,
            notes_dropped=notes.notes_dropped,
            fault_text=self.fault_line(side),
            hint=None if notes.fault is None else notes.fault.hint,
            fault_ms=notes.fault_ms,
            evidence=notes.evidence,
            off_turn_cpu_ms=None if off_turn is None else in_ms(off_turn.cpu_s),
            caught_pondering=off_turn is not None and off_turn.is_caught,
            given_back_ms=in_ms(notes.given_back_s),
            held_to=None if notes.seat is None else notes.seat.held_to,
        )


def _name(bot: BotSpec) -> BotName:
    return BotName(name=bot.name, version=bot.version, hash=bot.hash)


@lru_cache(maxsize=1)
def _host() -> str:
    return platform.node()
