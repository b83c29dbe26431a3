"""What coordinator and Dask workers tell each other of themselves."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.tournament.executors import crossing
from arena.tournament.executors.crossing import code_hash


def test_two_checkouts_of_one_version_are_told_apart_by_their_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(name: str, files: dict[str, str]) -> str:
        for file, text in {"__init__.py": "", **files}.items():
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_text(text)
        monkeypatch.setattr(
            crossing, "arena", SimpleNamespace(__file__=str(tmp_path / name / "__init__.py"))
        )
        return code_hash.__wrapped__()

    one = made("one", {"a.py": "x = 1", "b/c.py": "y = 2"})
    assert made("same", {"b/c.py": "y = 2", "a.py": "x = 1", "notes.txt": "no code"}) == one
    assert made("changed", {"a.py": "x = 1", "b/c.py": "y = 3"}) != one
    assert made("moved", {"a.py": "x = 1", "c.py": "y = 2"}) != one
    assert made("more", {"a.py": "x = 1", "b/c.py": "y = 2", "d.py": ""}) != one
    assert len(code_hash()) == 64
