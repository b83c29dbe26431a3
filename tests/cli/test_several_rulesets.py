"""A tournament of several rulesets: each is rated, reported and exported apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Caller

pytestmark = pytest.mark.slow

SMALL = "london-2013:players=2"
TOML = f"""bots = ["random", "greedy"]
deals = 2
seed = "several"
sandbox = "none"

[[ruleset]]
name = "london-2013"

[[ruleset]]
name = "{SMALL}"
deals = 3
"""


class Played:
    """One run of two rulesets, and one of the second alone with the same seed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mixed = self.run("mixed", TOML)
        alone = TOML.partition("[[")[0].replace("deals = 2", "deals = 3")
        self.alone = self.run("alone", f'{alone}ruleset = "{SMALL}"\n')

    def run(self, name: str, text: str) -> dict[str, Any]:
        file = self.folder / f"{name}.toml"
        file.write_text(text, encoding="utf-8")
        called = Caller()("run", file, "--data", self.folder / name, "--json")
        assert called.code == 0, called.stderr
        return called.json

    def __call__(self, *words: object) -> Any:
        return Caller()(*words, "--data", self.folder / "mixed")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return Played(tmp_path_factory.mktemp("several"))


def test_each_ruleset_is_rated_as_if_it_were_played_alone(played: Played) -> None:
    mixed = played.mixed
    assert mixed["games"] == {"planned": 10, "played": 10, "void": 0}
    assert mixed["ratings"] is None  # nothing is pooled
    first, second = mixed["rulesets"]
    assert (first["ruleset"], first["games"]["played"]) == ("london-2013", 4)
    assert (second["ruleset"], second["games"]["played"]) == (SMALL, 6)
    assert second["ratings"] == played.alone["ratings"] == played.alone["rulesets"][0]["ratings"]
    assert first["ratings"] != second["ratings"]


def test_each_ruleset_has_a_report_and_the_first_page_leads_there(played: Played) -> None:
    folder = Path(played.mixed["report"])
    page = (folder / "index.html").read_text(encoding="utf-8")
    subs = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert len(subs) == 2
    assert page.count("nothing is pooled") == 1
    assert page.count("SHA-256 of the secret") == 1
    assert page.count("played without the sandbox") == 2
    for sub in subs:
        assert f'href="{sub}/index.html"' in page
        assert f'href="{sub}/bots/greedy.html"' in page
        inner = (folder / sub / "index.html").read_text(encoding="utf-8")
        assert "nothing is pooled" in inner
        assert 'href="../index.html"' in inner
    counts = [json.loads((folder / sub / "report.json").read_text())["counts"] for sub in subs]
    assert sorted(count["games"] for count in counts) == [4, 6]


def test_one_page_and_a_table_are_of_one_ruleset(played: Played, tmp_path: Path) -> None:
    for words in (("report", "--single"), ("export", "--format", "csv", "-o", tmp_path / "a.csv")):
        called = played(*words)
        assert called.code == 2
        assert f"name one with --ruleset: london-2013, {SMALL}" in called.stderr.replace("\n", " ")
        assert played(*words, "--ruleset", SMALL).code == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 7
    called = played("report", "--ruleset", "london-classic")
    assert called.code == 2
    assert "has no games of london-classic" in called.stderr


def test_records_of_all_rulesets_are_verified_and_exported(played: Played, tmp_path: Path) -> None:
    called = played("verify", "--json")
    assert called.code == 0
    assert (called.json["checked"], called.json["passed"]) == (10, 10)
    for words, count in (((), 10), (("--ruleset", "london-2013"), 4)):
        file = tmp_path / f"{count}.jsonl"
        assert played("export", "--format", "jsonl", "-o", file, *words).code == 0
        assert len(file.read_text(encoding="utf-8").splitlines()) == count


def test_a_plan_tells_of_each(played: Played) -> None:
    called = Caller()("plan", played.folder / "mixed.toml", "--json")
    assert called.code == 0, called.stderr
    assert called.json["ruleset"] == f"london-2013 + {SMALL}"
    assert (called.json["games"], called.json["deals"]) == (10, 2)


def test_games_are_listed_with_their_ruleset(played: Played) -> None:
    games = played("games", "--json").json["games"]
    assert [game["ruleset"] for game in games].count(SMALL) == 6
    assert SMALL in played("games").stdout
    games = played("games", "--ruleset", "london-2013", "--json").json["games"]
    assert {game["ruleset"] for game in games} == {"london-2013"}
    assert len(games) == 4
