"""The limits as README.md and SECURITY.md tell them, against the one place that has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from arena.cli import config
from arena.cli.limits import FIXED, MEANINGS, clock_of, said
from arena.sandbox.limits import BOT_ENVIRONMENT, default_limits
from protocol.messages import Limits
from tests.cli.calling import Caller

ROOT = Path(__file__).parents[2]
# Of the wire, and told in `protocol/SPEC.md`: they bound a message, not a program.
WIRE = {"note_bytes", "blank_lines", "depth", "unknown_keys"}


def rows(file: str) -> Iterator[tuple[str, ...]]:
    """Give the rows between the markers of a document, without their head."""
    text = (ROOT / file).read_text(encoding="utf-8")
    table = text.partition("<!-- begin limits -->\n")[2].partition("<!-- end limits -->")[0]
    for line in table.splitlines()[2:]:
        yield tuple(cell.strip().strip("`") for cell in line.strip("|").split(" | "))


def shown(value: int | str, unit: str) -> str:
    """A number with its unit, as a cell."""
    return f"{said(value)} {unit}".strip()


def test_readme_tells_every_limit_that_can_be_set() -> None:
    limits = msgspec.structs.asdict(default_limits())
    clock = msgspec.structs.asdict(clock_of(config.Tournament().clock))
    expected = [
        (name, shown(value, MEANINGS[name][0]), MEANINGS[name][1])
        for name, value in {**limits, **clock}.items()
    ]
    assert list(rows("README.md")) == expected


def test_security_tells_how_every_limit_of_a_program_is_held() -> None:
    limits = msgspec.structs.asdict(default_limits())
    numbers = {name: shown(value, MEANINGS[name][0]) for name, value in limits.items()}
    numbers |= {name: shown(number, unit) for name, number, unit, _ in FIXED}
    told = {name: number for name, number, _ in rows("SECURITY.md")}
    assert told == {name: number for name, number in numbers.items() if name not in WIRE}
    assert all(len(how) > 10 for _, _, how in rows("SECURITY.md"))
    assert len(told) == len(list(rows("SECURITY.md")))


def test_documents_command_and_wire_have_one_source() -> None:
    answer = Caller()("limits", "--json").json
    assert answer["limits"] == msgspec.structs.asdict(default_limits())
    assert set(answer["limits"]) == set(Limits.__struct_fields__)
    assert answer["fixed"] == {name: number for name, number, _, _ in FIXED}


def test_security_names_files_that_are_there() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    words = {word for word in text.split("`")[1::2] if "/" in word and not word.startswith("/")}
    assert words
    for word in words:
        assert (ROOT / word).exists(), word


def test_the_variables_of_a_bot_stand_in_the_document() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    told = text.partition("environment (")[2].partition(", and no other)")[0]
    assert told == ", ".join(f"`{name}`" for name in BOT_ENVIRONMENT)
