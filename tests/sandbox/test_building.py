"""A bot's build: run in the copy, without a shell, and never longer than it may."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.errors import BotRefused
from arena.sandbox.building import build
from arena.sandbox.limits import BOT_ENVIRONMENT, build_limits
from arena.sandbox.staging import unstage
from tests.living import carrying, is_alive, wait_gone
from tests.sandboxed import need_sandbox
from tests.tools import need

pytestmark = pytest.mark.slow

PY = sys.executable


def test_commands_run_in_the_copy_one_after_the_other(tmp_path: Path) -> None:
    build(
        [
            [PY, "-c", "open('a', 'w').write('1; $(id) `id` *')"],
            [PY, "-c", "open('b', 'w').write(open('a').read())"],
        ],
        tmp_path,
    )
    assert (tmp_path / "b").read_text() == "1; $(id) `id` *"


def test_build_sees_nothing_of_our_environment_but_what_compilers_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_SECRET", "marker")
    code = "import os; open('env', 'w').write(' '.join(sorted(os.environ)))"
    build([[PY, "-I", "-c", code]], tmp_path)
    assert set((tmp_path / "env").read_text().split()) <= {"HOME", "LANG", "PATH", "LC_CTYPE"}


def test_failure_shows_the_end_of_what_was_printed_and_no_control_character(
    tmp_path: Path,
) -> None:
    code = "print('x' * 9000); print('\\x1b[2Jno compiler'); raise SystemExit(3)"
    with pytest.raises(BotRefused, match="ended with status 3") as caught:
        build([[PY, "-c", code], [PY, "-c", "open('never', 'w')"]], tmp_path)
    text = str(caught.value)
    assert text.endswith("?[2Jno compiler")
    assert len(text) < 2_500
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not (tmp_path / "never").exists()


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(BotRefused, match="'no-such-compiler x' can't be started"):
        build([["no-such-compiler", "x"]], tmp_path)


def test_build_that_takes_too_long_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "os.rename('pids', 'pid')\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(BotRefused, match="a build may take 3 s in all"):
        build([[PY, "-c", code]], tmp_path, limit_s=3.0)
    # The child is nobody's but init's now: it goes, or is a zombie until init has looked.
    pids = [*map(int, (tmp_path / "pid").read_text().split())]
    wait_gone(lambda: [pid for pid in pids if is_alive(pid)])


def test_input_is_at_its_end(tmp_path: Path) -> None:
    build([[PY, "-c", "import sys; assert sys.stdin.read() == ''"]], tmp_path)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 (of a folder that was given)


# --- in the sandbox -----------------------------------------------------------------------------


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder as the copy is in which a bot is built: ours, and closed to all others."""
    with tempfile.TemporaryDirectory(prefix="arena-test-build-") as name:
        yield Path(name)


def locked(folder: Path, code: str, *more: str, limit_s: float = 60.0) -> None:
    """Run a Python program as a build in the sandbox."""
    words = [PY, "-S", "-c", f"import signal; signal.alarm(60)\n{code}", *more]
    build([words], folder, profile=need_sandbox().profile, limit_s=limit_s)


def test_locked_build_writes_into_its_copy_and_leaves_it_ours(folder: Path) -> None:
    (folder / "source").write_text("x")
    (folder / "sub").mkdir()
    code = (
        "import os; os.rename('source', 'sub/made'); os.chmod('sub/made', 0o755)\n"
        "os.utime('sub/made', (5, 5)); os.symlink('made', 'sub/link')"
    )
    locked(folder, code)
    made = folder / "sub" / "made"
    assert made.read_text() == (folder / "sub" / "link").read_text() == "x"
    for path in (folder, folder / "sub", made):
        assert path.stat().st_uid == os.geteuid()
    assert made.stat().st_mtime == 5


def test_locked_build_gets_at_nothing_else(folder: Path, tmp_path: Path) -> None:
    """Nothing of ours can be read, nothing written, nobody reached."""
    marker = tmp_path / "marker"
    marker.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = f"""
import os, socket, sys
def fails(act):
    try: act()
    except OSError: return True
    return False
assert os.getcwd() == "/bot"
assert sorted(os.environ) == sorted([*{list(BOT_ENVIRONMENT)!r}, "PWD"])
assert fails(lambda: open({str(marker)!r}))
assert fails(lambda: open("/etc/passwd"))
assert fails(lambda: open("/usr/marker", "w"))
assert fails(lambda: socket.create_connection(("127.0.0.1", {listener.getsockname()[1]}), 1))
assert os.getuid() not in (0, {os.geteuid()})
"""
        locked(folder, code)


