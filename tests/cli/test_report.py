"""`arena report`: the folder, one page, which replays, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from arena.cli import answers
from arena.cli.ending import endings_of, names_of, write_report
from arena.cli.exits import Exit
from arena.cli.game_table import collect, told_of
from arena.cli.past_runs import past_runs
from arena.cli.stored import DATABASE
from arena.referee.record import GameRecord, TurnTime
from arena.store.database import Database
from arena.tournament.packed import compress
from arena.tournament.plan import Plan, Section
from protocol.messages import ClockSettings
from reports.choosing import CHOSEN, Wanted
from reports.site import folder
from tests.cli.calling import Caller
from tests.fake_games import fake_bot, fake_plan
from tests.reports.games_of_london import crashing, played, showing_off


@pytest.fixture(scope="module")
def kinds() -> tuple[GameRecord, GameRecord]:
    """A game that was played out, and one with a fault."""
    return played(), played(showing_off, crashing)


def stored(database: Database, plan: Plan, kinds: tuple[GameRecord, GameRecord]) -> str:
    """Store a run of real games, every fifth of them with a fault; return its id."""
    run = database.begin(plan, afresh=True)
    for number in range(run.plan.count):
        spec = run.plan.spec(number)
        record = kinds[number % 5 == 4]
        core = msgspec.structs.replace(
            record.core,
            game=spec.game,
            index=spec.index,
            deal=spec.deal,
            mister_x=msgspec.structs.replace(
                record.core.mister_x, name=spec.mister_x.name, hash=spec.mister_x.hash
            ),
            detectives=msgspec.structs.replace(
                record.core.detectives, name=spec.detectives.name, hash=spec.detectives.hash
            ),
        )
        database.add_record(run, msgspec.structs.replace(record, core=core))
    database.finish(run)
    return run.id


@pytest.fixture
def data(tmp_path: Path, kinds: tuple[GameRecord, GameRecord]) -> Path:
    """A data folder with a run of twelve games that is over."""
    with Database(tmp_path / "data" / DATABASE) as database:
        stored(database, fake_plan(3, deals=2), kinds)
    return tmp_path / "data"


def test_every_game_of_a_small_run_has_a_replay(arena: Caller, data: Path) -> None:
    called = arena("report", "--data", data, "--json")
    assert called.code == 0, called.stderr
    jsonschema.validate(called.json, json.loads(msgspec.json.encode(answers.schema())))
    folder = Path(called.json["report"])
    assert folder == data / "reports" / called.json["run"]
    assert all((folder / file).is_file() for file in called.json["files"])
    assert called.json["files"][0] == "index.html"
    assert len(list((folder / "replays").glob("*.html"))) == 12
    assert "Next: open it in a browser" in called.stderr


@pytest.mark.parametrize(("which", "replays"), [("none", 0), ("faults", 2), ("3", 3), ("all", 12)])
def test_replays_are_chosen(arena: Caller, data: Path, which: str, replays: int) -> None:
    folder = Path(arena("report", "--data", data, "--json").json["report"])
    called = arena("report", "--data", data, "--replays", which)
    assert called.code == 0
    assert len(list((folder / "replays").glob("*.html"))) == replays
    page = (folder / "pairings" / "bot0--bot1.html").read_text("utf-8")
    assert page.count("../replays/") + page.count("arena replay ") == 4


def test_one_page_holds_everything_but_replays(arena: Caller, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "own" / "report.html"
    file.parent.mkdir()
    called = arena("report", "--single", "-o", file, "--data", data, "--json")
    assert called.code == 0, called.stderr
    assert called.json["report"] == str(file)
    assert called.json["files"] == ["report.html"]
    assert {path.name for path in file.parent.iterdir()} == {"report.html"}
    left_out = arena("report", "--single", "--data", data, "--json").json["report"]
    assert left_out == str(data / "reports" / f"{called.json['run']}.html")


@pytest.mark.parametrize("which", ["some", "-1", "1.5", "1e3", "", "٣"])
def test_other_replays_are_refused(arena: Caller, data: Path, which: str) -> None:
    called = arena("report", "--data", data, f"--replays={which}")
    assert called.code == Exit.USAGE
    assert "none of none, faults, losses, all, and no number of games" in called.stderr


def test_one_page_with_replays_is_refused(arena: Caller, data: Path) -> None:
    called = arena("report", "--data", data, "--single", "--replays", "all")
    assert called.code == Exit.USAGE
    assert "--single holds no replays" in called.stderr


def test_file_for_a_folder_and_folder_for_a_file_are_refused(
    arena: Caller, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    called = arena("report", "--data", data, "-o", tmp_path / "file")
    assert called.code == Exit.USAGE
    assert "is a file: name a folder" in called.stderr
    called = arena("report", "--data", data, "--single", "-o", tmp_path)
    assert called.code == Exit.USAGE
    assert "is a folder: --single writes a file" in called.stderr


def test_games_that_do_not_replay_are_told(
    arena: Caller, tmp_path: Path, kinds: tuple[GameRecord, GameRecord]
) -> None:
    broken = msgspec.structs.replace(
        kinds[0], core=msgspec.structs.replace(kinds[0].core, rounds=99)
    )
    with Database(tmp_path / DATABASE) as database:
        stored(database, fake_plan(2, deals=1), (broken, broken))
    called = arena("report", "--data", tmp_path)
    assert called.code == 0
    assert "2 games can't be replayed; the first: the record counts 99 rounds" in called.stderr


def test_history_has_the_earlier_runs_of_the_ruleset(
    arena: Caller, data: Path, kinds: tuple[GameRecord, GameRecord]
) -> None:
    with Database(data / DATABASE) as database:
        first = database.find_run()
        stored(database, fake_plan(3, deals=3), kinds)
        stored(database, fake_plan(2, deals=3, rated=False), kinds)
        stored(database, fake_plan(2, deals=1, ruleset="london-2013:players=3"), kinds)
        last = stored(database, fake_plan(3, deals=4), kinds)
        run = database.find_run(last)
        past = past_runs(database, run, run.plan.ruleset)
        assert [told.games for told in past] == [12, 18]
        assert [rating.bot for rating in past[0].ratings] == ["bot0", "bot1", "bot2"]
        assert past_runs(database, first, first.plan.ruleset) == []
    report = Path(arena("report", "--data", data, "--json").json["report"])
    told = json.loads((report / "report.json").read_text("utf-8"))
    assert [run["games"] for run in told["history"]] == [12, 18, 24]


def test_history_takes_of_a_mixed_run_the_games_of_the_ruleset_alone(
    tmp_path: Path, kinds: tuple[GameRecord, GameRecord]
) -> None:
    both = ("london-2013", "london-classic")
    bots = [msgspec.structs.replace(fake_bot(name), rulesets=both) for name in "abc"]
    also = (Section(ruleset="london-classic", behaviour=1, deals=4),)
    with Database(tmp_path / DATABASE) as database:
        stored(database, fake_plan(bots, deals=2, also=also), kinds)
        run = database.find_run(stored(database, fake_plan(3, deals=3), kinds))
        for ruleset, games in (("london-2013", 12), ("london-classic", 24)):
            (past,) = past_runs(database, run, ruleset)
            assert past.games == games
        assert past_runs(database, run, "london-coursework") == []


def test_start_stations_and_what_was_left_in_the_bank_come_from_the_records(
    tmp_path: Path, kinds: tuple[GameRecord, GameRecord]
) -> None:
    record = kinds[0]
    aside = msgspec.structs.replace(
        record.aside,
        mister_x=msgspec.structs.replace(
            record.aside.mister_x,
            times=(
                TurnTime(play=0, charged_ms=5.0, bank_ms=900),
                TurnTime(play=2, charged_ms=5.0, bank_ms=700),
            ),
        ),
    )
    banked = msgspec.structs.replace(record, aside=aside)
    clock = ClockSettings(move_ms=0, bank_ms=1000)
    with Database(tmp_path / DATABASE) as database:
        run = database.find_run(
            stored(database, fake_plan(2, deals=1, clock=clock), (banked, banked))
        )
        games = collect(database, run, run.plan.sections[0])
    start = record.core.facts["x_start"]
    assert [told.station for told in games.starts({})] == [start]
    assert {told.bank_left_min_ms for told in games.times([]) if told.side == "mister_x"} == {700}
    used = record.core.facts["blacks_used"] + record.core.facts["doubles_used"]
    assert {line.specials for line in games.lines()} == {used}


def test_facts_of_a_record_are_found_whatever_they_are_called(
    kinds: tuple[GameRecord, GameRecord],
) -> None:
    facts: dict[str, str | int] = {"facts": 3, "x_start": 7, "said": 'a "facts":{ b', "n": 0}
    told = told_of("12ab", compress(msgspec.structs.replace(kinds[0].core, facts=facts)))
    assert told.start == 7
    assert told.words == ('said=a "facts":{ b',)


def test_end_of_a_run_draws_no_more_games_than_one_waits_for(
    tmp_path: Path, kinds: tuple[GameRecord, GameRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Wanted] = []

    def choose(_: object, wanted: Wanted) -> list[str]:
        asked.append(wanted)
        return []

    monkeypatch.setattr(folder, "choose", choose)
    with Database(tmp_path / DATABASE) as database:
        run = database.find_run(stored(database, fake_plan(2, deals=1), kinds))
        ending = endings_of(database, run)
        written = write_report(database, run, ending, tmp_path / "report")
        write_report(database, run, ending, tmp_path / "report", replays=None)
    assert written.replays == 0
    assert asked == [CHOSEN, None]


def test_places_have_the_names_of_their_board() -> None:
    assert names_of("europe-2009")[103] == "Málaga"
    assert names_of("london-2013") == {}
    assert names_of("europe-2009:board=gone-since-then") == {}
