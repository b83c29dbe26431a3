"""The watch over all sandboxes: on a made-up kernel, and on real ones."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from arena.sandbox.limits import BOT_NICE
from arena.sandbox.processes import Seen
from arena.sandbox.sandboxes import Box
from arena.sandbox.usage import Bounds
from arena.sandbox.warden import HURRIED_LOOK_S, LOOK_S, Kernel, Proc, Ward, Warden
from tests.sandboxed import Inside, sandboxed

MIB = 1024 * 1024
INIT = 100
BOUNDS = Bounds(memory_bytes=512 * MIB, tasks=64, files=100, sockets=10)
LONG_S = 20.0


class FakeBox:
    """A sandbox that is known from the given look on."""

    def __init__(self, known_after: int = 0) -> None:
        self.init = INIT
        self.pid_namespace = 1
        self._left = known_after

    def learn(self) -> bool:
        self._left -= 1
        return self._left < 0


class FakeKernel:
    """A tree of processes that a test sets; remembers what was done to it."""

    def __init__(self) -> None:
        self.processes: dict[int, Seen] = {}
        self.shares: dict[int, int | None] = {}
        self.files_found: int | None = 0
        self.sockets_found: int | None = 0
        self.killed: list[Any] = []
        self.signals: list[tuple[int, int]] = []
        self.settled: list[int] = []
        self.stopping: set[int] = set()
        self.confirmed = 0
        self.looks: list[bool] = []
        self.forks_when_stopped = 0
        self.was_killed = trio.Event()
        self.token: trio.lowlevel.TrioToken | None = None
        self.put(INIT, resident_bytes=MIB)

    def put(self, pid: int, **told: Any) -> None:
        process = Seen(pid, 0, "S", 1, 10 * MIB, 0, 0.0, 0.0)
        self.processes[pid] = process._replace(**told)

    def pids(self, box: Box, *, whole: bool) -> list[int]:
        self.looks.append(whole)
        return list(self.processes)

    def see(self, pid: int) -> Seen | None:
        return self.processes.get(pid)

    def is_stopping(self, pid: int) -> bool:
        return pid in self.stopping

    def pss_bytes(self, pid: int) -> int | None:
        self.confirmed += 1
        return self.shares.get(pid)

    def files(self, box: Box) -> int | None:
        return self.files_found

    def sockets(self, box: Box) -> int | None:
        return self.sockets_found

    def signal(self, pid: int, number: int) -> None:
        self.signals.append((pid, number))
        if number == signal.SIGSTOP and pid in self.processes:
            self.processes[pid] = self.processes[pid]._replace(state="T")
            if self.forks_when_stopped:
                self.forks_when_stopped -= 1
                self.put(pid + 1, state="R")

    def kill(self, box: Box) -> None:
        self.killed.append(box)
        if self.token is not None:
            trio.from_thread.run_sync(self.was_killed.set, trio_token=self.token)

    def settle(self, pid: int) -> None:
        self.settled.append(pid)


def ward(kernel: Kernel, known_after: int = 0) -> Ward:
    return Ward(cast("Box", FakeBox(known_after)), BOUNDS, kernel)


def test_an_honest_bot_is_left_alone() -> None:
    kernel = FakeKernel()
    kernel.put(101)
    it = ward(kernel)
    assert [it.look() for _ in range(20)] == [10 / 512] * 20
    assert it.breach is None
    assert not kernel.killed
    assert kernel.settled == [INIT, 101]
    assert it.peak_bytes == 10 * MIB


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        (62, None),
        (63, "it had 63 of its 64 processes and threads"),  # one is bubblewrap's, in route U
        (64, "it had 64 of its 64 processes and threads"),
    ],
)
def test_a_bot_that_came_to_its_limit_is_told_so(tasks: int, text: str | None) -> None:
    """The kernel refuses it one more: it may die of that, or wait for ever."""
    kernel = FakeKernel()
    kernel.put(101, threads=tasks)
    it = ward(kernel)
    it.look()
    kernel.put(101)
    it.look()
    assert it.breach is None
    assert it.shortage == text


def test_every_tenth_look_goes_through_all_of_the_machine() -> None:
    """Who changes its parent at every look can't hide for long."""
    kernel = FakeKernel()
    it = ward(kernel)
    for _ in range(20):
        it.look()
    assert kernel.looks == ([False] * 9 + [True]) * 2


