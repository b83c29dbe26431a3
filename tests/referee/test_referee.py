"""One game, between functions: verdicts, faults by phase, what is told and what is written down."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from arena.errors import BotRefused, HostFault
from arena.referee.keys import derive, dice_seed, wire_ids
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord
from arena.referee.referee import play_game
from arena.rules.registry import make
from arena.sandbox.channel import BotExited, BotTooSlow
from arena.sandbox.limits import NOTES_BYTES
from protocol.messages import ClockSettings, Limits
from tests.referee.games import (
    HELLO,
    KEY,
    Brain,
    FakeChannel,
    FakePool,
    Later,
    Request,
    at_turn,
    bot,
    honest,
    honest_play,
    line,
    play_fakes,
    spec,
)


def run(mister_x: Brain, detectives: Brain, **settings: Any) -> tuple[GameRecord, FakePool]:
    """Play one game between two functions, on a clock that jumps over every wait."""

    async def main() -> tuple[GameRecord, FakePool]:
        return await play_fakes(mister_x, detectives, **settings)

    record, pool = trio.run(main, clock=MockClock(autojump_threshold=0))
    return msgspec.json.decode(msgspec.json.encode(record), type=GameRecord), pool


def at_start(fault: Exception) -> Brain:
    """An honest bot but for a fault when it is dealt."""

    def brain(request: Request) -> bytes | Exception:
        return fault if request["type"] == "deal" else honest(request)

    return brain


GONE = BotExited("the bot ended with status 1 before the game was over")
NONE: Callable[[], Brain] = lambda: honest  # noqa: E731 - one word in the table below
START: Callable[[], Brain] = lambda: at_start(GONE)  # noqa: E731
MIDDLE: Callable[[], Brain] = lambda: at_turn(3, lambda _: GONE)  # noqa: E731

# Mister X's fault, the detectives' fault, who wins, who has a fault in which phase.
TABLE = (
    (NONE, NONE, "rules", ()),
    (NONE, START, "mister_x", (("detectives", "start-up"),)),
    (NONE, MIDDLE, "mister_x", (("detectives", "turn"),)),
    (START, NONE, "detectives", (("mister_x", "start-up"),)),
    (START, START, None, (("mister_x", "start-up"), ("detectives", "start-up"))),
    (START, MIDDLE, "detectives", (("mister_x", "start-up"),)),
    (MIDDLE, NONE, "detectives", (("mister_x", "turn"),)),
    (MIDDLE, START, "mister_x", (("detectives", "start-up"),)),
    (MIDDLE, MIDDLE, "detectives", (("mister_x", "turn"),)),
)
WORDS = {NONE: "none", START: "start", MIDDLE: "middle"}


@pytest.mark.parametrize(
    ("mister_x", "detectives", "winner", "faults"),
    TABLE,
    ids=[f"{WORDS[row[0]]}-{WORDS[row[1]]}" for row in TABLE],
)
def test_faults_of_two_sides_give_the_verdict_of_the_table(
    mister_x: Callable[[], Brain],
    detectives: Callable[[], Brain],
    winner: str | None,
    faults: tuple[tuple[str, str], ...],
) -> None:
    record, pool = run(mister_x(), detectives())
    core = record.core
    assert tuple((fault.side, fault.phase) for fault in core.faults) == faults
    assert core.reason == ("captured" if winner == "rules" else "fault")
    assert core.winner == ("detectives" if winner == "rules" else winner)
    assert all(channel.ended for channel in pool.channels)
    for side, aside in (
        ("mister_x", record.aside.mister_x),
        ("detectives", record.aside.detectives),
    ):
        has_fault = side in [name for name, _ in faults]
        assert (aside.fault_text is not None) == has_fault
        assert (aside.hint is not None) == has_fault
        assert (aside.evidence is not None) == has_fault


def test_both_sides_seen_failing_at_one_look_leave_no_winner() -> None:
    """Who is asked first must not decide, when both are gone."""

    async def main() -> GameRecord:
        async with FakePool({"x-bot": honest, "d-bot": honest}) as pool:

            def both_go(request: Request) -> Exception:
                for channel in pool.channels:
                    channel.gone = True
                return GONE

            pool.brains = {"x-bot": at_turn(2, both_go), "d-bot": honest}
            return await play_game(spec(bot("x-bot"), bot("d-bot")), pool)

    core = trio.run(main).core
    assert core.winner is None
    assert [(fault.side, fault.kind, fault.phase) for fault in core.faults] == [
        ("mister_x", "crash", "turn"),
        ("detectives", "crash", "off-turn"),
    ]


def test_side_that_is_ready_waits_for_the_other_to_fail() -> None:
    """At start-up both are waited for: a slow start is no fault because the other one failed."""
    slow = at_start(GONE)

    def late(request: Request) -> Any:
        return Later(4.0, honest(request)) if request["type"] == "deal" else honest(request)

    record, _ = run(slow, late)
    assert [fault.side for fault in record.core.faults] == ["mister_x"]
    assert record.aside.detectives.start_ms == pytest.approx(4000)


def test_start_up_is_limited_from_the_start_to_ready_and_never_charged() -> None:
    def late(kind: str, after_s: float) -> Brain:
        def brain(request: Request) -> Any:
            answer = honest(request)
            return Later(after_s, answer) if request["type"] == kind else answer

        return brain

    record, _ = run(late("hello", 9.0), late("deal", 9.9), clock=ClockSettings(move_ms=100))
    assert record.core.faults == ()
    assert record.aside.mister_x.times[0].charged_ms == 0

    def twice(request: Request) -> Any:
        answer = honest(request)
        return Later(6.0, answer) if request["type"] in ("hello", "deal") else answer

    record, _ = run(honest, twice)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("detectives", "timeout", "start-up")
    assert record.aside.detectives.fault_ms is None  # start-up is never charged
    assert "not ready within 10,000 ms of its start" in str(record.aside.detectives.fault_text)


def test_time_is_charged_and_told() -> None:
    """Free time, bank and charge are in the record and in the next request."""

    def slow(request: Request) -> Any:
        return Later(0.3, honest(request)) if request["type"] == "turn" else honest(request)

    clock = ClockSettings(move_ms=100, bank_ms=500)
    record, pool = run(slow, honest, clock=clock)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "timeout", "turn")
    times = record.aside.mister_x.times
    assert [time.charged_ms for time in times] == [300, 300]
    assert [time.bank_ms for time in times] == [300, 100]
    assert record.aside.mister_x.fault_ms == 200  # what was left, free time and bank
    assert record.aside.detectives.fault_ms is None
    turns = [asked for asked in pool.channels[0].asked if asked["type"] == "turn"]
    assert [(turn["bank_ms"], turn["charged_ms"]) for turn in turns] == [
        (500, None),
        (300, 300.0),
        (100, 300.0),
    ]


def test_parts_of_a_turn_share_its_time() -> None:
    def part(request: Request) -> Any:
        said = honest_play(request)
        if request["legal"]:
            said = {**said, "plies": said["plies"][:1], "more": True}
        return Later(0.03, line(**said))

    def brain(request: Request) -> Any:
        return part(request) if request["type"] == "turn" else honest(request)

    record, pool = run(honest, brain, clock=ClockSettings(move_ms=100))
    (fault,) = record.core.faults
    assert (fault.side, fault.kind) == ("detectives", "timeout")
    turns = [asked for asked in pool.channels[1].asked if asked["type"] == "turn"]
    assert [turn["part"] for turn in turns] == [1, 2, 3, 4]
    assert [play.more for play in record.core.plays if play.side == "detectives"] == [True] * 3


def test_game_on_nodes_tells_the_count_and_stops_at_the_wall() -> None:
    def slow(request: Request) -> Any:
        return Later(61.0, honest(request)) if request["type"] == "turn" else honest(request)

    record, pool = run(honest, slow, nodes=1000)
    deal = pool.channels[0].asked[1]
    assert deal["budget"] == {"nodes": 1000}
    assert deal["clock"] is None
    (fault,) = record.core.faults
    assert (fault.side, fault.kind) == ("detectives", "timeout")
    assert record.aside.mister_x.times[0].bank_ms is None


def test_game_without_a_clock_waits_as_long_as_it_takes() -> None:
    def slow(request: Request) -> Any:
        return Later(5e6, honest(request)) if request["type"] == "turn" else honest(request)

    record, _ = run(honest, slow, clock=None)
    assert record.core.faults == ()


def test_bot_that_counts_no_nodes_is_refused_for_a_game_on_nodes() -> None:
    def brain(request: Request) -> bytes:
        if request["type"] == "hello":
            hello = {**HELLO, "features": []}
            return line(type="hello", id=request["id"], protocol=1, name="fake", **hello)
        return honest(request)

    record, _ = run(brain, honest, nodes=1000)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "refused", "start-up")


def test_refused_program_is_a_fault_of_its_side() -> None:
    async def main() -> GameRecord:
        def start(
            bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
        ) -> FakeChannel:
            if bot.name == "x-bot":
                raise BotRefused("the program is missing")
            return FakeChannel(honest)

        async with BotPool(start) as pool:
            return await play_game(spec(bot("x-bot"), bot("d-bot")), pool)

    record = trio.run(main)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "refused", "start-up")
    assert record.core.winner == "detectives"
    assert record.aside.mister_x.evidence is None


@pytest.mark.parametrize("when", ["start", "turn"])
def test_fault_of_ours_voids_the_game(when: str) -> None:
    error = HostFault("no room for a process")
    record, pool = run(at_start(error) if when == "start" else at_turn(2, lambda _: error), honest)
    assert record.aside.void == "HostFault: no room for a process"
    assert (record.core.winner, record.core.reason, record.core.faults) == (None, "void", ())
    assert all(channel.ended for channel in pool.channels)


def test_fault_of_ours_tells_of_no_fault_of_a_bot_that_is_gone_too() -> None:
    """Whatever else is seen when the game is already void is nobody's doing."""

    async def main() -> GameRecord:
        async with FakePool({"x-bot": honest, "d-bot": honest}) as pool:

            def no_room(request: Request) -> Exception:
                pool.channels[1].gone = True
                return HostFault("no room")

            pool.brains = {"x-bot": at_turn(2, no_room), "d-bot": honest}
            return await play_game(spec(bot("x-bot"), bot("d-bot")), pool)

    record = trio.run(main)
    assert record.aside.void == "HostFault: no room"
    assert record.aside.detectives.fault_text is None