def test_locked_build_may_lock_files(folder: Path) -> None:
    """Compilers do; a bot in its game may not."""
    code = "import fcntl; file = open('x', 'w'); fcntl.flock(file, 2); fcntl.lockf(file, 2)"
    locked(folder, code)


def test_locked_build_leaves_no_process(folder: Path) -> None:
    mark = f"left-by-build-{os.getpid()}"
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN); open('up', 'w').close()\n"
        "    time.sleep(50)\n"
        "while not os.path.exists('up'): pass\n"
    )
    locked(folder, code, mark)
    assert carrying(mark) == set()


def test_locked_build_that_takes_too_long_is_stopped_whole(folder: Path) -> None:
    mark = f"slow-build-{os.getpid()}"
    with pytest.raises(BotRefused, match="a build may take 1 s in all"):
        locked(folder, "import os, time; os.fork(); time.sleep(50)", mark, limit_s=1.0)
    assert carrying(mark) == set()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import os; os.symlink('/etc/shadow', 'x')", "x: a link out of the bot's folder"),
        ("import os; os.symlink('../../x', 'x')", "x: a link out of the bot's folder"),
        ("import os; os.mkfifo('x')", "build: leaves x, which is a FIFO"),
        (
            "import socket; socket.socket(socket.AF_UNIX).bind('x')",
            "build: leaves x, which is a socket",
        ),
        (
            "import os\nfor _ in range(2500): os.mkdir('d'); os.chdir('d')",
            "build: folders lie deeper than 32",
        ),
        (
            "for i in range(21_000): open(str(i), 'w').close()",
            "more than 20,000 files and folders",
        ),
    ],
    ids=["absolute", "upwards", "fifo", "socket", "deep", "many"],
)
def test_what_no_copy_may_hold_is_refused(folder: Path, code: str, text: str) -> None:
    with pytest.raises(BotRefused, match=text):
        locked(folder, code)
    unstage(folder)
    assert not folder.exists()
    folder.mkdir()


def test_locked_build_may_not_fill_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.sandbox.built.BUILD_BYTES", 8 * 1024 * 1024)
    code = (
        "import time\n"
        "for i in range(12): open(str(i), 'wb').write(bytes(1024 * 1024))\n"
        "time.sleep(50)"
    )
    with pytest.raises(BotRefused, match="was stopped: leaves more than 8 MiB"):
        locked(folder, code)


def test_locked_build_may_not_use_too_much_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = replace(build_limits(), memory_mib=64)
    monkeypatch.setattr("arena.sandbox.building.build_limits", lambda: few)
    code = "import time; held = b'x' * (100 * 1024 * 1024); time.sleep(50)"
    with pytest.raises(BotRefused, match=r"was stopped: memory \d+ MiB, the limit is 64 MiB"):
        locked(folder, code)


def test_locked_build_of_a_missing_program_says_so(folder: Path) -> None:
    with pytest.raises(BotRefused, match="'no-such-compiler x' can't be started: the program"):
        build([["no-such-compiler", "x"]], folder, profile=need_sandbox().profile)


def test_c_is_compiled_in_the_sandbox(folder: Path) -> None:
    need("gcc")
    (folder / "bot.c").write_text('#include <stdio.h>\nint main(void) { puts("made"); }\n')
    build([["gcc", "-O2", "-o", "bot", "bot.c"]], folder, profile=need_sandbox().profile)
    told = subprocess.run([folder / "bot"], capture_output=True, check=True)
    assert told.stdout == b"made\n"


def test_java_is_compiled_in_the_sandbox(folder: Path) -> None:
    need("javac")
    (folder / "Bot.java").write_text("class Bot { public static void main(String[] a) {} }\n")
    # Left to itself it reserves address space by the host's memory, and here that is limited.
    words = ["javac", "-J-Xmx256m", "-d", "out", "Bot.java"]
    build([words], folder, profile=need_sandbox().profile)
    assert (folder / "out" / "Bot.class").is_file()
