"""The table of measures in README.md, from the last run of `arena bench` kept in the tree.

After a run worth keeping, on an otherwise idle machine:

    arena bench --json --games 20000 > tests/benchmarks/figures.json
    python tests/benchmarks/figures.py

The second writes the table; a test holds it to the first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[2]))

from arena.bench.promises import Promise, judge

__all__ = ["FIGURES", "README", "in_readme", "table"]

FIGURES = Path(__file__).with_name("figures.json")
README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- begin figures -->\n", "<!-- end figures -->"


def table(found: Mapping[str, Any]) -> str:
    """Return the table of a run, as it stands in README.md."""
    lines = ["| measure | promised | measured |", "| --- | --- | --- |"]
    lines += [
        f"| {kept.promise.what} | {_limit(kept.promise)} | {_number(kept.value)} |"
        for kept in judge(found)
    ]
    return "\n".join(lines) + "\n"


def in_readme(text: str) -> str:
    """Return the table that stands in a text of README.md."""
    return text.partition(BEGIN)[2].partition(END)[0]


def _limit(promise: Promise) -> str:
    return f"{'≥' if promise.at_least else '≤'} {_number(promise.limit)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Put the table of the kept run into README.md."""
    found = json.loads(FIGURES.read_text(encoding="utf-8"))
    text = README.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    README.write_text(head + begin + table(found) + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
