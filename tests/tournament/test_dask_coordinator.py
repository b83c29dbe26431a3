"""What the coordinator of a Dask cluster decides, on a made-up cluster and clock."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

import arena
from arena.errors import ConfigError, HostFault, Interrupted, leaves
from arena.tournament.executors import dask, supply
from arena.tournament.executors.crossing import Answer, Batch, Ready, Setup, differences, versions
from arena.tournament.executors.dask import DaskExecutor
from arena.tournament.executors.dask_cluster import Machine, SchedulerLostError, TaskLostError
from arena.tournament.executors.executor import Finished, Job, encode_spec
from arena.tournament.executors.members import PAUSED
from arena.tournament.executors.packing import digest_of, pack
from arena.tournament.executors.room import Played
from arena.tournament.plan import Plan
from tests.fake_games import fake_bot, fake_plan


class FakeWorker:
    """Plays a batch in `game_s` a game and place; `end` says what becomes of each game."""

    def __init__(self, name: str, *, threads: int = 1, game_s: float = 0.5) -> None:
        self.machine = Machine(name, f"tcp://{name}", name, threads, is_leaving=False)
        self.game_s = game_s
        self.ready = Ready()
        self.failure: str | None = None
        self.trouble: Exception | None = None  # when it is given a bot
        self.kills: set[int] = set()  # games that end it
        self.batches: list[Batch] = []
        self.bots: list[tuple[str, str]] = []
        self.setup: Setup | None = None
        self.is_dead = False
        self.is_closed = False

    def pause(self, *, is_paused: bool) -> None:
        self.machine = self.machine._replace(is_paused=is_paused)


class FakeCluster:
    """Machines that tests add and take away."""

    address = "tcp://fake"

    def __init__(self, *workers: FakeWorker) -> None:
        self.workers = {worker.machine.id: worker for worker in workers}
        self.is_lost = False
        self.forgotten: list[str] = []
        self.versions = versions()
        self.scheduler_error: Exception | None = None
        self.needs: list[bool] = []

    def take_away(self, worker: FakeWorker) -> None:
        worker.is_dead = True
        del self.workers[worker.machine.id]

    async def machines(self) -> list[Machine]:
        await trio.lowlevel.checkpoint()
        if self.is_lost:
            raise SchedulerLostError(self.address)
        return [worker.machine for worker in self.workers.values()]

    async def ask_scheduler(self, function: object) -> dict[str, str]:
        await trio.lowlevel.checkpoint()
        assert function is versions
        if self.scheduler_error is not None:
            raise self.scheduler_error
        return self.versions

    async def show_need(self, *, is_needed: bool) -> None:
        if [is_needed] != self.needs[-1:]:
            self.needs.append(is_needed)

    async def ask(self, machine: Machine, function: Callable[..., Any], *args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        worker = self.workers.get(machine.id)
        if worker is None:
            raise TaskLostError("gone")
        match function.__name__:
            case "get_ready":
                worker.setup = msgspec.json.decode(args[1], type=Setup)
                return msgspec.json.encode(worker.ready)
            case "has_bots":
                known = {digest for _, digest in worker.bots}
                return [folder for folder, digest in args[1].items() if digest not in known]
            case "take_bot":
                _, folder, digest, packed = args
                if worker.trouble is not None:
                    raise worker.trouble
                assert digest_of(packed) == digest
                worker.bots.append((folder, digest))
                return ""
        assert function.__name__ == "close"
        worker.is_closed = True
        return None

    def forget(self, machine: Machine) -> None:
        self.forgotten.append(machine.name)

    async def play(self, machine: Machine, _function: object, _name: str, text: bytes) -> bytes:
        worker = self.workers[machine.id]
        batch = msgspec.msgpack.decode(text, type=Batch)
        worker.batches.append(batch)
        if worker.kills & {job.number for job in batch.jobs}:
            self.take_away(worker)
            again = FakeWorker(worker.machine.name + "'", threads=worker.machine.threads)
            again.kills = worker.kills
            again.batches = worker.batches
            self.workers[again.machine.id] = again
            await trio.sleep_forever()
        while worker.machine.is_paused:  # noqa: ASYNC110 - until the test says so
            await trio.sleep(1)
        await trio.sleep(worker.game_s * len(batch.jobs) / batch.at_once)
        if worker.is_dead:
            await trio.sleep_forever()
        played = [Played(job.number, b"record", worker.game_s) for job in batch.jobs]
        return msgspec.msgpack.encode(Answer(played=played, failure=worker.failure))


class Coordinator:
    """A run on a made-up cluster."""

    def __init__(self, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[str] = []
        self.out = self.most_out = 0
        self.results: dict[int, bytes | None] = {}

        self.asked_for = 0  # workers of a cluster that is started here

        @asynccontextmanager
        async def opened(*_args: object, workers: int, **_more: object) -> AsyncIterator[Any]:
            self.asked_for = workers
            yield cluster

        monkeypatch.setattr(dask, "open_cluster", opened)

    def play(
        self,
        plan: Plan,
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        at: dict[float, Callable[[], object]] | None = None,
        waits: bool = False,
        told_s: float = 0.0,
    ) -> None:
        """Play a plan.

        Args:
            plan: what to play.
            jobs: games at once.
            scheduler: its address; None for a cluster of our own.
            at: what happens when, in seconds.
            waits: whether there may be more games until every one is back, as in a tournament.
            told_s: seconds that are needed to take a result, as on a slow disk.
        """
        threshold = 0 if scheduler is None else 0.05  # files are read in a thread
        executor = DaskExecutor(jobs, scheduler=scheduler, say=self.said.append)

        async def main() -> None:
            jobs_in, jobs_out = trio.open_memory_channel[Job](0)
            results_in, results_out = trio.open_memory_channel[Finished](0)

            all_back = trio.Event()

            async def feed() -> None:
                with jobs_in:
                    for spec in plan.specs():
                        await jobs_in.send(Job(spec.index, encode_spec(spec)))
                        self.out += 1
                        self.most_out = max(self.most_out, self.out)
                    if waits:
                        await all_back.wait()

            async def execute() -> None:
                with results_in:
                    await executor.run(jobs_out, results_in)

            async def happen(when: float, what: Callable[[], object]) -> None:
                await trio.sleep(when)
                what()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(feed)
                nursery.start_soon(execute)
                async with trio.open_nursery() as events:
                    for when, what in (at or {}).items():
                        events.start_soon(happen, when, what)
                    async for finished in results_out:
                        assert finished.number not in self.results
                        self.results[finished.number] = finished.record
                        self.out -= 1
                        await trio.sleep(told_s)
                        if len(self.results) == plan.count:
                            all_back.set()
                    events.cancel_scope.cancel()

        try:
            trio.run(main, clock=trio.testing.MockClock(autojump_threshold=threshold))
        except ExceptionGroup as group:
            raise leaves(group)[0] from None


def test_batches_last_two_seconds_by_the_measured_length(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker("a", threads=3, game_s=0.1)
    run = Coordinator(FakeCluster(worker), monkeypatch)
    run.play(fake_plan(4, deals=30))
    assert len(run.results) == 360
    assert [len(batch.jobs) for batch in worker.batches[:3]] == [3, 60, 60]
    assert {batch.at_once for batch in worker.batches} == {3}
    assert run.most_out <= 60 + 2
    assert worker.is_closed


def test_long_games_are_given_out_one_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker("a", threads=2, game_s=30)
    run = Coordinator(FakeCluster(worker), monkeypatch)
    run.play(fake_plan(2, deals=5))
    assert {len(batch.jobs) for batch in worker.batches} == {2}


def test_jobs_are_shared_by_those_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = FakeWorker("a", threads=8), FakeWorker("b", threads=8)
    third = FakeWorker("c", threads=8)
    cluster = FakeCluster(first, second)
    run = Coordinator(cluster, monkeypatch)
    run.play(fake_plan(4, deals=40), jobs=5, at={9.0: lambda: cluster.workers.update({"c": third})})
    assert [first.batches[0].at_once, second.batches[0].at_once] == [3, 2]
    last = [worker.batches[-1].at_once for worker in (first, second, third)]
    assert last == [2, 2, 1]
    assert len(run.results) == 480


def test_how_many_games_are_played_at_once_is_said_whenever_that_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small, large = FakeWorker("small", game_s=0.1), FakeWorker("large", threads=9, game_s=0.1)
    bare, short = FakeWorker("bare"), FakeWorker("short", threads=10)
    where = "in 1 worker on 2 CPUs (0-1), unpinned"
    small.ready = large.ready = Ready(where=where)
    bare.ready = Ready(refusal="has no sandbox")
    short.ready = Ready(where=where, most=7)
    cluster = FakeCluster(small)
    at: dict[float, Callable[[], object]] = {
        2.0: lambda: cluster.workers.update(large=large),
        4.0: lambda: cluster.workers.update(bare=bare),
        6.0: lambda: cluster.workers.update(short=short),
        8.0: lambda: cluster.take_away(large),
    }
    run = Coordinator(cluster, monkeypatch)
    run.play(fake_plan(4, deals=900), jobs=50, at=at)
    assert run.said == [
        f"Dask worker small plays {where}; in all 50 games at once on one Dask worker.",
        f"Dask worker large plays {where}; in all 50 games at once on 2 Dask workers.",
        "Dask worker bare (tcp://bare) has no sandbox; in all 50 games at once on 2 Dask workers",
        f"Dask worker short plays {where}; in all 32 games at once on 3 Dask workers.",
        "Dask worker large is gone; in all 12 games at once on 2 Dask workers.",
    ]


def test_a_game_that_ends_three_workers_is_given_up_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = FakeWorker("a", threads=4)
    worker.kills = {13}
    cluster = FakeCluster(worker)
    run = Coordinator(cluster, monkeypatch)
    plan = fake_plan(4, deals=5)
    run.play(plan)
    assert sorted(run.results) == list(range(plan.count))
    assert [number for number, record in run.results.items() if record is None] == [13]
    with_it = [batch for batch in worker.batches if any(job.number == 13 for job in batch.jobs)]
    assert len(with_it) == 3
    assert len(with_it[-1].jobs) == 1  # the last try is made alone
    assert run.said[1] == "Dask worker a is gone."
    assert cluster.forgotten == ["a", "a'", "a''"]


def test_a_run_whose_two_workers_go_at_once_still_plays_every_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of them has a game in hand and waits for more; which is told first is chance."""
    monkeypatch.setattr(supply, "_LINGER_S", 2.0)  # longer than from one look to the next

    def hang() -> None:
        raise AssertionError("a game is lost: the run waits for it, and nobody plays it")

    plan = fake_plan(2, deals=2)
    for _ in range(20):
        first, second, third = (FakeWorker(name, threads=3, game_s=2) for name in "abc")
        cluster = FakeCluster(first, second)
        run = Coordinator(cluster, monkeypatch)

        def replace(cluster: FakeCluster, *gone: FakeWorker, by: FakeWorker) -> None:
            for worker in gone:
                cluster.take_away(worker)
            cluster.workers[by.machine.id] = by

        happens = partial(replace, cluster, first, second, by=third)
        run.play(plan, at={0.25: happens, 60.0: hang}, waits=True)
        assert run.results == dict.fromkeys(range(plan.count), b"record")
        given = [len(batch.jobs) for worker in (first, second) for batch in worker.batches]
        assert given == [3]  # the fourth was in hand


