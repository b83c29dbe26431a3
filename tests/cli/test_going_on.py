"""`run` and `resume` broken off: what is stored is said to go on, with its exit code."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from arena.cli import answers, ending, run
from arena.cli.exits import Exit
from arena.cli.running import NoGames
from arena.cli.stored import DATABASE
from arena.cli.talk import Talk
from arena.cli.tally import minute
from arena.errors import ConfigError, HostFault, StoreError
from arena.store.database import Database
from arena.store.runs import Run
from tests.cli.calling import Caller
from tests.fake_games import fake_bot, fake_plan, fake_record


def stop(*_: Any, **__: Any) -> None:
    """Be what a Ctrl-C falls into."""
    signal.raise_signal(signal.SIGINT)


def stopping(whole: Callable[..., Any]) -> Callable[..., Any]:
    """Be what a Ctrl-C falls into, and is done all the same where nobody takes it."""

    def stopped(*words: Any, **more: Any) -> Any:
        try:
            stop()
        finally:
            whole(*words, **more)

    return stopped


def stop_among_tasks(*_: Any, **__: Any) -> None:
    """Be tasks that a Ctrl-C falls into."""
    raise BaseExceptionGroup("tasks", [KeyboardInterrupt()])


def fail(*_: Any, **__: Any) -> None:
    """Be what has lost its workers."""
    raise HostFault("no worker is left.")


def refuse(*_: Any, **__: Any) -> None:
    """Be what a database refuses."""
    raise StoreError("the disk is full.")


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """The id of a run of which all games are stored; it is over."""
    with Database(tmp_path / DATABASE) as database:
        made = database.begin(fake_plan(2, deals=1, sandbox="none"))
        for spec in made.plan.specs():
            database.add_record(made, fake_record(spec))
        database.finish(made)
        return made.id


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Ctrl-C falls into the games, of which none is missing."""
    wait = NoGames.run

    async def run_stopped(*words: Any) -> None:
        stop()
        await wait(*words)

    monkeypatch.setattr(NoGames, "run", run_stopped)


