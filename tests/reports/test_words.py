"""What a ruleset calls a game, such as its mission: counted and shown, or left out."""

from __future__ import annotations

from msgspec.structs import replace

from reports.frames import Games
from reports.game_rows import words_of
from reports.report import Meta, build
from reports.site.index import index_parts
from reports.site.places import Places
from reports.site.summary import Summary
from tests.reports.rows import small_run

COLOURS = ("green", "yellow", "orange")


def test_only_words_are_taken_from_facts() -> None:
    facts = {"mission": "green", "x_start": 3, "none": "", "kind": "open"}
    assert words_of(facts) == ("mission=green", "kind=open")
    assert words_of({"rounds": 7}) == ()


def test_escapes_are_counted_by_word() -> None:
    rows = [
        replace(row, words=(f"mission={COLOURS[row.index % 3]}",)) for row in small_run(deals=6)
    ]
    games = Games.collect(rows)
    played = [row for row in rows if row.winner and row.reason != "fault"]
    told = {(count.fact, count.word): count.escaped for count in games.words()}
    assert set(told) == {("mission", colour) for colour in COLOURS}
    for n, colour in enumerate(COLOURS):
        ours = [row for row in played if row.index % 3 == n]
        assert told["mission", colour].games == len(ours)
        assert told["mission", colour].wins == sum(row.winner == "mister_x" for row in ours)
    report = build(games, Meta(title="Run"))
    parts = index_parts(Summary.of(report, games.lines()), Places())
    (part,) = [part for part in parts if part.anchor == "words"]
    assert part.heading == "By mission"
    assert all(colour in part.body for colour in COLOURS)
    assert "mission=green" in games.csv()


def test_a_game_without_words_has_no_such_section() -> None:
    games = Games.collect(small_run(deals=2))
    report = build(games, Meta(title="Run"))
    assert report.words == []
    parts = index_parts(Summary.of(report, games.lines()), Places())
    assert not [part for part in parts if part.anchor == "words"]
