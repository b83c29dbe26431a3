"""Whole runs of the command line, with real bots, workers, signals and databases."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from arena.cli import answers
from arena.cli.protocol import joined_schema
from arena.cli.stored import DATABASE, open_data
from tests.cli.bots import CRASHES, SLOW, write_bot
from tests.living import wait_gone, working_in

pytestmark = pytest.mark.slow

LIMIT_S = 90.0  # generous: hosts are busy
BOARD = resources.files("arena.rules.europe") / "data" / "board.json"


class Shell:
    """Calls `arena` as a process in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "arena-data"

    def start(
        self, *words: object, data: Path | None = None, before: Sequence[str] = ()
    ) -> subprocess.Popen[str]:
        """Start a command, after other words if there are any; its output is kept."""
        where = ("--data", data) if data else ()
        return subprocess.Popen(
            [*before, sys.executable, "-m", "arena", *map(str, (*words, *where))],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def __call__(self, *words: object, code: int = 0, data: Path | None = None) -> str:
        """Run a command to its end, which must have this exit code; return its stdout."""
        process = self.start(*words, data=data)
        stdout, stderr = process.communicate(timeout=LIMIT_S)
        assert process.returncode == code, stdout + stderr
        assert "Traceback" not in stderr
        self.stderr = stderr
        return stdout

    def json(self, *words: object, code: int = 0, data: Path | None = None) -> dict[str, Any]:
        """Run a command with `--json`; return the object, checked against the schema."""
        answer: dict[str, Any] = json.loads(self(*words, "--json", code=code, data=data))
        jsonschema.validate(answer, answers.schema())
        return answer

    def cores(self, data: Path | None = None) -> list[bytes]:
        """What compares byte for byte of the last run's games, in plan order."""
        with open_data(data or self.data) as database:
            return list(database.cores(database.find_run()))

    def stored(self) -> int:
        """How many games are stored now."""
        file = self.data / DATABASE
        if not file.exists():
            return 0
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
                return int(connection.execute("SELECT count(*) FROM game").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # being made


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Shell]:
    """The command line in an empty folder; nothing is written there but the data folder."""
    shell = Shell(tmp_path)
    before = set(tmp_path.iterdir())
    yield shell
    made = {path.name for path in set(tmp_path.iterdir()) - before}
    assert made <= {"arena-data", "bots", "other", "out", "t.toml"}


def wait(process: subprocess.Popen[str], is_so: Callable[[], bool]) -> None:
    """Wait until something has come about through another process."""
    until = time.monotonic() + LIMIT_S
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def wait_stored(arena: Shell, process: subprocess.Popen[str], games: int) -> None:
    """Wait until so many games are stored."""
    wait(process, lambda: arena.stored() >= games)


def test_run_plays_stores_reports_and_ends_with_0(arena: Shell) -> None:
    answer = arena.json("run", "random", "greedy", "--deals", "3")
    assert answer["games"] == {"planned": 6, "played": 6, "void": 0}
    assert answer["faults"] == {}
    assert {bot["name"] for bot in answer["ratings"]["bots"]} == {"random", "greedy"}
    report = arena.folder / answer["report"]
    assert report == arena.data / "reports" / answer["run"]
    for file in ("index.html", "ratings.csv", "games.csv", "report.json"):
        assert (report / file).stat().st_size > 0
    assert f"SHA-256 of its secret:\n  {answer['secret_sha256']}" in arena.stderr
    assert arena.json("verify")["passed"] == 6


def test_run_again_with_the_same_plan_plays_nothing_and_says_the_same(arena: Shell) -> None:
    first = arena.json("run", "random", "greedy", "--deals", "2")
    second = arena.json("run", "random", "greedy", "--deals", "2")
    third = arena.json("resume")
    for answer in (first, second, third):
        del answer["took_s"]
    assert first == second == third
    assert arena.stored() == 4


def test_run_afresh_is_another_run(arena: Shell) -> None:
    first = arena.json("run", "random", "greedy", "--deals", "1")
    second = arena.json("run", "random", "greedy", "--deals", "1", "--afresh")
    assert first["run"] != second["run"]
    assert arena.stored() == 4


def test_changed_bot_has_only_its_games_played_again(arena: Shell) -> None:
    bot = write_bot(arena.folder / "bots", "mine", "pass")
    arena("run", bot, "random", "greedy", "--deals", "2")
    assert arena.stored() == 12
    (bot / "bot.py").write_text((bot / "bot.py").read_text() + "# changed\n")
    answer = arena.json("run", bot, "random", "greedy", "--deals", "2")
    assert answer["games"] == {"planned": 12, "played": 12, "void": 0}
    assert arena.stored() == 12 + 8


def test_faults_end_with_3_and_an_alert_for_each_kind(arena: Shell) -> None:
    bot = write_bot(arena.folder / "bots", "breaks", CRASHES)
    answer = arena.json("run", bot, "random", "--deals", "2", code=3)
    assert answer["faults"] == {"crash": 4}
    assert "warning: 4 faults of kind crash: breaks 4; the first: breaks, game " in arena.stderr
    assert "status 7" in arena.stderr
    played = arena.json("play", bot, "random", code=3)
    assert played["winner"] == "detectives"
    assert played["fault"]["side"] == "mister_x"
    assert played["fault"]["kind"] == "crash"
    assert "to its author" in played["fault"]["stderr"]
    assert "to its author" in arena("play", bot, "random", code=3)


def test_bots_that_cannot_start_end_with_2_before_any_game(arena: Shell) -> None:
    dumb = arena.folder / "bots" / "dumb.py"
    dumb.parent.mkdir()
    dumb.write_text("print('hello')\n")
    arena("run", "nosuch", dumb, "random", code=2)
    assert "2 bots can't play, so no game was started:" in arena.stderr
    assert "there is no bot 'nosuch'" in arena.stderr
    assert "dumb" in arena.stderr
    arena("play", "random", dumb, code=2)
    assert arena.stored() == 0


def test_seed_decides_the_games_at_any_number_of_jobs(arena: Shell) -> None:
    cores = []
    for jobs in (1, 2, 4):
        data = arena.folder / "other" / str(jobs)
        arena("run", "random", "belief", "--deals", "3", "--seed", "s", "--jobs", jobs, data=data)
        cores.append(arena.cores(data))
    assert len(cores[0]) == 6
    assert cores[0] == cores[1] == cores[2]


def test_a_run_goes_on_with_no_other_board_than_it_was_begun_on(
    arena: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    boards = tmp_path_factory.mktemp("boards")
    monkeypatch.setenv("ARENA_BOARDS", str(boards))
    board, mine = json.loads(BOARD.read_text(encoding="utf-8")), boards / "mine.json"
    mine.write_text(json.dumps(board), encoding="utf-8")
    words = ("run", "random", "greedy", "--ruleset", "europe-2009:board=mine", "--seed", "s")
    process = arena.start(*words, "--deals", "200")
    wait_stored(arena, process, 2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 75, stderr
    kept = arena.stored()
    board["cities"][0]["name"] = "Elsewhere"
    mine.write_text(json.dumps(board), encoding="utf-8")
    arena("resume", code=2)
    assert "another board of europe-2009:board=mine than there is now: put that" in arena.stderr
    assert arena.stored() == kept
    other = arena.json(*words, "--deals", "1")  # the same tournament on it is another run
    assert other["games"] == {"planned": 2, "played": 2, "void": 0}
    assert arena.stored() == kept + 2


def test_ctrl_c_once_finishes_games_in_play_and_resume_ends_as_if_unbroken(arena: Shell) -> None:
    bot = write_bot(arena.folder / "bots", "slow", SLOW)
    words = ("run", bot, "random", "--deals", "5", "--seed", "s")
    process = arena.start(*words)
    wait_stored(arena, process, 2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 75, stderr
    assert "Traceback" not in stderr
    assert "Go on with: arena resume " in stderr
    kept = arena.stored()
    assert 2 <= kept < 10
    with open_data(arena.data) as database:
        run = database.find_run()
        assert run.state == "open"
    assert arena.json("resume")["games"] == {"planned": 10, "played": 10, "void": 0}
    assert arena.stored() == 10
    other = arena.folder / "other"
    arena(*words, data=other)
    assert arena.cores() == arena.cores(other)


def test_ctrl_c_twice_is_out_within_two_seconds_with_130(arena: Shell) -> None:
    asked = arena.folder / "out" / "asked"
    asked.parent.mkdir()
    turn = f"open({str(asked)!r}, 'w').close(); time.sleep(0.9)"
    bot = write_bot(arena.folder / "bots", "slow", turn)
    process = arena.start("run", bot, "random", "--deals", "5", "--sandbox", "none")
    wait(process, asked.exists)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while not process.stderr.readline().startswith("Stopping"):
        pass
    process.send_signal(signal.SIGINT)
    wait_gone(lambda: process.poll() is None, process.pid)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "Go on with: arena resume " in stderr


def test_sigterm_stops_like_ctrl_c(arena: Shell) -> None:
    bot = write_bot(arena.folder / "bots", "slow", SLOW)
    process = arena.start("run", bot, "random", "--deals", "50")
    wait_stored(arena, process, 1)
    process.terminate()
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 75, stderr


def test_secret_games_are_shown_only_with_spoil_until_the_run_is_over(arena: Shell) -> None:
    bot = write_bot(arena.folder / "bots", "slow", SLOW)
    process = arena.start("run", bot, "random", "--deals", "2")
    wait_stored(arena, process, 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    for words in (("games",), ("export", "--format", "csv"), ("report",)):
        arena(*words, code=2)
        assert "is not over" in arena.stderr
        assert arena(*words, "--spoil")
    arena("resume")
    assert arena("games")


def test_games_are_listed_by_bot_winner_and_reason(arena: Shell) -> None:
    arena("run", "random", "greedy", "--deals", "3")
    listed = arena.json("games")["games"]
    assert [game["index"] for game in listed] == list(range(6))
    won = arena.json("games", "--winner", "greedy")["games"]
    lost = arena.json("games", "--winner", "random")["games"]
    assert len(won) + len(lost) == 6
    by_side = arena.json("games", "--winner", "mister_x")["games"]
    assert all(game["winner"] == "mister_x" for game in by_side)
    captured = arena.json("games", "--reason", "captured", "--bot", "greedy")["games"]
    assert captured == [game for game in listed if game["reason"] == "captured"]
    arena("games", "--bot", "gredy", code=2)
    assert "did you mean greedy?" in arena.stderr


def test_exports_can_be_rated_and_verified(arena: Shell) -> None:
    answer = arena.json("run", "random", "greedy", "--deals", "3")
    out = arena.folder / "out"
    out.mkdir()
    for kind in ("csv", "jsonl", "parquet"):
        assert arena.json("export", "--format", kind, "-o", out / f"x.{kind}")["games"] == 6
    assert arena("export", "--format", "csv") == (out / "x.csv").read_text()
    assert arena.json("rate", out / "x.csv")["bots"] == answer["ratings"]["bots"]
    assert arena.json("verify", out / "x.jsonl") == {
        "schema": "arena.verify/1", "checked": 6, "passed": 6, "failed": [],
    }  # fmt: skip
    text = (out / "x.jsonl").read_text()
    line = json.loads(text.splitlines()[0])
    said = line["transcript"]
    assert [one["line"]["type"] for one in said[:4]] == ["deal", "deal", "turn", "play"]
    wire = jsonschema.Draft202012Validator(joined_schema())
    for one in said:
        wire.validate(one["line"])
    plays = [one["line"]["plies"] for one in said if one["line"]["type"] == "play"]
    assert plays == [play["plies"] for play in line["record"]["core"]["plays"]]


def test_verify_ends_with_1_where_a_record_breaks_the_rules(arena: Shell) -> None:
    arena("run", "random", "greedy", "--deals", "1")
    out = arena.folder / "out"
    out.mkdir()
    arena("export", "--format", "jsonl", "-o", out / "x.jsonl")
    lines = [json.loads(line) for line in (out / "x.jsonl").read_text().splitlines()]
    lines[0]["record"]["core"]["plays"][0]["plies"][0]["to"] = 1
    (out / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    answer = arena.json("verify", out / "x.jsonl", code=1)
    assert (answer["checked"], answer["passed"]) == (2, 1)
    assert answer["failed"][0]["id"] == lines[0]["record"]["core"]["game"]
    assert "play 0" in answer["failed"][0]["what"]


def test_verify_finds_a_record_that_was_changed_in_the_database(arena: Shell) -> None:
    arena("run", "random", "greedy", "--deals", "1")
    with closing(sqlite3.connect(arena.data / DATABASE)) as connection, connection:
        connection.execute(
            "UPDATE record SET core = x'00' WHERE game = (SELECT min(key) FROM game)"
        )
    answer = arena.json("verify", code=1)
    assert (answer["checked"], answer["passed"]) == (2, 1)
    assert "damaged" in answer["failed"][0]["what"]


def test_play_of_a_seed_comes_out_the_same_and_is_the_last_game(arena: Shell) -> None:
    first = arena.json("play", "greedy", "belief", "--seed", "7")
    second = arena.json("play", "greedy", "belief", "--seed", "7")
    for answer in (first, second):
        del answer["took_s"]
    assert first == second
    assert "came out the same again" in arena.stderr
    assert arena.json("verify", first["game"])["passed"] == 1
    other = arena.json("play", "greedy", "belief")
    again = arena.json("play", "greedy", "belief", "--seed", other["seed"])
    assert again["rounds"] == other["rounds"]
    assert arena.json("play", "random", "random")["mister_x"] == "random"


def test_plays_are_no_runs_that_are_meant_by_default(arena: Shell) -> None:
    run = arena.json("run", "random", "greedy", "--deals", "1")["run"]
    arena("play", "random", "belief")
    assert arena.json("games")["run"] == run


def test_plan_tells_games_pairs_time_disk_and_gap(arena: Shell) -> None:
    answer = arena.json("plan", "random", "greedy", "belief", "--deals", "100")
    assert (answer["games"], answer["pairs"]) == (600, 300)
    assert answer["sampled"] > 0
    assert answer["expected_s"] > 0
    assert answer["expected_bytes"] > 600 * 1000
    assert 10 < answer["smallest_gap_elo"] < 300
    assert [one["elo"] for one in answer["gaps"]] == [100, 50, 20, 10]
    assert answer["seen"] is None
    assert arena.stored() == 0


def test_plan_of_several_long_rulesets_keeps_to_the_terminal(
    arena: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "europe-2009:players=3,mission=balanced,capture=check,passed=ignored"
    (arena.folder / "t.toml").write_text(
        'bots = ["random", "greedy"]\ndeals = 3\n[[ruleset]]\nname = "london-2013"\n'
        f'[[ruleset]]\nname = "{long}"\ndeals = 1000\n'
    )
    monkeypatch.setenv("COLUMNS", "60")
    lines = [" ".join(line.split()) for line in arena("plan", "t.toml").splitlines()]
    assert "london-2013 3 6" in lines
    assert any(line.endswith(" 1,000 2,000") for line in lines)
    assert {"bots 2", "games 2,006"} <= set(lines)
    assert max(map(len, lines)) <= 60


def test_tournament_file_is_read_beside_its_own_folder(arena: Shell) -> None:
    write_bot(arena.folder / "other" / "bots", "mine", "pass")
    file = arena.folder / "other" / "t.toml"
    file.write_text(
        'mister_x = ["bots/mine", "random"]\ndetectives = ["greedy"]\ndeals = 9\nseed = 5\n'
        "[clock]\nmove_ms = 2000\n"
    )
    answer = arena.json("run", file, "--deals", "2")
    assert answer["games"]["planned"] == 4
    with open_data(arena.data) as database:
        plan = database.find_run().plan
    assert plan.open_seed == "5"
    assert plan.clock is not None
    assert plan.clock.move_ms == 2000
    assert [(bot.name, bot.sides) for bot in plan.entrants] == [
        ("mine", ("mister_x",)),
        ("random", ("mister_x",)),
        ("greedy", ("detectives",)),
    ]


def test_locked_database_ends_with_75_and_says_how_to_go_on(arena: Shell) -> None:
    arena("run", "random", "greedy", "--deals", "1")
    connection = sqlite3.connect(arena.data / DATABASE)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        arena("run", "random", "greedy", "--deals", "2", code=75)
        assert "error: " in arena.stderr
    finally:
        connection.close()


def test_main_job_needs_no_argument(arena: Shell) -> None:
    process = arena.start("run")
    wait_stored(arena, process, 3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    with open_data(arena.data) as database:
        plan = database.find_run().plan
    assert {bot.name for bot in plan.entrants} == {"random", "greedy", "belief"}
    assert plan.ruleset == "london-2013"


def test_kept_processes_play_and_are_marked(arena: Shell) -> None:
    arena("run", "random", "greedy", "--deals", "3", "--restart", "keep")
    with open_data(arena.data) as database:
        marks = {game.marks for game in database.stored_games(database.find_run())}
    assert marks == {("kept",)}


def test_full_disk_ends_with_75_and_resume_goes_on(arena: Shell) -> None:
    """A limit on the size of files does to the database what a full disk does."""
    words = ("run", "random", "greedy", "--deals", "30", "--seed", "s")
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        pytest.skip("needs prlimit (util-linux)")
    process = arena.start(*words, before=(prlimit, "--fsize=300000:300000"))
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 75, stderr
    assert "Traceback" not in stderr
    assert "What was stored stays. Go on with: arena resume " in stderr
    kept = arena.stored()
    assert 0 < kept < 60
    assert arena.json("resume")["games"] == {"planned": 60, "played": 60, "void": 0}
    other = arena.folder / "other"
    arena(*words, data=other)
    assert arena.cores() == arena.cores(other)


def check_kills(arena: Shell, times: int) -> None:
    """Kill a run at random moments, then let it end; it must equal the unbroken run."""
    deals = 2 * times
    words = ("run", "random", "greedy", "--deals", deals, "--seed", "s")
    draw = random.Random(times)
    killed = 0
    while killed < times:
        process = arena.start(*words)
        at_least = arena.stored() + draw.randrange(3)
        until = time.monotonic() + draw.uniform(0.2, 2.0)
        while process.poll() is None and time.monotonic() < until and arena.stored() <= at_least:
            time.sleep(draw.uniform(0.0, 0.02))
        process.kill()
        process.communicate(timeout=LIMIT_S)
        killed += 1
        wait_gone(lambda: working_in(arena.data / "staged"))
    answer = arena.json(*words)
    assert answer["games"] == {"planned": 2 * deals, "played": 2 * deals, "void": 0}
    assert arena.stored() == 2 * deals
    other = arena.folder / "other"
    unbroken = arena.json(*words, data=other)
    assert arena.cores() == arena.cores(other)
    assert answer["ratings"] == unbroken["ratings"]
    assert arena.json("verify")["failed"] == []


def test_kill_9_loses_only_games_in_play(arena: Shell) -> None:
    check_kills(arena, 4)


@pytest.mark.long
def test_kill_9_at_twenty_moments_loses_only_games_in_play(arena: Shell) -> None:
    check_kills(arena, 20)
