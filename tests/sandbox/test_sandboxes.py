"""Starting bots in sandboxes: what is started, what is told, and that nothing of it is left."""

from __future__ import annotations

import errno
import os
import random
import resource
import stat
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.errors import HostFault
from arena.sandbox.bubblewrap import Profile
from arena.sandbox.limits import BOT_NICE, default_limits, rlimits
from arena.sandbox.processes import children_of, namespace_of
from arena.sandbox.sandboxes import Box, Sandbox
from arena.sandbox.slots import UserIds
from arena.sandbox.visible import Visible
from tests.living import wait_gone
from tests.sandboxed import Inside, few, need_sandbox, probe, sandboxed, staged

PROFILE = Profile(
    bwrap="/usr/bin/bwrap",
    route="U",
    visible=Visible(trees=("/usr",)),
    prlimit="/usr/bin/prlimit",
    setpriv="/usr/bin/setpriv",
    environment=(("LANG", "C.UTF-8"),),
)
LIMITS = default_limits()
BASE = 61_000 + os.getpid() % 50


def open_files() -> set[str]:
    return set(os.listdir("/proc/self/fd"))  # noqa: PTH208


# --- the words of a start -----------------------------------------------------------------------


def test_a_wrapped_command_reads_its_options_and_filter_from_descriptors() -> None:
    before = open_files()
    sandbox = Sandbox(PROFILE)
    with sandbox.wrap(["./run", "-x"], "/data/bots/0123", limits=LIMITS, cpu_s=30) as wrapped:
        assert wrapped.words[:2] == ("/usr/bin/bwrap", "--args")
        args = os.read(int(wrapped.words[2]), 1 << 16).split(b"\0")
        assert args[-1] == b""
        seccomp = int(args[args.index(b"--seccomp") + 1])
        status = int(args[args.index(b"--json-status-fd") + 1])
        assert len(os.read(seccomp, 1 << 16)) % 8 == 0
        assert stat.S_ISFIFO(os.fstat(status).st_mode)
        assert {int(wrapped.words[2]), seccomp, status} == set(wrapped.pass_fds)
        assert b"/data/bots/0123" in args
        assert "--cpu=30" in wrapped.words
        assert wrapped.words[-2:] == ("./run", "-x")
        box = wrapped.box
    assert not box.learn()
    box.close()
    box.close()
    assert open_files() == before


def fail_to_start(sandbox: Sandbox) -> None:
    with sandbox.wrap(["./run"], "/bot", limits=LIMITS) as wrapped:
        assert wrapped.box.uid == BASE
        raise OSError(errno.ENOENT, "no such program")


def test_a_failure_in_the_middle_leaves_nothing_open() -> None:
    before = open_files()
    ids = UserIds(BASE, 1)
    sandbox = Sandbox(replace(PROFILE, route="R"), ids)
    for _ in range(3):  # the one id is there again each time
        with pytest.raises(OSError, match="no such"):
            fail_to_start(sandbox)
    sandbox.close()
    assert open_files() == before


def test_two_bots_at_once_have_two_user_ids() -> None:
    sandbox = Sandbox(replace(PROFILE, route="R"), UserIds(BASE, 2))
    with (
        sandbox.wrap(["./a"], "/bot", limits=LIMITS) as one,
        sandbox.wrap(["./b"], "/bot", limits=LIMITS) as other,
    ):
        assert one.box.uid != other.box.uid
        with pytest.raises(HostFault), sandbox.wrap(["./c"], "/bot", limits=LIMITS):
            pass
    one.box.close()
    other.box.close()
    sandbox.close()


def test_limits_inside_are_those_of_the_game_within_our_own() -> None:
    found = rlimits(few(processes=7, open_files=9), cpu_s=5, sandboxed=True)
    assert found["nproc"] == 7
    assert found["nofile"] == 9
    assert found["msgqueue"] == found["rtprio"] == found["nice"] == 0
    assert "core" not in found  # inherited, see the traps
    assert found["cpu"] == 5
    assert "cpu" not in rlimits(LIMITS, sandboxed=True)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert rlimits(few(open_files=2**40), sandboxed=True)["nofile"] == min(hard, 2**40)


