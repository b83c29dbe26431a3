"""Names of rulesets: read strictly, answered with the nearest, the same object for equal names."""

from __future__ import annotations

import pytest

from arena.errors import ConfigError
from arena.rules import registry


def test_the_presets_of_london_are_there() -> None:
    assert registry.names()[:3] == ("london-2013", "london-classic", "london-coursework")


def test_defaults_and_the_order_of_options_do_not_matter() -> None:
    made = registry.make("london-2013:players=2,pool=22-16-8")
    assert registry.make("london-2013:pool=22-16-8,players=2") is made
    assert registry.make("london-2013:players=6,stuck=all") is registry.make("london-2013")
    assert made.text == "london-2013:players=2,pool=22-16-8"
    assert dict(made.options) == {
        "players": 2,
        "supply": "box",
        "stuck": "all",
        "pool": "22-16-8",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("london-2012", "no ruleset 'london-2012'; the nearest is 'london-2013'; there are "),
        ("", "no ruleset ''; there are london-2013, "),
        ("London-2013", "the nearest is 'london-2013'"),
        ("london-2013:player=2", "no option 'player'; the nearest is 'players'"),
        ("london-2013:", "no option ''; there are players, supply, stuck, pool"),
        ("london-2013:players=2,", "no option ''"),
        ("london-2013:players", "write players=6"),
        ("london-2013:players=7", "players can't be '7'; there are 2, 3, 4, 5, 6 (by default 6)"),
        ("london-2013:players=02", "players can't be '02'"),
        ("london-2013:players= 2", "players can't be ' 2'"),
        ("london-2013:supply=boxes", "the nearest is 'box'"),
        ("london-2013:players=2,players=3", "players is given twice"),
        ("london-2013:pool=22-16-8", "no effect with players=6; say players=2"),
        ("london-classic:pool=22-16-8", "no option 'pool'"),
        ("london-coursework:blacks=5", "no option 'blacks'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.make(text)
    assert says in str(caught.value)


def test_an_unknown_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="the nearest is 'london-classic'"):
        registry.preset("london-clasic")


def test_each_family_has_a_schema() -> None:
    assert set(registry.schemas()) == {name.split("-")[0] for name in registry.names()}
    for schema in registry.schemas().values():
        assert {"ply", "view", "event", "numbers", "board"} <= set(schema["$defs"])


def test_a_preset_tells_its_options() -> None:
    preset = registry.preset("london-classic")
    assert preset.summary
    assert {option.name: option.values for option in preset.options} == {
        "players": (6, 2, 3, 4, 5),
        "supply": ("to-mister-x", "box", "unlimited"),
        "stuck": ("all", "detectives"),
        "blacks": ("detectives", 5),
    }
