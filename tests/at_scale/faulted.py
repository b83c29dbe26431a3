"""A tournament in which nearly every game is sabotaged, and its arena killed now and then.

Two honest bots and a saboteur meet in a round robin. What the saboteur does is drawn from its seed
of the game, so the result of every game is known beforehand: the same game is played by fakes in
memory, with nobody disturbing it. Meanwhile worker processes and the arena itself are killed, which
may change no result at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import trio
import trio.testing

from arena.cli.stored import DATABASE, open_data
from arena.referee.keys import dice_seed
from arena.referee.record import Core, FaultKind, GameRecord, GameSpec, SideWord
from arena.referee.referee import play_game
from arena.store.runs import Run
from tests.at_scale.saboteur import Sabotage, sabotage_of
from tests.living import carrying, guardians_of, is_alive, wait_gone, workers_of
from tests.referee.games import FakePool, honest

__all__ = ["FaultedRun", "Tally", "check_game", "undisturbed"]

SILENT_S = 120.0  # without a stored game, on a busy machine: then the run hangs
MOVE_MS = 2_500  # honest bots need one of them; the silent cost as much each
SABOTEUR = "saboteur"
BOTS = ("honest", "fair", SABOTEUR)

KINDS: dict[str, FaultKind] = {
    "kill": "crash",
    "leave": "crash",
    "stop": "timeout",
    "silence": "timeout",
    "flood": "protocol",
    "chatter": "protocol",
    "half_line": "timeout",
    "half_line_and_leave": "crash",
    "close_output": "timeout",  # in the sandbox, which holds it open too
    "close_input": "timeout",
}


class Tally(NamedTuple):
    """What came of a run's games."""

    honest: int  # without the saboteur
    untouched: int  # the saboteur's that were over before it did anything
    forfeits: dict[str, int]  # by what it did
    lost: int  # in play at three deaths of workers
    workers_killed: int
    arenas_killed: int


