"""Runs: begun, gone on with after changes, looked up, held by one writer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from arena.errors import ConfigError, StoreError
from arena.referee.record import BotSpec
from arena.store.database import Database
from arena.store.runs import Run
from arena.tournament import seeds
from arena.tournament.benching import Benched
from tests.fake_games import fake_bot, fake_plan, fake_record
from tests.store.test_database import void_game


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "arena.sqlite3") as opened:
        yield opened


def test_a_plan_comes_back_whole(database: Database) -> None:
    plan = fake_plan(4, deals=7, jobs=3)
    run = database.begin(plan)
    assert run.plan == plan
    assert (run.id, run.state, run.finished) == (plan.run_id, "open", None)
    assert database.find_run() == run
    assert database.runs() == [run]


def test_the_same_plan_goes_on_with_its_secret(database: Database) -> None:
    run = database.begin(fake_plan(secret="11" * 32))
    again = database.begin(fake_plan(secret="22" * 32, jobs=2))
    assert again.id == run.id
    assert again.plan.secret == run.plan.secret
    assert again.plan.jobs == 2
    assert len(database.runs()) == 1


def test_a_run_can_be_begun_afresh(database: Database) -> None:
    run = database.begin(fake_plan(secret="11" * 32))
    other = database.begin(fake_plan(secret="22" * 32), afresh=True)
    assert other.id != run.id
    assert [entry.id for entry in database.runs()] == [other.id, run.id]
    database.touch(run)
    assert database.find_run().id == run.id
    assert database.begin(fake_plan(secret="33" * 32)).id == run.id  # the last one of that plan


def test_only_a_run_without_a_play_is_forgotten(database: Database) -> None:
    first = database.begin(fake_plan(2, secret="11" * 32))
    assert first.is_new
    database.forget(first)
    assert database.runs() == []
    assert database.rows("SELECT * FROM bots") == []
    played = database.begin(fake_plan(2, secret="11" * 32))
    database.add_record(played, fake_record(played.plan.spec(0)))
    void = database.begin(fake_plan(2, deals=1, secret="22" * 32))
    database.add_void(void, void_game(void.plan, 0))
    empty = database.begin(fake_plan(2, deals=3, secret="33" * 32))
    for run in (played, void, empty):
        database.forget(run)
    assert [run.id for run in database.runs()] == [void.id, played.id]
    assert database.find_run() == void
    assert not database.begin(void.plan).is_new


def test_a_run_in_another_hand_is_not_forgotten(database: Database) -> None:
    run = database.begin(fake_plan(2))
    with Database(database.path) as other, other.claim(run):
        database.forget(run)
        assert other.runs() == [run]


def test_an_open_seed_is_the_same_run_always(database: Database) -> None:
    plan = fake_plan(secret=seeds.open_secret("7").hex(), open_seed="7")
    assert database.begin(plan).id == database.begin(plan, afresh=True).id
    assert database.rows("SELECT open_seed FROM runs") == [("7",)]


def test_of_a_changed_bot_only_its_own_games_are_missing(database: Database) -> None:
    names = [f"b{n}" for n in range(10)]
    plan = fake_plan([fake_bot(name) for name in names], deals=2)
    run = database.begin(plan)
    for spec in plan.specs():
        database.add_record(run, fake_record(spec))
    database.add_void(run, void_game(plan, 0))
    database.finish(run)
    assert database.find_run(run.id).state == "over"

    changed = [fake_bot(name, content="new" if name == "b3" else "") for name in names]
    again = database.begin(fake_plan(changed, deals=2))
    assert (again.id, again.state) == (run.id, "open")
    missing = list(database.missing(again))
    assert missing == [n for n in range(plan.count) if 3 in plan.pairing(n)[1:]]
    assert len(missing) == 2 * 18
    assert len(list(database.records(again))) == plan.count - len(missing)
    for index in missing:
        database.add_record(again, fake_record(again.plan.spec(index)))
    assert list(database.missing(again)) == []
    # Changed back: what was played then counts again, and nothing twice.
    back = database.begin(plan)
    assert list(database.missing(back)) == []
    assert [record.core.game for record in database.records(back)] == [
        spec.game for spec in plan.specs()
    ]


def test_games_after_the_secret_was_shown_are_told_apart(database: Database) -> None:
    """Whoever changed a bot then could know its deals."""
    bots = [fake_bot(name) for name in ("a", "b", "c")]
    changed = [bots[0], fake_bot("b", content="new"), bots[2]]

    def play(entrants: list[BotSpec]) -> Run:
        run = database.begin(fake_plan(entrants, deals=2))
        for index in list(database.missing(run)):
            database.add_record(run, fake_record(run.plan.spec(index)))
        return run

    def after(run: Run) -> list[int]:
        return [game.index for game in database.stored_games(run) if game.after_secret]

    other = database.begin(fake_plan(2, deals=1))  # its games lie between
    run = play(bots)
    assert database.changed_since_shown(run) == ()
    run = play(changed)  # before it was shown a change gives nobody anything
    database.add_record(other, fake_record(other.plan.spec(0)))
    assert database.rows("SELECT DISTINCT deal_was_public FROM games") == [(0,)]
    database.finish(run)
    first = run.plan.spec(0).game
    database.play_again(run, [first])
    run = play(changed)  # that game alone, anew: its bots stayed
    assert after(run) == []
    assert database.changed_since_shown(run) == ()

    newer = [bots[0], fake_bot("b", content="newer"), bots[2]]
    run = play(newer)
    database.finish(run)
    run = database.find_run(run.id)
    places = [n for n in range(run.plan.count) if 1 in run.plan.pairing(n)[1:]]
    assert after(run) == places
    assert database.changed_since_shown(run) == ("b",)
    assert database.rows("SELECT run, place FROM games WHERE deal_was_public ORDER BY place") == [
        (run.id, place) for place in places
    ]
    back = play(bots)  # its old games count again, and were played before
    assert after(back) == []
    assert database.changed_since_shown(back) == ()


def test_deals_of_an_open_seed_are_public(database: Database) -> None:
    plan = fake_plan(2, deals=1, secret=seeds.open_secret("7").hex(), open_seed="7")
    run = database.begin(plan)
    database.add_record(run, fake_record(plan.spec(0)))
    assert database.rows("SELECT deal_was_public FROM games") == [(1,)]


def test_void_plays_of_a_changed_bot_are_forgotten(database: Database) -> None:
    run = database.begin(fake_plan([fake_bot("a"), fake_bot("b")]))
    for index in (0, 1):
        database.add_void(run, void_game(run.plan, index, final=True))
    assert len(list(database.results(run))) == 2
    again = database.begin(fake_plan([fake_bot("a"), fake_bot("b", content="new")]))
    assert database.voids(again) == {}
    assert list(database.results(again)) == []
    assert database.rows("SELECT * FROM voids") == []


def test_a_change_of_any_bot_undoes_benchings(database: Database) -> None:
    run = database.begin(fake_plan([fake_bot("a"), fake_bot("b")]))
    database.add_benched(run, Benched(bot=0, index=1))
    database.begin(run.plan)
    assert database.rows("SELECT bot FROM bots WHERE benched_from NOT NULL") == [("a",)]
    database.begin(fake_plan([fake_bot("a"), fake_bot("b", content="new")]))
    assert database.rows("SELECT bot FROM bots WHERE benched_from NOT NULL") == []


def test_runs_are_found_by_a_unique_beginning(database: Database) -> None:
    with pytest.raises(ConfigError, match="holds no run yet: play one with `arena run`"):
        database.find_run()
    with pytest.raises(ConfigError, match="no run begins with 'ab': there is none yet"):
        database.find_run("ab")
    runs = [database.begin(fake_plan(deals=deals)) for deals in range(1, 40)]
    for run in runs:
        assert database.find_run(run.id) == run
    with pytest.raises(ConfigError, match="more than one run begins with ''") as caught:
        database.find_run("")
    assert runs[-1].id in str(caught.value)
    with pytest.raises(ConfigError, match=r"no run begins with 'zz': .*…"):
        database.find_run("zz")


def test_a_run_has_one_writer(database: Database) -> None:
    run = database.begin(fake_plan())
    other = database.begin(fake_plan(deals=9))
    with Database(database.path) as second:
        with database.claim(run):
            with (
                pytest.raises(StoreError, match=f"run {run.id} is being played"),
                second.claim(run),
            ):
                pass
            with second.claim(other):  # another run is nobody's business
                pass
            with pytest.raises(StoreError, match="is being played"):
                second.begin(run.plan)
            assert second.find_run(run.id) == run  # reading is free
        with second.claim(run):
            pass


@pytest.mark.slow
@pytest.mark.parametrize("open_seed", ["7", None])
def test_two_that_begin_the_same_plan_at_once_begin_one_run(
    tmp_path: Path, open_seed: str | None
) -> None:
    """One of them may find it held by the other; nobody finds half of it, or makes another."""
    path = tmp_path / "arena.sqlite3"
    at_once = Barrier(8)

    def begin(number: int) -> str | None:
        secret = f"{number:02}" * 32 if open_seed is None else seeds.open_secret(open_seed).hex()
        with Database(path) as database:
            at_once.wait()
            try:
                return database.begin(fake_plan(secret=secret, open_seed=open_seed)).id
            except StoreError as error:
                assert "is being played by another process" in str(error)  # noqa: PT017
                return None

    with ThreadPoolExecutor(8) as pool:
        begun = set(pool.map(begin, range(8))) - {None}
    with Database(path) as database:
        assert {run.id for run in database.runs()} == begun
    assert len(begun) == 1


def test_a_finished_run_keeps_the_time_it_was_finished_at(database: Database) -> None:
    run = database.begin(fake_plan())
    database.finish(run)
    finished = database.find_run(run.id).finished
    assert finished is not None
    database.finish(run)
    assert database.find_run(run.id).finished == finished
    assert database.begin(run.plan).state == "over"  # nothing was changed
