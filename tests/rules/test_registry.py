"""Names of rulesets: read strictly, answered with the nearest, the same object for equal names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

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


class PluggedIn:
    """Packages that are installed for one test."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        patch.syspath_prepend(folder)

    def __call__(self, module: str, code: str, value: str = "PRESETS") -> None:
        (self.folder / f"{module}.py").write_text(code)
        about = self.folder / f"{module}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
        (about / "entry_points.txt").write_text(
            f"[{registry.GROUP}]\n{module} = {module}:{value}\n"
        )


@pytest.fixture
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PluggedIn]:
    registry.plugged_in.cache_clear()
    yield PluggedIn(tmp_path, monkeypatch)
    registry.plugged_in.cache_clear()
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)


COPY = """
import msgspec
from arena.rules import registry
PRESETS = (msgspec.structs.replace(registry.preset("london-2013"), name="{}"),)
ONE = PRESETS[0]
"""


def test_a_package_plugs_its_rulesets_in(plugged_in: PluggedIn) -> None:
    plugged_in("plug_paris", COPY.format("paris-1990"))
    plugged_in("plug_rome", COPY.format("rome-1991"), value="ONE")
    assert registry.names() == (*registry.PRESETS, "paris-1990", "rome-1991")
    assert registry.preset("paris-1990").options == registry.preset("london-2013").options
    assert {"paris", "rome"} <= set(registry.schemas())


@pytest.mark.parametrize(
    ("module", "code", "says"),
    [
        ("plug_gone", "", "plug_gone = plug_gone:PRESETS of plug_gone can't be loaded (module"),
        ("plug_lost", "import nowhere", "can't be loaded (No module named 'nowhere'); mend that"),
        ("plug_list", "PRESETS = [1]", "it names a tuple of Presets"),
        ("plug_name", COPY.format("paris"), "with names such as chess-1475"),
        ("plug_ours", COPY.format("london-1990"), "'london-1990' begins as those of the arena"),
    ],
)
def test_a_package_that_can_not_be_plugged_in_is_named(
    plugged_in: PluggedIn, module: str, code: str, says: str
) -> None:
    plugged_in(module, code)
    for ask in (registry.names, registry.schemas, lambda: registry.make("paris-1990")):
        with pytest.raises(ConfigError) as caught:
            ask()
        assert f"of {module}" in str(caught.value)
        assert says in str(caught.value)
    assert registry.make("london-2013").name == "london-2013"  # ours are played all the same


def test_two_packages_can_not_plug_in_one_game(plugged_in: PluggedIn) -> None:
    plugged_in("plug_first", COPY.format("paris-1990"))
    plugged_in("plug_second", COPY.format("paris-1991"))
    with pytest.raises(ConfigError, match=r"plug_second.* begins as those of .* of plug_first;"):
        registry.names()
