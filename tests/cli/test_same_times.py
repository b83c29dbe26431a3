"""A bot is charged the same through every entry point, and not for the harness's own work."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path
from statistics import median

import pytest
import trio

from arena.bench.build import build_programs
from arena.bench.specs import games, stub_bot
from arena.referee.record import BotSpec, GameRecord
from arena.referee.referee import play_game
from arena.tournament.executors.executor import Finished, Job, decode_record, encode_spec
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.times import charged_ms
from tests.cli.calling import Caller
from tests.tools import need

pytestmark = pytest.mark.slow

GAMES = 4


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the C stub."""
    need("cc")
    folder = tmp_path_factory.mktemp("stubs")
    build_programs(folder)
    return folder


def charged(records: list[GameRecord]) -> list[float]:
    return [
        time.charged_ms
        for record in records
        for seat in (record.aside.mister_x, record.aside.detectives)
        for time in seat.times
    ]


def quickest(times: list[float]) -> float:
    """The tenth part that was charged least, of the answers that the stub slept before.

    The rest depends on how busy the machine is; how the time is measured shows in these.
    """
    slept = sorted(ms for ms in times if ms > 10)  # later parts of a turn it answers at once
    return slept[len(slept) // 10]


def by_api(bot: BotSpec) -> list[GameRecord]:
    specs = islice(games(bot, bot, keep=False), GAMES)
    return [trio.run(play_game, spec) for spec in specs]


def by_worker(bot: BotSpec) -> list[GameRecord]:
    """Two worker processes, two games at once."""

    async def main() -> list[GameRecord]:
        jobs, for_executor = trio.open_memory_channel[Job](GAMES)
        from_executor, finished = trio.open_memory_channel[Finished](GAMES)
        for number, spec in enumerate(islice(games(bot, bot, keep=False), GAMES)):
            await jobs.send(Job(number, encode_spec(spec)))
        jobs.close()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(LocalExecutor(2).run, for_executor, from_executor)
            found = []
            for _ in range(GAMES):
                record = (await finished.receive()).record
                assert record is not None
                found.append(decode_record(record))
        return found

    return trio.run(main)


def by_command(programs: Path, data: Path, *words: str, deals: int = 2) -> list[float]:
    """`arena run` of two of them, stored and rated; what was charged."""
    for name in ("one", "two"):
        folder = data / name
        folder.mkdir(parents=True)
        (folder / "stub").write_bytes((programs / "stub").read_bytes())
        (folder / "stub").chmod(0o755)
        command = ", ".join(f'"{word}"' for word in ("./stub", *words))
        (folder / "bot.toml").write_text(f'name = "{name}"\ncommand = [{command}]\n')
    ran = Caller()(
        "run", data / "one", data / "two", "--deals", deals, "--seed", "1", "--sandbox", "none",
        "--data", data / "kept",
    )  # fmt: skip
    assert ran.code == 0, ran.stderr
    with closing(sqlite3.connect(data / "kept" / "arena.sqlite3")) as database:
        rows = database.execute("SELECT charged_us FROM seat").fetchall()
    assert len(rows) == deals * 2 * 2
    return [ms for (packed,) in rows for ms in charged_ms(packed)]


def test_same_bot_is_charged_the_same_everywhere(programs: Path, tmp_path: Path) -> None:
    """Load 5: 20 ms of sleep are 20 ms from the API, from a worker and from the command line."""
    bot = stub_bot("asleep", programs / "stub", "0.02", "asleep")
    found = {
        "api": quickest(charged(by_api(bot))),
        "worker": quickest(charged(by_worker(bot))),
        "command": quickest(by_command(programs, tmp_path, "0.02", "asleep")),
    }
    assert min(found.values()) >= 20, found
    assert max(found.values()) - min(found.values()) < 2, found


def test_storing_and_rating_is_not_charged(programs: Path, tmp_path: Path) -> None:
    """Load 2: of bots that answer at once half of the answers are charged under 2 ms.

    That 99 of 100 are, on a machine that has nothing else to do, is measured by `arena bench`.
    """
    assert median(by_command(programs, tmp_path, deals=10)) < 2
