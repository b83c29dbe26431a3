"""The Dask executor on real scheduler and worker processes: same games, whatever is lost."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

import arena
from arena.errors import ConfigError, leaves
from arena.rules import registry
from arena.tournament.entrants import find_bot
from arena.tournament.executors.batches import MOST_HELD
from arena.tournament.executors.crossing import Keeping, code_hash
from arena.tournament.executors.dask import DaskExecutor
from arena.tournament.executors.dask_cluster import open_cluster
from arena.tournament.executors.executor import Finished, Job, decode_record
from arena.tournament.executors.local import LocalExecutor
from tests.cli.bots import write_bot
from tests.dask_processes import LIMIT_S, DaskProcesses, play_on
from tests.fake_games import fake_plan, fake_record
from tests.fake_table import FAKE_TABLE
from tests.living import descendants, is_alive, wait_gone
from tests.sandboxed import need_sandbox

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    """A scheduler and one worker, which can import these tests."""
    folder = tmp_path_factory.mktemp("dask")
    (folder / "tests").symlink_to(Path(__file__).parents[1])
    with DaskProcesses(folder, {"PYTHONPATH": str(folder)}) as processes:
        processes.worker("first", threads=2)
        yield processes


async def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait for what other processes or tasks do."""
    with trio.fail_after(LIMIT_S):
        while not is_so():  # noqa: ASYNC110 - another process's doing
            await trio.sleep(0.02)


def host_of(finished: Finished) -> int:
    """The process id of the worker process that played a game of the fake table."""
    assert finished.record is not None
    return int(decode_record(finished.record).aside.host.split()[0])


def test_records_are_those_of_local_byte_for_byte_with_bots_sent_once(
    cluster: DaskProcesses, tmp_path: Path
) -> None:
    found = need_sandbox()
    write_bot(tmp_path / "bots", "mine", "pass")
    words = ("greedy", str(tmp_path / "bots/mine"))
    bots = [find_bot(text, tmp_path / "data").spec for text in words]
    plan = fake_plan(bots, deals=2, sandbox="auto")
    local = play_on(LocalExecutor(2, settings=msgspec.json.encode(found.profile)), plan)
    said: list[str] = []
    keeping = Keeping(has_strangers=True)
    far = play_on(DaskExecutor(scheduler=cluster.address, keeping=keeping, say=said.append), plan)
    in_all = "; in all 2 games at once on one Dask worker."
    assert said[-1] == f"Dask worker first plays {LocalExecutor(2).where}{in_all}"
    assert sorted(far) == sorted(local) == list(range(plan.count))
    for number in far:
        ours, theirs = (decode_record(records[number] or b"") for records in (local, far))
        assert msgspec.json.encode(theirs.core) == msgspec.json.encode(ours.core)
        assert theirs.core.faults == ()
        assert theirs.notes == ours.notes
        assert theirs.aside.sandbox == ours.aside.sandbox
    (copies,) = (cluster.folder / "first").rglob("arena-bots")
    sent = {copy.name: copy.stat().st_ino for copy in copies.iterdir()}
    assert len(sent) == 2
    again = play_on(DaskExecutor(scheduler=cluster.address, keeping=keeping), plan)
    assert {number: decode_record(record or b"").core for number, record in again.items()} == {
        number: decode_record(record or b"").core for number, record in far.items()
    }
    assert {copy.name: copy.stat().st_ino for copy in copies.iterdir()} == sent


def test_no_more_games_are_taken_than_last_a_few_seconds(cluster: DaskProcesses) -> None:
    """The plan has 1,200,000 games; what is out is counted all the time."""
    plan = fake_plan(3, deals=200_000)
    out = most = done = 0

    class EnoughError(Exception):
        pass

    def taken(_job: Job) -> None:
        nonlocal out, most
        out += 1
        most = max(most, out)

    async def told(_finished: Finished) -> None:
        nonlocal out, done
        out -= 1
        done += 1
        if done == 300:
            raise EnoughError

    executor = DaskExecutor(2, scheduler=cluster.address, table=FAKE_TABLE)
    with pytest.raises(ExceptionGroup):
        play_on(executor, plan, on_taken=taken, on_result=told)
    assert done == 300
    assert 2 < most <= MOST_HELD + 2
    assert executor.reach >= most


