"""Which games count: benching by plan order, void games, missing games."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.tournament.benching import Bench, Judged, Outcome, judge, missing
from arena.tournament.pairings import Pairing
from arena.tournament.plan import Plan
from tests.fake_games import fake_plan, fake_record, fake_void, outcome_of


def outcomes(plan: Plan, faulty: set[str]) -> list[Outcome]:
    """Return how every game of the plan ends if these bots fault in each of theirs."""
    return [outcome_of(fake_record(spec, faulty=sorted(faulty))) for spec in plan.specs()]


def without_is_played(judged: list[Judged]) -> list[dict[str, Any]]:
    return [
        {field: getattr(game, field) for field in Judged.__struct_fields__ if field != "is_played"}
        for game in judged
    ]


def test_a_bot_is_benched_after_ten_faults_in_a_row() -> None:
    plan = fake_plan(3, deals=10)
    judged = list(judge(plan, outcomes(plan, {"bot1"})))
    own = [game for game in judged if 1 in (game.mister_x, game.detectives)]
    kinds = [game.mister_x_fault or game.detectives_fault for game in own]
    assert kinds == ["crash"] * 10 + ["benched"] * 30
    for game in own:
        assert game.winner == ("detectives" if game.mister_x == 1 else "mister_x")
        assert game.reason == "fault"
        assert game.counts
    assert len(judged) == plan.count


def test_a_game_without_a_fault_ends_the_row() -> None:
    bench = Bench(3)
    met = Pairing(0, 0, 1)
    kinds = ["crash", "timeout", None, "crash", "illegal", "protocol", None]
    faults = [
        bench.judge(n, met, Outcome(n, "detectives", "fault" if kind else "captured", kind))  # type: ignore[arg-type]
        for n, kind in enumerate(kinds)
    ]
    assert bench.benched == {0: 6}
    assert [game.mister_x_fault for game in faults] == [*kinds[:6], "benched"]


def test_a_void_game_neither_lengthens_nor_ends_a_row() -> None:
    bench = Bench(2)
    met = Pairing(0, 0, 1)
    bench.judge(0, met, Outcome(0, "detectives", "fault", "crash"))
    void = bench.judge(1, met, Outcome(1, None, "void"))
    assert not void.counts
    assert not bench.benched
    bench.judge(2, met, Outcome(2, "detectives", "fault", "crash"))
    assert bench.benched == {0: 3}


def test_both_fault_and_nobody_gets_the_game() -> None:
    game = Bench(10).judge(0, Pairing(0, 0, 1), Outcome(0, None, "fault", "crash", "timeout"))
    assert game.winner is None
    assert not game.counts


def test_a_draw_by_the_rules_counts() -> None:
    assert Bench(10).judge(0, Pairing(0, 0, 1), Outcome(0, None, "drawn")).counts


def test_a_game_of_two_benched_bots_counts_for_nobody() -> None:
    plan = fake_plan(3, deals=12)
    judged = list(judge(plan, outcomes(plan, {"bot0", "bot1"})))
    last = [
        game for game in judged if game.deal == 11 and {game.mister_x, game.detectives} == {0, 1}
    ]
    assert len(last) == 2
    for game in last:
        assert (game.winner, game.counts) == (None, False)
        assert game.mister_x_fault == game.detectives_fault == "benched"


def test_a_forfeit_by_benching_leaves_the_opponents_row_alone() -> None:
    bench = Bench(2)
    bench.judge(0, Pairing(0, 0, 1), Outcome(0, "detectives", "fault", "crash"))
    bench.judge(1, Pairing(0, 0, 1), Outcome(1, "detectives", "fault", "crash"))
    bench.judge(2, Pairing(0, 2, 1), Outcome(2, "mister_x", "fault", None, "crash"))
    # Played before bot 0 was benched, and without a fault of bot 1: that can't count for it.
    bench.judge(3, Pairing(0, 0, 1), Outcome(3, "detectives", "captured"))
    bench.judge(4, Pairing(0, 2, 1), Outcome(4, "mister_x", "fault", None, "crash"))
    assert bench.benched == {0: 2, 1: 5}


def test_a_game_that_is_neither_played_nor_decided_can_not_be_judged() -> None:
    with pytest.raises(ValueError, match="game 3 is neither played nor decided"):
        Bench(10).judge(3, Pairing(0, 0, 1), None)


def test_a_bot_that_meets_itself_has_one_row() -> None:
    bench = Bench(2)
    bench.judge(0, Pairing(0, 0, 0), Outcome(0, "detectives", "fault", "crash"))
    bench.judge(1, Pairing(1, 0, 0), Outcome(1, "mister_x", "fault", None, "crash"))
    assert bench.benched == {0: 2}


@given(st.sets(st.sampled_from(["bot0", "bot1", "bot2", "bot3"])), st.data())
def test_results_do_not_depend_on_which_benched_games_were_played(
    faulty: set[str], data: st.DataObject
) -> None:
    plan = fake_plan(4, deals=5, bench_after=3)
    ended = outcomes(plan, faulty)
    whole = list(judge(plan, ended))
    benched = [
        game.index for game in whole if "benched" in (game.mister_x_fault, game.detectives_fault)
    ]
    left_out = data.draw(st.sets(st.sampled_from(benched)) if benched else st.just(set()))
    some = [outcome for outcome in ended if outcome.index not in left_out]
    assert without_is_played(list(judge(plan, some))) == without_is_played(whole)
    assert list(missing(plan, some)) == []
    assert {game.index for game in judge(plan, some) if not game.is_played} == left_out


@given(st.sets(st.integers(0, 23)))
def test_missing_games_are_those_without_an_outcome(played: set[int]) -> None:
    plan = fake_plan(4, deals=2)
    ended = [outcome for outcome in outcomes(plan, set()) if outcome.index in played]
    assert list(missing(plan, ended)) == [n for n in range(24) if n not in played]
    assert [game.index for game in judge(plan, ended)] == sorted(played)


def test_forfeits_of_a_broken_off_run_are_told_up_to_the_next_missing_game() -> None:
    plan = fake_plan(3, deals=10, bench_after=3)
    ended = outcomes(plan, {"bot1"})[:20]
    told = [game.index for game in judge(plan, ended)]
    assert told[:20] == list(range(20))
    first_missing = next(missing(plan, ended))
    assert told == list(range(first_missing))
    assert {plan.pairing(first_missing).mister_x, plan.pairing(first_missing).detectives} == {0, 2}


def test_an_outcome_says_what_the_record_says() -> None:
    spec = fake_plan().spec(0)
    names = [spec.mister_x.name, spec.detectives.name]
    assert outcome_of(fake_record(spec, faulty=names)) == Outcome(
        0, None, "fault", "crash", "crash"
    )
    assert outcome_of(fake_record(spec, faulty=names[1:])) == Outcome(
        0, "mister_x", "fault", None, "crash"
    )
    assert outcome_of(fake_void(spec)).is_void
    reasons = Counter(outcome_of(fake_record(spec)).reason for spec in fake_plan(5).specs())
    assert set(reasons) == {"escaped", "captured"}
