"""File names of pages: no name of a bot reaches a path, and no two share a file."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.site.places import LONGEST, Places, bot_slug, pairing_slug

HOSTILE = (
    "../../x",
    "/etc/x",
    "a/b",
    "..",
    "",
    "x" * 5_000,
    "\0",
    "CON",
    "nul",
    "com1",
    "-rf",
    "*",
    "<script>",
    "$(id)",
    "javascript:x",
    "a\\b",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp",
    "\ud800",
    "Ünïcode",
    "a--b",
    "a.html",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_have_harmless_files(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]*x[0-9a-f]{8}", bot_slug(name))
    assert len(bot_slug(name)) <= LONGEST + 10
    assert "--" not in bot_slug(name)


@pytest.mark.parametrize("name", ["greedy", "bot_2", "my-bot-v1", "42"])
def test_harmless_names_are_their_own(name: str) -> None:
    assert bot_slug(name) == name


@given(st.lists(st.text(max_size=12), min_size=2, max_size=6, unique=True))
def test_no_two_names_share_a_file_even_where_capitals_count_for_nothing(names: list[str]) -> None:
    slugs = {bot_slug(name) for name in names}
    assert len(slugs) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_-]+", slug) for slug in slugs)


def test_a_name_made_to_look_like_another_s_file_gets_one_of_its_own() -> None:
    taken = bot_slug("Greedy")
    assert bot_slug(taken) != taken


def test_a_pairing_has_one_file_whichever_bot_comes_first() -> None:
    assert pairing_slug("a", "b") == pairing_slug("b", "a") == "a--b"
    assert len({pairing_slug("a", "b--c"), pairing_slug("a--b", "c")}) == 2


def test_links_lead_up_from_a_page_in_a_folder() -> None:
    places = Places(
        up="../",
        bots={"a", "B"},
        pairings={pairing_slug("a", "B")},
        replays={"0f": "replays/0f.html"},
    )
    assert places.index() == "../index.html"
    assert places.index("ends") == "../index.html#ends"
    assert places.bot("a") == "../bots/a.html"
    assert places.bot("c") is None
    assert places.pairing("B", "a") == f"../pairings/{pairing_slug('a', 'B')}.html"
    assert places.pairing("a", "c") is None
    assert places.replay("0f") == "../replays/0f.html"
    assert places.replay("1f") is None
    assert places.games() == "../games.html"
    assert places.games(bot="a b") == "../games.html#bot=a%20b"


def test_links_of_one_file_stay_in_it() -> None:
    places = Places(single=True, bots={"a"}, pairings={"a--b"})
    assert (places.index(), places.index("ends")) == ("#", "#ends")
    assert (places.bot("a"), places.pairing("b", "a")) == ("#bot-a", "#pairing-a--b")
    assert places.games(bot="a") == "#bot=a"
    assert places.games() == "#games"