class Machine:
    """What `/proc` tells of two sandboxes, with a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.tree = [INIT, 101]
        self.everybody = {1: [INIT, 101, 150], 2: [200]}
        self.looks = 0
        for name, told in (
            ("monotonic", lambda: self.now),
            ("descend", lambda _: list(self.tree)),
            ("pids_by_namespace", self._look),
            ("pids_in_namespace", lambda inode: self._look()[inode]),
        ):
            monkeypatch.setattr(f"arena.sandbox.warden.{name}", told)

    def _look(self) -> dict[int, list[int]]:
        self.looks += 1
        return {inode: list(pids) for inode, pids in self.everybody.items()}


def test_sandboxes_share_a_look_through_the_machine_but_not_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, proc, box = Machine(monkeypatch), Proc(), cast("Box", FakeBox())
    assert sorted(proc.pids(box, whole=False)) == [INIT, 101]
    assert machine.looks == 0
    assert sorted(proc.pids(box, whole=True)) == [INIT, 101, 150]
    machine.everybody[1].append(151)
    machine.tree.append(102)  # in the tree: seen at once
    assert sorted(proc.pids(box, whole=True)) == [INIT, 101, 102, 150]
    assert machine.looks == 1
    machine.now += LOOK_S
    assert sorted(proc.pids(box, whole=True)) == [INIT, 101, 102, 150, 151]
    assert machine.looks == 2


def test_without_lists_of_children_every_look_goes_through_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, proc, box = Machine(monkeypatch), Proc(), cast("Box", FakeBox())
    machine.tree.clear()
    for extra in (151, 152):
        machine.everybody[1].append(extra)
        assert proc.pids(box, whole=False)[-1] == extra
    assert machine.looks == 2


def test_nothing_is_looked_at_before_the_sandbox_is_known() -> None:
    kernel = FakeKernel()
    kernel.put(101, resident_bytes=9_999 * MIB)
    it = ward(kernel, known_after=3)
    assert [it.look() for _ in range(3)] == [0.0] * 3
    assert not kernel.looks
    assert it.look() > 1.0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"threads": 65}, "65 processes and threads, the limit is 64"),
        ({"files": 101}, "101 files in /tmp and /dev/shm, the limit is 100"),
        ({"sockets": 11}, "11 sockets, the limit is 10"),
    ],
)
def test_too_much_ends_it_once(change: dict[str, int], text: str) -> None:
    kernel = FakeKernel()
    kernel.files_found = change.get("files", 0)
    kernel.sockets_found = change.get("sockets", 0)
    kernel.put(101, threads=change.get("threads", 1))
    it = ward(kernel)
    for _ in range(10):
        it.look()
    assert it.breach == text
    assert len(kernel.killed) == 1


def test_memory_is_confirmed_before_a_kill() -> None:
    kernel = FakeKernel()
    for pid in (101, 102, 103):
        kernel.put(pid, resident_bytes=300 * MIB)
        kernel.shares[pid] = 110 * MIB
    it = ward(kernel)
    assert it.look() == pytest.approx(900 / 512)
    it.confirm()
    assert not kernel.killed
    kernel.shares[102] = 300 * MIB
    it.confirm()
    assert it.breach == "memory 520 MiB, the limit is 512 MiB"
    assert len(kernel.killed) == 1


def test_where_shares_cannot_be_read_all_counts() -> None:
    kernel = FakeKernel()
    kernel.put(101, resident_bytes=300 * MIB, swapped_bytes=300 * MIB)
    kernel.put(102, state="Z", threads=0, resident_bytes=0)
    it = ward(kernel)
    it.look()
    it.confirm()
    assert it.breach == "memory 600 MiB, the limit is 512 MiB"


def test_cpu_is_read_once_more_before_a_kill() -> None:
    kernel = FakeKernel()
    kernel.put(101, threads=65, cpu_s=1.5)
    it = ward(kernel)
    it.look()
    assert it.cpu_s == pytest.approx(1.5)


def test_stop_stops_all_but_the_first_process() -> None:
    kernel = FakeKernel()
    kernel.put(101, state="R")
    kernel.put(102)
    kernel.put(103, state="Z")
    kernel.put(104, state="T")
    it = ward(kernel)
    assert it.stop()
    assert kernel.signals == [(101, signal.SIGSTOP), (102, signal.SIGSTOP)]


def test_one_that_waits_for_a_processor_to_stop_on_is_as_good_as_stopped() -> None:
    kernel = FakeKernel()
    kernel.put(101, state="R")
    kernel.stopping.add(101)
    assert ward(kernel).stop()
    assert not kernel.signals


def test_stop_goes_on_until_nothing_new_runs() -> None:
    kernel = FakeKernel()
    kernel.put(101, state="R")
    kernel.forks_when_stopped = 30
    assert ward(kernel).stop()
    assert {process.state for pid, process in kernel.processes.items() if pid != INIT} == {"T"}


def test_stop_gives_up_on_one_that_never_ends_forking() -> None:
    kernel = FakeKernel()
    kernel.put(101, state="R")
    kernel.forks_when_stopped = 10**6
    assert not ward(kernel).stop()


def test_stop_says_no_before_the_sandbox_is_known() -> None:
    assert not ward(FakeKernel(), known_after=5).stop()


def test_go_on_wakes_all_but_the_first_process() -> None:
    kernel = FakeKernel()
    kernel.put(101, state="T")
    ward(kernel).go_on()
    assert kernel.signals == [(101, signal.SIGCONT)]


def test_warden_looks_ten_times_a_second_and_at_nobody_once_released() -> None:
    kernel = FakeKernel()

    async def main() -> None:
        warden = Warden(kernel)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(warden.run)
            await trio.sleep(100)
            assert not kernel.looks
            it = warden.watch(cast("Box", FakeBox()), BOUNDS)
            await trio.sleep(10 * LOOK_S - 0.01)
            assert len(kernel.looks) == 10
            assert list(warden.wards) == [it]
            warden.release(it)
            await trio.sleep(10)
            assert len(kernel.looks) == 10
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(("look_s", "in_a_row"), [(0.00001, 8), (0.00009, 3), (0.001, 1)])
def test_answers_get_their_turn_between_looks_that_take_long(
    look_s: float, in_a_row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    rows: list[int] = []

    class Slow(FakeKernel):
        def pids(self, box: Box, *, whole: bool) -> list[int]:
            nonlocal now
            now += look_s
            return super().pids(box, whole=whole)

    kernel = Slow()
    monkeypatch.setattr("arena.sandbox.warden.monotonic", lambda: now)

    class Steps(trio.abc.Instrument):
        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            rows.append(len(kernel.looks) - sum(rows))

    async def main() -> None:
        warden = Warden(kernel)
        for _ in range(8):
            warden.watch(cast("Box", FakeBox()), BOUNDS)
        with trio.move_on_after(LOOK_S / 2):
            await warden.run()

    trio.run(main, clock=MockClock(autojump_threshold=0), instruments=[Steps()])
    assert sum(rows) == 8
    assert max(rows) == in_a_row


def test_warden_hurries_while_somebody_is_near_the_limit() -> None:
    kernel = FakeKernel()
    kernel.put(101, resident_bytes=400 * MIB)

    async def main() -> None:
        warden = Warden(kernel)
        warden.watch(cast("Box", FakeBox()), BOUNDS)
        with trio.move_on_after(0.99):
            await warden.run()
        assert len(kernel.looks) == 50

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_warden_hurries_after_children_whose_time_nobody_collects_until_it_is_sure() -> None:
    """Another one at each look, each with a little that shows up nowhere."""
    kernel = FakeKernel()
    numbers = count(200)

    def pids(box: Box, *, whole: bool) -> list[int]:
        kernel.looks.append(whole)
        kernel.processes = {INIT: kernel.processes[INIT]}
        kernel.put(next(numbers), cpu_s=0.015)
        return list(kernel.processes)

    kernel.pids = pids  # type: ignore[method-assign]

    async def main() -> None:
        warden = Warden(kernel)
        it = warden.watch(cast("Box", FakeBox()), BOUNDS)
        with trio.move_on_after(2 * LOOK_S + 6 * HURRIED_LOOK_S + 0.01):
            await warden.run()
        assert len(kernel.looks) == 9
        assert it.hides_time
        assert not it.is_suspect
        with trio.move_on_after(5 * LOOK_S - 0.01):
            await warden.run()
        assert len(kernel.looks) == 9 + 5
        assert it.breach is None

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_warden_confirms_and_kills() -> None:
    """On the real clock: confirming is done in a thread, for which no made-up clock waits."""
    kernel = FakeKernel()
    kernel.put(101, resident_bytes=400 * MIB)
    kernel.put(102, resident_bytes=400 * MIB)
    kernel.shares = {101: 300 * MIB, 102: 300 * MIB}

    async def main() -> None:
        kernel.token = trio.lowlevel.current_trio_token()
        warden = Warden(kernel)
        it = warden.watch(cast("Box", FakeBox()), BOUNDS)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(warden.run)
            with trio.fail_after(LONG_S):
                await kernel.was_killed.wait()
            nursery.cancel_scope.cancel()
        assert it.breach == "memory 600 MiB, the limit is 512 MiB"

    trio.run(main)


class Growing(FakeKernel):
    """A bot that takes twice as much as soon as it was counted, which takes half a second."""

    def pss_bytes(self, pid: int) -> int | None:
        if not self.confirmed:
            time.sleep(0.5)
            self.put(101, resident_bytes=1100 * MIB)
        else:
            self.shares = {101: 1100 * MIB}
        return super().pss_bytes(pid)


def test_memory_that_grows_is_confirmed_again_at_once() -> None:
    """What was all right is counted again seldom, and only while it is no more."""
    kernel = Growing()
    kernel.put(101, resident_bytes=520 * MIB)
    kernel.shares = {101: 500 * MIB}

    async def main() -> None:
        kernel.token = trio.lowlevel.current_trio_token()
        warden = Warden(kernel)
        it = warden.watch(cast("Box", FakeBox()), BOUNDS)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(warden.run)
            with trio.fail_after(4.0):  # ten times half a second is how seldom
                await kernel.was_killed.wait()
            nursery.cancel_scope.cancel()
        assert it.breach == "memory 1,100 MiB, the limit is 512 MiB"

    trio.run(main)


# --- real sandboxes -----------------------------------------------------------------------------


@contextmanager
def warded(inside: Inside, bounds: Bounds) -> Iterator[Ward]:
    """Watch a real sandbox, by hand."""
    yield Ward(inside.box, bounds, Proc())


def real_bounds(**changes: int) -> Bounds:
    told = {"memory_bytes": 512 * MIB, "tasks": 64, "files": 10_000, "sockets": 512} | changes
    return Bounds(**told)


def look_until_breach(it: Ward) -> str:
    end = time.monotonic() + LONG_S
    while it.breach is None:
        assert time.monotonic() < end
        if it.look() > 1.0:
            it.confirm()
    return it.breach


UP = "print('up', flush=True); time.sleep(20)"
ONE_LARGE = "held = bytearray(200 << 20)"
MANY_TOGETHER = """
for _ in range(4):
    if not os.fork():
        held = bytearray(60 << 20)
        time.sleep(20)
