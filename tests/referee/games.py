"""Games for tests: specs, a fake channel, and real bots with a mark to find them by."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import trio

from arena.referee.keys import derive
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.sandbox.channel import BotExited, BotTooSlow
from arena.sandbox.limits import default_limits
from arena.sandbox.pondering import OffTurnUse
from protocol.messages import ClockSettings, Limits
from tests.living import (
    busy_threads,
    carrying,
    command_line,
    memory_kib,
    start_new_peak,
    wait_gone,
)

FAULTY = Path(__file__).parents[1] / "faulty_bots"
GENEROUS = ClockSettings(move_ms=30_000)
KEY = bytes(range(32))

Request = dict[str, Any]
# What a fake bot does on a request: lines, or an error, or None for silence.
Brain = Callable[[Request], "bytes | Exception | Later | None"]


class Later:
    """An answer that comes after some seconds."""

    def __init__(self, after_s: float, line: bytes) -> None:
        self.after_s = after_s
        self.line = line


def bot(name: str, *command: str, folder: str = str(FAULTY)) -> BotSpec:
    """A bot's spec; without a command it is one for fakes."""
    return BotSpec(name=name, version="1", hash=name, command=command, folder=folder)


def spec(
    mister_x: BotSpec,
    detectives: BotSpec,
    *,
    number: int = 0,
    clock: ClockSettings | None = GENEROUS,
    **more: Any,
) -> GameSpec:
    """The spec of a game of London."""
    settings: dict[str, Any] = {
        "game": f"game{number}",
        "index": number,
        "deal": number,
        "deal_seed": derive(KEY, "deal", number).hex(),
        "game_key": derive(KEY, "game", number).hex(),
        "ruleset": "london-2013",
        "nodes": None,
        "limits": default_limits(),
        "rated": False,
        **more,
    }
    return GameSpec(mister_x=mister_x, detectives=detectives, clock=clock, **settings)


def honest(request: Request) -> bytes:
    """What an honest fake bot answers: the first legal step of every figure."""
    if request["type"] == "hello":
        return line(type="hello", id=request["id"], protocol=1, name="fake", **HELLO)
    if request["type"] == "deal":
        return line(type="ready", id=request["id"])
    return line(**honest_play(request))


HELLO: dict[str, Any] = {
    "rulesets": ["london-2013"],
    "wants": ["legal", "events"],
    "features": ["reuse", "nodes"],
}


def honest_play(request: Request) -> Request:
    """An honest `play`, by the same rule as `faulty_bots/speaking.py`."""
    plies: list[Request] = []
    figures: set[str] = set()
    places: set[int] = set()
    for ply in request["legal"]:
        if ply["figure"] not in figures and ply["to"] not in places:
            plies.append(ply)
            figures.add(ply["figure"])
            places.add(ply["to"])
    said: Request = {"type": "play", "id": request["id"], "plies": plies}
    if plies and "x" not in figures:
        said["more"] = True
    return said


def line(**message: Any) -> bytes:
    """A message as a line."""
    return json.dumps(message).encode() + b"\n"


