"""Sections of the report: what is cut says so, columns that tell nothing are left out."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import msgspec
import pytest

from arena.referee.record import SideWord
from reports import charts
from reports.frames import GameRow, Games
from reports.report import End, Excluded, FaultCount, Meta, Report, build
from reports.site import bot_page, endings, index, single, strengths
from reports.site.places import Places
from reports.site.summary import Summary
from tests.reports.rows import small_run

PLACES = Places()


@pytest.fixture(scope="module")
def games() -> Games:
    return Games.collect(small_run(3))


@pytest.fixture(scope="module")
def report(games: Games) -> Report:
    return build(games, Meta(run="ab12"))


def test_long_histories_are_cut_with_a_sentence(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "MAX_LINES", 2)
    many = msgspec.structs.replace(report, history=report.history * 14)
    text = strengths.history(many, PLACES)
    assert "The last 12 of 14 runs" in text
    assert "The first 2 bots of this run are drawn" in text


def test_games_that_count_for_nobody_beyond_the_list_are_in_the_table_of_games(
    report: Report,
) -> None:
    row = report.excluded[0]
    rows: list[Excluded] = [row] * (endings.MAX_ROWS + 1)
    text = endings.excluded(msgspec.structs.replace(report, excluded=rows), PLACES)
    assert "The first 200 of 201; " in text
    assert 'href="games.html#note=excluded"' in text


def test_columns_of_times_that_nobody_knows_are_left_out(report: Report) -> None:
    text = endings.times(report.times, PLACES)
    assert "bank left" not in text
    assert "ff turn" not in text
    assert "iven back" not in text
    banked = [
        msgspec.structs.replace(
            row,
            bank_left_p50_ms=1_500.0,
            bank_left_min_ms=7.0,
            off_turn_mean_ms=0.25,
            given_back_ms=None if row.bot == report.times[0].bot else 43.21,
        )
        for row in report.times
    ]
    text = endings.times(banked, PLACES)
    assert ">1,500<" in text
    assert "bank left, least" in text
    assert ">0.25<" in text
    assert ">43.2<" in text
    assert "n/a: games of older releases do not tell." in text
    waited = [msgspec.structs.replace(row, given_back_ms=1.0) for row in report.times]
    text = endings.times(waited, PLACES)
    assert "ff turn" not in text
    assert "Given back is by how much its deadlines were moved" in text


def test_bot_whose_games_all_count_for_nobody_says_so() -> None:
    rows = [
        msgspec.structs.replace(row, winner=None, reason="void") for row in small_run(1, ("a", "b"))
    ]
    games = Games.collect(rows)
    told = Summary.of(build(games, Meta()), games.lines())
    assert "None of its games has a winner" in bot_page.bot_lead("a", told)
    assert [part.anchor for part in bot_page.bot_parts("a", told, PLACES)]


def test_files_too_large_for_one_page_are_told_with_the_command(
    report: Report, games: Games, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single, "MAX_SAVED", 10)
    text = single.single_page(report, games, {"games.csv": "x" * 11, "report.md": "short"})
    assert "Too large to be put into this page: games.csv" in text
    assert "arena report ab12" in text
    assert 'download="report.md"' in text


def test_lists_of_bots_pairings_and_opponents_are_cut_with_a_sentence(
    report: Report, games: Games, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Summary.of(report, games.lines())
    monkeypatch.setattr(index, "MAX_LISTED", 2)
    pages = next(part for part in index.index_parts(told, PLACES) if part.anchor == "pages")
    assert "The first 2 of 4 bots" in pages.body
    assert "The first 2 of 6 pairings" in pages.body
    monkeypatch.setattr(bot_page, "MANY", 1)
    monkeypatch.setattr(bot_page, "IN_ONE", 2)
    parts = {part.anchor: part.body for part in bot_page.bot_parts("greedy", told, PLACES)}
    assert "The first 2 of 3 opponents" in parts["opponents"]


def test_times_of_a_run_that_are_no_dates_stay_as_they_are(report: Report) -> None:
    odd = msgspec.structs.replace(report, meta=Meta(created="yesterday", finished="2026-01-02"))
    lead = index.index_lead(odd, [])
    assert "yesterday" in lead
    assert "2026-01-02 00:00 UTC" in lead


def standings_of(games: list[GameRow]) -> str:
    return strengths.standings(build(Games.collect(games), Meta()), PLACES)


def duel(winner: SideWord, deals: int) -> list[GameRow]:
    """Two bots, both ways on each deal; the same side wins all of it."""
    row = small_run(1)[0]
    return [
        msgspec.structs.replace(
            row,
            game=f"{deal}{x}",
            index=2 * deal + place,
            deal=str(deal),
            mister_x=x,
            detectives=d,
            winner=winner,
            reason="captured",
        )
        for deal in range(deals)
        for place, (x, d) in enumerate((("a", "b"), ("b", "a")))
    ]


def test_interval_that_is_missing_says_why() -> None:
    assert "n/a: results leave it open, upwards and downwards." in standings_of(
        duel("mister_x", 3)
    ).replace("<sup>1</sup>", "")
    lost = [
        msgspec.structs.replace(row, index=row.index + 2, game=f"{row.game}2")
        for row in duel("detectives", 1)
    ]
    mixed = [*duel("mister_x", 1), *lost]
    told = strengths.bot_interval(build(Games.collect(mixed), Meta()).ratings.bots[0])
    assert told.why == "errors are told from two deals on"
    alone = build(Games.collect(duel("mister_x", 1)), Meta()).ratings
    assert strengths.bot_interval(alone.bots[0]).why == "errors are told from two deals on"
    drawn = ET.fromstring(charts.rating_plot(alone))  # noqa: S314 - our own text
    dots = [
        one
        for one in drawn.iter("{http://www.w3.org/2000/svg}use")
        if "accent" in one.get("style", "")
    ]
    assert len(dots) == len(alone.bots)  # and no arrows
    assert "intervals" not in charts.rating_plot(alone)
    assert strengths.rank(alone.bots[0]).why == "errors are told from two deals on"
    text = strengths.superiority(alone, PLACES)
    assert "<table" not in text  # of n/a alone
    assert "n/a: likelihoods come from errors, and errors are told from two deals on" in text


def test_no_advantage_is_not_told_as_one_of_nought() -> None:
    row = duel("mister_x", 1)[0]
    even = [
        row,
        msgspec.structs.replace(
            row, game="x", index=1, mister_x="b", detectives="a", winner="detectives"
        ),
    ]
    text = standings_of(even)
    assert (
        "Which side has an advantage among equal bots can't be told: results do not bound it"
        in text
    )
    assert "0 Elo points" not in text


def test_advantage_that_only_the_prior_bounds_is_no_result() -> None:
    text = standings_of(duel("mister_x", 3))
    assert (
        "can't be told: results do not bound it (by the prior alone, Mister X has 446 Elo points)"
        in text
    )
    assert "has an advantage of" not in text


def test_error_of_a_side_counts_deals_as_that_of_the_rating_does() -> None:
    """Student's t below 30 deals: with 1.96 it would look surer than it is."""
    games = Games.collect(small_run(4))
    made = build(games, Meta())
    bot = made.ratings.bots[0]
    assert bot.se is not None
    assert bot.high is not None
    assert bot.elo is not None
    assert bot.mister_x_se is not None
    quantile = (bot.high - bot.elo) / bot.se
    assert quantile > 3
    lead = bot_page.bot_lead(bot.name, Summary.of(made, games.lines()))
    assert (
        f"{bot.mister_x:+.0f} ± {quantile * bot.mister_x_se:.0f}".replace("-", "\N{MINUS SIGN}")
        in lead
    )