"""
THREADS = "for _ in range(20): threading.Thread(target=time.sleep, args=(20,)).start()"
WITHOUT_A_FIRST_THREAD = """
import ctypes
def rest():
    global held
    held = bytearray(200 << 20)
    print('up', flush=True); time.sleep(20)
threading.Thread(target=rest).start()
ctypes.CDLL(None).pthread_exit(None)
"""
FILES = "for n in range(300): open(f'/tmp/{n}', 'w').close()"
SOCKETS = "held = [socket.socketpair() for _ in range(50)]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "bounds", "text"),
    [
        (ONE_LARGE, {"memory_bytes": 128 * MIB}, "the limit is 128 MiB"),
        (MANY_TOGETHER, {"memory_bytes": 128 * MIB}, "the limit is 128 MiB"),
        (WITHOUT_A_FIRST_THREAD, {"memory_bytes": 128 * MIB}, "the limit is 128 MiB"),
        (THREADS, {"tasks": 10}, "21 processes and threads, the limit is 10"),
        (FILES, {"files": 200}, "the limit is 200"),
        (SOCKETS, {"sockets": 60}, "sockets, the limit is 60"),  # one of the setting up may be left
    ],
    ids=["one large", "many together", "no first thread", "threads", "files", "sockets"],
)
def test_a_real_bot_over_its_limit_is_killed_with_the_number(
    code: str, bounds: dict[str, int], text: str
) -> None:
    whole = f"import os, socket, threading, time\n{code}\n{UP}"
    with sandboxed(whole) as inside, warded(inside, real_bounds(**bounds)) as it:
        assert inside.line() == b"up\n"
        assert text in look_until_breach(it)
        inside.wait_over()


@pytest.mark.slow
def test_shared_memory_of_a_real_bot_is_counted_once() -> None:
    code = """
