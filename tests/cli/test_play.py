"""What `arena play` says of a game, without playing one."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.cli.exits import Exit
from arena.cli.human import human_spec
from arena.cli.play import answer_of, exit_of, given_back, off_turn, store, tell
from arena.cli.sandboxing import Sandboxing
from arena.cli.talk import Settings, Talk
from arena.errors import StoreError
from arena.referee.record import BotSpec, GameRecord
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament import seeds
from tests.cli.calling import Caller
from tests.fake_games import fake_bot, fake_plan, fake_record

RECORD = fake_record(fake_plan().spec(0))


def x_only(bot: BotSpec) -> BotSpec:
    return replace(bot, sides=("mister_x",))


def d_only(bot: BotSpec) -> BotSpec:
    return replace(bot, sides=("detectives",))


@pytest.mark.parametrize(
    ("used_ms", "caught", "lines"),
    [
        (None, False, []),
        (0.9, False, []),
        (12.3, False, ["The detectives used 12 ms of CPU time off turn."]),
        (
            1234.5,
            True,
            ["The detectives used 1,234 ms of CPU time off turn; the bot was stopped for it."],
        ),
    ],
    ids=["nobody looked", "as everybody", "some", "caught"],
)
def test_who_used_time_off_turn_is_told(
    used_ms: float | None, caught: bool, lines: list[str]
) -> None:
    seat = replace(RECORD.aside.detectives, off_turn_cpu_ms=used_ms, caught_pondering=caught)
    assert off_turn(replace(RECORD, aside=replace(RECORD.aside, detectives=seat))) == lines


def test_time_that_was_given_back_is_told() -> None:
    seat = replace(RECORD.aside.mister_x, given_back_ms=1234.5)
    [line] = given_back(replace(RECORD, aside=replace(RECORD.aside, mister_x=seat)))
    assert "1,234 ms longer in all" in line
    assert given_back(RECORD) == []


def test_void_game_is_told_by_its_cause_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The record names the class of the error too, for maintainers."""
    void = replace(RECORD, aside=replace(RECORD.aside, void="HostFault: no room: not one byte"))
    tell(Talk(Settings()), void, answer_of(void, "7", 0.1))
    told = capsys.readouterr()
    assert told.out == "The game is void, and nobody's: no room: not one byte\n"
    assert "Nothing of it is stored. Its deal is that of --seed 7." in told.err


@pytest.mark.parametrize(
    ("void", "code"),
    [
        (None, Exit.DONE),
        ("HostFault: no room", Exit.OURS),
        ("PersonLeft: the person at the terminal left the game", Exit.STOPPED),
    ],
    ids=["played", "our fault", "quit"],
)
def test_a_quit_is_no_error_of_the_arena(void: str | None, code: Exit) -> None:
    assert exit_of(replace(RECORD, aside=replace(RECORD.aside, void=void))) is code


def test_a_fault_is_told_by_the_code() -> None:
    assert exit_of(fake_record(fake_plan().spec(0), faulty=["bot0"])) is Exit.FAULTS


