"""Text that is compared with a file in `tests/snapshots`.

`ARENA_SNAPSHOTS=write pytest tests/cli` writes them anew; the change is then looked at as a diff.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["same"]

FOLDER = Path(__file__).parent.parent / "snapshots"


def same(name: str, text: str) -> None:
    """Assert that a text is what the file holds."""
    file = FOLDER / name
    if os.environ.get("ARENA_SNAPSHOTS") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"no snapshot {name}: write it with ARENA_SNAPSHOTS=write"
    assert text == file.read_text(encoding="utf-8")