def test_bot_that_closed_its_output_is_told_from_one_that_ended() -> None:
    """Seen failing at one look, without an exit status."""

    class Closed(FakeChannel):
        def has_ended(self) -> bool:
            return True

    async def main() -> GameRecord:
        def start(
            bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
        ) -> FakeChannel:
            if bot.name == "x-bot":
                return FakeChannel(at_turn(2, lambda _: GONE))
            return Closed(honest)

        async with BotPool(start) as pool:
            return await play_game(spec(bot("x-bot"), bot("d-bot")), pool)

    record = trio.run(main)
    assert record.core.winner is None
    assert "closed its standard output while the other" in str(record.aside.detectives.fault_text)


def test_plies_of_another_game_are_a_fault_of_the_protocol() -> None:
    """The text quotes the line and tells where an example stands."""

    def wrong(request: Request) -> bytes:
        return line(type="play", id=request["id"], plies=[{"do": "move", "to": "Paris"}])

    record, _ = run(at_turn(2, wrong), honest)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "protocol", "turn")
    assert "no plies of london-2013" in str(record.aside.mister_x.fault_text)
    assert "Paris" in str(record.aside.mister_x.fault_text)
    assert "SPEC.md" in str(record.aside.mister_x.hint)


def test_bot_that_wants_nothing_is_told_the_view_alone() -> None:
    """No legal plies, no events: it finds out for itself what it may play, or loses."""
    ruleset = make("london-2013")
    start = ruleset.deal(derive(KEY, "deal", 0), 0)
    blind_turns = 0

    def blind(request: Request) -> bytes:
        if request["type"] == "hello":
            hello = {**HELLO, "wants": []}
            return line(type="hello", id=request["id"], protocol=1, name="fake", **hello)
        if request["type"] == "turn":
            assert "legal" not in request
            assert "events" not in request
            nonlocal blind_turns
            blind_turns += 1
            own = request["view"].get("path") == [start.path[0]]  # Mister X's first turn
            plies = [msgspec.to_builtins(ruleset.legal(start)[0])] if own else []
            return line(type="play", id=request["id"], plies=plies)
        return honest(request)

    for x, d, side in ((blind, honest, "mister_x"), (honest, blind, "detectives")):
        record, _ = run(x, d)
        (fault,) = record.core.faults
        assert (fault.side, fault.kind) == (side, "illegal")
    assert blind_turns == 3


