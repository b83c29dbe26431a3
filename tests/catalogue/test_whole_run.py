"""Sections C and D once more through the command line, all in one run: G7 to G10.

Real workers, two games at once whichever they are, staging, the store and the report. The report is
for people who never saw these bots: it must be as whole as any.
"""

from __future__ import annotations

import csv
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from arena.cli import answers
from arena.cli.stored import DATABASE, open_data
from arena.referee.record import GameRecord
from tests.catalogue.checks import check_output, marked_processes
from tests.catalogue.referees import ROUTES, Route
from tests.catalogue.rows import LIVES, OK, RESOURCES, check_record
from tests.living import wait_gone
from tests.ordinary_user import OrdinaryUser
from tests.referee.games import FAULTY
from tests.tools import need_that

pytestmark = pytest.mark.slow

ROWS = LIVES + RESOURCES
HONEST = "honest"
_LIMIT_S = 240.0
_BOT = """\
name = "{name}"
command = ["{{python}}", "-S", "{program}.py", "{row}", "{mark}"]
sides = ["{side}"]
"""


class WholeRun(NamedTuple):
    """A run with every row's bot against one honest Mister X, and what came of it."""

    folder: Path
    told: subprocess.CompletedProcess[bytes]
    verified: subprocess.CompletedProcess[bytes]
    records: dict[str, GameRecord]
    word: str  # a secret that no bot may see
    mark: str  # on every bot's command line


class Runs:
    """The runs of both routes, each made when somebody asks."""

    def __init__(self, users: Callable[[], OrdinaryUser]) -> None:
        self._users = users
        self._made: dict[Route, WholeRun] = {}
        self._asked: set[Route] = set()
        self._folders: list[Path] = []

    def get(self, route: Route) -> WholeRun:
        if route in self._asked:
            assert route in self._made, "the run failed: see the first test that asked for it"
        else:
            self._asked.add(route)
            root = os.geteuid() == 0
            if route == "R":
                need_that(root, "root", "only root keeps bots by user ids")
            user = self._users() if root and route == "U" else None
            folder = Path(tempfile.mkdtemp(prefix="arena-whole-"))
            self._folders.append(folder)
            self._made[route] = _play(folder, user)
        return self._made[route]

    def close(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder)


@pytest.fixture(scope="module")
def runs(ordinary_users: Callable[[], OrdinaryUser]) -> Iterator[Runs]:
    found = Runs(ordinary_users)
    yield found
    found.close()


def _play(folder: Path, user: OrdinaryUser | None) -> WholeRun:
    word, mark = f"word{secrets.token_hex(8)}", f"mark{secrets.token_hex(6)}"
    (folder / "notes.txt").write_text(word)
    bots = folder / "bots"
    mister_x = _write(bots / "x", HONEST, "speaking", "-", "mister_x", mark)
    (mister_x / "notes.txt").write_text(word)
    others = [_write(bots / "d", f"{HONEST}-d", "speaking", "-", "detectives", mark)]
    others += [
        _write(bots / row.row, row.row, row.program, row.row, "detectives", mark) for row in ROWS
    ]
    (folder / "t.toml").write_text(
        f"mister_x = {json.dumps([str(mister_x)])}\n"
        f"detectives = {json.dumps([str(other) for other in others])}\n"
        'deals = 1\nseed = "catalogue-2"\n'  # whose deal goes on for 22 rounds
        # On a busy host a bot needs more than a second of its own to take all that it takes.
        "clock.move_ms = 3000\n"
    )
    home = folder / "home"
    home.mkdir()
    environment = user.environment() if user else dict(os.environ)
    environment.update(ARENA_TEST_SECRET=word, PYTHONDONTWRITEBYTECODE="1")
    become: dict[str, Any] = {}
    if user:
        become = {"user": user.uid, "group": user.gid, "extra_groups": []}
        os.chown(home, user.uid, user.gid)
    folder.chmod(0o755)

    def arena(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [user.python if user else sys.executable, "-P", "-m", "arena", *words],
            cwd=home,
            env=environment,
            capture_output=True,
            check=False,
            timeout=_LIMIT_S,
            **become,
        )

    told = arena("run", str(folder / "t.toml"), "--jobs", "2", "--json")
    verified = arena("verify", "--json")
    assert (home / "arena-data" / DATABASE).exists(), told.stderr.decode()
    records: dict[str, GameRecord] = {}
    with open_data(home / "arena-data") as database:
        for record in database.records(database.find_run()):
            records[record.core.detectives.name] = record
    return WholeRun(folder, told, verified, records, word, mark)


def _write(folder: Path, name: str, program: str, row: str, side: str, mark: str) -> Path:
    folder.mkdir(parents=True)
    for file in {"speaking", program}:
        shutil.copyfile(FAULTY / f"{file}.py", folder / f"{file}.py")
    settings = _BOT.format(name=name, program=program, row=row, side=side, mark=mark)
    (folder / "bot.toml").write_text(settings)
    return folder


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_row_comes_out_the_same_in_a_whole_run(row: Any, route: Route, runs: Runs) -> None:
    check_record(row, runs.get(route).records[row.row])


@pytest.mark.parametrize("route", ROUTES)
def test_whole_run_ends_as_one_in_which_bots_failed(route: Route, runs: Runs) -> None:
    """G9, G8, G6: no fault of ours, nobody else's, and every record replays by the rules."""
    run = runs.get(route)
    said = run.told.stderr.decode()
    assert run.told.returncode == 3, said
    answer = json.loads(run.told.stdout)
    jsonschema.validate(answer, answers.schema())
    assert answer["games"] == {"planned": len(ROWS) + 1, "played": len(ROWS) + 1, "void": 0}
    assert answer["faults"] == Counter(row.kind for row in ROWS if row.kind != OK)
    assert run.records[f"{HONEST}-d"].core.faults == ()
    assert run.verified.returncode == 0, run.verified.stdout.decode()
    assert json.loads(run.verified.stdout)["passed"] == len(ROWS) + 1


@pytest.mark.parametrize("route", ROUTES)
def test_report_of_a_whole_run_is_whole(route: Route, runs: Runs) -> None:
    """G7, G8: it can be read, and steers neither terminal nor page."""
    run = runs.get(route)
    for output in (run.told, run.verified):
        check_output(output.stdout.decode(), output.stderr.decode())
    home = run.folder / "home"
    (report,) = (home / "arena-data" / "reports").iterdir()
    json.loads((report / "report.json").read_text())
    for table in report.glob("*.csv"):
        with table.open(newline="") as file:
            widths = {len(line) for line in csv.reader(file)}
        assert len(widths) == 1, table
    page = (report / "index.html").read_text()
    HTMLParser().feed(page)
    check_output(page.replace("\t", " "))
    assert all(row.row in page for row in ROWS)


@pytest.mark.parametrize("route", ROUTES)
def test_whole_run_leaves_nothing_but_its_data(route: Route, runs: Runs) -> None:
    """G1, G4, G10."""
    run = runs.get(route)
    wait_gone(lambda: marked_processes(run.mark))
    assert [path.name for path in (run.folder / "home").iterdir()] == ["arena-data"]
    for output in (run.told.stdout, run.told.stderr):
        assert run.word.encode() not in output
    written = [path for path in (run.folder / "home").rglob("*") if path.is_file()]
    with_word = [path.name for path in written if run.word.encode() in path.read_bytes()]
    assert with_word == ["notes.txt"]  # the staged copy of the bot that has it
