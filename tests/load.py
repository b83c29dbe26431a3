"""Typed readers of the data beside the tests."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

__all__ = ["TESTS", "case_list", "vector_file"]

T = TypeVar("T")

TESTS = Path(__file__).parent


def vector_file(name: str) -> Path:
    """Return the path of a file in `tests/vectors/`."""
    return TESTS / "vectors" / name


def case_list(name: str, shape: type[T]) -> list[T]:
    """Return the cases of a JSON file in `tests/vectors/`: a list of one shape."""
    return msgspec.json.decode(vector_file(name).read_bytes(), type=list[shape])  # type: ignore[valid-type]