class FaultedRun:
    """Drives `arena run` and `arena resume` until the run is over, killing as it goes.

    Args:
        folder: an empty one; bots and data go there.
        deals: six games each, four of them with the saboteur.
        sandbox: `auto` or `none`.
        jobs: games in play at once.
        worker_every: games between two kills of a worker, about.
        arena_every: games between two kills of the arena, about.
        seed: of the moments.
    """

    def __init__(
        self,
        folder: Path,
        *,
        deals: int,
        sandbox: str,
        jobs: int,
        worker_every: int,
        arena_every: int,
        seed: int,
    ) -> None:
        self.folder = folder
        self.data = folder / "arena-data"
        self.sandbox = sandbox
        self.games = 6 * deals
        self.workers_killed = self.arenas_killed = 0
        self._word = f"faulted-{secrets.token_hex(8)}"
        self._dice = random.Random(seed)
        self._kills = self._moments(worker_every, arena_every)
        for name in BOTS:
            self._write_bot(name)
        (folder / "t.toml").write_text(
            f"bots = {[f'bots/{name}' for name in BOTS]}\ndeals = {deals}\njobs = {jobs}\n"
            f'seed = "{seed}"\nsandbox = "{sandbox}"\nbench_after = {self.games + 1}\n'
            f"[clock]\nmove_ms = {MOVE_MS}\n"
        )

    def _moments(self, worker_every: int, arena_every: int) -> list[tuple[int, str]]:
        """What is killed at how many stored games, in order."""
        moments: list[tuple[int, str]] = []
        for what, every in (("worker", worker_every), ("arena", arena_every)):
            starts = range(0, self.games - every // 2, every)
            shifts = [self._dice.randrange(every // 4, 3 * every // 4) for _ in starts]
            moments += [(a + b, what) for a, b in zip(starts, shifts, strict=True)]
        return sorted(moments)

    def _write_bot(self, name: str) -> None:
        bot = self.folder / "bots" / name
        bot.mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("saboteur.py"), bot / "bot.py")
        how = "saboteur" if name == SABOTEUR else "fair"
        (bot / "bot.toml").write_text(
            f'name = "{name}"\n'
            f'command = ["{{python}}", "-I", "-S", "bot.py", "{name}", "{how}", "{self._word}"]\n'
        )

    def play(self) -> dict[str, object]:
        """Play to the end; return what the last command answered."""
        words = ["run", "t.toml"]
        while True:
            code, answer, errors = self._go_on(words)
            if code is not None:
                assert code in (3, 4), errors  # faults; games that stay void
                assert "Traceback" not in errors
                found: dict[str, object] = json.loads(answer)
                return found
            words = ["resume"] if self.stored() else ["run", "t.toml"]

    def _go_on(self, words: Sequence[str]) -> tuple[int | None, str, str]:
        """Run a command to its end, or until it is to be killed: then there is no exit code."""
        with (
            (self.folder / "answer").open("w+") as answer,
            (self.folder / "errors").open("w+") as errors,
            subprocess.Popen(
                [sys.executable, "-m", "arena", *words, "--json"],
                cwd=self.folder,
                stdout=answer,
                stderr=errors,
            ) as arena,
        ):
            helpers: set[int] = set()  # workers, and who ends what they leave behind
            try:
                is_over = self._attend(arena, helpers)
            except BaseException:
                arena.kill()
                raise
            arena.wait()
            wait_gone(lambda: [described(pid) for pid in self._left(helpers)])
            answer.seek(0)
            errors.seek(0)
            return arena.returncode if is_over else None, answer.read(), errors.read()

    def _attend(self, arena: subprocess.Popen[bytes], helpers: set[int]) -> bool:
        """Watch the arena and kill at the moments; whether it has ended by itself."""
        stored, since = self.stored(), time.monotonic()
        while arena.poll() is None:
            workers = workers_of(arena.pid)
            helpers |= workers | guardians_of(arena.pid)
            now = self.stored()
            if now > stored:
                stored, since = now, time.monotonic()
            assert time.monotonic() < since + SILENT_S, "no game was stored for minutes"
            if self._kills and stored >= self._kills[0][0]:
                if self._kills[0][1] == "arena":
                    self._kills.pop(0)
                    self.arenas_killed += 1
                    arena.kill()
                    return False
                if alive := sorted(filter(is_alive, workers)):
                    self._kills.pop(0)
                    self.workers_killed += 1
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self._dice.choice(alive), signal.SIGKILL)
            time.sleep(0.02)
        return True

    def _left(self, helpers: set[int]) -> set[int]:
        return {pid for pid in carrying(self._word) | helpers if is_alive(pid)}

    def stored(self) -> int:
        """How many games are stored now."""
        file = self.data / DATABASE
        try:
            with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as found:
                return int(found.execute("SELECT coalesce(max(key), 0) FROM game").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # being made

    def check(self) -> Tally:
        """Hold every game of the plan against what it must have come to."""
        honest_games = untouched = 0
        forfeits = dict.fromkeys(KINDS, 0)
        with open_data(self.data) as database:
            run = database.find_run()
            assert run.state == "over"
            assert run.plan.count == self.games
            lost = self._lost(run)
            for record in database.records(run):
                assert record.core.index not in lost
                what = check_game(run, record, sandboxed=self.sandbox == "auto")
                if what is None:
                    honest_games += SABOTEUR not in seated(record)
                    untouched += SABOTEUR in seated(record)
                else:
                    forfeits[what] += 1
            counted = honest_games + untouched + sum(forfeits.values())
            assert counted + len(lost) == self.games
            (whole,) = database.rows("PRAGMA integrity_check")
            assert whole == ("ok",)
        return Tally(
            honest=honest_games,
            untouched=untouched,
            forfeits=forfeits,
            lost=len(lost),
            workers_killed=self.workers_killed,
            arenas_killed=self.arenas_killed,
        )

    def _lost(self, run: Run) -> set[int]:
        """Places of the games that stay void: only three deaths of workers are a reason."""
        with open_data(self.data) as database:
            void = database.rows("SELECT place, why FROM voids WHERE is_final")
        assert run.plan.count == self.games
        assert all(re.fullmatch("3 worker processes died with it", why) for _, why in void)
        return {place for place, _ in void}


def described(pid: int) -> str:
    """A process for the text of a failure: its command line and its state."""
    try:
        process = Path(f"/proc/{pid}")
        command = (process / "cmdline").read_bytes().replace(b"\0", b" ")[-200:].decode()
        state = (process / "stat").read_text().rpartition(")")[2].split()[:3]
        return f"{pid} {state} {(process / 'wchan').read_text()}: {command}"
    except OSError as error:
        return f"{pid}: {error}"


def seated(record: GameRecord) -> dict[str, SideWord]:
    """The sides of a game by the bots' names."""
    return {record.core.mister_x.name: "mister_x", record.core.detectives.name: "detectives"}


def check_game(run: Run, record: GameRecord, *, sandboxed: bool) -> str | None:
    """Check a game against the same game undisturbed; return what the saboteur did, if it did.

    What was played before is the same play for play, the fault is the saboteur's alone and of the
    right kind, and where it did nothing the whole core is the same.
    """
    core, wanted = record.core, undisturbed(run.plan.spec(record.core.index))
    assert record.aside.void is None
    side = seated(record).get(SABOTEUR)
    if side is None:
        assert_same(core, wanted)
        return None
    sabotage = sabotage_of(dice_seed(bytes.fromhex(core.game_key), side))
    what = describe(record, sabotage)
    # How many plays there are at each of its requests: to get ready, then one for each own play.
    asked = [0, *(number for number, play in enumerate(wanted.plays) if play.side == side)]
    is_done = sabotage.turn < len(asked)
    if not core.faults:
        # Behind its last answer it may be seen or not: whichever comes first, it or the verdict.
        assert not is_done or (sabotage.after and sabotage.turn == len(asked) - 1), what
        assert_same(core, wanted)
        return None
    assert is_done, what
    first = last = asked[sabotage.turn]
    if sabotage.after:
        first += sabotage.turn > 0
        last = [*asked, len(wanted.plays)][sabotage.turn + 1]
    (fault,) = core.faults
    assert fault.side == side, what
    assert fault.kind in kinds_of(sabotage, sandboxed=sandboxed), what
    assert core.winner == ("detectives" if side == "mister_x" else "mister_x"), what
    assert core.reason == "fault", what
    assert first <= len(core.plays) <= last, what
    assert core.plays == wanted.plays[: len(core.plays)], what
    return sabotage.what


def kinds_of(sabotage: Sabotage, *, sandboxed: bool) -> set[FaultKind]:
    """The kinds of fault that a sabotage may be."""
    kind = KINDS[sabotage.what]
    if not sandboxed and sabotage.what == "close_output":
        return {"crash"}
    if not sandboxed and sabotage.what == "close_input" and sabotage.after:
        return {kind, "crash"}  # whether it has closed it before or behind the next request
    return {kind}


def describe(record: GameRecord, sabotage: Sabotage) -> tuple[object, ...]:
    """What a failed check shows."""
    aside = record.aside
    texts = (aside.mister_x.fault_text, aside.detectives.fault_text)
    return record.core.index, sabotage, record.core.faults, texts, len(record.core.plays)


def assert_same(core: Core, wanted: Core) -> None:
    assert msgspec.json.encode(core) == msgspec.json.encode(wanted)


def undisturbed(spec: GameSpec) -> Core:
    """Play a game in memory between two honest fakes; return the core that it must have."""
    unheld = msgspec.structs.replace(spec, sandbox="none")  # the core does not tell

    async def play() -> GameRecord:
        names = (spec.mister_x.name, spec.detectives.name)
        async with FakePool(dict.fromkeys(names, honest)) as pool:
            return await play_game(unheld, pool)

    return again(trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0)).core)


def again(core: Core) -> Core:
    """The core as it is read from a store."""
    return msgspec.json.decode(msgspec.json.encode(core), type=Core)
