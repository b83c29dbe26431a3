"""Worker processes: started, pinned, kept quiet, and gone with their coordinator."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.errors import HostFault, leaves
from arena.tournament.executors.cpus import usable_cpus, usual_jobs
from arena.tournament.executors.executor import Finished, Job, decode_record, encode_spec
from arena.tournament.executors.local import LocalExecutor, _Slot
from arena.tournament.plan import Plan
from tests.fake_games import fake_bot, fake_plan
from tests.fake_table import FAKE_TABLE, let_workers_import_tests
from tests.living import children, is_alive, wait_gone

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _tests_on_the_workers_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    let_workers_import_tests(monkeypatch, tmp_path)


@pytest.mark.parametrize(("cores", "games"), [(1, 1), (2, 2), (3, 3), (4, 3), (64, 63)])
def test_from_four_cores_up_one_is_left_to_the_referee(
    monkeypatch: pytest.MonkeyPatch, cores: int, games: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(cores)))
    assert usual_jobs() == games
    assert LocalExecutor().jobs == LocalExecutor().workers == games


def test_an_executor_says_where_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    assert LocalExecutor().words == "2 games at once in 2 workers on 2 CPUs (0-1), unpinned"
    assert LocalExecutor(1).words == "1 game at once in 1 worker on 2 CPUs (0-1), unpinned"
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {7, 2})
    assert LocalExecutor(8, workers=1).where == "in 1 worker on 2 of 64 CPUs (2,7), unpinned"
    assert LocalExecutor(32, pin=True).words == (
        "32 games at once in 2 workers, each pinned with its bots to one CPU of 2,7"
    )
    assert LocalExecutor(1, pin=True).where == "in 1 worker, pinned with its bots to CPU 2"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {5})
    assert LocalExecutor().where == "in 1 worker on 1 of 64 CPUs (5), unpinned"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)))
    assert LocalExecutor().where == "in 63 workers on 64 CPUs (0-63), unpinned"


def hosts(executor: LocalExecutor, plan: Plan) -> list[list[str]]:
    """Play a plan; return [process id, CPUs] of each game's worker."""
    results: list[Finished] = []

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](plan.count)
        results_in, results_out = trio.open_memory_channel[Finished](plan.count)
        for spec in plan.specs():
            jobs_in.send_nowait(Job(spec.index, encode_spec(spec)))
        jobs_in.close()
        with trio.fail_after(60):
            with results_in:
                await executor.run(jobs_out, results_in)
        results.extend([finished async for finished in results_out])

    trio.run(main)
    assert len(results) == plan.count
    return [decode_record(finished.record or b"").aside.host.split() for finished in results]


def test_there_are_as_many_workers_as_cores_or_jobs() -> None:
    cores = len(usable_cpus())
    assert LocalExecutor().jobs == LocalExecutor().workers == usual_jobs()
    assert LocalExecutor(1).workers == 1
    assert LocalExecutor(50).workers == cores
    plan = fake_plan(4, deals=4)
    assert len({pid for pid, _ in hosts(LocalExecutor(8, table=FAKE_TABLE), plan)}) == min(8, cores)
    assert len({pid for pid, _ in hosts(LocalExecutor(1, table=FAKE_TABLE), plan)}) == 1


def test_a_pinned_worker_stays_on_its_cpu() -> None:
    executor = LocalExecutor(4, workers=2, pin=True, table=FAKE_TABLE)
    by_worker = dict(hosts(executor, fake_plan(4, deals=4)))
    cpus = usable_cpus()
    assert set(by_worker.values()) == {str(cpus[0]), str(cpus[1 % len(cpus)])}


def test_stray_prints_do_not_reach_the_results(capfd: pytest.CaptureFixture[str]) -> None:
    plan = fake_plan([fake_bot("loud"), fake_bot("b")], deals=2)
    assert len(hosts(LocalExecutor(2, table=FAKE_TABLE), plan)) == 4
    assert capfd.readouterr().err.count("a stray line\nanother\n") >= 1


