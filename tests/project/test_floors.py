"""The floors: every part of the arena stands on one, or any other might import it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_part_of_the_arena_is_on_a_floor() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (floors,) = [
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    on_floors = {name for floor in floors for name in re.findall(r"[a-z_.]+", floor)}
    parts = {
        f"arena.{path.stem}"
        for path in (ROOT / "arena").iterdir()
        if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert parts - {"arena.__init__"} <= on_floors
    assert {"protocol", "reports"} <= on_floors
