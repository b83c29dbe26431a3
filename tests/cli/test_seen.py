"""What stored runs of the same rules tell a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.cli.plan import Sample, answer_of
from arena.cli.seen import FEW_PAIRS, Seen, seen
from arena.cli.stored import open_data
from arena.referee.record import GameRecord, GameSpec
from arena.tournament.plan import Section
from tests.fake_games import fake_bot, fake_plan, fake_record


def store(
    data: Path, *, faulty: Sequence[str] = (), played: int | None = None, **options: Any
) -> None:
    """Store a run of three bots in which Mister X won two games of five."""
    knows = ("london-2013", "london-classic")
    bots = [msgspec.structs.replace(fake_bot(f"bot{n}"), rulesets=knows) for n in range(3)]
    with open_data(data, create=True) as database:
        run = database.begin(fake_plan(bots, **options), afresh=True)
        for index in range(run.plan.count if played is None else played):
            database.add_record(run, game(run.plan.spec(index), faulty))


def game(spec: GameSpec, faulty: Sequence[str]) -> GameRecord:
    record = fake_record(spec, faulty=faulty)
    if record.core.faults:
        return record
    escaped = spec.index * 7 % 5 < 2
    core = msgspec.structs.replace(
        record.core,
        winner="mister_x" if escaped else "detectives",
        reason="escaped" if escaped else "captured",
    )
    return msgspec.structs.replace(record, core=core)


def test_a_run_tells_rate_splits_and_deals(tmp_path: Path) -> None:
    store(tmp_path, deals=20)
    found = seen(tmp_path, "london-2013")
    assert found is not None
    assert found.pairs == 60
    assert found.mister_x_rate == pytest.approx(0.4, abs=0.02)
    assert 0 < found.split_rate < 1
    assert 0 <= found.deal_sd <= 8


def test_of_a_run_of_several_rulesets_one_is_seen(tmp_path: Path) -> None:
    also = Section(ruleset="london-classic", behaviour=1, deals=30)
    store(tmp_path, deals=20, also=(also,))
    for ruleset, pairs in (("london-2013", 60), ("london-classic", 90)):
        found = seen(tmp_path, ruleset)
        assert found is not None
        assert found.pairs == pairs


@pytest.mark.parametrize(
    "options",
    [
        {"deals": 20, "ruleset": "london-classic"},  # other rules
        {"deals": 20, "rated": False},
        {"deals": 20, "played": 2 * FEW_PAIRS - 2},
        {"deals": 20, "faulty": ("bot0", "bot1", "bot2")},
    ],
)
def test_other_runs_tell_nothing(tmp_path: Path, options: dict[str, Any]) -> None:
    store(tmp_path, **options)
    assert seen(tmp_path, "london-2013") is None


def test_the_last_run_with_pairs_enough_is_taken(tmp_path: Path) -> None:
    store(tmp_path, deals=20)
    store(tmp_path, deals=2, secret="6e" * 32)
    found = seen(tmp_path, "london-2013")
    assert found is not None
    assert found.pairs == 60


def test_a_folder_without_runs_tells_nothing_and_stays_empty(tmp_path: Path) -> None:
    assert seen(tmp_path / "none", "london-2013") is None
    assert not (tmp_path / "none").exists()


def test_pairs_needed_go_by_what_was_seen() -> None:
    sample = Sample(games=0, game_s=0.0, game_bytes=0.0, escaped=0)
    usual = answer_of(fake_plan(3, deals=100), sample, None)
    even = Seen(run="r", pairs=60, mister_x_rate=0.5, split_rate=0.5, deal_sd=0.0)
    uneven = Seen(run="r", pairs=60, mister_x_rate=0.1, split_rate=0.9, deal_sd=2.0)
    answers = [answer_of(fake_plan(3, deals=100), sample, found) for found in (even, uneven)]
    # The published table's rows: a rate of one half on even deals, of a tenth on uneven ones.
    assert [one.pairs for one in answers[0].gaps] == pytest.approx([47, 189, 1184, 4736], abs=2)
    assert [one.pairs for one in answers[1].gaps] == pytest.approx(
        [196, 750, 4623, 18456], rel=0.01
    )
    assert [one.sequential_pairs for one in answers[1].gaps] == pytest.approx(
        [132, 506, 3122, 12463], rel=0.01
    )
    assert usual.seen is None
    assert usual.deal_sd == 1.0
    assert usual.mister_x_rate == 0.35
    assert answers[1].seen is not None
    assert answers[1].seen.split_rate == 0.9
    assert answers[0].smallest_gap_elo is not None
    assert usual.smallest_gap_elo is not None
    assert answers[0].smallest_gap_elo < usual.smallest_gap_elo


def test_games_that_do_not_bound_the_role_advantage_tell_nothing(tmp_path: Path) -> None:
    """Nobody ever escapes: what Mister X would win among equals is anybody's guess."""
    with open_data(tmp_path, create=True) as database:
        run = database.begin(fake_plan(3, deals=20), afresh=True)
        for index in range(run.plan.count):
            record = fake_record(run.plan.spec(index))
            core = msgspec.structs.replace(record.core, winner="detectives", reason="captured")
            database.add_record(run, msgspec.structs.replace(record, core=core))
    assert seen(tmp_path, "london-2013") is None