def test_a_worker_that_comes_gets_games_and_one_that_is_killed_loses_none(
    cluster: DaskProcesses,
) -> None:
    plan = fake_plan(4, deals=60)
    said: list[str] = []
    started: list[subprocess.Popen[bytes]] = []
    killed: set[int] = set()

    async def told(finished: Finished) -> None:
        if not started:
            started.append(cluster.worker("second"))
            await wait_for(
                lambda: any(line.startswith("Dask worker second plays in ") for line in said)
            )
        elif not killed and host_of(finished) in descendants(started[0].pid):
            killed.update(descendants(started[0].pid))
            started[0].kill()
            wait_gone(lambda: [pid for pid in killed if is_alive(pid)])

    executor = DaskExecutor(
        scheduler=cluster.address, table=FAKE_TABLE, say=said.append, batch_s=0.1
    )
    records = play_on(executor, plan, on_result=told)
    assert killed
    assert started[0].wait() == -signal.SIGKILL
    in_all = "; in all 2 games at once on one Dask worker."
    assert f"Dask worker second is gone{in_all}" in said
    assert sorted(records) == list(range(plan.count))
    for number, record in records.items():
        assert decode_record(record or b"").core == fake_record(plan.spec(number)).core


def test_the_address_of_a_worker_is_no_scheduler(cluster: DaskProcesses) -> None:
    async def connect() -> None:
        async with open_cluster(cluster.address, workers=1) as opened:
            while not (machines := await opened.machines()):  # noqa: ASYNC110 - see `wait_for`
                await trio.sleep(0.02)
        async with open_cluster(machines[0].address, workers=1):
            raise AssertionError("that is a worker")

    with pytest.raises(ConfigError, match="no Dask scheduler answers at tcp://"):
        trio.run(connect)
    gc.collect()


NO_ARENA = """
import sys
sys.modules["arena.tournament.executors.crossing"] = None
sys.modules["arena.tournament.executors.dask_worker"] = None
"""
ADAPTIVE = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=0, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
        worker_dashboard_address=None, local_directory=sys.argv[1],
    )
    cluster.adapt(minimum=0, maximum=1, interval="50ms", wait_count=100)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


