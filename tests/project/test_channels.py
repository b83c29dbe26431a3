"""A channel in memory is left by `with`.

`async with` waits on its way out, and a task that is cancelled there raises that it was cancelled
in place of the error that it was leaving with: a Ctrl-C would be lost.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_OPEN = "open_memory_channel"
_KINDS = ("MemoryReceiveChannel", "MemorySendChannel")


def names_of_channels(tree: ast.AST) -> Iterator[str]:
    """Names that are given a channel, or are said to be one."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value) if _OPEN in ast.unparse(value):
                yield from (
                    ast.unparse(part)
                    for target in targets
                    for part in (target.elts if isinstance(target, ast.Tuple) else [target])
                )
            case ast.arg(arg=name, annotation=ast.expr() as kind):
                if any(each in ast.unparse(kind) for each in _KINDS):
                    yield name


def waited_for(source: str) -> list[int]:
    """The lines that leave a channel by waiting."""
    tree = ast.parse(source)
    channels = set(names_of_channels(tree))
    entered = [
        item.context_expr
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncWith)
        for item in node.items
    ]
    closed = [
        node.func.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "aclose"
    ]
    return [each.lineno for each in (*entered, *closed) if ast.unparse(each) in channels]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("a, b = trio.open_memory_channel[int](0)\nasync def f():\n async with b:\n  pass\n", [3]),
        ("a, b = trio.open_memory_channel(0)\nasync def f():\n await a.aclose()\n", [3]),
        ("async def f(c: trio.MemorySendChannel[int]):\n async with lock, c:\n  pass\n", [2]),
        ("async def f(c: trio.MemorySendChannel[int]):\n with c:\n  pass\n", []),
        ("async def f(c: trio.Lock):\n async with c:\n  pass\n", []),
    ],
)
def test_what_is_looked_for_is_found(source: str, lines: list[int]) -> None:
    assert waited_for(source) == lines


@pytest.mark.parametrize("folder", ["arena", "protocol", "reports", "bots", "tests"])
def test_no_channel_is_waited_for(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {str(file): waited_for(file.read_text(encoding="utf-8")) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}
