"""`arena replay`: which game, where to, and what it says."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import jsonschema
import msgspec
import pytest

from arena.cli import answers
from arena.cli.exits import Exit
from arena.cli.stored import DATABASE
from arena.store.database import Database
from tests.cli.calling import Caller
from tests.fake_games import fake_bot, fake_plan
from tests.reports.games_of_london import played


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with one game, of a run that is over."""
    stored(tmp_path / "data", rounds=None)
    return tmp_path / "data"


def stored(folder: Path, *, rounds: int | None) -> None:
    """Store a game; with other rounds than were played it does not replay."""
    folder.mkdir()
    plan = fake_plan([fake_bot("one"), fake_bot("two")], deals=1)
    with Database(folder / DATABASE) as database:
        run = database.begin(plan)
        spec = next(iter(plan.specs()))
        record = played()
        core = msgspec.structs.replace(
            record.core,
            game=spec.game,
            mister_x=msgspec.structs.replace(
                record.core.mister_x, name="one", hash=plan.entrants[0].hash
            ),
            detectives=msgspec.structs.replace(
                record.core.detectives, name="two", hash=plan.entrants[1].hash
            ),
            rounds=record.core.rounds if rounds is None else rounds,
        )
        database.add_record(run, msgspec.structs.replace(record, core=core))
        database.finish(run)


def test_last_game_becomes_a_page_in_the_data_folder(arena: Caller, data: Path) -> None:
    called = arena("replay", "--data", data, "--json")
    assert called.code == 0, called.stderr
    jsonschema.validate(called.json, json.loads(msgspec.json.encode(answers.schema())))
    file = Path(called.json["file"])
    assert file == data / "reports" / "replays" / f"{called.json['game']}.html"
    assert file.stat().st_size == called.json["bytes"]
    assert "one – two" in file.read_text(encoding="utf-8")  # noqa: RUF001 - a dash
    assert "Next: open it in a browser" in called.stderr


def test_game_is_named_by_the_beginning_of_its_id(arena: Caller, data: Path) -> None:
    game = arena("replay", "--data", data, "--json").json["game"]
    file = data.parent / "own.html"
    called = arena("replay", game[:6], "-o", file, "--data", data)
    assert called.code == 0
    assert called.stdout == f"Replay: {file}\n"
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_no_folder_is_made_for_a_page_that_is_named(arena: Caller, data: Path) -> None:
    place = data.parent / "typo" / "a"
    called = arena("replay", "-o", place / "own.html", "--data", data)
    assert called.code == Exit.USAGE
    assert f"{place / 'own.html'}: can't be written (there is no folder {place})" in called.stderr
    assert not place.parent.exists()


def test_open_shows_the_page(arena: Caller, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def show(address: str) -> bool:
        seen.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", show)
    called = arena("replay", "--open", "--data", data)
    assert called.code == 0
    assert seen[0].startswith("file:///")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert "no browser" in arena("replay", "--open", "--data", data).stderr


def test_game_that_is_not_there_is_refused(arena: Caller, data: Path, tmp_path: Path) -> None:
    called = arena("replay", "0000", "--data", data)
    assert called.code == Exit.USAGE
    assert "0000" in called.stderr
    assert arena("replay", "--data", tmp_path / "nothing").code == Exit.USAGE


def test_game_that_does_not_replay_is_refused_with_the_difference(
    arena: Caller, tmp_path: Path
) -> None:
    stored(tmp_path / "data", rounds=99)
    called = arena("replay", "--data", tmp_path / "data")
    assert called.code != 0
    assert "can't be replayed: the record counts 99 rounds" in called.stderr
