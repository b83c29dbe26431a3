"""A clause `except*` raises nothing: Python 3.11.2 wraps it in a group once more, 3.11.7 not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def raised_in_groups(source: str) -> list[int]:
    """The lines that raise something new in a clause `except*`."""
    return [
        inner.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.TryStar)
        for handler in node.handlers
        for inner in ast.walk(handler)
        if isinstance(inner, ast.Raise)
    ]


def test_what_is_looked_for_is_found() -> None:
    source = "try:\n    f()\nexcept* ValueError as e:\n    raise KeyError from e\n"
    assert raised_in_groups(source) == [4]
    assert raised_in_groups(source.replace("except*", "except")) == []


@pytest.mark.parametrize("folder", ["arena", "protocol", "reports", "bots", "tests"])
def test_no_clause_raises(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {str(file): raised_in_groups(file.read_text(encoding="utf-8")) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}
