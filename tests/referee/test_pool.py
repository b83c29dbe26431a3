"""Kept processes: one bot, one side, replaced after any fault or unread byte."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from itertools import islice
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from arena.errors import leaves
from arena.referee import pool as pool_module
from arena.referee.keys import wire_ids
from arena.referee.pool import BotPool, cpu_backstop_s
from arena.referee.record import BotSpec, GameRecord
from arena.referee.referee import play_game
from arena.rules.ruleset import Side
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.channel import BotExited
from arena.sandbox.hub import Hub
from arena.sandbox.visible import Visible
from protocol.messages import ClockSettings, Limits
from tests.referee.games import (
    FAULTY,
    HELLO,
    Brain,
    FakeChannel,
    FakePool,
    Request,
    bot,
    honest,
    honest_play,
    line,
    spec,
)


async def play_series(
    pool: FakePool, pairs: Sequence[tuple[str, str]], **settings: Any
) -> list[GameRecord]:
    """Play games one after the other with kept processes."""
    return [
        await play_game(spec(bot(x), bot(d), number=number, keep=True, **settings), pool)
        for number, (x, d) in enumerate(pairs)
    ]


def series(
    brains: dict[str, Brain], pairs: Sequence[tuple[str, str]], **settings: Any
) -> tuple[FakePool, list[GameRecord]]:
    """Play games one after the other, and see that nothing is left at the end."""

    async def main() -> tuple[FakePool, list[GameRecord]]:
        async with FakePool(brains) as pool:
            records = await play_series(pool, pairs, **settings)
        return pool, records

    pool, records = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert all(channel.ended for channel in pool.channels)
    return pool, records


def test_honest_bots_serve_many_games() -> None:
    pool, records = series({"a": honest, "b": honest}, [("a", "b")] * 5)
    assert len(pool.channels) == 2
    assert [asked["type"] for asked in pool.channels[0].asked].count("hello") == 1
    assert [asked["type"] for asked in pool.channels[0].asked].count("deal") == 5
    assert [told["type"] for told in pool.channels[0].told] == ["end"] * 5 + ["bye"]
    assert all(record.aside.marks == ("unsandboxed", "kept") for record in records)


def test_process_serves_one_side() -> None:
    """A bot that changes sides gets a process for each: it must not carry over what it saw."""
    pool, _ = series({"a": honest, "b": honest}, [("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")])
    assert len(pool.channels) == 4
    for channel in pool.channels:
        deals = [asked for asked in channel.asked if asked["type"] == "deal"]
        assert len({deal["side"] for deal in deals}) == 1


def test_process_serves_one_ruleset() -> None:
    async def main() -> FakePool:
        hello = {**HELLO, "rulesets": ["london-2013", "london-classic"]}

        def both(request: Request) -> bytes:
            if request["type"] == "hello":
                return line(type="hello", id=request["id"], protocol=1, name="fake", **hello)
            return honest(request)

        async with FakePool({"a": both, "b": both}) as pool:
            for ruleset in ("london-2013", "london-classic"):
                await play_game(spec(bot("a"), bot("b"), keep=True, ruleset=ruleset), pool)
        return pool

    pool = trio.run(main)
    assert [channel.asked[0]["rulesets"] for channel in pool.channels] == [
        ["london-2013"],
        ["london-2013"],
        ["london-classic"],
        ["london-classic"],
    ]


def test_games_at_once_never_share_a_process() -> None:
    async def main() -> FakePool:
        async with FakePool({"a": honest, "b": honest}) as pool:
            async with trio.open_nursery() as nursery:
                for number in range(6):
                    game = spec(bot("a"), bot("b"), number=number, keep=True)
                    nursery.start_soon(play_game, game, pool)
            return pool

    pool = trio.run(main)
    assert len(pool.channels) == 12
    assert all(channel.ended for channel in pool.channels)


def test_bot_that_does_not_offer_reuse_gets_fresh_processes() -> None:
    def single(request: Request) -> bytes:
        if request["type"] == "hello":
            hello = {**HELLO, "features": []}
            return line(type="hello", id=request["id"], protocol=1, name="fake", **hello)
        return honest(request)

    pool, _ = series({"a": single, "b": honest}, [("a", "b")] * 3)
    assert len(pool.channels) == 4


def test_process_is_replaced_after_a_fault() -> None:
    """The other side's process stays, and plays the next game from its deal."""
    turns = 0

    def dies_once(request: Request) -> bytes | Exception:
        nonlocal turns
        turns += request["type"] == "turn"
        if request["type"] == "turn" and turns == 2:
            return BotExited("gone")
        return honest(request)

    pool, records = series({"a": dies_once, "b": honest}, [("a", "b")] * 3)
    assert [len(record.core.faults) for record in records] == [1, 0, 0]
    assert len(pool.channels) == 3