@pytest.mark.parametrize("table", ["tests.fake_table:no_such_name", "no_such_module:table"])
def test_a_worker_that_can_not_start_ends_the_run(
    table: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        hosts(LocalExecutor(1, table=table), fake_plan(2, deals=1))
    (error,) = leaves(caught.value)
    assert isinstance(error, HostFault)
    assert "a worker process ended before its first game" in str(error)
    assert "no_such" in capfd.readouterr().err


def test_workers_that_are_killed_while_they_start_are_started_again(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    table = "tests.fake_table:stumbling_table"
    executor = LocalExecutor(1, table=table, settings=str(opened).encode())
    plan = fake_plan(2, deals=1)
    assert len(hosts(executor, plan)) == plan.count
    assert opened.stat().st_size == 3


def test_an_interpreter_that_is_gone_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(ExceptionGroup) as caught:
        hosts(LocalExecutor(1, table=FAKE_TABLE), fake_plan(2, deals=1))
    assert "a worker process can't be started" in str(leaves(caught.value)[0])


@pytest.mark.parametrize("what", ["pipe", "pidfd_open"])
def test_a_worker_for_which_no_file_can_be_opened_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    before = set(children(os.getpid()))
    monkeypatch.setattr(os, what, refuse)
    with pytest.raises(ExceptionGroup) as caught:
        hosts(LocalExecutor(1, table=FAKE_TABLE), fake_plan(2, deals=1))
    for error in leaves(caught.value):  # of the start, and of the lane that tries again
        assert isinstance(error, HostFault)
        assert "can't be started: [Errno 24] Too many open files" in str(error)
    assert set(children(os.getpid())) <= before


def test_without_setpriv_workers_play_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert len(hosts(LocalExecutor(2, table=FAKE_TABLE), fake_plan(2, deals=2))) == 4


def test_when_every_game_ends_its_worker_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.tournament.executors.local._MOST_LOST", 3)
    plan = fake_plan([fake_bot("killer"), fake_bot("b")], deals=2)
    with pytest.raises(ExceptionGroup) as caught:
        hosts(LocalExecutor(1, table=FAKE_TABLE), plan)
    assert "the last 3 games all ended their worker processes" in str(leaves(caught.value)[0])


COORDINATOR = """
import sys, trio
from arena.tournament.executors.executor import Finished, Job, encode_spec
from arena.tournament.executors.local import LocalExecutor
from tests.fake_games import fake_bot, fake_plan
from tests.fake_table import FAKE_TABLE

async def main():
    jobs_in, jobs_out = trio.open_memory_channel(0)
    results_in, results_out = trio.open_memory_channel(0)
    plan = fake_plan([fake_bot(name) for name in sys.argv[1:]], deals=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(LocalExecutor(2, table=FAKE_TABLE).run, jobs_out, results_in)
        for spec in plan.specs():
            await jobs_in.send(Job(spec.index, encode_spec(spec)))
        print("in play", flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.mark.parametrize("bots", [("slow1", "slow2"), ("wedged1", "wedged2")])
def test_workers_die_with_a_killed_coordinator(bots: tuple[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COORDINATOR, *bots], stdout=subprocess.PIPE, text=True
    ) as coordinator:
        assert coordinator.stdout is not None
        assert coordinator.stdout.readline() == "in play\n"
        workers = children(coordinator.pid)
        assert len(workers) == min(2, len(usable_cpus()))
        coordinator.kill()
    # The kernel has sent the signal with the coordinator's end; it takes a moment to act.
    wait_gone(lambda: [pid for pid in workers if is_alive(pid)])


def blocked_in(pid: int) -> int:
    """Return the mask of signals that a process blocks."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("SigBlk:")[2].split()[0], 16)


def test_a_terminals_interrupt_is_not_the_workers_business() -> None:
    plan = fake_plan(3, deals=2)
    pids: set[int] = set()
    executor = LocalExecutor(1, table=FAKE_TABLE)

    async def main() -> None:
        jobs_in, jobs_out = trio.open_memory_channel[Job](0)
        results_in, results_out = trio.open_memory_channel[Finished](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(executor.run, jobs_out, results_in)
            for spec in plan.specs():
                await jobs_in.send(Job(spec.index, encode_spec(spec)))
                finished = await results_out.receive()
                (pid, _) = decode_record(finished.record or b"").aside.host.split()
                pids.add(int(pid))
                assert os.getpgid(int(pid)) != os.getpgid(0)
                assert blocked_in(int(pid)) == 0  # not just after: it is, while it is handled
                os.kill(int(pid), signal.SIGINT)
            jobs_in.close()

    # Blocked it goes down to whatever is started, and bots would not know it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        trio.run(main)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    assert len(pids) == 1


def test_a_worker_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "import arena.tournament.executors.worker, arena.referee.referee, arena.rules.registry\n"
        "heavy = {'pandas', 'scipy', 'matplotlib', 'numpy', 'rich', 'click', 'sqlite3'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout == "[]\n"


def test_a_game_that_is_played_alone_has_its_worker_to_itself() -> None:
    """It waits until no other is in play there, and lets none begin before it is over."""
    told: list[str] = []

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            slot = _Slot(nursery, FAKE_TABLE, b"", None)

            async def play(job: Job) -> bytes:
                told.append(f"{job.number} begins")
                await trio.sleep(1)
                told.append(f"{job.number} ends")
                return b""

            slot._play = play  # type: ignore[method-assign]  # no process is needed for this

            for number, alone in enumerate((False, False, True, False)):
                nursery.start_soon(partial(slot.play, Job(number, b""), alone=alone))
                await trio.testing.wait_all_tasks_blocked()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert told[:2] == ["0 begins", "1 begins"]
    assert sorted(told[2:4]) == ["0 ends", "1 ends"]
    assert told[4:] == ["2 begins", "2 ends", "3 begins", "3 ends"]
