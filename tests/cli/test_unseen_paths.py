"""Names that are too long, and folders that may not be searched: told, and never called a bug."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.cli.calling import Called, Caller
from tests.fake_games import fake_plan, fake_record

LONG = "x" * 300
NOBODY = 65534

COMMANDS = [
    ("verify", "{}"),
    ("verify", "--vectors", "{}"),
    ("rerun", "{}", "--side", "x", "--bot", "random"),
    ("rerun", "{}:12ab", "--side", "x", "--bot", "random"),
    ("games", "--data", "{}"),
    ("export", "--format", "csv", "--data", "{}"),
    ("replay", "--data", "{}"),
    ("report", "--data", "{}"),
    ("resume", "--data", "{}"),
    ("rate", "{}"),
    ("limits", "{}"),
    ("rulesets", "--check", "{}"),
    ("config", "check", "{}.toml"),
    ("config", "check", "t.toml"),
    ("config", "check", "command.toml"),
    ("run", "{}.toml"),
]
OF_A_RUN_OR_A_BOT = [  # not as nobody, who sees neither the run nor, maybe, the interpreter
    ("export", "--format", "csv", "-o", "{}"),
    ("report", "-o", "{}"),
    ("report", "--single", "-o", "{}"),
    ("plan", "random", "{}"),
    ("bots", "{}"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arena: Caller) -> Path:
    """A folder to work in, with a run that is over, and everything loaded that commands need."""
    with Database(tmp_path / "arena-data" / DATABASE) as database:
        run = database.begin(fake_plan(2, deals=1))
        for spec in run.plan.specs():
            database.add_record(run, fake_record(spec))
        database.finish(run)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(called: Called, why: str) -> None:
    """Hold an answer to one sentence with its reason."""
    assert called.code == 2, called.stderr
    assert "bug" not in called.stderr
    assert why in called.stderr or "there is no bot" in called.stderr or "no word" in called.stderr


def write_files(folder: Path, name: str) -> None:
    """Write tournament files with a bot of this name."""
    (folder / "t.toml").write_text(f'sandbox = "none"\nbots = ["random", "./{name}"]\n')
    (folder / "command.toml").write_text(f'sandbox = "none"\nbots = ["random", "{name} --fast"]\n')


@pytest.mark.parametrize("words", [*COMMANDS, *OF_A_RUN_OR_A_BOT], ids=" ".join)
def test_a_name_that_is_too_long_is_told(
    arena: Caller, folder: Path, words: tuple[str, ...]
) -> None:
    write_files(folder, LONG)
    check(arena(*(word.format(LONG) for word in words)), "File name too long")


@pytest.fixture
def shut(folder: Path) -> Iterator[str]:
    """A folder that whoever runs this may not search, with something in it; root becomes nobody."""
    inner = folder / "shut" / "sub"
    inner.mkdir(parents=True)
    (inner / "x").touch()
    inner.parent.chmod(0)
    yield "shut/sub/x"
    inner.parent.chmod(0o700)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_may_not_be_looked_at_is_told(
    arena: Caller, folder: Path, shut: str, words: tuple[str, ...]
) -> None:
    write_files(folder, shut)
    said = tuple(word.format(shut) for word in words)
    arena(*said)  # loads whatever it loads, as who we are
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        called = arena(*said)
    finally:
        os.seteuid(user)
    check(called, "Permission denied")
