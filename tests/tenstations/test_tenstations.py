"""A third game, added as `arena/rules/README.md` says: nothing of the arena knows it.

`installed/` is what lies in a folder of Python packages when somebody has installed a package that
plugs a ruleset in. Here it is on the path of the processes that the tests start, and of no other.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
INSTALLED = HERE / "installed"
RULESET = "tenstations-1"
OPTIONS = 3  # values of its one option
LIMIT_S = 240  # generous: the machine may be busy

pytestmark = pytest.mark.slow


def called(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a Python program did, the ruleset being installed."""
    found = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(INSTALLED)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "Traceback" not in found.stderr
    return found


class Played:
    """A tournament of two bots, one on the wire alone and one with the SDK."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("walker", "hunter"):
            (folder / name).mkdir()
            shutil.copy(HERE / "bots" / f"{name}.py", folder / name)
        shutil.copy(ROOT / "bots" / "sdk" / "misterx_sdk.py", folder / "hunter")
        bots = ("walker/walker.py", "hunter/hunter.py")
        self.run = self("run", *bots, "--ruleset", RULESET, "--deals", 3, "--seed", 7, "--json")

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        sandbox = ("--sandbox", "none") if words[0] in ("run", "play", "rerun") else ()
        return called("-m", "arena", *words, *sandbox, folder=self.folder)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return Played(tmp_path_factory.mktemp("tenstations"))


def test_it_passes_every_contract_of_a_ruleset() -> None:
    found = called(
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "tenstations",
        "tests/contract/test_ruleset.py",
        "tests/contract/test_watched.py",
        folder=ROOT,
    )
    passed = re.search(r"^(\d+) passed, \d+ deselected", found.stdout, re.MULTILINE)
    assert passed, found.stdout[-2000:]
    source = (ROOT / "tests/contract/test_ruleset.py").read_text(encoding="utf-8")
    of_each, watched = len(re.findall(r"^@PRESETS", source, re.MULTILINE)), 2 * OPTIONS
    assert int(passed[1]) == of_each + watched > 20
    assert found.returncode == 0


def test_it_is_played_by_real_bots_and_rated(played: Played) -> None:
    assert played.run.returncode == 0, played.run.stderr
    answer = json.loads(played.run.stdout)
    assert answer["games"] == {"planned": 6, "played": 6, "void": 0}
    assert answer["faults"] == {}
    assert {bot["name"] for bot in answer["ratings"]["bots"]} == {"walker", "hunter"}
    listed = played("games", "--json")
    assert listed.returncode == 0, listed.stderr
    games = json.loads(listed.stdout)["games"]
    assert {game["reason"] for game in games} <= {"caught", "cornered", "escaped"}


def test_it_is_kept_reported_verified_and_played_again(played: Played) -> None:
    answer = json.loads(played.run.stdout)
    page = (played.folder / answer["report"] / "index.html").read_text(encoding="utf-8")
    assert RULESET in page
    checked = json.loads(played("verify", "--json").stdout)
    assert (checked["checked"], checked["passed"], checked["failed"]) == (6, 6, [])
    again = played("rerun", "--side", "mister_x", "--bot", "walker/walker.py")
    assert again.returncode in (0, 1), again.stderr  # the last game's may be the other bot
    lines = played("export", "--format", "jsonl").stdout.splitlines()
    assert {json.loads(line)["record"]["core"]["ruleset"] for line in lines} == {RULESET}


def test_a_drawing_is_the_one_thing_that_it_lacks(played: Played) -> None:
    found = played("replay")
    assert found.returncode == 2
    assert f"{RULESET}: the viewer has a drawing for europe, london only;" in found.stderr
    assert "There are no replays" in played.run.stderr


def test_it_is_watched_listed_and_told_in_the_schema(played: Played) -> None:
    bots = ("walker/walker.py", "hunter/hunter.py")
    watched = played("play", *bots, "--ruleset", f"{RULESET}:rounds=4", "--watch")
    assert watched.returncode == 0, watched.stderr
    assert re.search(r"^ 1 +X +move figure x", watched.stderr, re.MULTILINE)
    assert "until Mister X has escaped (T9)" in played("rulesets", RULESET).stdout
    schema = json.loads(played("protocol", "--schema").stdout)
    assert "tenstations.ply" in schema["$defs"]


def test_without_the_package_its_records_say_what_is_missing(played: Played) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "arena", "verify"],
        cwd=played.folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert found.returncode == 1
    assert f"there is no ruleset '{RULESET}'" in found.stdout
