"""The command's frame: lazy loading, errors and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from arena import errors
from arena.cli.exits import MEANINGS, Exit, exit_for
from arena.cli.main import COMMANDS, cli
from tests.cli.calling import Caller

HEAVY = ("pandas", "matplotlib", "scipy", "numpy", "trio", "rich", "msgspec", "sqlite3")


def python(code: str) -> str:
    """Run code in a fresh interpreter; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_help_loads_no_heavy_library() -> None:
    loaded = python(
        "import sys\n"
        "from arena.cli.main import cli\n"
        "import click.testing\n"
        "before = set(sys.modules)\n"
        "assert click.testing.CliRunner().invoke(cli, ['--help']).exit_code == 0\n"
        "print(*sys.modules)"
    ).split()
    assert not {name.partition(".")[0] for name in loaded} & set(HEAVY) - {"msgspec"}
    assert not [name for name in loaded if name.startswith(("arena.rules", "arena.referee"))]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_loads_charts_for_its_help(name: str) -> None:
    loaded = python(
        "import sys\n"
        "from arena.cli.main import cli\n"
        "import click.testing\n"
        f"assert click.testing.CliRunner().invoke(cli, [{name!r}, '--help']).exit_code == 0\n"
        "print(*sys.modules)"
    ).split()
    assert not {name.partition(".")[0] for name in loaded} & {"pandas", "matplotlib", "scipy"}


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_is_the_first_sentence_of_the_command(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert command.help is not None
    first = " ".join(command.help.partition("\n\n")[0].split())
    assert first.startswith(COMMANDS[name].rstrip(".")[:20])


def test_mistyped_command_is_answered_with_the_nearest(arena: Caller) -> None:
    called = arena("rum")
    assert called.code == Exit.USAGE
    assert "There is no command 'rum'. Did you mean 'run'?" in called.stderr


def test_version(arena: Caller) -> None:
    called = arena("--version")
    assert (called.code, called.stdout) == (0, "arena, version 0.1.0\n")


@pytest.fixture
def boom(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Add a command `boom` that raises the error it is given."""

    def set_up(error: BaseException) -> None:
        @click.command("boom")
        def command() -> None:
            raise error

        module = types.ModuleType("arena.cli.boom")
        module.command = command  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "arena.cli.boom", module)
        monkeypatch.setitem(COMMANDS, "boom", "Raise an error.")

    return set_up


EXIT_TABLE = [
    (errors.ConfigError("no such thing."), 2),
    (errors.BotRefused("does not start."), 2),
    (errors.RecordDamaged("no record."), 2),
    (errors.RecordError("differs."), 1),
    (errors.HostFault("out of memory."), 4),
    (errors.StoreError("disk full."), 75),
    (errors.Interrupted("stopped."), 75),
    (errors.Unread("no reader."), 141),
    (errors.IllegalMove("L12", "not there."), 4),
    (errors.BotFault("crash", "it exited."), 4),
    (errors.ArenaError("something."), 4),
    (click.UsageError("no such option."), 2),
    (click.FileError("x.toml", "gone"), 2),
    (ZeroDivisionError("division by zero"), 4),
    (BrokenPipeError(32, "Broken pipe"), 4),  # a pipe of ours: stdout never raises it
    (KeyboardInterrupt(), 130),
    (click.Abort(), 130),
    (BaseExceptionGroup("tasks", [KeyboardInterrupt()]), 130),
    (BaseExceptionGroup("tasks", [ValueError(), KeyboardInterrupt()]), 130),
    (ExceptionGroup("tasks", [ExceptionGroup("more", [errors.StoreError("disk full.")])]), 75),
    (ExceptionGroup("tasks", [ValueError("no such value")]), 4),
    (ExceptionGroup("tasks", [ValueError("a bug"), errors.ConfigError("no such thing.")]), 4),
    (ExceptionGroup("tasks", [ValueError("in tidying up"), errors.StoreError("full.")]), 75),
]


@pytest.mark.parametrize(("error", "code"), EXIT_TABLE, ids=lambda case: type(case).__name__)
def test_every_error_ends_with_its_code_and_no_traceback(
    arena: Caller, boom: Callable[[BaseException], None], error: BaseException, code: int
) -> None:
    boom(error)
    called = arena("boom")
    assert called.code == code
    assert "Traceback" not in called.stderr
    assert bool(called.stderr.strip()) == (code != Exit.UNREAD)


def test_every_error_of_the_arena_has_a_code() -> None:
    pinned = {type(error) for error, _ in EXIT_TABLE}
    found = {getattr(errors, name) for name in errors.__all__}
    assert {error for error in found if isinstance(error, type)} <= pinned


def test_codes_are_those_of_the_documents() -> None:
    assert {code.value: MEANINGS[code] for code in Exit} == {
        0: "done",
        1: "the answer is no (worse, not qualified, differs)",
        2: "wrong usage, settings, bots that can't start, sandbox refused",
        3: "done, but bots faulted",
        4: "our own error, or void games left",
        5: "no verdict (not known)",
        75: "interrupted or out of disk; can be resumed",
        130: "stopped at once: by Ctrl-C twice, by Ctrl-C where no run is stored, by `quit`",
        141: "an export, or output of `-o`, that nobody read to its end",
    }
    assert exit_for(errors.ConfigError("x")) is Exit.USAGE


def test_a_bug_says_how_to_see_more(arena: Caller, boom: Callable[[BaseException], None]) -> None:
    boom(ZeroDivisionError("division by zero"))
    called = arena("boom")
    assert called.stderr == (
        "error: the arena itself failed: ZeroDivisionError: division by zero\n"
        "This is a bug. Run the same command with -v to see the traceback.\n"
    )
    assert "Traceback" in arena("-v", "boom").stderr


def test_a_bug_among_tasks_is_told_by_its_own_name(
    arena: Caller, boom: Callable[[BaseException], None]
) -> None:
    boom(ExceptionGroup("tasks", [ExceptionGroup("more", [ZeroDivisionError("by zero")])]))
    assert "the arena itself failed: ZeroDivisionError: by zero\n" in arena("boom").stderr


def test_output_into_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "arena.cli.main", "limits"],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writer)
    assert done.returncode == 0
    assert b"rror" not in done.stderr


def test_settings_work_before_and_behind_the_command(arena: Caller) -> None:
    assert "Next: " in arena("limits").stderr
    assert arena("-q", "limits").stderr == ""
    assert arena("limits", "-q").stderr == ""


def test_json_is_one_object_and_the_talk_goes_elsewhere(arena: Caller) -> None:
    called = arena("limits", "--json")
    assert called.json["schema"] == "arena.limits/1"
    assert "first_ready_ms" in called.stderr
    assert json.loads(called.stdout)["limits"]["line_bytes"] == 65536
    assert arena("limits", "--json", "-q").stderr == ""


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {}])
def test_no_escape_codes_reach_a_pipe(arena: Caller, env: dict[str, str]) -> None:
    called = arena("--no-color", "limits", env=env)
    assert "\x1b" not in called.stdout + called.stderr


def test_completion_hint_is_a_command_that_works(tmp_path: Path) -> None:
    script = tmp_path / "arena"
    script.write_text(f"#!{sys.executable}\nfrom arena.cli.main import main\nmain()\n")
    script.chmod(0o755)
    done = subprocess.run(
        [script],
        env={**os.environ, "_ARENA_COMPLETE": "zsh_source"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "#compdef arena" in done.stdout
