"""Editions are data: their numbers, cards and links, pinned."""

from __future__ import annotations

import hashlib
from importlib import resources

import pytest

from arena.errors import ConfigError
from arena.rules import registry
from arena.rules.london import London
from arena.rules.london.presets import EDITIONS, edition_of
from arena.rules.london.state import Tickets
from tests.strategies import all_texts

MAP_SHA256 = "2e0b349be8d1b8a7ca6a6b2d812ae4d5aaa3a29b4d48d6a09b453f1b54140d46"


def london(text: str) -> London:
    made = registry.make(text)
    assert isinstance(made, London)
    return made


def test_the_map_is_the_one_that_was_checked() -> None:
    file = resources.files("arena.rules.london") / "data" / "board.json"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == MAP_SHA256


def test_the_map_has_the_counts_of_its_source_file() -> None:
    rules = london("london-2013")
    links = rules.board.links
    assert len(rules.board.stations) == 199
    counts = [len(pairs) for pairs in (links.taxi, links.bus, links.metro, links.ferry)]
    assert counts == [345, 99, 20, 3]
    assert len(rules.numbers.cards.detectives) == 16
    assert len(rules.numbers.cards.mister_x) == 13
    source = (resources.files("arena.rules.london") / "data" / "SOURCE.md").read_text()
    assert "345, 99, 20, 3: 467 in all" in source


def test_classics_link_is_a_difference_of_the_edition_alone() -> None:
    new, classic, coursework = (london(name) for name in registry.names()[:3])
    assert set(classic.board.links.taxi) - set(new.board.links.taxi) == {(13, 14)}
    assert classic.board.links.taxi == tuple(sorted(classic.board.links.taxi))
    assert new.board == coursework.board
    assert new.board_hash == coursework.board_hash != classic.board_hash


def test_the_cards_of_each_edition() -> None:
    new, classic, coursework = (london(name).numbers.cards for name in registry.names()[:3])
    assert set(new.detectives) - set(coursework.detectives) == {13, 34}
    assert set(new.mister_x) - set(coursework.mister_x) == {146}
    assert (len(coursework.detectives), len(coursework.mister_x)) == (14, 12)
    assert classic.detectives == classic.mister_x
    assert len(classic.detectives) == 18
    assert [cards.one_pile for cards in (new, classic, coursework)] == [False, True, False]


@pytest.mark.parametrize(
    ("name", "ends_by", "rounds", "reveals", "each", "supply"),
    [
        ("london-2013", "rounds", 22, (3, 8, 13, 18, 24), Tickets(11, 8, 4), "box"),
        ("london-classic", "slots", 24, (3, 8, 13, 18), Tickets(10, 8, 4), "to-mister-x"),
        ("london-coursework", "slots", 24, (3, 8, 13, 18, 24), Tickets(11, 8, 4), "to-mister-x"),
    ],
)
def test_the_numbers_of_each_edition(
    name: str, ends_by: str, rounds: int, reveals: tuple[int, ...], each: Tickets, supply: str
) -> None:
    numbers = london(name).numbers
    assert (numbers.ends_by, numbers.rounds, numbers.slots) == (ends_by, rounds, 24)
    assert numbers.reveals == reveals
    assert numbers.detective_tickets == each
    assert numbers.supply == supply
    assert (numbers.blacks, numbers.doubles, numbers.detectives) == (5, 2, 5)


def test_in_classic_blacks_go_by_detectives_or_are_five() -> None:
    for players, detectives in ((3, 2), (4, 3), (5, 4), (6, 5)):
        assert london(f"london-classic:players={players}").numbers.blacks == detectives
        assert london(f"london-classic:players={players},blacks=5").numbers.blacks == 5
        assert london(f"london-coursework:players={players}").numbers.blacks == 5


@pytest.mark.parametrize("name", ["london-classic", "london-coursework"])
def test_older_editions_have_no_bobbies_and_no_pool(name: str) -> None:
    for text in all_texts(name):
        numbers = london(text).numbers
        assert (numbers.bobbies, numbers.pool) == (0, None)
        assert numbers.detective_tickets is not None


@pytest.mark.parametrize("text", [t for edition in EDITIONS for t in all_texts(edition.name)])
def test_the_box_is_never_overdrawn(text: str) -> None:
    rules = registry.make(text)
    if isinstance(rules, London) and (start := rules.numbers.supply_tickets) is not None:
        assert min(start.taxi, start.bus, start.metro) >= 0


def test_an_unknown_edition_is_named() -> None:
    with pytest.raises(ConfigError, match="no edition 'paris'; there are london-2013"):
        edition_of("paris")