def test_a_cluster_that_starts_workers_when_they_are_needed_starts_one(
    cluster: DaskProcesses,
) -> None:
    script = cluster.folder / "adaptive.py"
    script.write_text(ADAPTIVE)
    adaptive = subprocess.Popen(
        [sys.executable, script, cluster.folder / "adaptive"],
        env={**os.environ, "PYTHONPATH": str(cluster.folder)},
        cwd=cluster.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    plan, said = fake_plan(2, deals=2), list[str]()
    with adaptive:
        assert adaptive.stdout is not None
        address = adaptive.stdout.readline().strip()
        executor = DaskExecutor(scheduler=address, table=FAKE_TABLE, say=said.append)
        records = play_on(executor, plan)
        adaptive.kill()
    assert said[0] == f"Waiting for Dask workers at {address}."
    assert len(records) == plan.count


def test_a_scheduler_without_our_arena_is_told_before_a_game(tmp_path: Path) -> None:
    """It unpacks what is sent to workers, and would fail at the first game of each."""
    with DaskProcesses(tmp_path, first=NO_ARENA) as bare:
        executor = DaskExecutor(scheduler=bare.address, table=FAKE_TABLE)
        with pytest.raises(ExceptionGroup) as caught:
            play_on(executor, fake_plan(2, deals=1))
        (error,) = leaves(caught.value)
        assert isinstance(error, ConfigError)
        assert str(error).startswith(
            f"the Dask scheduler at {bare.address} can't be used: start it with a Python that has "
            f"misterx-arena[dask] {arena.__version__}, as workers ("
        )


def test_a_worker_without_our_arena_is_refused_by_name_and_others_play(
    cluster: DaskProcesses,
) -> None:
    bare = cluster.worker("bare", first=NO_ARENA)
    said: list[str] = []

    async def told(_finished: Finished) -> None:
        await wait_for(lambda: any(" bare " in line for line in said))

    executor = DaskExecutor(2, scheduler=cluster.address, table=FAKE_TABLE, say=said.append)
    records = play_on(executor, fake_plan(3, deals=4), on_result=told)
    bare.kill()
    bare.wait()
    (refusal,) = [line for line in said if " bare " in line]
    assert refusal.startswith("Dask worker bare (tcp://127.0.0.1:")
    assert f") can't get ready: has it misterx-arena[dask] {arena.__version__}? (" in refusal
    assert len(records) == fake_plan(3, deals=4).count


PAUSED = """
from distributed import Status
def dask_setup(worker):
    worker.loop.call_later(0.5, setattr, worker, "status", Status.paused)
"""


def test_a_worker_that_dask_pauses_is_given_up_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep what it is given as long as it is paused, and the run would never end."""
    for name in ("members._PAUSED_S", "dask._COME_AGAIN_S"):
        monkeypatch.setattr(f"arena.tournament.executors.{name}", 0.5)
    (tmp_path / "tests").symlink_to(Path(__file__).parents[1])
    with DaskProcesses(tmp_path, {"PYTHONPATH": str(tmp_path)}) as processes:
        processes.worker("full", first=PAUSED)
        executor = DaskExecutor(scheduler=processes.address, table=FAKE_TABLE)
        with pytest.raises(ExceptionGroup) as caught:
            play_on(executor, fake_plan(4, deals=100_000))
    (error,) = leaves(caught.value)
    assert str(error).startswith(f"no Dask worker at {processes.address} can play:\n  full (tcp:")
    assert str(error).endswith(
        ") is paused by Dask, since it has used most of the memory that it "
        "may: give it a larger --memory-limit"
    )


LONDON = "london-2013"
ELSEWHERE = "europe-2009:board=elsewhere"


@pytest.mark.parametrize(
    ("other", "options", "says"),
    [
        (
            ("arena.__version__", "9.9"),
            {},
            ", and the run is played by arena 9.9: install the same version there",
        ),
        (
            ("arena.tournament.executors.dask.code_hash", lambda: "f" * 64),
            {},
            f" with other code than this machine ({code_hash()[:10]}, not ffffffffff): install",
        ),
        (None, {"keeping": Keeping(bwrap="/nowhere/bwrap")}, ") has no sandbox: "),
        (
            None,
            {"boards": ((ELSEWHERE, "0" * 64),)},
            f") can't play {ELSEWHERE}: board=elsewhere: set the variable ARENA_BOARDS to the",
        ),
        (
            None,
            {"boards": ((LONDON, registry.make(LONDON).board_hash), (LONDON, "0" * 64))},
            f") has another board of {LONDON} than the run: put the same file there",
        ),
    ],
)
def test_where_no_worker_can_play_the_run_ends_with_every_reason(
    cluster: DaskProcesses,
    other: tuple[str, Any] | None,
    options: dict[str, Any],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if other is not None:
        monkeypatch.setattr(*other)
    executor = DaskExecutor(scheduler=cluster.address, table=FAKE_TABLE, **options)
    with pytest.raises(ExceptionGroup) as caught:
        play_on(executor, fake_plan(2, deals=1))
    (error,) = leaves(caught.value)
    assert isinstance(error, ConfigError)
    assert f"no Dask worker at {cluster.address} can play:\n  first (tcp://" in str(error)
    assert says in str(error)
