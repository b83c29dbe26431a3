"""Records in, results out: real SQLite files."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from arena.errors import ConfigError, StoreError
from arena.referee.record import Fault, GameRecord
from arena.store.database import Database
from arena.store.games import GameRef
from arena.store.packing import core_text
from arena.tournament.benching import Benched, Outcome, VoidGame, judge
from arena.tournament.plan import Plan, Section
from tests.fake_games import fake_bot, fake_plan, fake_record, fake_void, outcome_of


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "arena.sqlite3") as opened:
        yield opened


def void_game(plan: Plan, index: int, *, charged: bool = True, final: bool = False) -> VoidGame:
    spec = plan.spec(index)
    deal, x, d = plan.pairing(index)
    return VoidGame(
        index=index,
        game=spec.game,
        deal=deal,
        mister_x=x,
        detectives=d,
        why="the host failed",
        charged=charged,
        final=final,
        record=fake_void(spec),
    )


def test_a_record_comes_back_as_it_went_in(database: Database) -> None:
    run = database.begin(fake_plan())
    record = fake_record(run.plan.spec(3), faulty=["bot0"])
    database.add_record(run, record)
    assert database.record(GameRef(run=run.id, game=record.core.game)) == record
    assert list(database.records(run)) == [record]
    assert list(database.cores(run)) == [msgspec.json.encode(record.core)]
    [none], [one], [both] = (list(database.stored_games(run, halves=n)) for n in (0, 1, 2))
    assert (none.packed, one.packed) == ((), both.packed[:1])
    core, rest = map(core_text, both.packed)
    assert core == msgspec.json.encode(record.core)
    assert msgspec.json.encode(record.aside) in rest


def test_results_come_in_plan_order_whatever_the_order_of_finishing(database: Database) -> None:
    run = database.begin(fake_plan(4, deals=3))
    specs = list(run.plan.specs())
    for spec in reversed(specs):
        database.add_record(run, fake_record(spec, faulty=["bot2"]))
    wanted = [outcome_of(fake_record(spec, faulty=["bot2"])) for spec in specs]
    assert list(database.results(run)) == wanted
    assert list(database.judged(run)) == list(judge(run.plan, wanted))
    assert list(database.missing(run)) == []
    assert [record.core.index for record in database.records(run)] == list(range(36))
    assert [game.index for game in database.stored_games(run)] == list(range(36))


def test_results_are_read_in_pages(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.store.games._PAGE", 4)
    run = database.begin(fake_plan(3, deals=3))
    for index in (0, 1, 2, 3, 5, 9, 11, 17):
        database.add_record(run, fake_record(run.plan.spec(index)))
    results = database.results(run)
    assert [next(results).index for _ in range(3)] == [0, 1, 2]
    database.add_record(run, fake_record(run.plan.spec(16)))  # while it is being read
    assert [outcome.index for outcome in results] == [3, 5, 9, 11, 16, 17]
    assert list(database.missing(run)) == [4, 6, 7, 8, 10, 12, 13, 14, 15]


def test_a_game_is_stored_once(database: Database) -> None:
    run = database.begin(fake_plan())
    record = fake_record(run.plan.spec(0))
    database.add_record(run, record)
    with pytest.raises(StoreError, match=rf"store game {record.core.game}.*UNIQUE"):
        database.add_record(run, record)
    assert len(list(database.results(run))) == 1


def test_a_game_that_is_played_again_stands_until_its_new_result_is_stored(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = database.begin(fake_plan(2, deals=2))
    specs = list(run.plan.specs())
    for spec in specs:
        database.add_record(run, fake_record(spec))
    database.finish(run)
    with pytest.raises(ConfigError, match="counts no more"):
        database.play_again(run, [specs[0].game, "abc"])
    assert database.again(run) == {}

    database.play_again(run, [specs[3].game, specs[1].game])
    assert list(database.missing(run)) == [1, 3]
    with Database(database.path) as other:
        assert list(other.missing(run)) == []
        assert other.find_run().state == "over"
    database.add_void(run, void_game(run.plan, 1))  # it is played again
    anew = fake_record(specs[1], faulty=["bot0"])
    with monkeypatch.context() as patched:
        patched.setattr(database, "_add_seat", raise_store_error)
        with pytest.raises(StoreError):
            database.add_record(run, anew)
    assert database.again(run) == {specs[3].game: 3, specs[1].game: 1}
    assert database.record(GameRef(run=run.id, game=specs[1].game)) == fake_record(specs[1])

    database.add_record(run, anew)
    assert database.record(GameRef(run=run.id, game=specs[1].game)) == anew
    assert (database.find_run().state, list(database.missing(run))) == ("open", [3])
    database.add_void(run, void_game(run.plan, 3, final=True))
    assert database.again(run) == {}
    assert list(database.results(run))[3] == Outcome(3, None, "void")


def raise_store_error(*_: object) -> None:
    raise StoreError("full")


def test_a_game_that_benching_decides_is_not_played_again(database: Database) -> None:
    run = database.begin(fake_plan(2, deals=2, bench_after=1))
    specs = list(run.plan.specs())
    for spec in specs:
        database.add_record(run, fake_record(spec, faulty=["bot0"]))
    judged = [
        msgspec.structs.replace(game, is_played=game.index == 0) for game in database.judged(run)
    ]
    database.play_again(run, [spec.game for spec in specs[1:]])
    assert list(database.missing(run)) == []
    database.finish(run)
    assert (database.again(run), database.find_run().state) == ({}, "over")
    assert list(database.judged(run)) == judged
    assert len(list(database.records(run))) == 1


def test_a_record_of_a_bot_that_is_not_in_the_run_is_refused(database: Database) -> None:
    run = database.begin(fake_plan())
    other = fake_plan([fake_bot("stranger"), fake_bot("bot1")])
    with pytest.raises(StoreError, match="has no bot stranger"):
        database.add_record(run, fake_record(other.spec(0)))
    assert list(database.results(run)) == []


def test_void_plays_are_counted_and_those_that_stay_void_are_results(database: Database) -> None:
    run = database.begin(fake_plan())
    database.add_void(run, void_game(run.plan, 0))
    database.add_void(run, void_game(run.plan, 0))
    database.add_void(run, void_game(run.plan, 2, charged=False))
    assert database.voids(run) == {0: 2}
    assert list(database.results(run)) == []
    database.add_void(run, void_game(run.plan, 0, final=True))
    database.add_record(run, fake_record(run.plan.spec(1)))
    assert database.voids(run) == {0: 3}
    first, second = database.results(run)
    assert first == Outcome(0, None, "void")
    assert second.index == 1
    assert 0 not in list(database.missing(run))
    ref = GameRef(run=run.id, game=run.plan.spec(0).game)
    assert database.record(ref) == fake_void(run.plan.spec(0))


def test_a_void_record_is_no_result(database: Database) -> None:
    run = database.begin(fake_plan())
    with pytest.raises(StoreError, match="is void"):
        database.add_record(run, fake_void(run.plan.spec(0)))


def test_stored_games_have_times_and_faults_for_reports(database: Database) -> None:
    run = database.begin(fake_plan())
    record = fake_record(run.plan.spec(0), faulty=["bot0"])
    seat = msgspec.structs.replace(record.aside.mister_x, fault_text="died", hint="look")
    record = msgspec.structs.replace(
        record, aside=msgspec.structs.replace(record.aside, mister_x=seat)
    )
    database.add_record(run, record)
    (game,) = database.stored_games(run)
    assert (game.game, game.rounds, game.marks) == (record.core.game, 12, ("unsandboxed",))
    assert (game.mister_x.fault, game.mister_x.phase) == ("crash", "turn")
    assert game.mister_x.fault_text == "died"
    assert game.detectives.fault is None
    assert game.detectives.start_ms == 12.5
    assert game.detectives.charged_ms == tuple(0.25 * n for n in range(24))


def test_games_are_found_by_a_unique_beginning(database: Database) -> None:
    run = database.begin(fake_plan(6, deals=10))
    with pytest.raises(ConfigError, match=r"no finished game yet"):
        database.find_game()
    for spec in run.plan.specs():
        database.add_record(run, fake_record(spec))
    ids = sorted(spec.game for spec in run.plan.specs())
    assert database.find_game() == GameRef(run=run.id, game=run.plan.spec(299).game)
    assert database.find_game(ids[7]) == GameRef(run=run.id, game=ids[7])
    assert database.find_game(ids[7][:12], run=run).game == ids[7]
    digit = ids[0][0]
    with pytest.raises(ConfigError, match=f"more than one game begins with '{digit}'") as caught:
        database.find_game(digit)
    assert ids[0] in str(caught.value)
    assert str(caught.value).endswith("…")
    with pytest.raises(ConfigError, match=r"no game in .* begins with '0123456789'"):
        database.find_game("0123456789")
    for nonsense in ("", "xyz", "%", "AB"):
        with pytest.raises(ConfigError, match="no beginning of a game's id"):
            database.find_game(nonsense)


def test_a_game_of_several_runs_is_the_last_runs(database: Database) -> None:
    runs = [database.begin(fake_plan(secret=digit * 64)) for digit in "12"]
    runs = [
        database.begin(fake_plan(secret=digit * 64, deals=deals), afresh=True)
        for digit, deals in (("3", 2), ("4", 3))
    ]
    for run in runs:
        database.add_record(run, fake_record(run.plan.spec(0)))
    game = runs[0].plan.spec(0).game
    assert game == runs[1].plan.spec(0).game
    assert database.find_game(game[:6]) == GameRef(run=runs[1].id, game=game)
    assert database.find_game(game[:6], run=runs[0]).run == runs[0].id
    assert database.find_game(f"{runs[0].id[:6]}/{game[:6]}").run == runs[0].id
    database.touch(runs[0])
    assert database.find_game(game[:6]).run == runs[0].id


def test_a_missing_record_is_told(database: Database) -> None:
    run = database.begin(fake_plan())
    with pytest.raises(ConfigError, match="has no record of a game abc"):
        database.record(GameRef(run=run.id, game="abc"))


def test_each_game_tells_its_ruleset(database: Database) -> None:
    both = ("london-2013", "london-classic")
    bots = [msgspec.structs.replace(fake_bot(name), rulesets=both) for name in "ab"]
    classic = Section(ruleset="london-classic", behaviour=1, deals=1)
    run = database.begin(fake_plan(bots, deals=2, also=(classic,)))
    specs = list(run.plan.specs())
    for spec in specs:
        database.add_record(run, fake_record(spec))
    told = database.rows("SELECT place, ruleset FROM games ORDER BY place")
    assert told == [(spec.index, spec.ruleset) for spec in specs]
    assert {ruleset for _, ruleset in told} == set(both)


def test_views_and_benching_agree_with_the_judge(database: Database) -> None:
    run = database.begin(fake_plan(3, deals=10, bench_after=4))
    for spec in run.plan.specs():
        database.add_record(run, fake_record(spec, faulty=["bot1"]))
    judged = list(database.judged(run))
    first = next(
        game.index for game in judged if "benched" in (game.mister_x_fault, game.detectives_fault)
    )
    database.add_benched(run, Benched(bot=1, index=first))
    assert database.rows(
        "SELECT place, winner, reason, mister_x_fault, detectives_fault FROM games ORDER BY place"
    ) == [
        (game.index, game.winner, game.reason, game.mister_x_fault, game.detectives_fault)
        for game in judged
    ]
    assert database.rows("SELECT kind, count(*) FROM faults GROUP BY kind ORDER BY kind") == [
        ("benched", 36),
        ("crash", 4),
    ]
    assert database.rows("SELECT DISTINCT bot FROM faults") == [("bot1",)]
    assert database.rows("SELECT bot, benched_from FROM bots WHERE benched_from NOT NULL") == [
        ("bot1", first)
    ]


def test_views_are_read_only(database: Database) -> None:
    for view in ("games", "runs", "bots", "faults", "times", "voids"):
        with pytest.raises(StoreError, match="cannot modify"):
            database.rows(f"DELETE FROM {view}")  # noqa: S608 - our own names


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "arena.sqlite3"
    path.parent.mkdir()
    path.touch(mode=0o644)
    with Database(path) as database:
        run = database.begin(fake_plan())
        with database.claim(run):
            files = sorted(path.parent.iterdir())
            assert [file.name.removeprefix("arena.sqlite3") for file in files] == [
                "",
                "-shm",
                "-wal",
                ".lock",
            ]
            for file in files:
                assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_secret_is_in_no_view_and_no_record(database: Database) -> None:
    run = database.begin(fake_plan())
    database.add_record(run, fake_record(run.plan.spec(0)))
    for view in ("games", "runs", "bots", "faults", "times", "voids"):
        assert run.plan.secret not in repr(database.rows(f"SELECT * FROM {view}"))  # noqa: S608 - our own names
    (record,) = database.records(run)
    assert run.plan.secret not in msgspec.json.encode(record).decode()


def test_a_record_of_a_newer_format_is_refused_by_name(database: Database) -> None:
    run = database.begin(fake_plan())
    record = fake_record(run.plan.spec(0))
    newer = msgspec.structs.replace(record, core=msgspec.structs.replace(record.core, format=9))
    database.add_record(run, newer)
    with pytest.raises(
        ConfigError, match=f"game {run.id}/{newer.core.game} has format 9, this arena reads up to 1"
    ):
        list(database.records(run))
    assert len(list(database.results(run))) == 1  # what is stored apart can still be read


def test_two_faults_of_a_game_are_both_stored(database: Database) -> None:
    run = database.begin(fake_plan(2, deals=1))
    record = fake_record(run.plan.spec(0), faulty=["bot0", "bot1"])
    assert record.core.faults == (
        Fault(side="mister_x", kind="crash", phase="turn"),
        Fault(side="detectives", kind="crash", phase="turn"),
    )
    database.add_record(run, record)
    assert database.rows("SELECT side, bot, kind, phase FROM faults ORDER BY side DESC") == [
        ("mister_x", "bot0", "crash", "turn"),
        ("detectives", "bot1", "crash", "turn"),
    ]


def test_a_core_of_a_long_game_is_small(database: Database) -> None:
    run = database.begin(fake_plan())
    record: GameRecord = fake_record(run.plan.spec(0), plies=48 * 5)
    database.add_record(run, record)
    assert database.rows("SELECT length(core) < 10240 FROM record") == [(1,)]