import os, time
held = bytearray(100 << 20)
for at in range(0, len(held), 4096): held[at] = 1
for _ in range(4):
    if not os.fork(): time.sleep(20)
print('up', flush=True); time.sleep(20)
"""
    with sandboxed(code) as inside, warded(inside, real_bounds(memory_bytes=256 * MIB)) as it:
        assert inside.line() == b"up\n"
        assert it.look() > 1.0
        it.confirm()
        assert it.breach is None


CHILD = "pid = os.fork()\nif not pid: burn(0.5); os._exit(0)\nos.waitpid(pid, 0)"
ORPHAN = """
ends, held = os.pipe()
if not os.fork():
    if os.fork(): os._exit(0)
    burn(0.5); os._exit(0)
os.close(held)
os.read(ends, 1)
"""
REAPED_BY_NOBODY = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ends, held = os.pipe()
if not os.fork(): burn(0.5); os._exit(0)
os.close(held)
os.read(ends, 1)
"""
TWO_THREADS = """
threads = [threading.Thread(target=burn, args=(0.25,)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    ["burn(0.5)", CHILD, ORPHAN, REAPED_BY_NOBODY, TWO_THREADS],
    ids=["itself", "child", "orphan", "auto-reaped", "threads"],
)
def test_cpu_time_is_counted_wherever_it_is_used(code: str) -> None:
    head = """