def test_illegal_move_ends_a_kept_process_too() -> None:
    turns = 0

    def wrong_once(request: Request) -> bytes:
        nonlocal turns
        turns += request["type"] == "turn"
        if request["type"] == "turn" and turns == 2:
            said = honest_play(request)
            said["plies"][0]["figure"] = "d1"
            return line(**said)
        return honest(request)

    pool, records = series({"a": wrong_once, "b": honest}, [("a", "b")] * 2)
    assert [fault.kind for fault in records[0].core.faults] == ["illegal"]
    assert len(pool.channels) == 3


def test_process_with_an_unread_byte_is_replaced() -> None:
    """What came behind the last answer is not read into the next game."""
    _, (first,) = series({"a": honest, "b": honest}, [("a", "b")])
    assert first.core.plays[-1].side == "detectives"
    ids = wire_ids(bytes.fromhex(first.core.game_key))
    last_id = list(islice(ids, len(first.core.plays) + 4))[-1]

    def chatty(request: Request) -> bytes:
        return honest(request) + (b"x" if request["id"] == last_id else b"")

    pool, records = series({"a": honest, "b": chatty}, [("a", "b")] * 2)
    assert [record.core.faults for record in records] == [(), ()]
    assert len(pool.channels) == 3


def test_process_that_has_ended_is_replaced() -> None:
    """It exits by itself after its last answer: no fault, and no use for the next game."""

    async def main() -> FakePool:
        async with FakePool({"a": honest, "b": honest}) as pool:
            await play_series(pool, [("a", "b")])
            game = spec(bot("a"), bot("b"), keep=True)
            seat = pool.seat(game, Side.MISTER_X)
            assert pool.can_keep(seat, game)
            pool.channels[0].gone = True
            assert not pool.can_keep(seat, game)
            await pool.drop(seat)
        return pool

    trio.run(main)


def test_pool_starts_plain_processes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own hub, the bot's command and folder, and no end of CPU time if it is kept."""
    started: list[tuple[Any, ...]] = []

    def start_fake(
        hub: Hub, command: Any, folder: str, *, limits: Limits, cpu_s: int | None, guard: None
    ) -> Any:
        assert guard is None
        started.append((hub, command, folder, limits, cpu_s))
        return FakeChannel(honest)

    monkeypatch.setattr(pool_module, "start_bot", start_fake)
    games = [spec(bot("a", "./a"), bot("b", "./b"), keep=keep) for keep in (False, True)]
    for game in games:
        record = trio.run(play_game, game)
        assert record.core.faults == ()
    assert [one[1:3] for one in started] == [(("./a",), str(FAULTY)), (("./b",), str(FAULTY))] * 2
    assert [one[3] for one in started] == [games[0].limits] * 4
    assert [one[4] for one in started] == [cpu_backstop_s(games[0])] * 2 + [None] * 2
    assert started[0][0] is started[1][0] is not started[2][0]


def test_rated_game_of_kept_processes_tells_no_record() -> None:
    for rated in (False, True):
        pool, _ = series({"a": honest, "b": honest}, [("a", "b")], rated=rated)
        end = pool.channels[0].told[0]
        assert ("record" not in end) == rated


def test_pool_keeps_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_MOST_IDLE", 4)
    names = [f"bot{i}" for i in range(6)]

    async def main() -> None:
        async with FakePool(dict.fromkeys(names, honest)) as pool:
            await play_series(pool, [(name, name) for name in names])
            living = [channel for channel in pool.channels if not channel.ended]
            assert living == pool.channels[-4:]

    trio.run(main)


@pytest.mark.parametrize(
    ("settings", "least", "most"),
    [
        ({"clock": ClockSettings(move_ms=1000)}, 1000, 100_000),
        ({"clock": None}, None, None),
        ({"clock": None, "nodes": 100}, 60_000, 10_000_000),
    ],
    ids=["clock", "no clock", "nodes"],
)
def test_backstop_of_cpu_is_far_above_what_a_game_gives(
    settings: dict[str, Any], least: int | None, most: int | None
) -> None:
    found = cpu_backstop_s(spec(bot("a"), bot("b"), **settings))
    if least is None or most is None:
        assert found is None
    else:
        assert found is not None
        assert least <= found <= most


