"""Whole games between real processes: the table of faults, many at once, nothing left over."""

from __future__ import annotations

import sys
import time
from itertools import product

import msgspec
import pytest
import trio

from arena.referee.audit import find_leaks
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, Core, GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.referee.replay import replay
from arena.sandbox.starvation import own_wait_s
from protocol.messages import ClockSettings
from tests.referee.games import Footprint, bot, marked, play_real, script, spec

pytestmark = pytest.mark.slow

PROGRAMS = {
    "none": ("speaking", ""),
    "start": ("lives", "start-exit"),
    "middle": ("lives", "exit-1"),
}
# By (Mister X's fault, the detectives' fault): who wins, and who has a fault in which phase.
TABLE = {
    ("none", "none"): ("detectives", ()),
    ("none", "start"): ("mister_x", (("detectives", "start-up"),)),
    ("none", "middle"): ("mister_x", (("detectives", "turn"),)),
    ("start", "none"): ("detectives", (("mister_x", "start-up"),)),
    ("start", "start"): (None, (("mister_x", "start-up"), ("detectives", "start-up"))),
    ("start", "middle"): ("detectives", (("mister_x", "start-up"),)),
    ("middle", "none"): ("detectives", (("mister_x", "turn"),)),
    ("middle", "start"): ("mister_x", (("detectives", "start-up"),)),
    ("middle", "middle"): ("detectives", (("mister_x", "turn"),)),
}


@pytest.mark.parametrize("pair", list(product(PROGRAMS, repeat=2)), ids="-".join)
def test_faults_of_two_processes_give_the_verdict_of_the_table(pair: tuple[str, str]) -> None:
    mark = marked(f"table-{'-'.join(pair)}")
    seats = [script(*PROGRAMS[word], mark=mark) for word in pair]
    record = play_real(spec(seats[0], seats[1]), Footprint(mark))
    winner, faults = TABLE[pair]
    assert record.core.winner == winner
    assert tuple((fault.side, fault.phase) for fault in record.core.faults) == faults
    replay(record.core, record.notes, aside=record.aside)


async def play_all(games: list[GameSpec], *, at_once: int) -> dict[str, GameRecord]:
    """Play games in one pool, so many at a time."""
    records: dict[str, GameRecord] = {}
    waiting = iter(games)

    async def play_some(pool: BotPool) -> None:
        for game in waiting:
            records[game.game] = await play_game(game, pool)

    async with BotPool() as pool, trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(play_some, pool)
    return records


def cores(records: dict[str, GameRecord]) -> dict[str, Core]:
    return {game: record.core for game, record in records.items()}


def test_games_come_out_alike_however_they_are_played() -> None:
    """One at a time or six, kept or fresh, next to bots that fail: the same bytes (G5, G6)."""
    mark = marked("alike")
    footprint = Footprint(mark)
    honest = script("speaking", mark=mark)
    faulty = [script("lives", row, mark=mark) for row in ("exit-1", "silent", "child-holds")]
    games = [spec(honest, honest, number=number) for number in range(6)]
    kept = [msgspec.structs.replace(game, keep=True) for game in games]
    quick = ClockSettings(move_ms=1500)
    hostile = [
        spec(honest, other, number=100 + number, clock=quick) for number, other in enumerate(faulty)
    ]
    one = trio.run(lambda: play_all(games, at_once=1))
    mixed = trio.run(lambda: play_all([*hostile, *games], at_once=6))
    again = trio.run(lambda: play_all(kept, at_once=3))
    footprint.check()
    assert all(not record.core.faults for record in one.values())
    for other in (mixed, again):
        assert {game: core for game, core in cores(other).items() if game in one} == cores(one)
    assert [mixed[game.game].core.faults[0].kind for game in hostile] == [
        "crash",
        "timeout",
        "crash",
    ]