def test_starved_bot_that_fails_all_the_same_marks_the_game() -> None:
    async def main() -> GameRecord:
        async with FakePool({"x-bot": honest, "d-bot": honest}) as pool:

            def starved(request: Request) -> Exception:
                pool.channels[0].lost_s = 0.4
                return BotTooSlow("no answer within 900 ms")

            pool.brains = {"x-bot": at_turn(2, starved), "d-bot": honest}
            return await play_game(spec(bot("x-bot"), bot("d-bot")), pool)

    record = trio.run(main)
    assert [fault.kind for fault in record.core.faults] == ["timeout"]
    assert "overloaded" in record.aside.marks
    assert record.aside.mister_x.given_back_ms == 400
    assert record.aside.detectives.given_back_ms == 0


def test_time_is_given_back_once_however_the_bot_fails_later() -> None:
    """Off turn there is no request whose deadline could have been moved."""

    async def main() -> GameRecord:
        async with FakePool({"x-bot": honest, "d-bot": honest}) as pool:

            def starved(request: Request) -> bytes:
                pool.channels[0].lost_s = 0.4
                pool.channels[0].gone = True
                return honest(request)

            def dies(request: Request) -> Exception:
                return BotExited("gone", "")

            pool.brains = {"x-bot": at_turn(2, starved), "d-bot": at_turn(2, dies)}
            return await play_game(spec(bot("x-bot"), bot("d-bot")), pool)

    record = trio.run(main)
    assert [fault.side for fault in record.core.faults] == ["mister_x", "detectives"]
    assert record.aside.mister_x.given_back_ms == 400


