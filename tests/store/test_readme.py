"""The document of the views and the views of a real file say the same."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from arena.store.database import Database
from tests.fake_games import fake_plan, fake_record

TEXT = (resources.files("arena.store") / "README.md").read_text("utf-8")


def documented() -> dict[str, list[str]]:
    """Return the columns that the README names, by view, in order."""
    views: dict[str, list[str]] = {}
    for section in re.split(r"^### ", TEXT.split("\n## Records")[0], flags=re.M)[1:]:
        name = section.split("`")[1]
        views[name] = [
            column
            for row in re.findall(r"^\| (`.*?) \|", section, flags=re.M)
            for column in re.findall(r"`(\w+)`", row)
        ]
    return views


def test_every_view_and_column_is_documented_in_order(tmp_path: Path) -> None:
    with Database(tmp_path / "arena.sqlite3") as database:
        views = database.rows("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name")
        actual = {
            view: [row[1] for row in database.rows(f"PRAGMA table_info({view})")]
            for (view,) in views
            if view.endswith("s")  # the singular is not for scripts
        }
    assert actual == documented()
    assert len(actual) == 6


def test_the_query_of_the_readme_runs(tmp_path: Path) -> None:
    (query,) = re.findall(r'sqlite3 arena-data/arena\.sqlite3 "(.*)"', TEXT)
    with Database(tmp_path / "arena.sqlite3") as database:
        run = database.begin(fake_plan())
        for spec in run.plan.specs():
            database.add_record(run, fake_record(spec))
        assert sum(row[-1] for row in database.rows(query)) == run.plan.count


@pytest.mark.parametrize("view", sorted(documented()))
def test_a_view_of_an_empty_file_has_no_rows(tmp_path: Path, view: str) -> None:
    with Database(tmp_path / "arena.sqlite3") as database:
        assert database.rows(f"SELECT * FROM {view}") == []  # noqa: S608 - our own names
