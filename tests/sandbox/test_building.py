"""A bot's build: run in the copy, without a shell, and never longer than it may."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from arena.errors import BotRefused
from arena.sandbox.building import build

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
    for pid in map(int, (tmp_path / "pid").read_text().split()):
        status = Path(f"/proc/{pid}/stat")
        # The child is nobody's but init's now: it is gone, or a zombie until init has looked.
        assert not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_input_is_at_its_end(tmp_path: Path) -> None:
    build([[PY, "-c", "import sys; assert sys.stdin.read() == ''"]], tmp_path)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 (of a folder that was given)