import os, signal, sys, threading, time
def burn(s):
    end = time.thread_time() + s
    while time.thread_time() < end: pass
print('up', flush=True)
sys.stdin.readline()
"""
    tail = "\nprint('done', flush=True)\nsys.stdin.readline()"
    with sandboxed(head + code + tail) as inside, warded(inside, real_bounds()) as it:
        assert inside.line() == b"up\n"
        before = it.sample()
        inside.send(b"go\n")
        looks = [time.monotonic()]
        while not inside.has_output(within_s=0.02):
            it.sample()
            looks.append(time.monotonic())
        looks.append(time.monotonic())
        assert inside.line() == b"done\n"
        # Of one that nobody reaps, what it used after the last look is lost: here 20 ms, more
        # where the machine is too busy to look.
        lost_s = max(later - sooner for sooner, later in pairwise(looks))
        assert 0.4 - lost_s <= it.sample() - before <= 0.8


SPIN = """
os.write(1, b'up\\n')
end = time.monotonic() + 20
while time.monotonic() < end: pass
"""
FORKS = "for _ in range(3):\n    if not os.fork(): break\n" + SPIN
THREADS_ALONE = f"""
import ctypes, threading
def spin():
    while open(f'/proc/self/task/{{os.getpid()}}/stat').read().split()[2] != 'Z': time.sleep(0.001)
    {SPIN.strip().replace(chr(10), chr(10) + "    ")}
