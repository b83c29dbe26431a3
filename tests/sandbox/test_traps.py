"""The nine ways in which a sandbox of bubblewrap breaks without anybody noticing; a test each.

Every one of them was measured to break a sandbox that looked right. With real bubblewraps; as root
in route R, as anybody else in route U (`test_as_ordinary_user.py` runs this file again as one).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from arena.sandbox.limits import BOT_ENVIRONMENT, default_limits
from arena.sandbox.processes import pids_in_namespace, see
from arena.sandbox.sandboxes import Sandbox
from tests.sandboxed import Inside, few, need_sandbox, probe, sandboxed, staged
from tests.tools import need_that

pytestmark = pytest.mark.slow

GRANDCHILD = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    os.write(1, b'grandchild\\n')
    time.sleep(20)
    os._exit(0)
"""


def living(inside: Inside) -> list[int]:
    """Return who still runs inside."""
    seen = map(see, pids_in_namespace(inside.box.pid_namespace))
    return [process.pid for process in seen if process and process.state not in "ZX"]


# --- 1: the parent-death signal follows the thread that started the child -----------------------


def test_trap_1_a_bot_started_in_a_trio_task_lives_longer_than_trios_idle_threads() -> None:
    """Started by trio's own process functions it is killed after 10 s, with the worker thread."""

    async def main() -> None:
        sandbox = Sandbox(need_sandbox().profile)
        with staged(
            "print('up', flush=True)\nfor line in __import__('sys').stdin: print(line)"
        ) as at:
            await trio.to_thread.run_sync(time.monotonic)  # so that there is an idle thread
            process, box = sandbox.start(
                [sys.executable, "-S", "bot.py"], str(at), limits=default_limits(), cpu_s=20
            )
            inside = Inside(process, box)
            try:
                assert inside.line() == b"up\n"
                await trio.sleep(11.5)  # the one real wait: the trap closes after 10 s
                assert process.poll() is None, "killed while it was idle"
            finally:
                box.kill(process.pid)
                inside.wait_over()
                for pipe in (process.stdin, process.stdout, process.stderr):
                    assert pipe is not None
                    pipe.close()
                box.close()
                sandbox.close()

    trio.run(main)


# --- 2: root and a user namespace ---------------------------------------------------------------


def test_trap_2_files_of_proc_sys_can_not_be_opened_for_writing() -> None:
    """With a user namespace made by root, core_pattern could be: that is root on the host."""
    code = """
import os
names = ['kernel/core_pattern', 'kernel/modprobe', 'vm/swappiness', 'vm/drop_caches']
for path in [f'/proc/sys/{name}' for name in names] + ['/proc/sysrq-trigger']:
    try: os.close(os.open(path, os.O_WRONLY))
    except OSError: continue
    print(path)
"""
    assert probe(code) == ""


def test_trap_2_the_limit_of_processes_counts() -> None:
    code = """
import os, signal, time
made = []
for _ in range(100):
    try: pid = os.fork()
    except OSError: break
    if not pid: time.sleep(20); os._exit(0)
    made.append(pid)
print(len(made))
for pid in made: os.kill(pid, signal.SIGKILL)
"""
    assert 20 <= int(probe(code, limits=few(processes=32))) < 32


def test_trap_2_the_limit_of_processes_is_a_bots_own() -> None:
    """Two at once both have all of theirs; set outside, it counts all that a user has running."""
    code = """
import os, time
made = 0
for _ in range(100):
    try:
        if not os.fork(): time.sleep(20); os._exit(0)
    except OSError: break
    made += 1
print(made, flush=True)
time.sleep(20)
"""
    limits = few(processes=24)
    with sandboxed(code, limits=limits) as one, sandboxed(code, limits=limits) as other:
        counts = [int(one.line()), int(other.line())]
    assert all(18 <= count < 24 for count in counts), counts


def test_trap_2_a_bot_is_nobody_with_no_rights() -> None:
    code = """
import os
told = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
rights = [told[name].strip() for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')]
print(set(rights) == {'0' * 16}, told['NoNewPrivs'], told['Seccomp'], os.getuid() != 0)
for gain in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0])):
    try: gain()
    except OSError: continue
    print('gained')
"""
    assert probe(code).split() == ["True", "1", "2", "True"]