class FakeChannel:
    """A LineChannel to a function; time is trio's, so a MockClock moves it."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.sent_at = self.answered_at = self.lost_s = 0.0
        self.off_turn_use: OffTurnUse | None = None
        self.told: list[Request] = []
        self.asked: list[Request] = []
        self.ended = False
        self.gone = False  # its process has ended by itself
        self._rest = b""
        self._deadline = inf

    async def ask(self, line: bytes, *, limit_s: float) -> bytes:
        request = json.loads(line)
        self.asked.append(request)
        self.sent_at = trio.current_time()
        self._deadline = self.sent_at + limit_s
        found = self.brain(request)
        if isinstance(found, Exception):
            self.gone = isinstance(found, BotExited)
            raise found
        if isinstance(found, Later):
            await trio.sleep(min(found.after_s, limit_s))
            found = found.line if found.after_s <= limit_s else None
        if found is None:
            await trio.sleep_until(self._deadline)
            raise BotTooSlow("no answer")
        self._rest += found
        return await self.listen()

    async def listen(self) -> bytes:
        await trio.lowlevel.checkpoint()
        self.answered_at = trio.current_time()
        found = self.take_line()
        if found is None:
            await trio.sleep_until(self._deadline)
            raise BotTooSlow("no answer")
        return found

    def spent_s(self) -> float:
        return self.answered_at - self.sent_at - self.lost_s

    def off_turn(self) -> OffTurnUse | None:
        return self.off_turn_use

    def take_line(self) -> bytes | None:
        first, newline, rest = self._rest.partition(b"\n")
        if not newline:
            return None
        self._rest = rest
        return first

    def has_unread(self) -> bool:
        return bool(self._rest)

    def has_ended(self) -> bool:
        return self.gone

    def tell(self, line: bytes) -> bool:
        self.told.append(json.loads(line))
        return not (self.gone or self.ended)

    def take_stderr(self) -> tuple[str, int]:
        return "its last words\n", 0

    def evidence(self) -> Mapping[str, Any]:
        return {"exit_status": "status 1" if self.gone else None}

    async def end(self, *, grace_s: float = 0.0) -> None:
        del grace_s
        await trio.lowlevel.checkpoint()
        self.ended = True


def at_turn(number: int, answer: Callable[[Request], Any]) -> Brain:
    """An honest bot but for its turn of this number, from 1."""
    turns = 0

    def brain(request: Request) -> Any:
        nonlocal turns
        if request["type"] == "turn":
            turns += 1
            if turns == number:
                return answer(request)
        return honest(request)

    return brain


class FakePool(BotPool):
    """A pool that starts fakes by the bots' names; it keeps every channel that it started."""

    def __init__(self, brains: Mapping[str, Brain]) -> None:
        super().__init__(self._start_fake)
        self.brains = brains
        self.channels: list[FakeChannel] = []

    def _start_fake(
        self, bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
    ) -> FakeChannel:
        del limits, cpu_s, sandboxed
        channel = FakeChannel(self.brains[bot.name])
        self.channels.append(channel)
        return channel


async def play_fakes(
    mister_x: Brain, detectives: Brain, **settings: Any
) -> tuple[GameRecord, FakePool]:
    """Play one game between two functions."""
    async with FakePool({"x-bot": mister_x, "d-bot": detectives}) as pool:
        record = await play_game(spec(bot("x-bot"), bot("d-bot"), **settings), pool)
    return record, pool


# --- real bots ----------------------------------------------------------------------------------


def marked(word: str) -> str:
    """A word that no other process of this machine carries, to find a test's own by."""
    return f"{word}-{secrets.token_hex(6)}"


def script(program: str, row: str = "", *, mark: str = "") -> BotSpec:
    """A bot of `tests/faulty_bots`; `mark` goes into its command line, to be found by."""
    return bot(row or program, sys.executable, f"./{program}.py", row, mark)


class Footprint:
    """What the referee holds, and which marked processes there are (G1 to G4)."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.fds = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names alone
        self.threads = busy_threads()
        self.files = self._files()
        start_new_peak()
        self.memory_kib = memory_kib("VmRSS")

    def check(self) -> None:
        """Nothing is left of the bots two seconds after the end, and nothing of ours is lost."""
        wait_gone(self.processes)
        assert len(os.listdir("/proc/self/fd")) == self.fds  # noqa: PTH208
        assert busy_threads() == self.threads
        assert self._files() == self.files
        assert memory_kib("VmHWM") - self.memory_kib < 32 * 1024

    def processes(self) -> list[str]:
        """Command lines of the processes that carry the mark, zombies not counted."""
        return [command_line(pid).decode(errors="replace") for pid in carrying(self.mark)]

    def _files(self) -> list[str]:
        return sorted(path.name for path in FAULTY.iterdir() if path.name != "__pycache__")


def play_real(game: GameSpec, footprint: Footprint) -> GameRecord:
    """Play a game between processes, and look at what is left."""
    record = trio.run(play_game, game)
    footprint.check()
    return msgspec.json.decode(msgspec.json.encode(record), type=GameRecord)
