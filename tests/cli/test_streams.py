"""Streams that are closed, full or can't show a character."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import protocol
from arena.cli.exits import Exit
from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.fake_games import fake_plan, fake_record

SPEC_TEXT = (Path(protocol.__file__).parent / "SPEC.md").read_text(encoding="utf-8")


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell's command line with `arena` in it."""
    return subprocess.run(
        ["/bin/sh", "-c", command.replace("arena", f"'{sys.executable}' -m arena")],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **more},
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_as_if_they_led_nowhere(tmp_path: Path, closed: str) -> None:
    done = shell(f"arena rulesets {closed}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"error" not in done.stderr


def test_next_file_does_not_get_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    code = (
        "import os; from arena.cli.streams import make_ready; make_ready(); "
        "print(os.open('file', os.O_CREAT | os.O_WRONLY) > 2, flush=True); print('late')"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -c "{code}" >&- <&-'],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("words", ["rulesets", "rulesets --json", "protocol --schema"])
def test_full_disk_behind_stdout_is_no_bug_of_ours(tmp_path: Path, words: str) -> None:
    done = shell(f"arena {words} >/dev/full", tmp_path)
    assert done.returncode == Exit.INTERRUPTED
    assert b"error: stdout can't be written (No space left on device): make room" in done.stderr
    assert b"bug" not in done.stderr


@pytest.mark.parametrize("pipe", ["", "| true"])
@pytest.mark.parametrize("more", ["", "--json"])
def test_a_verdict_is_the_same_where_nobody_reads_it(tmp_path: Path, pipe: str, more: str) -> None:
    record = fake_record(next(iter(fake_plan(2).specs())))  # of a game that nobody played
    (tmp_path / "games.jsonl").write_bytes(msgspec.json.encode(record))
    done = shell(f"(arena verify games.jsonl {more}; echo $? >code) {pipe}", tmp_path)
    assert (tmp_path / "code").read_text() == f"{Exit.NO}\n", done.stderr
    assert b"error" not in done.stderr


@pytest.mark.parametrize(("reader", "code"), [("head -c 1", 141), ("cat", 0)])
@pytest.mark.parametrize("more", ["", " -o /dev/stdout"])
def test_an_export_that_is_not_read_to_its_end_ends_as_sigpipe_would(
    tmp_path: Path, reader: str, code: int, more: str
) -> None:
    with Database(tmp_path / "arena-data" / DATABASE) as database:
        run = database.begin(fake_plan(2, deals=60))
        for spec in run.plan.specs():
            database.add_record(run, fake_record(spec))
        database.finish(run)
    done = shell(f"(arena export --format jsonl{more}; echo $? >code) | {reader}", tmp_path)
    assert (tmp_path / "code").read_text() == f"{code}\n", done.stderr
    assert (b"120 games of run" in done.stderr) == (code == 0)
    assert b"error" not in done.stderr


def test_nobody_reading_on_is_no_error(tmp_path: Path) -> None:
    done = shell("(arena protocol; echo $? >&2) | head -1", tmp_path)
    assert done.stdout == b"# The wire, protocol 1\n"
    assert done.stderr.split()[-1] == b"0"
    assert b"error" not in done.stderr


def test_character_that_a_stream_lacks_is_a_question_mark(tmp_path: Path) -> None:
    done = shell("arena protocol", tmp_path, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert "…" in SPEC_TEXT
    shown = SPEC_TEXT.encode("latin-1", "replace").decode("latin-1")
    assert shown.count("?") > SPEC_TEXT.count("?")
    assert done.stdout.decode("latin-1").rstrip() == shown.rstrip()


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&1 >/dev/null | true"])
def test_talk_that_nobody_hears_ends_no_command(tmp_path: Path, where: str) -> None:
    done = shell(f"(arena -vv rulesets; echo $? >code) {where}", tmp_path)
    assert (tmp_path / "code").read_text() == "0\n", done.stderr


def test_a_ctrl_c_in_the_middle_of_a_line_says_it_once(tmp_path: Path) -> None:
    """Whoever reads it may answer before the write has come back."""
    code = (
        "import sys; from arena.cli.streams import make_ready; make_ready()\n"
        "number = 0\n"
        "while number < 2000:\n"
        "  try:\n"
        "    while number < 2000: number += 1; print('line', number, file=sys.stderr)\n"
        "  except KeyboardInterrupt: pass\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            if not line.startswith("line "):
                break  # it was between two lines
            lines.append(line)
            process.send_signal(signal.SIGINT)
        process.kill()
    assert lines
    assert len(lines) == len(set(lines)), lines


def test_json_is_utf_8_on_every_stream(tmp_path: Path) -> None:
    file = tmp_path / "ü.toml"
    file.write_text('bots = ["random", "greedy"]\nseed = "日本"\n', encoding="utf-8")
    done = shell("arena config check ü.toml --json", tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "日本" in done.stdout.decode("utf-8")