def test_a_worker_that_leaves_by_itself_counts_for_no_game_as_a_death(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workers = [FakeWorker(name, game_s=5) for name in "abcd"]
    cluster = FakeCluster(workers[0])
    run = Coordinator(cluster, monkeypatch)

    def replace(old: FakeWorker, new: FakeWorker) -> Callable[[], None]:
        def happen() -> None:
            old.machine = old.machine._replace(is_leaving=True)
            cluster.workers[new.machine.id] = new

        return happen

    at = {2.0 + 4 * n: replace(*workers[n : n + 2]) for n in range(3)}
    plan = fake_plan(2, deals=1)
    run.play(plan, at=dict(at))
    assert run.results == dict.fromkeys(range(plan.count), b"record")
    assert [batch.jobs[0].number for worker in workers for batch in worker.batches][:4] == [0] * 4


def test_results_that_have_come_count_though_their_worker_goes_while_they_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = fake_plan(2, deals=2)
    first, second = FakeWorker("a", threads=4), FakeWorker("b", threads=4)
    cluster = FakeCluster(first)
    run = Coordinator(cluster, monkeypatch)

    def replace() -> None:
        cluster.take_away(first)
        cluster.workers[second.machine.id] = second

    run.play(plan, at={15.0: replace}, waits=True, told_s=10.0)
    assert run.results == dict.fromkeys(range(plan.count), b"record")
    assert [len(batch.jobs) for batch in first.batches] == [4]
    assert second.setup is not None
    assert not any(batch.jobs for batch in second.batches)  # nothing is played again


def test_a_worker_that_fails_when_it_is_left_does_not_hide_how_the_run_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has no arena: it is still getting ready as the others have played all games."""

    class Slow(FakeCluster):
        async def ask(self, machine: Machine, function: Callable[..., Any], *args: Any) -> Any:
            if machine.name == "b":
                if function.__name__ == "get_ready":
                    await trio.sleep(30)
                raise ModuleNotFoundError("No module named 'arena'")
            return await super().ask(machine, function, *args)

    plan = fake_plan(2, deals=2)
    run = Coordinator(Slow(FakeWorker("a"), FakeWorker("b")), monkeypatch)
    run.play(plan)
    assert run.results == dict.fromkeys(range(plan.count), b"record")


@pytest.mark.parametrize("came", [False, True])
def test_where_none_can_go_on_another_has_half_a_minute_to_come(
    monkeypatch: pytest.MonkeyPatch, came: bool
) -> None:
    bad, good = FakeWorker("bad"), FakeWorker("good")
    bad.failure = "a worker process can't be started: no room"
    cluster = FakeCluster(bad)
    run = Coordinator(cluster, monkeypatch)
    plan = fake_plan(3, deals=3)
    if came:
        run.play(plan, at={20.0: lambda: cluster.workers.update(good=good)})
        assert len(run.results) == plan.count
        assert f"Dask worker bad (tcp://bad) {bad.failure}" in run.said
    else:
        with pytest.raises(
            HostFault, match=r"can play:\n  bad \(tcp://bad\) a worker process can't"
        ):
            run.play(plan)


def test_a_worker_that_dask_pauses_gives_its_games_back_and_plays_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full, other = FakeWorker("full", game_s=2), FakeWorker("other", game_s=2)
    cluster = FakeCluster(full, other)
    at: dict[float, Callable[[], object]] = {
        7.0: lambda: full.pause(is_paused=True),
        9.0: lambda: full.pause(is_paused=False),
        20.0: lambda: full.pause(is_paused=True),
        40.0: lambda: full.pause(is_paused=False),
    }
    run = Coordinator(cluster, monkeypatch)
    plan = fake_plan(3, deals=10)
    run.play(plan, at=at)
    assert len(run.results) == plan.count
    assert None not in run.results.values()
    refusal = f"Dask worker full (tcp://full) {PAUSED}; in all 1 game at once on one Dask"
    told = [line for line in run.said if " full " in line]
    assert [line.startswith(refusal) for line in told] == [False, True, False]
    assert told[2].startswith("Dask worker full plays ")


def test_where_all_workers_are_paused_the_run_ends_with_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = FakeWorker("full")
    full.pause(is_paused=True)
    run = Coordinator(FakeCluster(full), monkeypatch)
    with pytest.raises(HostFault, match=r"can play:\n  full .* a larger --memory-limit$"):
        run.play(fake_plan(2))


def test_a_worker_that_fails_at_taking_a_bot_is_refused_and_others_play(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bot = msgspec.structs.replace(fake_bot("one"), folder=str(tmp_path))
    bad, good = FakeWorker("bad"), FakeWorker("good")
    bad.trouble = ValueError("no such codec")
    run = Coordinator(FakeCluster(bad, good), monkeypatch)
    plan = fake_plan([bot, fake_bot("two")], deals=4)
    run.play(plan, scheduler="tcp://fake")
    assert len(run.results) == plan.count
    assert bad.batches == []
    assert any(
        line.startswith("Dask worker bad (tcp://bad) failed: ValueError: no such codec")
        for line in run.said
    )


def test_where_none_could_ever_play_the_run_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker("a")
    worker.ready = Ready(refusal="has no sandbox")
    run = Coordinator(FakeCluster(worker), monkeypatch)
    with pytest.raises(ConfigError, match=r"tcp://fake can play:\n  a \(tcp://a\) has no sandbox"):
        run.play(fake_plan(2))


def test_without_a_worker_it_waits_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Coordinator(FakeCluster(), monkeypatch)
    with pytest.raises(Interrupted, match="no Dask worker at tcp://fake for ten minutes"):
        run.play(fake_plan(2))
    assert run.said == ["Waiting for Dask workers at tcp://fake."]


def test_a_need_of_workers_is_shown_as_long_as_there_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = FakeWorker("a", game_s=2), FakeWorker("b", game_s=2)
    cluster = FakeCluster()
    run = Coordinator(cluster, monkeypatch)
    at: dict[float, Callable[[], object]] = {
        3.0: lambda: cluster.workers.update(a=first),
        8.0: lambda: cluster.take_away(first),
        11.0: lambda: cluster.workers.update(b=second),
    }
    run.play(fake_plan(2, deals=10), at=at)
    assert cluster.needs == [True, False, True, False]
    assert len(run.results) == 20


def test_a_scheduler_without_our_arena_ends_the_run_before_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = FakeCluster(FakeWorker("a"))
    cluster.scheduler_error = ModuleNotFoundError("No module named 'arena'")
    run = Coordinator(cluster, monkeypatch)
    with pytest.raises(ConfigError) as caught:
        run.play(fake_plan(2), scheduler="tcp://fake")
    assert str(caught.value) == (
        "the Dask scheduler at tcp://fake can't be used: start it with a Python that has "
        f"misterx-arena[dask] {arena.__version__}, as workers (No module named 'arena')"
    )
    assert run.said == []


def test_other_versions_than_ours_are_told_once_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, ours = FakeWorker("a"), versions()
    cluster = FakeCluster(worker)
    cluster.versions = {**ours, "Python": "3.9.1", "Dask": "1.0"}
    worker.ready = Ready(notes=("has Dask 1.0, not 2.0 as this machine",), where="in 1 worker")
    run = Coordinator(cluster, monkeypatch)
    run.play(fake_plan(2), scheduler="tcp://fake")
    python, dask = ours["Python"], ours["Dask"]
    here = f"Python {python} and Dask {dask} as this machine."
    assert run.said == [
        f"The Dask scheduler has Python 3.9.1 and Dask 1.0, not {here}",
        "Dask worker a has Dask 1.0, not 2.0 as this machine.",
        "Dask worker a plays in 1 worker; in all 1 game at once on one Dask worker.",
    ]
    assert worker.setup is not None
    assert worker.setup.versions == ours
    assert differences({"Python": python}, {"Python": python, "msgpack": "1.2"}) == (
        "has msgpack (none), not msgpack 1.2 as this machine"
    )


def test_a_lost_scheduler_ends_the_run_to_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster(FakeWorker("a", game_s=3))
    run = Coordinator(cluster, monkeypatch)
    with pytest.raises(Interrupted, match="scheduler at tcp://fake is lost; what was stored"):
        run.play(fake_plan(3, deals=9), at={10.0: lambda: setattr(cluster, "is_lost", True)})
    assert 0 < len(run.results) < fake_plan(3, deals=9).count


def test_bots_are_sent_once_to_each_worker_of_another_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bots = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(name)
        bots.append(msgspec.structs.replace(fake_bot(name), folder=str(tmp_path / name)))
    wanted = sorted(
        (str(tmp_path / name), digest_of(pack(tmp_path / name))) for name in ("one", "two")
    )
    plan = fake_plan([*bots, fake_bot("of no folder")], deals=4)
    for scheduler, sent in (("tcp://fake", wanted), (None, [])):
        workers = [FakeWorker("a"), FakeWorker("b")]
        run = Coordinator(FakeCluster(*workers), monkeypatch)
        run.play(plan, scheduler=scheduler)
        assert len(run.results) == plan.count
        for worker in workers:
            assert sorted(worker.bots) == sent
            assert worker.setup is not None
            assert worker.setup.is_ours == (scheduler is None)


@pytest.mark.parametrize(
    ("cores", "jobs", "workers"), [(2, None, 2), (8, None, 7), (8, 3, 3), (8, 50, 8)]
)
def test_a_cluster_of_our_own_uses_what_local_would(
    monkeypatch: pytest.MonkeyPatch, cores: int, jobs: int | None, workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(cores)))
    run = Coordinator(FakeCluster(FakeWorker("a")), monkeypatch)
    run.play(fake_plan(2), jobs=jobs)
    assert run.asked_for == workers


def test_a_worker_plays_no_more_than_it_has_user_ids_for(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = FakeWorker("a", threads=8), FakeWorker("b", threads=8)
    small.ready = Ready(most=3)
    run = Coordinator(FakeCluster(small, large), monkeypatch)
    run.play(fake_plan(4, deals=10))
    assert {batch.at_once for batch in small.batches} == {3}
    assert {batch.at_once for batch in large.batches} == {8}
    assert len(run.results) == 120


def test_a_run_without_games_starts_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "open_cluster", None)

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, _results_out = trio.open_memory_channel[Finished](0)
        jobs_in.close()
        await DaskExecutor().run(jobs_out, results_in)

    trio.run(main)