# --- 3: namespace of processes and parent-death signal work only together -----------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_trap_3_nobody_is_left_when_the_outermost_process_is_killed(number: int) -> None:
    with sandboxed(GRANDCHILD + "os.write(1, b'up\\n'); time.sleep(20)") as inside:
        assert {inside.line(), inside.line()} == {b"up\n", b"grandchild\n"}
        inside.process.send_signal(number)
        assert inside.line(within_s=5.0) == b"", "somebody holds the output open"
        inside.wait_over()
        assert living(inside) == []


def test_trap_3_nobody_is_left_when_the_bot_itself_ends() -> None:
    with sandboxed(GRANDCHILD + "input(); os._exit(3)") as inside:
        assert inside.line() == b"grandchild\n"
        inside.send(b"\n")
        assert inside.line(within_s=5.0) == b""
        inside.wait_over()
        assert living(inside) == []
        assert inside.process.returncode == 3


def test_trap_3_nobody_is_left_when_we_are_killed(tmp_path: Path) -> None:
    """The whole of a referee, played by a process of its own."""
    code = f"""
import sys, time
sys.path[:0] = {[*sys.path, str(Path(__file__).parents[2])]!r}
from tests.sandboxed import sandboxed
with sandboxed({GRANDCHILD + "time.sleep(20)"!r}) as inside:
    inside.line()
    inside.learn()
    print(inside.box.init, inside.box.pid_namespace, flush=True)
    time.sleep(20)
"""
    env = {**os.environ, "TMPDIR": str(tmp_path)}  # what it can't clean up lies there
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env) as referee:
        assert referee.stdout is not None
        init, namespace = map(int, referee.stdout.readline().split())
        referee.kill()
        referee.wait()
    watched = os.pidfd_open(init) if see(init) else None
    end = time.monotonic() + 2.0
    while [p for p in map(see, pids_in_namespace(namespace)) if p and p.state not in "ZX"]:
        assert time.monotonic() < end, "somebody outlived the referee"
    if watched is not None:
        os.close(watched)


# --- 4: what bubblewrap's own processes tell ----------------------------------------------------


def test_trap_4_no_process_inside_tells_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment, command line, open files and mounts of every process that a bot can see."""
    secret = "SECRET-MARKER-8817"  # noqa: S105
    monkeypatch.setenv("ARENA_TEST_SECRET", secret)
    monkeypatch.chdir(tmp_path)
    code = """
import glob, os
for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):
    try: print(path, open(path, 'rb').read())
    except OSError: pass
for path in glob.glob('/proc/[0-9]*/fd/*') + glob.glob('/proc/[0-9]*/cwd'):
    try: print(path, os.readlink(path))
    except OSError: pass
"""
    told = probe(code)
    assert secret not in told
    assert "arena-test-" not in told  # the host's name of the bot's folder
    assert str(tmp_path) not in told
    pids = {line.split("/")[2] for line in told.splitlines()}
    assert len(pids) <= 3


def test_trap_4_the_first_process_can_not_be_looked_into() -> None:
    """It is bubblewrap's; in route U it has the bot's user, and its memory could be written."""
    code = """
import os
print(os.listdir('/proc/1'))
for name in ('mem', 'maps', 'cmdline', 'fd', 'task/1/mem'):
    try: os.close(os.open('/proc/1/' + name, os.O_RDONLY))
    except OSError: continue
    print(name)
"""
    assert probe(code) == "[]\n"


def test_trap_4_mounts_tell_the_neutral_folder_alone() -> None:
    """What is mounted from where can't be hidden: a bot's copy lies where a name tells nothing."""
    code = "print(open('/proc/self/mountinfo').read())"
    roots = [line.split()[3:5] for line in probe(code).splitlines() if line.strip()]
    shown = [root for root, at in roots if at == "/bot"]
    assert len(shown) == 1
    assert Path(shown[0]).name.startswith("arena-test-")


def test_trap_4_a_bot_gets_the_documented_variables_and_three_files() -> None:
    code = """
import json, os
print(json.dumps([dict(os.environ), sorted(os.listdir('/proc/self/fd'))]))
"""
    variables, files = json.loads(probe(code))
    assert variables == {**BOT_ENVIRONMENT, "PWD": "/bot"}
    assert files == ["0", "1", "2", "3"]  # 3 is the listing's own


# --- 5: nobody's rusage tells what was used -----------------------------------------------------


def test_trap_5_cpu_time_comes_from_the_clocks_of_the_processes() -> None:
    code = """
import time
end = time.thread_time() + 0.5
while time.thread_time() < end: pass
print('done', flush=True)
input()
"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with sandboxed(code) as inside:
        assert inside.line() == b"done\n"
        inside.learn()
        seen = [see(pid) for pid in pids_in_namespace(inside.box.pid_namespace)]
        assert sum(process.cpu_s for process in seen if process) >= 0.5
        inside.send(b"\n")
        inside.wait_over()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 0.4, "rusage would do, and the warden is for nothing"