def pool_in_a_sandbox(brains: dict[str, Brain]) -> tuple[BotPool, list[bool]]:
    """A pool of fakes that believes in a sandbox, and what each was started in."""
    started: list[bool] = []

    def start(bot: BotSpec, *, limits: Limits, cpu_s: int | None, sandboxed: bool) -> FakeChannel:
        del limits, cpu_s
        started.append(sandboxed)
        return FakeChannel(brains[bot.name])

    visible = Visible(trees=())
    profile = Profile(
        bwrap="/usr/bin/bwrap",
        version="0.12.0",
        route="U",
        visible=visible,
        prlimit="/usr/bin/prlimit",
        setpriv="/usr/bin/setpriv",
        environment=(),
    )
    return BotPool(start, profile=profile), started


@pytest.mark.parametrize(
    ("sandbox", "kept_in", "marks"),
    [("auto", "bubblewrap 0.12.0, route U", ()), ("none", None, ("unsandboxed",))],
)
def test_record_tells_what_its_bots_were_kept_in(
    sandbox: str, kept_in: str | None, marks: tuple[str, ...]
) -> None:
    async def main() -> tuple[GameRecord, list[bool]]:
        pool, started = pool_in_a_sandbox({"a": honest, "b": honest})
        async with pool:
            return await play_game(spec(bot("a"), bot("b"), sandbox=sandbox), pool), started

    record, started = trio.run(main)
    assert started == [sandbox == "auto"] * 2
    assert record.aside.sandbox == kept_in
    assert record.aside.marks == marks


def test_bot_of_a_stranger_plays_nowhere_without_a_sandbox() -> None:
    async def main() -> GameRecord:
        async with FakePool({"a": honest, "b": honest}) as pool:
            record = await play_game(spec(bot("a"), bot("b"), sandbox="auto"), pool)
        assert pool.channels == []
        return record

    record = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert record.core.reason == "void"
    assert "there is no sandbox here" in str(record.aside.void)
    assert record.core.faults == ()


def keep_a_bot_till_ctrl_c() -> None:
    """Have a pool keep one bot; a Ctrl-C ends it, and it leaves neither the bot nor a file."""
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names alone
    channels: list[FakeChannel] = []

    async def main() -> None:
        async with FakePool({"a": honest}) as pool:
            pool.channels = channels
            game = spec(bot("a"), bot("a"), keep=True)
            await pool.keep(pool.seat(game, Side.MISTER_X), game)
            await trio.lowlevel.checkpoint()

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)) as caught:
        trio.run(main)
    error = caught.value
    errors = leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    assert [type(each) for each in errors] == [KeyboardInterrupt]
    assert [channel.ended for channel in channels] == [True]
    assert set(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


@pytest.mark.parametrize("when", ["start", "stop"], ids=["as it opens", "as it closes"])
@pytest.mark.parametrize("is_done", [False, True], ids=["before the hub", "behind the hub"])
def test_ctrl_c_while_a_pool_opens_or_closes_ends_the_run_and_leaves_nobody(
    monkeypatch: pytest.MonkeyPatch, when: str, is_done: bool
) -> None:
    original = getattr(Hub, when)

    def interrupted(*args: Any) -> None:
        if is_done:
            original(*args)
        signal.raise_signal(signal.SIGINT)
        if not is_done:
            original(*args)

    monkeypatch.setattr(Hub, when, interrupted)
    keep_a_bot_till_ctrl_c()


def test_ctrl_c_while_kept_bots_are_dismissed_ends_the_run_and_leaves_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It falls into the task that waits for them; and, as well, into those that end them."""
    original = FakeChannel.end

    async def end(self: FakeChannel, *, grace_s: float = 0.0) -> None:
        signal.raise_signal(signal.SIGINT)
        with trio.CancelScope(shield=True):
            await trio.testing.wait_all_tasks_blocked()  # till it has come to the one who waits
            await original(self, grace_s=grace_s)

    monkeypatch.setattr(FakeChannel, "end", end)
    keep_a_bot_till_ctrl_c()
