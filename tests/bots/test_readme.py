"""The examples of bots/README.md are run, and its tables say what the code says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from random import Random
from textwrap import dedent

import misterx_europe
import misterx_sdk
import pytest

from arena.referee.record import AskedLimits
from arena.rules.ruleset import Side
from arena.sandbox.limits import BUILD_S, default_limits
from arena.sandbox.staging import LEFT_OUT, MAX_BYTES, MAX_FILES
from arena.tournament.bot_toml import BotToml, read_bot_toml
from arena.tournament.entrants import find_bot, reference_names
from tests.bots.in_process import BOTS, Brain, play_game
from tests.bots.test_europe_paths import small_game
from tests.bots.test_processes import played, seated

TEXT = (BOTS / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def rows(heading: str) -> dict[str, str]:
    """Return the first two cells of each row of the table below a heading."""
    table = TEXT.split(heading, 1)[1].split("\n\n")
    lines = next(part for part in table if part.startswith("| ")).splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip("` "): row[1] for row in cells}


@pytest.mark.slow
def test_python_example_is_a_bot_that_plays_both_sides(tmp_path: Path) -> None:
    examples = dict(zip(("london-2013", "europe-2009"), blocks("python"), strict=True))
    for ruleset, example in examples.items():
        folder = tmp_path / ruleset
        folder.mkdir()
        (folder / "mybot.py").write_text(example)
        bot = seated(str(folder / "mybot.py"), tmp_path / "data")
        random = seated("random", tmp_path / "data")
        for record in played(bot, random, 2, ruleset=ruleset) + played(
            random, bot, 2, ruleset=ruleset
        ):
            assert record.core.faults == ()
            assert record.aside.void is None


@pytest.mark.parametrize("where", ["README", "the module's docstring"])
def test_europe_example_plays_by_the_rules_where_mister_x_can_hardly_move(
    tmp_path: Path, where: str
) -> None:
    """On small boards with few tickets he often has nothing but a hidden move, or nothing."""
    source = blocks("python")[1]
    if where != "README":
        lines = str(misterx_europe.__doc__).splitlines()
        source = dedent("\n".join(line for line in lines if not line or line.startswith("    ")))
    (tmp_path / "example.py").write_text(source)
    example = runpy.run_path(str(tmp_path / "example.py"))
    brains: dict[Side, Brain] = {side: example[side.value] for side in Side}
    stuck = 0
    for number in range(200):
        rules = small_game(Random(number), setup_order="detectives-first")
        state, _ = play_game(rules, brains, number)
        assert state.ended is not None
        stuck += state.tally.stuck + state.tally.hiddens
    assert stuck > 10


def test_bot_toml_examples_are_read(tmp_path: Path) -> None:
    examples = blocks("toml")
    assert len(examples) == 2
    for example in examples:
        (tmp_path / "bot.toml").write_text(example)
        read_bot_toml(tmp_path / "bot.toml", where="README.md", limits=default_limits())


def test_bot_toml_table_has_every_key() -> None:
    table = rows("## bot.toml")
    assert set(table) == set(BotToml.__struct_fields__)
    assert set(re.findall(r"`(\w+)`", table["limits"])) == set(AskedLimits.__struct_fields__)
    assert f"{BUILD_S:.0f} s in all" in table["build"]


def test_sdk_table_has_every_public_name() -> None:
    named = set(re.findall(r"\w+", " ".join(rows("What there is:"))))
    assert named >= set(misterx_sdk.__all__) - {"EUROPE", "LONDON", "PROTOCOL"}
    europe = set(re.findall(r"\w+", " ".join(rows("## Europe in Python"))))
    assert europe == set(misterx_europe.__all__)


def test_names_of_what_turns_teams_deals_and_boards_have_are_right() -> None:
    """Each name in code in the table's rows is an attribute of that class, or set in its making."""
    for heading, name in (
        *(("What there is:", name) for name in ("Turn", "Team", "Deal", "Board")),
        *(("## Europe in Python", name) for name in ("Escape", "Hunt", "Belief", "Board`, `board")),
    ):
        module = "misterx_sdk" if heading == "What there is:" else "misterx_europe"
        source = (BOTS / "sdk" / f"{module}.py").read_text()
        cell = rows(heading)[name]
        name = name.partition("`")[0]
        words = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", cell))
        assert len(words) > 4
        body = source.split(f"class {name}", 1)[1].split("\nclass ", 1)[0]
        for word in words:
            if word not in {"Team", "board"}:
                assert re.search(rf"(self\.{word}\b|def {word}\()", body), (name, word)


def test_limits_of_staging_are_those_told() -> None:
    assert f"{MAX_FILES:,} files and {MAX_BYTES // 1024**2} MiB" in TEXT
    for name in LEFT_OUT:
        assert f"`{name}`" in TEXT


def test_reference_bots_are_listed_and_start_as_told(tmp_path: Path) -> None:
    for name in reference_names():
        assert f"`reference/{name}/`" in TEXT
        spec = find_bot(name, tmp_path).spec
        words = ", ".join(f'"{word}"' for word in ("{python}", *spec.command[1:]))
        assert f"`[{words}]`" in TEXT
