"""Staged copies are read-only: those in a temporary folder must become writable to be deleted."""

from __future__ import annotations

from pathlib import Path

__all__ = ["make_writable"]


def make_writable(folder: Path) -> None:
    """Let every folder in here be changed, links left alone."""
    folder.chmod(0o700)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            make_writable(path)