def test_game_that_is_cancelled_at_its_end_leaves_kept_bots_to_the_pool() -> None:
    """Mister X's process went back already, the team's is just being dismissed."""

    class Lingering(FakeChannel):
        async def end(self, *, grace_s: float = 0.0) -> None:
            if grace_s:
                await trio.sleep(100)
            await super().end()

    def single(request: Request) -> bytes:
        if request["type"] == "hello":
            hello = {**HELLO, "features": []}
            return line(type="hello", id=request["id"], protocol=1, name="fake", **hello)
        return honest(request)

    channels: dict[str, FakeChannel] = {}

    async def main() -> None:
        def start(
            bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool
        ) -> FakeChannel:
            made = FakeChannel(honest) if bot.name == "x-bot" else Lingering(single)
            return channels.setdefault(bot.name, made)

        async with BotPool(start) as pool:
            with trio.move_on_after(1) as scope:
                await play_game(spec(bot("x-bot"), bot("d-bot"), keep=True), pool)
            assert scope.cancelled_caught
            assert not channels["x-bot"].ended
            assert channels["d-bot"].ended

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert channels["x-bot"].ended


def test_bug_is_raised_and_leaves_no_process() -> None:
    channels: list[FakeChannel] = []

    async def main() -> None:
        async with FakePool({"x-bot": at_turn(2, lambda _: KeyError("bug")), "d-bot": honest}) as p:
            channels.extend(p.channels)
            try:
                await play_game(spec(bot("x-bot"), bot("d-bot")), p)
            finally:
                channels.extend(p.channels)

    with pytest.raises(ExceptionGroup) as caught:
        trio.run(main)
    assert caught.group_contains(KeyError, depth=1)
    assert len(channels) == 2
    assert all(channel.ended for channel in channels)


def test_cancelled_game_leaves_no_process() -> None:
    async def main() -> FakePool:
        async with FakePool({"x-bot": lambda r: None, "d-bot": honest}) as pool:
            with trio.move_on_after(1):
                await play_game(spec(bot("x-bot"), bot("d-bot")), pool)
            return pool

    pool = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert all(channel.ended for channel in pool.channels)


def test_ids_and_dice_come_from_the_key_alone() -> None:
    """The greetings take the first two ids, the deals the next two, then every turn one."""
    record, pool = run(honest, honest)
    key = bytes.fromhex(record.core.game_key)
    count = len(record.core.plays) + 4
    expected = list(islice(wire_ids(key), count))
    x_asked, d_asked = (channel.asked for channel in pool.channels)
    assert x_asked[0]["id"] == expected[0]
    assert d_asked[0]["id"] == expected[1]
    assert x_asked[1]["id"] == expected[2]
    assert d_asked[1]["id"] == expected[3]
    assert {asked["id"] for asked in (*x_asked, *d_asked)} == set(expected)
    assert x_asked[1]["seed"] == dice_seed(key, "mister_x")
    assert d_asked[1]["seed"] == dice_seed(key, "detectives")


def test_nothing_of_the_plan_goes_on_the_wire() -> None:
    _, pool = run(honest, honest, game="secret-game", deal=4711, deal_seed=KEY.hex())
    for channel, other in zip(pool.channels, ("d-bot", "x-bot"), strict=True):
        said = msgspec.json.encode([*channel.asked, *channel.told]).decode()
        for word in ("secret-game", "4711", KEY.hex(), other):
            assert word not in said