def test_a_game_is_stored_as_a_run_that_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = fake_plan(2, deals=1, secret=seeds.open_secret("7").hex(), open_seed="7", rated=False)
    one = replace(plan, entrants=(x_only(plan.entrants[0]), d_only(plan.entrants[1])))
    record = fake_record(one.spec(0))
    talk = Talk(Settings())
    with Database(tmp_path / "arena.sqlite3") as database:
        store(talk, database, one, record)
        run = database.find_run()
        assert (run.state, len(list(database.results(run)))) == ("over", 1)
        store(talk, database, one, record)
        assert "came out the same again" in capsys.readouterr().err
        other = replace(record, core=replace(record.core, rounds=record.core.rounds + 1))
        store(talk, database, one, other)
        assert "came out differently now" in capsys.readouterr().err
        assert database.record(database.find_game()).core == record.core


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """A database whose lock another program holds."""
    monkeypatch.setattr("arena.store.connection._BUSY_MS", 1)
    Database(tmp_path / "arena.sqlite3").close()
    other = sqlite3.connect(tmp_path / "arena.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


ONE = replace(
    fake_plan(2, deals=1, secret=seeds.open_secret("7").hex(), open_seed="7", rated=False),
    entrants=(x_only(fake_bot("bot0")), d_only(fake_bot("bot1"))),
)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let a game of two bots be planned and played in no time; tells what was done."""
    done: list[str] = []

    async def play(*_: object) -> GameRecord:
        done.append("played")
        return fake_record(ONE.spec(0))

    monkeypatch.setattr(
        "arena.cli.play.plan_of_one", lambda *_, **__: (ONE, Sandboxing(mode="none"))
    )
    monkeypatch.setattr("arena.cli.play.play_kept", play)
    return done


@pytest.mark.usefixtures("locked")
def test_no_game_is_played_that_could_not_be_stored(
    arena: Caller, tmp_path: Path, quick: list[str]
) -> None:
    called = arena("play", "bot0", "bot1", "--data", tmp_path)
    assert called.code == Exit.INTERRUPTED
    assert "holds the database locked" in called.stderr
    assert "then give the same command again" in called.stderr
    assert quick == []


@pytest.mark.parametrize("freed", [True, False])
def test_a_game_that_is_over_is_stored_in_time_or_its_seed_is_told(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    locked: sqlite3.Connection,
    quick: list[str],
    freed: bool,
) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if freed and len(slept) == 3:
            locked.execute("COMMIT")

    monkeypatch.setattr("arena.cli.play.time.sleep", sleep)
    monkeypatch.setattr("arena.cli.play.time.monotonic", lambda: sum(slept))
    monkeypatch.setattr(Database, "check_writable", lambda _: None)
    called = arena("play", "bot0", "bot1", "--data", tmp_path)
    assert called.code == (Exit.DONE if freed else Exit.INTERRUPTED)
    assert called.stderr.count("can't be stored yet (database is locked)") == 1
    assert "won as" in called.stdout
    assert quick == ["played"]
    if freed:
        with Database(tmp_path / "arena.sqlite3") as database:
            assert database.find_run().state == "over"
        return
    assert sum(slept) > 30
    again = f"arena play bot0 bot1 --ruleset {ONE.ruleset} --seed 7 --data {tmp_path}"
    assert f"(database is locked) and is lost; `{again}` plays its deal again" in called.stderr
    assert "arena resume" not in called.stderr


def test_a_ctrl_c_while_a_game_is_tried_to_be_stored_is_taken_behind_that_try(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    locked: sqlite3.Connection,
    quick: list[str],
) -> None:
    tries = 0

    def begin(*_: object, **__: object) -> Run:
        nonlocal tries
        tries += 1
        if tries == 2:
            signal.raise_signal(signal.SIGINT)
        raise StoreError("the database is locked")

    monkeypatch.setattr("arena.cli.play.time.sleep", lambda _seconds: None)
    monkeypatch.setattr(Database, "check_writable", lambda _: None)
    monkeypatch.setattr(Database, "begin", begin)
    called = arena("play", "bot0", "bot1", "--data", tmp_path)
    assert called.code == Exit.STOPPED
    assert "won as" in called.stdout
    assert (tries, quick) == (2, ["played"])
    assert locked.in_transaction


def test_a_game_that_a_person_left_is_not_gone_on_with(arena: Caller, tmp_path: Path) -> None:
    """Older releases stored it as a run without a game, and seated a program named `human`."""
    bot = d_only(replace(fake_bot("random"), trusted=True))
    plan = fake_plan(
        [x_only(human_spec("london-2013")), bot],
        deals=1,
        secret=seeds.open_secret("a b").hex(),
        open_seed="a b",
        rated=False,
        sandbox="none",
    )
    with Database(tmp_path / "arena.sqlite3") as database:
        run = database.begin(plan)
        database.finish(run)
    called = arena("resume", "--data", tmp_path)
    assert called.code == Exit.USAGE
    assert "a person left, and no bot can go on for a person" in called.stderr
    assert (
        f"`arena play human random --ruleset london-2013 --seed 'a b' --data {tmp_path}`"
        in called.stderr
    )
    called = arena("verify", "--data", tmp_path)
    assert called.code == Exit.USAGE
    assert "has no played games; it was broken off." in called.stderr
    with Database(tmp_path / "arena.sqlite3") as database:
        assert list(database.results(run)) == []