# --- what bubblewrap tells ----------------------------------------------------------------------


def told(text: bytes) -> Box:
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    os.write(writing, text)
    os.close(writing)
    return Box(None, reading, None)


def test_box_knows_its_processes_once_it_is_told() -> None:
    own = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    line = b'{ "child-pid": %d, "pid-namespace": %d }\n' % (os.getpid(), own)
    box = told(line)
    assert box.learn()
    assert (box.init, box.pid_namespace) == (os.getpid(), own)
    assert not box.was_set_up()
    assert not box.is_over()
    box.close()
    box = told(line + b'{ "exit-code": 0 }\n')
    assert box.was_set_up()
    box.close()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nonsense\n",
        b'{ "child-pid": 4194305 }\n',
        b'{ "child-pid": 1, "pid-namespace": 12345 }\n',
    ],
)
def test_box_takes_no_process_that_is_gone_or_another_one(text: bytes) -> None:
    box = told(text)
    assert not box.learn()
    assert box.is_over()
    box.kill()
    box.close()


# --- real sandboxes -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_million_bytes_pass_unchanged() -> None:
    data = random.Random(7).randbytes(1_000_000)
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    own = Sandbox(need_sandbox().profile)
    with staged(code) as at:
        process, box = own.start([sys.executable, "-S", "bot.py"], str(at), limits=LIMITS, cpu_s=20)
        out, _ = process.communicate(data, timeout=30)
        box.close()
        own.close()
    assert out == data


@pytest.mark.slow
def test_a_bot_can_not_raise_its_limits() -> None:
    code = """
import resource
for name in dir(resource):
    if name.startswith('RLIMIT_') and name != 'RLIMIT_OFILE':
        kind = getattr(resource, name)
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY: continue
        try: resource.setrlimit(kind, (hard + 1, hard + 1))
        except (OSError, ValueError): continue
        print(name)
"""
    assert probe(code) == ""


@pytest.mark.slow
def test_limits_of_each_process_hold() -> None:
    code = """
import os, resource
made = []
try:
    while True: made.append(os.open('/dev/null', os.O_RDONLY))
except OSError as exc: print(len(made) < 64, exc.errno)
for fd in made: os.close(fd)
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fd = os.open('/tmp/big', os.O_CREAT | os.O_WRONLY)
try:
    for _ in range(64): os.write(fd, b'x' * 65536)
except OSError as exc: print(os.fstat(fd).st_size, exc.errno)
try: bytearray(8 << 30); print('memory')
except MemoryError: print('no memory')
"""
    found = probe(code, limits=few(open_files=64, file_mib=1)).splitlines()
    assert found == [f"True {errno.EMFILE}", f"{1 << 20} {errno.EFBIG}", "no memory"]


@pytest.mark.slow
def test_cpu_backstop_ends_a_process() -> None:
    own = Sandbox(need_sandbox().profile)
    with staged("while True: pass") as at:
        process, box = own.start([sys.executable, "-S", "bot.py"], str(at), limits=LIMITS, cpu_s=1)
        _, err = process.communicate(timeout=60)
        assert process.returncode in {137, 152}, err
        box.close()
        own.close()


@pytest.mark.slow
def test_bot_is_known_and_settled_soon_after_its_start() -> None:
    with sandboxed("print('up', flush=True); input()") as inside:
        inside.learn()
        assert inside.box.pid_namespace != os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
        assert os.getpriority(os.PRIO_PROCESS, inside.process.pid) >= BOT_NICE
        score = Path(f"/proc/{inside.process.pid}/oom_score_adj").read_text()
        assert int(score) == 1000


@pytest.mark.slow
def test_a_kill_is_quick_and_whole() -> None:
    with sandboxed("print('up', flush=True); input()") as inside:
        inside.line()
        inside.box.kill(inside.process.pid)
        wait_gone(
            lambda: inside.process.poll() is None or not inside.box.is_over(), inside.process.pid
        )


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "by itself"])
def test_the_end_of_a_bot_leaves_no_dead_process_to_others(how: str) -> None:
    """In a container the first process may reap nobody's, and they would fill its limit."""
    with sandboxed("print('up', flush=True); input()") as inside:
        inside.line()
        inside.learn()
        if how == "killed":
            inside.box.kill(inside.process.pid)
        else:
            inside.send(b"go\n")
        inside.wait_over()
        inside.box.close()
        assert namespace_of(inside.box.init) != inside.box.pid_namespace