def test_every_record_replays_and_shows_no_leak() -> None:
    mark = marked("audit")
    footprint = Footprint(mark)
    honest = script("speaking", mark=mark)
    games = [spec(honest, honest, number=number, keep=True) for number in range(12)]
    records = trio.run(lambda: play_all(games, at_once=4))
    footprint.check()
    for record in records.values():
        found = replay(record.core, record.notes, aside=record.aside)
        assert find_leaks(record.core, found) == []


def test_hanging_bot_costs_its_own_limit_and_no_more() -> None:
    """The games beside it end long before; the end is not delayed by the dead."""
    mark = marked("hang")
    footprint = Footprint(mark)
    honest = script("speaking", mark=mark)
    hanging = script("lives", "ignore-term", mark=mark)
    clock = ClockSettings(move_ms=1000)
    games = [spec(honest, honest, number=n, keep=True, clock=None) for n in range(4)]
    games += [spec(honest, hanging, number=50 + n, clock=clock) for n in range(4)]
    start = time.monotonic()
    records = trio.run(lambda: play_all(games, at_once=8))
    took_s = time.monotonic() - start
    footprint.check()
    assert [records[f"game{50 + n}"].core.faults[0].kind for n in range(4)] == ["timeout"] * 4
    lost_s = max(record.aside.took_s for record in records.values()) - 1
    assert took_s < 1 + lost_s + 5


def test_slow_import_is_not_charged_to_the_first_turn() -> None:
    mark = marked("slow-import")
    late = script("lives", "start-late", mark=mark)
    record = play_real(spec(late, script("speaking", mark=mark)), Footprint(mark))
    aside = record.aside.mister_x
    assert aside.start_ms is not None
    assert aside.start_ms >= 400
    assert aside.times[0].charged_ms < 400


def test_bot_may_be_idle_for_longer_than_threads_live() -> None:
    """C12: no bot dies merely because ten seconds passed on its opponent's move."""
    mark = marked("patience")
    honest = script("speaking", mark=mark)
    code = (
        "import sys; sys.argv = ['patient.py']; sys.path.insert(0, '.')\n"
        "import time, speaking\n"
        "class Slow(speaking.Talk):\n"
        "    def turn(self, message):\n"
        "        if self.turns == 2: time.sleep(11)\n"
        "        super().turn(message)\n"
        "Slow().run()"
    )
    slow = bot("slow", sys.executable, "-c", code, mark)
    record = play_real(spec(slow, honest), Footprint(mark))
    assert record.core.faults == ()


def test_charged_time_is_what_a_sleeping_bot_slept() -> None:
    """Nothing of ours is charged: less than 2 ms a turn on top.

    On a busy host either may come late to look, we also between the request and the clock: for how
    long the bot and we had to wait for a CPU stands in the kernel's books.
    """
    mark = marked("charged")
    code = (
        "import sys; sys.argv = ['sleepy.py']; sys.path.insert(0, '.')\n"
        "import time, speaking\n"
        "def waited_s():\n"
        "    with open('/proc/thread-self/schedstat') as books:\n"
        "        return int(books.read().split()[1]) / 1e9\n"
        "class Sleepy(speaking.Talk):\n"
        "    def turn(self, message):\n"
        "        answer = self.answer(message)\n"
        "        start = time.monotonic(); time.sleep(0.005)\n"
        "        print(time.monotonic() - start, waited_s(), file=sys.stderr, flush=True)\n"
        "        speaking.write(answer)\n"
        "Sleepy().run()"
    )
    sleepy: BotSpec = bot("sleepy", sys.executable, "-c", code, mark)
    before_s = own_wait_s()
    record = play_real(spec(sleepy, script("speaking", mark=mark)), Footprint(mark))
    we_waited_s = own_wait_s() - before_s
    told = [float(text) for text in record.aside.mister_x.stderr.split()]
    slept_s, it_waited_s = told[::2], told[-1]
    charged_s = [time.charged_ms / 1000 for time in record.aside.mister_x.times]
    assert len(charged_s) == len(slept_s) >= 4
    error_s = sum(charged_s) - sum(slept_s)
    assert -we_waited_s <= error_s < 0.002 * len(slept_s) + it_waited_s + we_waited_s