@pytest.mark.parametrize("what", ["endings_of", "write_report", "tell_ending"])
@pytest.mark.parametrize("how", [stop, stop_among_tasks])
def test_ctrl_c_while_the_report_is_written_leaves_it_to_be_written(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stored: str,
    what: str,
    how: Callable[..., None],
) -> None:
    monkeypatch.setattr(ending, what, how)
    called = arena("resume", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    assert called.stderr.splitlines()[-1] == (
        f"Stopped. All games of run {stored} are stored. Write its report with: "
        f"arena report {stored} --data {tmp_path}"
    )


def test_where_nothing_is_missing_nothing_is_started(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str
) -> None:
    monkeypatch.setattr("arena.cli.running.executor_of", lambda *_: pytest.fail("started"))
    called = arena("resume", "--data", tmp_path, "--json")
    assert (called.code, called.json["run"]) == (Exit.DONE, stored)


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_while_nothing_is_missing_leaves_the_report_to_be_written(
    arena: Caller, tmp_path: Path, stored: str
) -> None:
    called = arena("resume", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    assert called.stderr.splitlines()[-1] == (
        f"Stopped. All games of run {stored} are stored. Write its report with: "
        f"arena report {stored} --data {tmp_path}"
    )


@pytest.mark.usefixtures("interrupted")
def test_where_ctrl_c_is_ignored_it_stays_ignored_in_a_run(
    arena: Caller, tmp_path: Path, stored: str
) -> None:
    """As in what a script starts in the background: who presses it means another program."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        called = arena("resume", stored, "--data", tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called.code == Exit.DONE
    assert "Stopping" not in called.stderr


@pytest.mark.parametrize("late", [(Talk, "next"), (Database, "close")])
def test_ctrl_c_behind_the_last_word_leaves_the_exit_code(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stored: str,
    late: tuple[type, str],
) -> None:
    monkeypatch.setattr(*late, stopping(getattr(*late)))
    assert arena("resume", stored, "--data", tmp_path).code == Exit.DONE


def test_a_second_ctrl_c_while_the_database_is_closed_leaves_the_first_its_word(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str
) -> None:
    monkeypatch.setattr(ending, "endings_of", stop)
    monkeypatch.setattr(Database, "close", stopping(Database.close))
    called = arena("resume", stored, "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    assert "Write its report with: " in called.stderr


@pytest.mark.parametrize("what", ["introduce", "sandboxing_of", "carry_on"])
def test_ctrl_c_before_the_first_game_of_resume_can_be_resumed(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with Database(tmp_path / DATABASE) as database:
        made = database.begin(fake_plan(2, deals=1, sandbox="none"))
    monkeypatch.setattr(f"arena.cli.resume.{what}", stop)
    called = arena("resume", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    assert called.stderr.splitlines()[-1] == (
        f"Run {made.id} was stopped. Go on with: arena resume {made.id} --data {tmp_path}"
    )


@pytest.mark.parametrize("what", ["introduce", "play_missing"])
def test_ctrl_c_once_a_run_is_stored_can_be_resumed(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(run, what, stop)
    called = arena("run", "random", "greedy", "--deals", "1", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    with Database(tmp_path / DATABASE) as database:
        made = database.find_run()
    assert f"Go on with: arena resume {made.id} --data {tmp_path}\n" in called.stderr


@pytest.mark.parametrize(("kind", "code"), [(HostFault, Exit.OURS), (StoreError, Exit.INTERRUPTED)])
def test_what_stops_a_run_comes_with_the_command_that_goes_on(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[HostFault],
    code: Exit,
) -> None:
    def fail(*_: Any) -> None:
        raise kind("no worker is left.")

    monkeypatch.setattr(run, "play_missing", fail)
    called = arena("run", "random", "greedy", "--deals", "1", "--data", tmp_path)
    assert called.code == code
    with Database(tmp_path / DATABASE) as database:
        made = database.find_run()
    assert called.stderr.endswith(
        "error: no worker is left.\nWhat was stored stays. Go on with: "
        f"arena resume {made.id} --data {tmp_path}\n"
    )


@pytest.mark.parametrize(
    "how", [stop, stop_among_tasks, fail, refuse], ids=lambda how: how.__name__
)
def test_a_run_that_is_broken_off_tells_scripts_how_far_it_came(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[..., None]
) -> None:
    """One object on stdout, whatever breaks it off."""
    monkeypatch.setattr(run, "play_missing", how)
    called = arena("run", "random", "greedy", "--deals", "1", "--json", "--data", tmp_path)
    assert called.code in {Exit.INTERRUPTED, Exit.OURS}
    with Database(tmp_path / DATABASE) as database:
        made = database.find_run()
    jsonschema.validate(called.json, answers.schema())
    assert called.json == {
        "schema": "arena.stopped/1",
        "run": made.id,
        "games": {"planned": 2, "played": 0, "void": 0},
        "next": f"arena resume {made.id} --data {tmp_path}",
    }


def test_a_run_of_which_all_is_stored_tells_scripts_what_is_left_to_do(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str
) -> None:
    monkeypatch.setattr(ending, "write_report", stop)
    called = arena("resume", "--json", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    assert called.json["games"] == {"planned": 2, "played": 2, "void": 0}
    assert called.json["next"] == f"arena report {stored} --data {tmp_path}"


def test_a_ctrl_c_behind_the_object_prints_no_second_one(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str
) -> None:
    monkeypatch.setattr(run, "ignore", stop)
    called = arena("resume", "--json", "--data", tmp_path)
    assert called.json["schema"] == "arena.run/1"
    assert called.json["run"] == stored


def test_ctrl_c_while_a_run_is_begun_waits_until_it_is_stored(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Database.begin

    def begin_late(self: Database, *words: Any, **more: Any) -> Any:
        stop()
        return begin(self, *words, **more)

    monkeypatch.setattr(Database, "begin", begin_late)
    called = arena("run", "random", "greedy", "--deals", "1", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    with Database(tmp_path / DATABASE) as database:
        assert f"Go on with: arena resume {database.find_run().id} " in called.stderr


def test_ctrl_c_before_a_run_is_stored_leaves_nothing(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "plan_of", stop)
    called = arena("run", "random", "greedy", "--data", tmp_path)
    assert called.code == Exit.STOPPED
    assert called.stderr.strip() == "Stopped."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("begun", [False, True])
def test_a_run_that_cannot_be_played_so_is_not_the_last_one(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str, begun: bool
) -> None:
    """Such as on a cluster that nobody can reach."""

    def refuse(*_: Any) -> None:
        raise ConfigError("no scheduler answers there.")

    words = ("run", "random", "greedy", "--deals", "1", "--data", tmp_path)
    if begun:
        monkeypatch.setattr(run, "play_missing", stop)
        assert arena(*words).code == Exit.INTERRUPTED
    monkeypatch.setattr(run, "play_missing", refuse)
    called = arena(*words)
    assert called.code == Exit.USAGE
    assert called.stderr.endswith("error: no scheduler answers there.\n")
    with Database(tmp_path / DATABASE) as database:
        assert len(database.runs()) == 1 + begun
        assert (database.find_run().id == stored) is not begun


def changed_after_its_end(folder: Path, *, deals: int = 2) -> Run:
    """Store a run that is over and of which a bot was changed then, its games not yet played."""
    bots = [fake_bot(name) for name in ("a", "b", "c")]
    with Database(folder / DATABASE) as database:
        made = database.begin(fake_plan(bots, deals=deals, sandbox="none"))
        for spec in made.plan.specs():
            database.add_record(made, fake_record(spec))
        database.finish(made)
        bots[1] = fake_bot("b", content="new")
        return database.begin(fake_plan(bots, deals=deals, sandbox="none"))


def test_a_changed_bot_plays_on_under_a_secret_that_is_known_to_be_none(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = changed_after_its_end(tmp_path)
    assert made.finished is not None
    since = minute(made.finished)
    monkeypatch.setattr("arena.cli.resume.carry_on", lambda *_: 0)
    told = arena("resume", "--data", tmp_path).stderr
    assert f"warning: this secret was shown when the run was first over, on {since}: " in told
    assert "so who has changed b since could know them" in told
    assert "`arena run … --afresh` plays all games on new, secret deals" in told

    with Database(tmp_path / DATABASE) as database:
        for index in list(database.missing(made)):
            database.add_record(made, fake_record(made.plan.spec(index)))
        database.finish(made)
    monkeypatch.undo()
    called = arena("resume", "--data", tmp_path, "--json")
    assert called.code == Exit.DONE, called.stderr
    assert "this secret was shown" not in called.stderr  # nothing is missing
    line = (
        f"8 games were played after the run's secret had been shown ({since}): who has changed b "
        "since could know the deals."
    )
    assert f"warning: {line}\n" in called.stderr
    assert called.json["after_secret"] == {"since": made.finished, "games": 8, "bots": ["b"]}
    report = tmp_path / "reports" / made.id
    assert line in json.loads((report / "report.json").read_text())["meta"]["notes"]
    assert f"warning: {line}\n" in arena("report", "--data", tmp_path).stderr


def test_a_run_whose_bots_stayed_says_nothing_of_its_secret(
    arena: Caller, tmp_path: Path, stored: str
) -> None:
    called = arena("resume", "--data", tmp_path, "--json")
    assert called.json["run"] == stored
    assert called.json["after_secret"] is None
    assert "shown" not in called.stderr