def test_side_is_told_the_events_that_it_may_see_once() -> None:
    _, pool = run(honest, honest)
    x_turns, d_turns = (
        [asked for asked in channel.asked if asked["type"] == "turn"] for channel in pool.channels
    )
    assert x_turns[0]["events"] == []
    assert [event["event"] for event in d_turns[0]["events"]] == ["move"]
    assert d_turns[0]["events"][0]["to"] is None
    own = [event for event in x_turns[1]["events"] if event["figure"] == "x"]
    assert [event["to"] for event in own] == [x_turns[1]["view"]["station"]]
    assert sum(event["figure"] != "x" for event in x_turns[1]["events"]) >= 5


def test_end_tells_both_sides_the_whole_record() -> None:
    record, pool = run(honest, honest)
    for channel in pool.channels:
        end, bye = channel.told
        assert bye == {"type": "bye"}
        assert (end["winner"], end["reason"]) == (record.core.winner, record.core.reason)
        assert len(end["record"]["plays"]) == len(record.core.plays)
        assert end["record"]["facts"] == record.core.facts


def test_illegal_move_is_told_to_its_bot_alone() -> None:
    """Its text names the rule; the other side's `end` does not show it."""

    def wrong(request: Request) -> bytes:
        said = honest_play(request)
        said["plies"][0]["to"] = 199 if said["plies"][0]["to"] != 199 else 1
        return line(**said)

    record, pool = run(at_turn(2, wrong), honest)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "illegal", "turn")
    x_end, d_end = pool.channels[0].told[0], pool.channels[1].told[0]
    assert "illegal: L" in x_end["fault"]
    assert d_end["fault"] is None
    assert d_end["reason"] == "fault"


def test_second_answer_is_a_fault_when_its_bot_is_asked_again() -> None:
    record, _ = run(at_turn(1, lambda request: honest(request) * 2), honest)
    (fault,) = record.core.faults
    assert (fault.side, fault.kind, fault.phase) == ("mister_x", "protocol", "off-turn")
    assert len(record.core.plays) >= 2


def test_what_comes_after_the_verdict_changes_nothing() -> None:
    """The capturing answer sent twice: the game is over at the first."""
    played, _ = run(honest, honest)
    assert played.core.reason == "captured"
    last = sum(play.side == "detectives" for play in played.core.plays)
    record, _ = run(honest, at_turn(last, lambda request: honest(request) * 2))
    assert record.core == played.core


def test_notes_are_kept_up_to_the_limit_of_a_side_and_game() -> None:
    """A note of 1 KiB fits 16 times; what is over is dropped and counted, and is no fault."""
    note = "n" * 1022

    def brain(request: Request) -> bytes:
        if request["type"] != "turn":
            return honest(request)
        return line(**honest_play(request), note=note)

    # A team that asks for every figure apart has turns enough.
    def parts(request: Request) -> bytes:
        if request["type"] != "turn":
            return honest(request)
        said = honest_play(request)
        if request["legal"]:
            said = {**said, "plies": said["plies"][:1], "more": True}
        return line(**said, note=note)

    record, _ = run(brain, parts)
    of_detectives = [i for i, play in enumerate(record.core.plays) if play.side == "detectives"]
    kept = [i for i in of_detectives if i in record.notes]
    assert len(of_detectives) > NOTES_BYTES // 1024
    assert len(kept) == NOTES_BYTES // 1024
    assert kept == of_detectives[: len(kept)]
    assert record.aside.detectives.notes_dropped == len(of_detectives) - len(kept)
    assert record.core.faults == ()


def test_plies_behind_the_capture_are_not_recorded() -> None:
    record, _ = run(honest, honest)
    assert record.core.reason == "captured"
    last = record.core.plays[-1]
    assert last.plies[-1]["to"] == record.core.facts["capture_station"]


def test_lost_time_is_not_charged_and_marks_the_game() -> None:
    async def main() -> GameRecord:
        async with FakePool({"x-bot": honest, "d-bot": honest}) as pool:

            def starved(request: Request) -> Later:
                pool.channels[0].lost_s = 0.4
                return Later(0.45, honest(request))

            pool.brains = {"x-bot": at_turn(2, starved), "d-bot": honest}
            game = spec(bot("x-bot"), bot("d-bot"), clock=ClockSettings(move_ms=500))
            return await play_game(game, pool)

    record = trio.run(main, clock=MockClock(autojump_threshold=0))
    aside = record.aside.mister_x
    assert aside.times[1].charged_ms == pytest.approx(50)
    assert aside.given_back_ms == 400 * (len(aside.times) - 1)
    assert "overloaded" in record.aside.marks


def test_record_of_the_same_game_is_the_same_to_the_byte() -> None:
    first, second = (msgspec.json.encode(run(honest, honest)[0].core) for _ in range(2))
    assert first == second