# --- 6: nothing is made under a folder of the bot's ---------------------------------------------


def test_trap_6_a_bots_folder_is_a_read_only_leaf() -> None:
    code = """
import os
def tries(what, *args):
    try: what(*args)
    except OSError as exc: return exc.errno
    return 0
made = [
    tries(os.open, '/bot/new', os.O_CREAT | os.O_WRONLY), tries(os.mkdir, '/bot/new'),
    tries(os.unlink, '/bot/bot.py'), tries(os.rename, '/bot/bot.py', '/bot/other.py'),
    tries(os.open, '/bot/bot.py', os.O_WRONLY), tries(os.symlink, '/', '/bot/link'),
    tries(os.chmod, '/bot/bot.py', 0o777), tries(os.utime, '/bot/bot.py'),
]
print(made)
places = [line.split()[4:6] for line in open('/proc/self/mountinfo')]
print([[at, 'ro' in how.split(',')] for at, how in places if at.startswith('/bot')])
"""
    errors, mounts = probe(code).splitlines()
    assert set(json.loads(errors)) <= {errno.EROFS, errno.EPERM, errno.EACCES}
    assert 0 not in json.loads(errors)
    assert mounts == "[['/bot', True]]"


def test_trap_6_a_link_in_a_bots_folder_leads_nowhere_outside(tmp_path: Path) -> None:
    """The folder of CVE-2026-87766: a link to the host as bubblewrap sees it while it mounts."""
    victim = tmp_path / "victim"
    victim.mkdir()
    own = Sandbox(need_sandbox().profile)
    with staged("import os; print(os.path.exists('/bot/evil/x'), os.listdir('/bot'))") as folder:
        (folder / "evil").symlink_to(f"/oldroot{victim}")
        process, box = own.start(
            [sys.executable, "-S", "bot.py"], str(folder), limits=default_limits(), cpu_s=20
        )
        out, _ = process.communicate(timeout=20)
        box.close()
        own.close()
    assert out.startswith(b"False")
    assert list(victim.iterdir()) == []


# --- 7: file systems in memory ------------------------------------------------------------------


def test_trap_7_every_place_that_can_be_written_is_small() -> None:
    code = """
import os
sizes = {}
for line in open('/proc/self/mountinfo'):
    at = line.split()[4]
    path = os.path.join(at, 'fill')
    try: fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    except OSError: continue
    size = 0
    try:
        while size < 64 << 20: size += os.write(fd, b'x' * 65536)
    except OSError: pass
    os.close(fd); os.unlink(path)
    sizes[at] = size
print(sizes)
"""
    sizes = eval(probe(code, limits=few(file_mib=100)))  # noqa: S307 - a dict that we made print
    assert set(sizes) == {"/tmp", "/dev/shm"}  # noqa: S108
    assert sizes["/tmp"] <= 16 << 20  # noqa: S108
    assert sizes["/dev/shm"] <= 1 << 20  # noqa: S108


def test_trap_7_nothing_else_can_be_written_anywhere() -> None:
    code = """
import os
for folder, _, _ in os.walk('/'):
    if folder.startswith(('/proc', '/usr/')): continue
    if os.access(folder, os.W_OK) and not folder.startswith(('/tmp', '/dev/shm')):
        try: os.close(os.open(folder + '/x', os.O_CREAT | os.O_WRONLY))
        except OSError: continue
        print(folder)
"""
    assert probe(code) == ""


# --- 8: what an exit status and an end of file say ----------------------------------------------


def test_trap_7_no_memory_can_be_had_that_stays_when_it_is_given_back() -> None:
    """Shared with nobody but a page, or in a pipe, it would show in no process's count."""
    code = """
import ctypes, errno, mmap, os
def told(what):
    try: what()
    except OSError as exc: return errno.errorcode[exc.errno]
    return 'done'
anonymous, private, huge = mmap.MAP_ANONYMOUS, mmap.MAP_PRIVATE, 0x40000
print(told(lambda: mmap.mmap(-1, 4096)))
print(told(lambda: mmap.mmap(-1, 1 << 21, anonymous | private | huge)))
print(told(lambda: open('/dev/zero', 'r+b')))
libc = ctypes.CDLL(None, use_errno=True)
page = ctypes.create_string_buffer(4096)
words = (ctypes.c_void_p * 2)(ctypes.addressof(page), 4096)
libc.vmsplice(os.pipe()[1], ctypes.byref(words), 1, 0)
print(errno.errorcode.get(ctypes.get_errno(), 'done'))
print(told(lambda: mmap.mmap(-1, 4096, anonymous | private)))
with open('/tmp/file', 'w+b') as file:
    file.truncate(4096)
    print(told(lambda: mmap.mmap(file.fileno(), 4096)))
"""
    assert probe(code).split() == ["EPERM", "ENOMEM", "ENOENT", "EPERM", "done", "done"]


