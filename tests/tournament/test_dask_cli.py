"""`--executor dask` of the command line: what is lost, and goes on; what goes together."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from arena.cli import config
from arena.cli.executing import Where, executor_of, where_of
from arena.cli.sandboxing import Sandboxing
from arena.cli.stored import DATABASE, open_data
from arena.errors import ConfigError
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.slots import UID_COUNT
from arena.sandbox.visible import Visible
from arena.tournament.executors.cpus import usual_jobs
from arena.tournament.executors.dask_cluster import open_cluster
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.room import EXCHANGE_S
from tests.cli.bots import SLOW, write_bot
from tests.cli.calling import Caller
from tests.dask_processes import LIMIT_S, DaskProcesses, wait_until
from tests.fake_games import fake_plan
from tests.living import descendants, is_alive, wait_gone

ADDRESS = "tcp://127.0.0.1:1"


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"pip install 'misterx-arena\[dask\]'"):
        where_of("dask", None)


def test_a_scheduler_goes_with_dask_alone() -> None:
    assert where_of("dask", ADDRESS) == Where("dask", ADDRESS)
    assert where_of("local", None).words == ""
    assert where_of("dask", ADDRESS).words == f" --executor dask --scheduler {ADDRESS}"
    six = "tcp://[::1]:8786"  # a shell would read that as a pattern
    assert where_of("dask", six).words == f" --executor dask --scheduler '{six}'"
    with pytest.raises(ConfigError, match="--scheduler goes with --executor dask"):
        where_of("local", ADDRESS)


def kept_by(uid_count: int | None) -> Sandboxing:
    """Return how bots are kept by root with so many user ids, or without a sandbox."""
    if uid_count is None:
        return Sandboxing(mode="auto")
    profile = Profile(
        bwrap="/usr/bin/bwrap",
        route="R",
        visible=Visible(trees=()),
        prlimit="/usr/bin/prlimit",
        setpriv="/usr/bin/setpriv",
        environment=(),
        uid_count=uid_count,
    )
    return Sandboxing(mode="auto", profile=profile)


QUIET: Any = SimpleNamespace(say=lambda _line: None, data=None)


def test_user_ids_of_this_machine_bound_what_is_played_on_it_alone() -> None:
    plan = fake_plan(2, jobs=100, executor="dask", sandbox="auto")
    far, here = where_of("dask", ADDRESS), where_of("dask", None)
    executor_of(far, plan, kept_by(8), QUIET)
    executor_of(here, plan, kept_by(200), QUIET)
    executor_of(here, plan, kept_by(None), QUIET)
    with pytest.raises(
        ConfigError, match=r"100 games at once need 200 user ids for bots, and .* 8"
    ):
        executor_of(here, plan, kept_by(8), QUIET)


def test_what_a_cluster_was_asked_for_is_not_asked_of_one_machine() -> None:
    told: dict[str, int] = {}
    for kind in ("local", "dask"):
        for jobs in (None, 1, 100):
            plan = fake_plan(2, jobs=jobs, executor=kind)
            executor = cast("LocalExecutor", executor_of(Where(), plan, kept_by(None), QUIET))
            told[f"{kind} {jobs}"] = executor.jobs
    usual = usual_jobs()
    assert told.pop("local 100") == 100
    assert told.pop("local 1") == told.pop("dask 1") == 1
    assert told == dict.fromkeys(("local None", "dask None", "dask 100"), usual)


def test_workers_are_told_on_which_boards_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(
        "arena.tournament.executors.dask.DaskExecutor",
        lambda _jobs, **options: told.update(options),
    )
    plan = fake_plan(2, board="b" * 64)
    executor_of(where_of("dask", ADDRESS), plan, kept_by(None), QUIET)
    assert told["boards"] == ((plan.ruleset, "b" * 64),)


def test_help_and_local_runs_import_no_dask() -> None:
    script = (
        "import sys\n"
        "import arena.cli.main, arena.cli.run, arena.cli.resume, arena.cli.plan\n"
        "print(sorted({'dask', 'distributed', 'tornado'} & set(sys.modules)))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout == "[]\n"


def test_the_readme_of_executors_names_every_module() -> None:
    folder = resources.files("arena.tournament.executors")
    table = (folder / "README.md").read_text("utf-8").partition("| --- |")[2].partition("\n\n")[0]
    modules = {file.name for file in folder.iterdir() if file.name.endswith(".py")}
    assert set(re.findall(r"`(\w+\.py)`", table)) == modules - {"__init__.py"}


def test_the_readme_of_executors_tells_the_bounds_that_hold() -> None:
    text = (resources.files("arena.tournament.executors") / "README.md").read_text("utf-8")
    assert f"two a game, {UID_COUNT} if nobody says" in text
    most = config.schema()["$defs"]["Tournament"]["properties"]["jobs"]["maximum"]
    assert f"`--jobs N` ({most:,} at most)" in text


def test_the_readme_of_executors_calls_dask_with_options_that_it_has() -> None:
    text = (resources.files("arena.tournament.executors") / "README.md").read_text("utf-8")
    called = re.findall(r'/dask (scheduler|worker) ([^"]+)"', text)
    called += [("worker", words) for words in re.findall(r'worker\["args"\] \+= (.*)', text)]
    assert [name for name, _ in called] == ["scheduler", "worker", "worker"]
    for name, words in called:
        command = importlib.import_module(f"distributed.cli.dask_{name}").main
        known = {word for each in command.params for word in (*each.opts, *each.secondary_opts)}
        asked = set(re.findall(r"--[\w-]+", words))
        assert asked
        assert asked <= known
    assert not re.search(r"(?<!`)dask-(worker|scheduler)", text)  # gone from newer ones


@pytest.mark.slow
def test_no_scheduler_ends_with_2_and_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.tournament.executors.dask_cluster._CONNECT_S", 3.0)
    words = ("run", "random", "greedy", "--sandbox", "none", "--data", tmp_path / "data")
    called = Caller()(*words, "--executor", "dask", "--scheduler", ADDRESS)
    assert called.code == 2
    assert (
        f"no Dask scheduler answers at {ADDRESS} (no answer of a scheduler in 3 s: connection "
        "refused): start `dask scheduler` there, or leave --scheduler out to use this machine alone"
    ) in " ".join(called.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://no.such.host.invalid:8786", "the host 'no.such.host.invalid' is not found: "),
        ("x..y:8786", "the host 'x..y' is not found: no name can be written so)"),
        ("tls://127.0.0.1:99999", "there is no port 99999: ports are 1 to 65535)"),
        ("tcp://127.0.0.1:0", "there is no port 0: ports are 1 to 65535)"),
        ("tcp://127.0.0.1", "it has no host and port in '127.0.0.1')"),
        ("tcp://127.0.0.1:some", "it has no host and port in '127.0.0.1:some')"),
    ],
)
def test_an_address_that_no_scheduler_can_have_ends_at_once_with_what_is_wrong(
    address: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_args: object) -> None:
        raise AssertionError("nobody should try to reach it")

    monkeypatch.setattr("arena.tournament.executors.dask_cluster._connected", never)
    words = ("run", "random", "greedy", "--sandbox", "none", "--data", tmp_path / "data")
    called = Caller()(*words, "--executor", "dask", "--scheduler", address)
    assert called.code == 2
    said = " ".join(called.stderr.split())
    assert f"{address} is no address of a Dask scheduler ({why}" in said
    assert said.endswith(
        "): give --scheduler one such as tcp://10.0.0.1:8786, or leave it out to use this machine "
        "alone"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("https://127.0.0.1:1", "https"),
        ("tls://127.0.0.1:1", "TLS"),
        ("silent", "no answer of a scheduler in 0.5 s"),
        ("foreign", ""),
    ],
)
def test_an_address_of_something_else_is_told_with_the_reason_and_no_noise(
    address: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ":" not in address:  # the others end at once
        monkeypatch.setattr("arena.tournament.executors.dask_cluster._CONNECT_S", 0.5)

    async def connect() -> None:
        async with open_cluster(address, workers=1):
            raise AssertionError("there is no scheduler there")

    with socket.create_server(("127.0.0.1", 0)) as other:
        if ":" not in address:
            if address == "foreign":
                threading.Thread(target=greet_as_another, args=(other,), daemon=True).start()
            address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ConfigError) as caught:
            trio.run(connect)
    text = str(caught.value)
    assert text.startswith(f"no Dask scheduler answers at {address} (")
    assert why in text
    assert "\n" not in text
    assert text.endswith(
        "): start `dask scheduler` there, or leave --scheduler out to use this machine alone"
    )
    del caught
    gc.collect()  # a client that is not closed warns when it is deleted, and a warning is an error


def greet_as_another(server: socket.socket) -> None:
    """Answer whoever comes as a web server does."""
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


class Runs:
    """Calls `arena` as a process on one data folder."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self._folder = folder

    def start(self, *words: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "arena", *map(str, words), "--data", str(self.data)],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def stored(self) -> int:
        file = self.data / DATABASE
        if not file.exists():
            return 0
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
                return int(connection.execute("SELECT count(*) FROM game").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # being made

    def cores(self) -> list[bytes]:
        with open_data(self.data) as database:
            return list(database.cores(database.find_run()))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    folder = tmp_path / "dask"
    folder.mkdir()
    with DaskProcesses(folder) as processes:
        yield processes


@pytest.mark.slow
def test_a_run_survives_the_loss_of_anything_and_leaves_nothing(
    cluster: DaskProcesses, tmp_path: Path
) -> None:
    """It is stopped before there is a worker, then coordinator, worker and scheduler are killed."""
    bot = write_bot(tmp_path / "bots", "slow", SLOW)
    on = ("--executor", "dask", "--scheduler", cluster.address)
    runs = Runs(tmp_path)

    coordinator = runs.start("run", bot, "random", "--deals", "4", "--seed", "s", *on)
    assert coordinator.stderr is not None
    while not coordinator.stderr.readline().startswith("Waiting for Dask workers at "):
        assert coordinator.poll() is None
    coordinator.send_signal(signal.SIGINT)
    stopped_at = time.monotonic()
    _, stderr = coordinator.communicate(timeout=LIMIT_S)
    assert time.monotonic() - stopped_at < 8  # a fraction of a second, where ten were waited for
    assert coordinator.returncode == 75, stderr
    assert " was stopped at 0 of 8 games. Go on with: arena resume " in stderr
    worker = cluster.worker("first", threads=2)

    coordinator = runs.start("resume", *on)
    wait_until(lambda: runs.stored() >= 1)
    # Killed while the worker has games and no task, as it is for a moment after every exchange.
    coordinator.send_signal(signal.SIGSTOP)
    no_task_from = time.monotonic() + EXCHANGE_S + 0.5
    wait_until(lambda: time.monotonic() > no_task_from)
    assert descendants(worker.pid)
    coordinator.kill()
    wait_gone(lambda: descendants(worker.pid), worker.pid)
    coordinator.communicate()
    assert worker.poll() is None

    stored = runs.stored()
    coordinator = runs.start("resume", *on)
    wait_until(lambda: runs.stored() > stored)
    playing = descendants(worker.pid)
    worker.kill()
    wait_gone(lambda: [pid for pid in playing if is_alive(pid)])
    cluster.worker("second", threads=2)
    stored = runs.stored()
    wait_until(lambda: runs.stored() > stored)

    cluster.scheduler.kill()
    _, stderr = coordinator.communicate(timeout=LIMIT_S)
    assert coordinator.returncode == 75, stderr
    assert f"the Dask scheduler at {cluster.address} is lost; what was stored stays" in stderr
    assert f" --executor dask --scheduler {cluster.address}" in stderr
    assert "Traceback" not in stderr, stderr
    assert " failed: " not in stderr
    stored = runs.stored()
    assert 3 <= stored <= 8

    resumed = runs.start("resume")
    _, stderr = resumed.communicate(timeout=LIMIT_S)
    assert resumed.returncode == 0, stderr
    assert runs.stored() == 8
    other = Runs(tmp_path / "other")
    (tmp_path / "other").mkdir()
    alone = other.start("run", bot, "random", "--deals", "4", "--seed", "s")
    _, stderr = alone.communicate(timeout=LIMIT_S)
    assert alone.returncode == 0, stderr
    assert runs.cores() == other.cores()


def interrupt(process: subprocess.Popen[str]) -> None:
    """Send what Ctrl-C does: to all in the terminal's group; ours have groups of their own."""
    for pid in (process.pid, *descendants(process.pid)):
        with suppress(ProcessLookupError):
            if os.getpgid(pid) == os.getpgid(process.pid):
                os.kill(pid, signal.SIGINT)


def command_of(pid: int) -> str:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


@pytest.mark.slow
def test_ctrl_c_while_a_cluster_of_our_own_starts_stops_it_as_at_any_time(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    words = ("run", "random", "greedy", "--deals", "40", "--sandbox", "none", "--executor", "dask")
    process = runs.start(*words)
    wait_until(lambda: any("spawn_main" in command_of(pid) for pid in descendants(process.pid)))
    interrupt(process)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 75, stderr
    assert "KeyboardInterrupt" not in stderr
    assert f"Go on with: arena resume {runs_id(stderr)} --executor dask" in stderr


@pytest.mark.slow
def test_kill_9_of_a_coordinator_with_a_cluster_of_its_own_leaves_nobody_and_no_noise(
    tmp_path: Path,
) -> None:
    """Python's own helper clears away semaphores then; it outlives us for that, and is silent."""
    runs = Runs(tmp_path)
    words = ("run", "random", "greedy", "--deals", "400", "--sandbox", "none", "--executor", "dask")
    process = runs.start(*words)
    wait_until(lambda: runs.stored() >= 1)
    playing = descendants(process.pid)
    assert any("resource_tracker" in command_of(pid) for pid in playing)
    process.kill()
    wait_gone(lambda: [pid for pid in playing if is_alive(pid)])
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert stderr.splitlines()[-1].startswith("Dask worker "), stderr


def runs_id(talk: str) -> str:
    """Return the id of the run that a command told of."""
    found = re.search(r"^Run (\w+):", talk, re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.slow
def test_ctrl_c_twice_ends_a_cluster_of_our_own_at_once(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    bot = write_bot(
        tmp_path / "bots", "slow", f"open({str(asked)!r}, 'w').close(); time.sleep(0.9)"
    )
    runs = Runs(tmp_path)
    words = ("run", bot, "random", "--deals", "5", "--sandbox", "none", "--executor", "dask")
    process = runs.start(*words)
    wait_until(asked.exists)
    playing = descendants(process.pid)
    interrupt(process)
    assert process.stderr is not None
    while not process.stderr.readline().startswith("Stopping"):
        pass
    process.send_signal(signal.SIGINT)
    wait_gone(lambda: process.poll() is None, process.pid)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "--executor dask" in stderr
    assert "is gone" not in stderr
    wait_until(lambda: not any(map(is_alive, playing)))  # Python's own helper ends just after