def test_share_that_is_not_sure_is_neither_0_nor_100_in_the_head_of_a_bot_either() -> None:
    made = duel("mister_x", 300)
    caught = msgspec.structs.replace(made[0], winner="detectives")
    games = Games.collect([caught, *made[1:]])
    told = Summary.of(build(games, Meta()), games.lines())
    assert "&gt;\xa099\xa0%" in bot_page.bot_lead("a", told).replace("&amp;", "&").replace(
        "&nbsp;", "\xa0"
    )


def test_head_of_a_bot_counts_games_as_the_standings_do(report: Report, games: Games) -> None:
    told = Summary.of(report, games.lines())
    left = report.excluded[0]
    bot = told.standing[left.mister_x]
    seated = len(told.of_bot[bot.name])
    assert seated > bot.games
    lead = bot_page.bot_lead(bot.name, told)
    assert f'<dt>Games that count</dt><dd class="big">{bot.games}</dd>' in lead
    assert f'<dt>Count for nobody</dt><dd class="big">{seated - bot.games}</dd>' in lead


def test_what_a_forfeit_counts_as_is_told_where_there_is_one(report: Report) -> None:
    assert report.counts.forfeits
    sentence = "A game lost by a fault counts as an escape, or as caught."
    assert sentence in strengths.win_rates(report, PLACES)
    clean = build(Games.collect(duel("mister_x", 2)), Meta())
    assert sentence not in strengths.win_rates(clean, PLACES)


def test_ends_whose_words_do_not_say_who_or_what_are_explained() -> None:
    def ended(*reasons: str) -> str:
        made = [
            End(reason=reason, fault=None, winner="mister_x", games=1, rounds=2.0)
            for reason in reasons
        ]
        return endings.meanings(made)

    assert ended("captured", "checkmate") == ""
    assert "Stuck: no detective could move." in ended("stuck", "escaped")
    assert "Enclosed: Mister X could not move." in ended("enclosed", "stuck")
    assert "Cap: " in ended("cap")
    assert "Encircled: " in ended("encircled")


def test_mean_of_rounds_that_nobody_played_says_so() -> None:
    text = endings.ends(
        [End(reason="fault", fault="benched", winner="detectives", games=2, rounds=None)],
        counted=2,
        excluded=0,
    )
    assert "n/a: none of these games was begun." in text


def test_benched_is_explained_where_somebody_was() -> None:
    fault = FaultCount(
        bot="a", kind="crash", phase="turn", games=3, share=0.5, first_game="ab", text=None
    )
    assert "enched" not in endings.faults([fault], PLACES)
    benched = msgspec.structs.replace(fault, kind="benched", phase=None)
    for whose in ("", "a"):
        assert "Benched: after too many faults in a row" in endings.faults(
            [fault, benched], PLACES, whose=whose
        )


def test_bot_that_only_lost_by_faults_has_no_rating_without_them() -> None:
    played = duel("mister_x", 2)
    lost = [
        msgspec.structs.replace(
            row, game=f"{row.game}c", index=row.index + 9, detectives="c", reason="fault"
        )
        for row in played
    ]
    assert "by games that were played out it can&#x27;t be compared with anybody" in standings_of(
        [*played, *lost]
    )
