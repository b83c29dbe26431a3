"""Replays in a report's folder: small pages beside one script, the same as a page of its own."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from pathlib import Path

import msgspec
import pytest

from arena.errors import RecordError
from arena.referee.record import GameRecord
from reports.replays import replay_data
from reports.site.drawing import draw
from reports.site.inlining import source_hash
from reports.site.manifest import FolderWriter
from reports.site.replays import SHARED
from tests.browser import open_page, started_browser
from tests.reports.games_of_london import HOSTILE, crashing, dressed, played, showing_off

MOST_BYTES = 9_500  # of a page: a thousand of them and all else are then below 10 MB


@pytest.fixture(scope="module")
def records() -> dict[str, GameRecord]:
    """Three games by id: one played out, one with a fault, one with hostile texts."""
    kinds = (played(), played(showing_off, crashing), dressed(played(), "".join(HOSTILE)))
    return {
        name: msgspec.structs.replace(record, core=msgspec.structs.replace(record.core, game=name))
        for name, record in zip(("0a", "0b", "0c"), kinds, strict=True)
    }


@pytest.fixture(scope="module")
def folder(records: dict[str, GameRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    writer = FolderWriter(made)
    paths, notes = draw(records, records.__getitem__, writer)
    assert paths == {game: f"replays/{game}.html" for game in records}
    assert notes == []
    assert set(writer.files) == {"replays/viewer.js", *paths.values()}
    return made


def test_page_and_script_together_hold_the_whole_replay(
    records: dict[str, GameRecord], folder: Path
) -> None:
    viewer = (folder / "replays" / "viewer.js").read_text("utf-8")
    found = re.search(r"^shared: (.*),$", viewer, re.MULTILINE)
    assert found is not None
    shared = json.loads(found[1])
    assert set(shared) == set(SHARED)
    for game, record in records.items():
        page = (folder / "replays" / f"{game}.html").read_text("utf-8")
        data = re.search(r'<script type="application/json" id="replay">(.*?)</script>', page)
        assert data is not None
        own = json.loads(zlib.decompress(base64.b64decode(json.loads(data[1])["packed"])))
        assert shared | own == json.loads(msgspec.json.encode(replay_data(record)))


def test_pages_are_small(folder: Path) -> None:
    for game in ("0a", "0b"):
        assert (folder / "replays" / f"{game}.html").stat().st_size <= MOST_BYTES
    assert (folder / "replays" / "viewer.js").stat().st_size <= 100_000


def test_policy_allows_the_loader_and_what_it_loads_and_nothing_else(folder: Path) -> None:
    for file in (folder / "replays").glob("*.html"):
        text = file.read_text("utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
        assert policy is not None
        rules = dict(rule.split(" ", 1) for rule in html.unescape(policy[1]).split("; "))
        scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
        modules = [inner for attributes, inner in scripts if "module" in attributes]
        assert len(scripts) == 2
        assert rules["script-src"] == f"'{source_hash(modules[0])}' 'strict-dynamic'"
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in policy[1]


def test_games_that_cannot_be_replayed_are_left_out_and_told(
    records: dict[str, GameRecord], tmp_path: Path
) -> None:
    def record(game: str) -> GameRecord:
        if game != "0a":
            raise RecordError("it is of another version")
        return records[game]

    paths, notes = draw(records, record, FolderWriter(tmp_path))
    assert set(paths) == {"0a"}
    assert notes == ["2 games can't be replayed; the first: it is of another version"]


def test_no_games_leave_no_script(tmp_path: Path) -> None:
    none: dict[str, GameRecord] = {}
    assert draw([], none.__getitem__, FolderWriter(tmp_path)) == ({}, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_replays_play_from_disk_without_a_complaint(
    records: dict[str, GameRecord], folder: Path
) -> None:
    with started_browser() as browser:
        for game in records:
            file = folder / "replays" / f"{game}.html"
            with open_page(browser, file, folder=folder) as opened:
                page = opened.page
                page.wait_for_selector("body[data-moment]")
                last = len(replay_data(records[game]).moments) - 1
                page.keyboard.press("End")
                page.wait_for_selector(f'body[data-moment="{last}"]')
                assert page.title() not in {"owned", "1"}  # what a hostile text would set
        lonely = folder / "lonely.html"
        lonely.write_bytes((folder / "replays" / "0a.html").read_bytes())
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.goto(lonely.as_uri())
        page.wait_for_selector("p.missing")
        assert "viewer.js" in page.inner_text("p.missing")
