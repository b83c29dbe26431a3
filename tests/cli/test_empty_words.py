"""The empty word, which an unset variable of a script gives, stands for nothing anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.cli.calling import Caller
from tests.fake_games import fake_plan, fake_record

SAYS_NOTHING = "nothing stands there; write a value, or leave it out."


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with one run that is over, in the folder that is worked in."""
    folder = tmp_path / "arena-data"
    with Database(folder / DATABASE) as database:
        run = database.begin(fake_plan(2, deals=1))
        for spec in run.plan.specs():
            database.add_record(run, fake_record(spec))
        database.finish(run)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("resume", ""), SAYS_NOTHING),
        (("games", ""), SAYS_NOTHING),
        (("report", ""), SAYS_NOTHING),
        (("export", "", "--format", "csv"), SAYS_NOTHING),
        (("replay", ""), SAYS_NOTHING),
        (("rerun", "", "--side", "x", "--bot", "random"), SAYS_NOTHING),
        (("rerun", "--side", "x", "--bot", ""), SAYS_NOTHING),
        (("verify", ""), "'' is no file, and no beginning of a run's or a game's id."),
        (("verify", "/"), "'/' is no file, and no beginning"),
        (("verify", "/12"), "'/12' is no file, and no beginning"),
        (("verify", "12/"), "'12/' is no file, and no beginning"),
        (("replay", "/"), "'/' names no game: write the beginning of its id, or RUN/GAME."),
        (("replay", "/12"), "'/12' names no game"),
        (("replay", "12/"), "'12/' names no game"),
        (("rerun", "/", "--side", "x", "--bot", "random"), "'/' names no game"),
        (("run", "random", "greedy", "--bwrap", ""), SAYS_NOTHING),
        (("play", "random", "greedy", "--bwrap", ""), SAYS_NOTHING),
        (("doctor", "--bwrap", ""), SAYS_NOTHING),
        (("games", "--bot", ""), SAYS_NOTHING),
        (("games", "--winner", ""), SAYS_NOTHING),
        (("games", "--reason", ""), SAYS_NOTHING),
        (("games", "--ruleset", ""), SAYS_NOTHING),
        (("games", "--data", ""), "an empty name is no folder"),
        (("report", "-o", ""), SAYS_NOTHING),
        (("report", "--single", "-o", ""), SAYS_NOTHING),
        (("replay", "-o", ""), SAYS_NOTHING),
        (("export", "--format", "csv", "-o", ""), SAYS_NOTHING),
        (("verify", "--vectors", ""), SAYS_NOTHING),
        (("rate", ""), SAYS_NOTHING),
        (("limits", ""), SAYS_NOTHING),
        (("config", "check", ""), SAYS_NOTHING),
        (("bench", "--compare", ""), SAYS_NOTHING),
        (("rulesets", "--check", ""), SAYS_NOTHING),
        (("rulesets", ""), "there is no ruleset ''"),
        (("bots", ""), "'' names no bot"),
        (("config", "check", "t.toml"), "t.toml:2: `bwrap` is empty; leave it out"),
    ],
    ids=lambda value: " ".join(map(repr, value)) if isinstance(value, tuple) else "",
)
def test_an_empty_word_is_refused(
    arena: Caller, data: Path, words: tuple[str, ...], says: str
) -> None:
    Path("t.toml").write_text('bots = ["random", "greedy"]\nbwrap = ""\n')
    before = sorted(data.parent.rglob("*"))
    called = arena(*words)
    assert called.code == 2, called.stderr
    assert says in " ".join(called.stderr.split())
    assert sorted(data.parent.rglob("*")) == before