def test_trap_8_a_bot_that_ends_with_1_is_told_from_a_sandbox_that_failed() -> None:
    with sandboxed("raise SystemExit(1)") as inside:
        inside.process.wait(20)
        assert inside.process.returncode == 1
        assert inside.box.was_set_up()


def test_trap_8_a_sandbox_that_failed_is_told_from_a_bot_that_ends_with_1(tmp_path: Path) -> None:
    own = Sandbox(need_sandbox().profile)
    process, box = own.start(
        [sys.executable], str(tmp_path / "missing"), limits=default_limits(), cpu_s=20
    )
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert not box.was_set_up()
    assert b"missing" in err
    box.close()
    own.close()


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(3)", 3),
        ("import os; os.kill(os.getpid(), 11)", 139),
        ("import os; os.kill(os.getpid(), 9)", 137),
        ("import os; os.abort()", 134),
    ],
)
def test_trap_8_status_and_signals_come_through(code: str, status: int) -> None:
    with sandboxed(code) as inside:
        inside.process.wait(20)
        assert inside.process.returncode == status
        assert inside.box.was_set_up()


def test_trap_8_a_program_that_is_missing_inside_is_the_bots_fault(tmp_path: Path) -> None:
    own = Sandbox(need_sandbox().profile)
    tmp_path.chmod(0o755)
    process, box = own.start(["./missing"], str(tmp_path), limits=default_limits(), cpu_s=20)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 127
    assert box.was_set_up()
    assert b"missing" in err
    box.close()
    own.close()


def test_trap_8_a_bot_that_traces_itself_does_not_end_its_sandbox() -> None:
    """PTRACE_TRACEME and a signal made bubblewrap end with 255."""
    code = """
import ctypes, os, signal
print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))
os.kill(os.getpid(), signal.SIGUSR1)
"""
    with sandboxed(code) as inside:
        assert inside.line() == b"-1\n"
        inside.process.wait(20)
        assert inside.process.returncode == 128 + signal.SIGUSR1


def test_trap_8_a_crash_is_looked_at_by_nobody_outside() -> None:
    """A limit of 0 lets the handlers of Ubuntu and Fedora read the crashed process, as root."""
    need_that(resource.getrlimit(resource.RLIMIT_CORE)[1] != 0, "core files", "none are allowed")
    code = """
import resource
print([line.split()[4] for line in open('/proc/self/limits') if 'core' in line])
for wanted in ((0, 0), (1, 1), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
    for change in (resource.setrlimit, lambda kind, to: resource.prlimit(0, kind, to)):
        try: change(resource.RLIMIT_CORE, wanted)
        except (OSError, ValueError): continue
        print(wanted)
"""
    assert probe(code) == "['1']\n"


def test_trap_8_a_closed_output_gives_no_end_of_file() -> None:
    """So only a limit of time ends it: nobody may wait for the end alone."""
    with sandboxed(
        "import os, time; print('up', flush=True); os.close(1); time.sleep(20)"
    ) as inside:
        assert inside.line() == b"up\n"
        assert not inside.has_output(within_s=0.3)


# --- 9: what two sandboxes share ----------------------------------------------------------------


def test_trap_9_counts_of_the_whole_machine_can_not_be_read() -> None:
    code = """
import os
for name in ('meminfo', 'stat', 'loadavg', 'vmstat', 'uptime', 'locks', 'interrupts', 'softirqs',
             'zoneinfo', 'buddyinfo', 'diskstats', 'swaps', 'pressure/cpu', 'sys/fs/file-nr',
             'keys', 'key-users', 'sys/kernel/random/entropy_avail', 'schedstat', 'slabinfo'):
    try: text = open('/proc/' + name).read()
    except OSError: continue
    print(name, text[:20])
try: print(os.getloadavg())
except OSError: pass
"""
    assert probe(code) == ""