@pytest.mark.slow
def test_sandboxes_killed_while_they_are_set_up_leave_no_dead_process() -> None:
    """Those that are not yet known are reaped with the next one at the latest."""
    before = set(children_of(os.getpid()))  # what other tests left: it is ours since the first one
    own = Sandbox(need_sandbox().profile)
    with staged("input()") as at:
        for wait_ms in (0, 1, 2, 3, 4, 5, 6, 7, 100):
            process, box = own.start([sys.executable, "bot.py"], str(at), limits=LIMITS, cpu_s=20)
            time.sleep(wait_ms / 1000)
            box.kill(process.pid)
            process.communicate()
            while not box.is_over():
                time.sleep(0.001)
            box.close()
    own.close()
    assert set(children_of(os.getpid())) - before == set()


@pytest.mark.slow
def test_nothing_of_twenty_bots_is_left() -> None:
    before = open_files()
    own = Sandbox(need_sandbox().profile)
    with staged("print('up', flush=True); input()") as at:
        started = [
            own.start([sys.executable, "-S", "bot.py"], str(at), limits=LIMITS, cpu_s=20)
            for _ in range(20)
        ]
        insides = [Inside(process, box) for process, box in started]
        for inside in insides:
            assert inside.line() == b"up\n"
            inside.learn()
        namespaces = {inside.box.pid_namespace for inside in insides}
        assert len(namespaces) == 20
        for inside in insides:
            inside.box.kill(inside.process.pid)
        for inside in insides:
            inside.wait_over()
            for pipe in (inside.process.stdin, inside.process.stdout, inside.process.stderr):
                assert pipe is not None
                pipe.close()
            inside.box.close()
    own.close()
    assert open_files() == before


@pytest.mark.slow
def test_a_bots_output_after_its_kill_ends() -> None:
    with sandboxed("print('up', flush=True)\nwhile True: print('x' * 1000)") as inside:
        inside.line()
        inside.box.kill(inside.process.pid)
        while inside.line():
            pass
        inside.wait_over()


@pytest.mark.slow
def test_a_fork_bomb_stays_in_its_sandbox() -> None:
    """The machine goes on to start programs, and nobody is left of it."""
    code = """
import os, sys, time
print('up', flush=True)
end = time.monotonic() + 3
while time.monotonic() < end:
    try:
        if not os.fork(): pass
    except OSError: pass
"""
    with sandboxed(code) as inside:
        inside.line()
        took = []
        for _ in range(10):
            began = time.monotonic()
            subprocess.run(["/bin/true"], check=True)
            took.append(time.monotonic() - began)
        assert statistics.median(took) < 0.1
        inside.box.kill(inside.process.pid)
        inside.wait_over()


@pytest.mark.slow
def test_next_bot_finds_nothing_of_the_one_before() -> None:
    """In route R with the same user id too: there is one in the range."""
    profile = need_sandbox().profile
    own = Sandbox(profile, UserIds(BASE, 1))
    code = """
import os
for place in ('/tmp', '/dev/shm'):
    print(sorted(n for n in os.listdir(place) if n.startswith('note')))
    try: open(place + '/note', 'w').close()
    except OSError: print('not writable')
print(sorted(name for name in os.listdir('/proc') if name.isdigit())[:1])
"""
    found = []
    with staged(code) as at:
        for _ in range(2):
            process, box = own.start(
                [sys.executable, "-S", "bot.py"], str(at), limits=LIMITS, cpu_s=20
            )
            out, err = process.communicate(timeout=30)
            assert not err
            found.append(out)
            while not box.is_over():  # it ends a moment after its bubblewrap
                time.sleep(0.001)
            box.close()
    own.close()
    assert found == [b"[]\n[]\n['1']\n"] * 2