for _ in range(4): threading.Thread(target=spin).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [FORKS, THREADS_ALONE], ids=["processes", "no first thread"])
def test_a_stopped_bot_uses_nothing_and_goes_on(code: str) -> None:
    with sandboxed(f"import os, time\n{code}") as inside, warded(inside, real_bounds()) as it:
        for _ in range(4):
            assert inside.line() == b"up\n"
        assert it.stop()
        end = time.monotonic() + LONG_S
        while {process.state for process in it._tree.look(whole=True)} - {"T", "S"}:
            assert time.monotonic() < end  # on a busy machine stopping takes its time
        before = it.sample()
        time.sleep(0.3)  # nothing to wait for: what is tested is that nothing happens
        assert it.sample() - before < 0.005
        it.go_on()
        end = time.monotonic() + LONG_S
        while it.sample() - before < 0.05:
            assert time.monotonic() < end


@pytest.mark.slow
def test_a_real_bot_gives_way_to_the_referee_and_stays_so() -> None:
    code = """
import os
print('up', flush=True)
input()
try: os.setpriority(os.PRIO_PROCESS, 0, 0)
except OSError: pass
print(os.getpriority(os.PRIO_PROCESS, 0), open('/proc/self/oom_score_adj').read(), flush=True)
input()
"""
    with sandboxed(code) as inside, warded(inside, real_bounds()) as it:
        inside.line()
        it.look()
        inside.send(b"\n")
        assert inside.line().split() == [str(BOT_NICE).encode(), b"1000"]


@pytest.mark.slow
def test_a_look_at_a_bot_is_cheap() -> None:
    """Ten looks a second at thirty bots should take a few hundredths of a core."""
    with sandboxed("print('up', flush=True); input()") as inside:
        inside.line()
        with warded(inside, real_bounds()) as it:
            it.look()
            took = []
            for _ in range(300):
                began = time.thread_time()
                it.look()
                took.append(time.thread_time() - began)
        assert sorted(took)[len(took) // 2] < 0.001


BRIEF = """
import os, signal, sys, time
def burn():
    while time.process_time() < 0.03: pass
    os._exit(0)
def wait():
    try:
        while True: os.wait()
    except ChildProcessError: pass
print("up", flush=True)
how = "%s"
if how == "ignores": signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(15):
    if os.fork() == 0:
        if how != "leaves" or os.fork() == 0: burn()
        os._exit(0)
    if how != "leaves": wait()  # with SIGCHLD ignored until the kernel has collected it
wait()
while sum(name.isdigit() for name in os.listdir("/proc")) > 2: time.sleep(0.01)
print("done", flush=True)
time.sleep(20)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "hides"),
    [("waits", False), ("leaves", False), ("ignores", True)],
)
def test_who_waits_for_real_children_hides_nothing_and_who_ignores_them_does(
    how: str, hides: bool
) -> None:
    """Orphans are collected by the sandbox's first process, which waits for everybody."""
    with sandboxed(BRIEF % how) as inside, warded(inside, real_bounds()) as it:
        assert inside.line() == b"up\n"
        while not inside.has_output(within_s=0.005):
            it.look()
        it.look()
        it.look()
        assert inside.line() == b"done\n"
        assert it.hides_time is hides
        assert it.sample() > 0.1
