"""Where bots are kept, by each command: sandboxed, refused, or without it and marked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from arena.cli.stored import open_data
from arena.referee.record import GameRecord
from arena.sandbox.refusals import NO_SANDBOX_WARNING
from tests.cli.bots import write_bot
from tests.sandboxed import need_sandbox

pytestmark = pytest.mark.slow

LIMIT_S = 90.0
REFUSED_S = 3.0  # from the question to the refusal
# Says to its author whether it sees this machine's own files.
LOOKS = "import os; print(os.path.exists('/etc/hostname'), os.getcwd(), file=sys.stderr)"


class Shell:
    """Calls `arena` as a process in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "arena-data"
        self.stderr = ""
        self.took_s = 0.0

    def __call__(self, *words: object, code: int = 0, path: str | None = None) -> str:
        """Run a command to its end, which must have this exit code; return its stdout."""
        began = time.monotonic()
        told = subprocess.run(
            [sys.executable, "-m", "arena", *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            env={**os.environ, **({"PATH": path} if path else {})},
        )
        self.took_s = time.monotonic() - began
        self.stderr = told.stderr
        assert told.returncode == code, told.stdout + told.stderr
        assert "Traceback" not in told.stderr
        return told.stdout

    def records(self) -> list[GameRecord]:
        """The stored records of the last run."""
        with open_data(self.data) as database:
            run = database.find_run()
            refs = [database.find_game(game.game, run=run) for game in database.stored_games(run)]
            return [database.record(ref) for ref in refs]

    def was_played_without_it(self, *, games: int) -> None:
        """See that the last command warned of it once, and marked its games."""
        assert self.stderr.count("warning: no sandbox: ") == 1
        records = self.records()
        assert len(records) == games
        for record in records:
            assert record.aside.marks == ("unsandboxed",)
            assert record.aside.sandbox is None


@pytest.fixture
def arena(tmp_path: Path) -> Shell:
    need_sandbox()
    return Shell(tmp_path)


@pytest.fixture
def bot(arena: Shell) -> Path:
    """A stranger's bot."""
    return write_bot(arena.folder / "bots", "stranger", LOOKS)


BROKEN = {
    "missing": None,
    "not executable": "",
    "exits 1": "#!/bin/sh\nexit 1\n",
    "hangs": "#!/bin/sh\nexec sleep 600\n",
    "says nothing": "#!/bin/sh\nexit 0\n",
    "prints": "#!/bin/sh\necho bubblewrap 0.11.0\necho '{}'\n",
    "floods": "#!/bin/sh\nexec yes\n",
    "runs it without": "#!/bin/sh\n"
    'if [ "$1" = --version ]; then echo bubblewrap 0.11.0; exit; fi\n'
    'while [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n',
    "no namespaces": "#!/bin/sh\n"
    'if [ "$1" = --version ]; then echo bubblewrap 0.11.0; exit; fi\n'
    'echo "bwrap: No permissions to create new namespace" >&2; exit 1\n',
}


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, arena: Shell) -> Path:
    """A bubblewrap that does not work (E26)."""
    program = arena.folder / "bin" / "bwrap"
    program.parent.mkdir()
    content = BROKEN[request.param]
    if content is not None:
        program.write_text(content)
        program.chmod(0o755 if content else 0o644)
    return program


def test_strangers_are_refused_without_a_sandbox_and_nothing_is_started(
    arena: Shell, bot: Path, broken: Path
) -> None:
    """E26: cause and cure within three seconds, by every command that starts bots."""
    started = arena.folder / "started"
    (bot / "bot.py").write_text(f"open({str(started)!r}, 'w')\n")
    for words in (("run", bot, "random"), ("play", bot, "random"), ("bots", bot)):
        arena(*words, "--bwrap", broken, code=2)
        assert arena.took_s < REFUSED_S
        first, *rest = arena.stderr.removeprefix("error: ").splitlines()
        assert first.startswith("Cannot run untrusted bots: ")
        assert first.endswith(". Nothing was started.")
        assert [line[:5] for line in rest if line[:1] != " "] == ["Why: ", "Fix: ", "Or:  "]
    assert not started.exists()
    assert not (arena.data / "arena.sqlite3").exists()


def test_own_bots_play_without_it_with_one_line_of_warning_and_a_mark(
    arena: Shell, broken: Path
) -> None:
    told = json.loads(arena("play", "random", "random", "--json", "--bwrap", broken))
    assert told["fault"] is None
    arena.was_played_without_it(games=1)


def test_own_bots_play_a_tournament_without_it_with_one_line_of_warning_and_marks(
    arena: Shell,
) -> None:
    missing = arena.folder / "bin" / "bwrap"
    arena("run", "random", "greedy", "--deals", "1", "--bwrap", missing)
    arena.was_played_without_it(games=2)


def stderr_of(record: GameRecord, name: str) -> set[str]:
    """The lines that a bot wrote to its author in a game."""
    core, aside = record.core, record.aside
    seat = aside.mister_x if core.mister_x.name == name else aside.detectives
    return set(seat.stderr.splitlines())