def test_trap_9_no_lock_time_or_notice_goes_through_a_file_that_two_see() -> None:
    code = """
import ctypes, fcntl, os
libc = ctypes.CDLL(None, use_errno=True)
def tries(name, what, *args):
    try: what(*args)
    except OSError: return
    print(name)
def call(*args):
    if libc.syscall(*args) < 0: raise OSError(ctypes.get_errno(), '')
machine = os.uname().machine
number = (lambda x86, arm: x86 if machine == 'x86_64' else arm)
for path in ('/dev/null', '/usr/lib/os-release', '/bot/bot.py', '/usr'):
    flags = os.O_RDWR if path == '/dev/null' else os.O_RDONLY
    fd = os.open(path, flags)
    tries('flock', fcntl.flock, fd, fcntl.LOCK_SH)
    tries('lockf', fcntl.lockf, fd, fcntl.LOCK_SH)
    for command in (5, 6, 7, 36, 37, 38, 1024, 1026):
        tries(f'fcntl {command}', fcntl.fcntl, fd, command, bytes(32) if command < 100 else 1)
    tries('utime', os.utime, path)
    tries('futimens', os.utime, fd)
tries('inotify', call, number(294, 26), 0)
tries('fanotify', call, number(300, 262), 0, 0)
tries('keyctl', call, number(250, 219), 0, -3, 0)
tries('add_key', call, number(248, 217), b'user', b'a', b'b', 1, -3)
tries('memfd', os.memfd_create, 'x')
tries('shmget', call, number(29, 194), 0, 4096, 0o1600)
tries('msgget', call, number(68, 186), 0, 0o1600)
tries('semget', call, number(64, 190), 0, 1, 0o1600)
tries('sysinfo', call, number(99, 179), ctypes.create_string_buffer(256))
tries('affinity', os.sched_setaffinity, 0, {0})
"""
    assert probe(code) == ""


def test_trap_9_rare_families_of_sockets_can_not_be_made() -> None:
    code = """
import socket
made = []
for family in range(46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try: socket.socket(family, kind).close()
        except OSError: continue
        made.append((family, int(kind)))
print(sorted({family for family, _ in made}), [pair for pair in made if pair[1] == 3])
"""
    assert probe(code) == "[1] [(1, 3)]\n"


def test_trap_9_a_lock_held_by_one_is_not_seen_by_the_other() -> None:
    """Two sandboxes and we ourselves: a lock of ours on /dev/null is no message to a bot."""
    with Path("/dev/null").open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code = """
import fcntl
answers = set()
with open('/dev/null', 'r+b') as file:
    for _ in range(3):
        try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB); answers.add(0)
        except OSError as exc: answers.add(exc.errno)
print(answers)
"""
        while_held = probe(code)
        fcntl.flock(held, fcntl.LOCK_UN)
    assert while_held == probe(code)


def test_trap_9_no_namespace_mount_or_view_of_the_files_can_be_made() -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tries(name, answer):
    if answer >= 0: print(name)
machine = os.uname().machine
number = (lambda x86, arm: x86 if machine == 'x86_64' else arm)
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    tries(f'unshare {flag:x}', libc.unshare(flag))
    pid = libc.syscall(number(56, 220), flag | 17, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    tries(f'clone {flag:x}', pid)
tries('clone3', libc.syscall(435, ctypes.create_string_buffer(88), 88))
tries('mount', libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
tries('umount', libc.umount2(b'/tmp', 2))
tries('chroot', libc.chroot(b'/tmp'))
tries('pivot', libc.syscall(number(155, 41), b'/tmp', b'/tmp'))
tries('setns', libc.setns(os.open('/proc/self/ns/net', os.O_RDONLY), 0))
tries('handle', libc.syscall(number(304, 265), -100, ctypes.create_string_buffer(64), 0))
tries('personality', libc.personality(0x0040000))
tries('sched core', libc.prctl(62, 1, 0, 1, 0))
tries('io_uring', libc.syscall(425, 1, ctypes.create_string_buffer(120)))
tries('bpf', libc.syscall(number(321, 280), 0, ctypes.create_string_buffer(120), 120))
tries('userfaultfd', libc.syscall(number(323, 282), 1))
tries('perf', libc.syscall(number(298, 241), ctypes.create_string_buffer(120), 0, -1, -1, 0))
tries('vm_readv', libc.syscall(number(310, 270), os.getppid(), 0, 0, 0, 0, 0))
tries('new', libc.syscall(457, 0, 0, 0, 0))
tries('tiocsti', libc.ioctl(0, 0x5412, b'x'))
"""
    assert probe(code) == ""
