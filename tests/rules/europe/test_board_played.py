"""A typed-in board is played on by its name; a record keeps its hash."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from arena.errors import ConfigError, RecordError
from arena.referee.replay import replay
from arena.rules import registry
from arena.rules.europe.board import board_hash, load_board
from arena.rules.ruleset import Side
from reports.replays import replay_data
from reports.site.replay import replay_page
from tests.reports.games_of_europe import played
from tests.rules.europe.test_board import odd_board
from tests.strategies import deal_seed

NAMES = (f"odd-{number}" for number in count())  # rulesets are kept: each test takes its own


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an odd board in the folder of boards."""
    found = next(NAMES)
    monkeypatch.setenv("ARENA_BOARDS", str(tmp_path))
    (tmp_path / f"{found}.json").write_text(json.dumps(odd_board()))
    return found


def test_board_is_an_option_with_its_own_missions(name: str, tmp_path: Path) -> None:
    rules = registry.make(f"europe-2009:mission=violet,board={name},players=2")
    assert rules.text == f"europe-2009:players=2,mission=violet,board={name}"
    assert registry.make(rules.text) is rules
    assert rules.name == "europe-2009"
    assert rules.board_hash == board_hash(load_board(tmp_path / f"{name}.json"))
    state = rules.deal(deal_seed(0), 0)
    assert state.colour == "violet"
    assert [ply.city for ply in rules.legal(state)] == [3]
    assert rules.to_move(state) is Side.MISTER_X
    with pytest.raises(ConfigError, match="mission can't be 'green'"):
        registry.make(f"europe-2009:board={name},mission=green")
    assert registry.make("europe-2009:board=own").text == "europe-2009"


def test_preset_of_a_text_is_that_of_its_board(name: str) -> None:
    """What can be chosen, and whose board it is, go by the board."""
    found = registry.preset(f"europe-2009:players=2,board={name}")
    assert "a typed-in board, " in found.summary
    assert found.options[1].values == ("choose", "balanced", "violet")
    own = registry.preset("europe-2009:players=2")
    assert own is registry.preset("europe-2009") is registry.preset("europe-2009:board=own")
    assert "a board of our own: missions, hands, 120 tickets" in own.summary


def test_record_holds_the_board_that_it_was_played_on(name: str, tmp_path: Path) -> None:
    record = played(1, f"europe-2009:board={name}")
    assert record.core.faults == ()
    assert record.core.board == board_hash(load_board(tmp_path / f"{name}.json"))
    assert "made for a test" in replay_page(replay_data(record))
    registry.make.cache_clear()
    content = odd_board()
    content["cities"][0]["name"] = "Elsewhere"
    (tmp_path / f"{name}.json").write_text(json.dumps(content))
    with pytest.raises(RecordError, match=f"board of europe-2009:board={name} is another one"):
        replay(record.core)


@pytest.mark.parametrize("wrong", ["../etc", "A", "a" * 41, "a.json"])
def test_name_of_a_board_is_a_plain_word(name: str, wrong: str) -> None:
    del name
    with pytest.raises(ConfigError, match="write the name of a board in lower case"):
        registry.make(f"europe-2009:board={wrong}")


def test_missing_or_unsound_board_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.json: this map can't be read"):
        registry.make("europe-2009:board=gone")
    file = tmp_path / "odd.json"
    file.write_text("{}")
    with pytest.raises(ConfigError, match=r"odd\.json: Object missing required field"):
        registry.make("europe-2009:board=odd")
    with pytest.raises(ConfigError, match=r"has no value; write board="):
        registry.make("europe-2009:board")
    with pytest.raises(ConfigError, match="the option board is given twice"):
        registry.make(f"europe-2009:board={name},board={name}")
    with pytest.raises(ConfigError, match="has no option 'board'"):
        registry.make(f"london-2013:board={name}")


def test_folder_of_boards_has_to_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_BOARDS", raising=False)
    with pytest.raises(ConfigError, match=r"set the variable ARENA_BOARDS .* mine\.json lies"):
        registry.make("europe-2009:board=mine")
