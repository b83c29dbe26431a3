"""Every row of the catalogue of hostile bots has a test, and none of them may be left out here."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tools import MAY_LACK

# Section: how many rows it has.
ROWS = {"A": 21, "B": 18, "C": 13, "D": 18, "E": 26, "F": 10}
TESTS = Path(__file__).parents[1]


def test_every_row_is_named_by_its_test() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    text += (TESTS / "catalogue" / "rows.py").read_text(encoding="utf-8")
    named = set(re.findall(r"\b([A-F]\d+)\b", text))
    for section, first, last in re.findall(r"\b([A-F])(\d+) to \1(\d+)\b", text):
        named |= {f"{section}{number}" for number in range(int(first), int(last) + 1)}
    rows = {f"{section}{n + 1}" for section, count in ROWS.items() for n in range(count)}
    assert rows - named == set()


def test_a_complete_machine_lacks_two_things_at_the_most() -> None:
    """What is skipped for want of a tool is listed with its reason; no row of the catalogue is."""
    assert MAY_LACK.keys() == {"cgroups", "rustc"}