def test_everybody_is_kept_in_the_sandbox_by_default(arena: Shell, bot: Path) -> None:
    arena("run", bot, "random", "--deals", "1")
    assert "sandbox" not in arena.stderr.lower()
    for record in arena.records():
        assert record.core.faults == ()
        assert record.aside.marks == ()
        assert (record.aside.sandbox or "").startswith("bubblewrap ")
        assert stderr_of(record, "stranger") == {"False /bot"}
        held_to = record.aside.mister_x.held_to
        assert held_to is not None
        assert (held_to.memory_mib, held_to.processes) == (512, 64)


def test_none_must_be_typed_and_warns_at_the_start_and_at_the_end(arena: Shell, bot: Path) -> None:
    arena("run", bot, "random", "--deals", "1", "--sandbox", "none")
    assert arena.stderr.count(NO_SANDBOX_WARNING) == 2
    for record in arena.records():
        assert record.aside.marks == ("unsandboxed",)
        assert record.aside.sandbox is None
        assert all(line.startswith("True ") for line in stderr_of(record, "stranger"))
    report = next((arena.data / "reports").iterdir())
    assert "without the sandbox" in (report / "report.json").read_text()
    arena("play", bot, "random", "--sandbox", "none")
    assert NO_SANDBOX_WARNING in arena.stderr


def test_resume_goes_by_the_runs_own_settings(arena: Shell, bot: Path) -> None:
    """And refuses strangers where the sandbox has gone since."""
    own = arena.folder / "bwrap"
    own.write_bytes(Path(need_sandbox().profile.bwrap).read_bytes())
    own.chmod(0o755)
    arena("run", bot, "random", "--deals", "1", "--bwrap", own)
    arena("-v", "resume")
    assert f"at {own}, " in arena.stderr
    own.unlink()
    arena("resume", code=2)
    assert f"Why: bots are shut in by the program bwrap, which is not at {own}" in arena.stderr


def test_bots_limits_of_its_own_are_in_the_record(arena: Shell, bot: Path) -> None:
    with (bot / "bot.toml").open("a") as file:
        file.write("[limits]\nmemory_mib = 128\nprocesses = 9\n")
    arena("run", bot, "random", "--deals", "1")
    for record in arena.records():
        core, aside = record.core, record.aside
        seat = aside.mister_x if core.mister_x.name == "stranger" else aside.detectives
        assert seat.held_to is not None
        assert (seat.held_to.memory_mib, seat.held_to.processes) == (128, 9)


def test_folder_that_is_shown_is_seen_and_another_is_not(arena: Shell) -> None:
    shown = arena.folder / "library"
    shown.mkdir()
    shown.chmod(0o755)
    (shown / "book").write_text("openings")
    turn = f"import os; print(os.listdir({str(arena.folder)!r}), file=sys.stderr)"
    bot = write_bot(arena.folder / "bots", "reader", turn)
    file = arena.folder / "t.toml"
    file.write_text(f'bots = ["{bot}", "random"]\ndeals = 1\nshow = ["library"]\n')
    arena("run", file)
    for record in arena.records():
        assert stderr_of(record, "reader") == {"['library']"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots have user ids of their own")
def test_root_gives_bots_the_user_ids_of_the_tournament_file(arena: Shell) -> None:
    bot = write_bot(arena.folder / "bots", "who", "import os; print(os.getuid(), file=sys.stderr)")
    file = arena.folder / "t.toml"
    for ids, code, said in (
        ("[61000, 8]", 0, ""),
        ("[61000, 3]", 2, "2 games at once need 4 user ids for bots, and there are 3"),
        ("[0, 8]", 2, "must be at least 1"),
    ):
        file.write_text(f'bots = ["{bot}", "random"]\ndeals = 1\njobs = 2\nuser_ids = {ids}\n')
        arena("run", file, code=code)
        assert said in arena.stderr
    for record in arena.records():
        (uid,) = stderr_of(record, "who")
        assert 61_000 <= int(uid) < 61_008


def test_memory_bomb_loses_by_resource_with_its_number(arena: Shell) -> None:
    turn = "held = b'x' * (700 << 20); time.sleep(9)"
    bot = write_bot(arena.folder / "bots", "bomb", turn)
    told: dict[str, Any] = json.loads(arena("play", bot, "random", "--json", code=3))
    assert told["fault"]["kind"] == "resource"
    assert "MiB, the limit is 512 MiB" in told["fault"]["text"]
    assert told["winner"] == "detectives"


def test_self_test_is_remembered_and_tried_again_by_another_bubblewrap(arena: Shell) -> None:
    arena("-v", "play", "random", "random")
    assert "self-test passed before" not in arena.stderr
    arena("-v", "play", "random", "random")
    assert "self-test passed before" in arena.stderr
    real = need_sandbox().profile.bwrap
    other = arena.folder / "bwrap"
    other.write_bytes(Path(real).read_bytes())
    other.chmod(0o755)
    arena("-v", "play", "random", "random", "--bwrap", other)
    assert "self-test passed before" not in arena.stderr
