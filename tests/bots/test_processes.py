"""Bots as processes, staged and played by the referee, as everybody else's are."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from arena.referee.greeting import greet
from arena.referee.pool import BotPool
from arena.referee.record import BotSpec, GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from arena.tournament.entrants import find_bot, reference_names
from protocol.messages import ClockSettings
from tests.bots.in_process import BOTS

pytestmark = pytest.mark.slow

LIMITS = default_limits()
PATIENT = ClockSettings(move_ms=20_000)  # the host may be busy: time is not what is tested here


def seated(text: str, data: Path) -> BotSpec:
    """Find, stage and greet a bot."""
    entrant = find_bot(text, data, limits=LIMITS)
    rulesets = ("london-2013", "london-coursework", "europe-2009")

    async def say_hello() -> BotSpec:
        spec = entrant.spec
        return entrant.greeted(await greet(spec, rulesets=rulesets, limits=LIMITS))

    return trio.run(say_hello)


def specs(
    mister_x: BotSpec, detectives: BotSpec, games: int, *, keep: bool, ruleset: str
) -> Iterator[GameSpec]:
    for number in range(games):
        key = hashlib.sha256(f"{number}".encode()).hexdigest()
        yield GameSpec(
            game=f"g{number}",
            index=number,
            deal=number,
            deal_seed=key,
            game_key=key,
            ruleset=ruleset,
            mister_x=mister_x,
            detectives=detectives,
            clock=PATIENT,
            nodes=None,
            limits=LIMITS,
            keep=keep,
        )


def played(
    mister_x: BotSpec,
    detectives: BotSpec,
    games: int,
    *,
    keep: bool = False,
    ruleset: str = "london-2013",
) -> list[GameRecord]:
    """Play some games, one after the other."""

    async def play_all() -> list[GameRecord]:
        async with BotPool() as pool:
            return [
                await play_game(spec, pool)
                for spec in specs(mister_x, detectives, games, keep=keep, ruleset=ruleset)
            ]

    return trio.run(play_all)


@pytest.mark.parametrize("ruleset", ["london-2013", "europe-2009", "europe-2009:players=3"])
@pytest.mark.parametrize("name", reference_names())
def test_reference_bot_plays_the_same_games_fresh_kept_and_again(
    name: str, ruleset: str, tmp_path: Path
) -> None:
    bot = seated(name, tmp_path)
    other = seated("random", tmp_path)
    files = sorted(tmp_path.rglob("*"))
    fresh = played(bot, other, 3, ruleset=ruleset)
    kept = played(bot, other, 3, keep=True, ruleset=ruleset)
    assert [record.core for record in fresh] == [record.core for record in kept]
    again = played(bot, other, 3, ruleset=ruleset)
    assert [record.core for record in again] == [record.core for record in fresh]
    for record in fresh + played(other, bot, 3, ruleset=ruleset):
        assert record.core.faults == ()
        assert record.aside.void is None
        assert record.aside.mister_x.stderr == record.aside.detectives.stderr == ""
    assert sorted(tmp_path.rglob("*")) == files  # nothing new lies there, though we may be root


NOISY = """
import os

from misterx_sdk import play


def detectives(turn):
    print("thinking", turn.view["round"])
    os.system("echo from a child")
    os.write(1, b"from C\\n")
    turn.note = {"possible": len(turn.belief)}
    turn.log(f"round {turn.view['round']}")
    while True:
        team = turn.team()
        figure, steps = next(iter(team))
        team.go(figure, *turn.deal.dice.choice(steps))
        if not team.waiting():
            return team.plies
        turn = turn.part(team.plies)


play(name="noisy", detectives=detectives)
"""


def noisy_bot(tmp_path: Path, data: Path, python: str = "{python}") -> BotSpec:
    folder = tmp_path / "noisy"
    folder.mkdir()
    (folder / "bot.py").write_text(NOISY)
    (folder / "bot.toml").write_text(f'command = ["{python}", "bot.py"]\n')
    shutil.copy(BOTS / "sdk" / "misterx_sdk.py", folder)
    return seated(str(folder), data)


def test_prints_go_to_standard_error_and_parts_notes_and_logs_to_the_record(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    noisy = noisy_bot(tmp_path, data)
    assert noisy.sides == ("detectives",)
    (record,) = played(seated("greedy", data), noisy, 1)
    assert record.core.faults == ()
    assert "thinking 1\n" in record.aside.detectives.stderr
    assert "from a child" in record.aside.detectives.stderr
    assert "from C" in record.aside.detectives.stderr
    assert record.aside.detectives.log[0] == "round 1"
    plays = [play for play in record.core.plays if play.side == Side.DETECTIVES.value]
    assert sum(play.more for play in plays) > 3
    assert any("possible" in note for note in record.notes.values())


def test_bot_that_fails_leaves_its_traceback(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = tmp_path / "failing"
    folder.mkdir()
    shutil.copy(BOTS / "sdk" / "misterx_sdk.py", folder)
    (folder / "bot.py").write_text(
        "from misterx_sdk import play\nplay(name='failing', mister_x=lambda turn: 1 / 0)\n"
    )
    (record,) = played(seated(str(folder / "bot.py"), data), seated("random", data), 1)
    assert [(fault.side, fault.kind) for fault in record.core.faults] == [("mister_x", "crash")]
    assert "ZeroDivisionError" in record.aside.mister_x.stderr


def pythons() -> list[str]:
    """Return every Python from 3.9 on that this machine has; there is at least our own."""
    places = [shutil.which(f"python3.{minor}") for minor in range(9, 16)]
    places += map(str, sorted(Path(sys.base_prefix).parent.glob("3.*/bin/python3")))
    ask = "import sys; sys.exit(sys.version_info < (3, 9))"
    return [
        place
        for place in (sys.executable, *filter(None, places))
        if not subprocess.run([place, "-c", ask], capture_output=True, check=False).returncode
    ]


def test_sdk_runs_with_every_python_here(tmp_path: Path) -> None:
    data = tmp_path / "data"
    greedy = seated("greedy", data)
    for number, python in enumerate(pythons()):
        (tmp_path / str(number)).mkdir()
        (record,) = played(greedy, noisy_bot(tmp_path / str(number), data, python), 1)
        assert record.core.faults == (), python


def test_bot_is_held_to_the_limits_that_it_asks_for(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = tmp_path / "modest"
    folder.mkdir()
    shutil.copy(BOTS / "sdk" / "misterx_sdk.py", folder)
    (folder / "bot.toml").write_text(
        'command = ["{python}", "bot.py"]\n[limits]\nopen_files = 40\n'
    )
    (folder / "bot.py").write_text(
        "import resource\nfrom misterx_sdk import play\n"
        "def mister_x(turn):\n"
        "    print(resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "    raise SystemExit(1)\n"
        "play(name='modest', mister_x=mister_x)\n"
    )
    (record,) = played(seated(str(folder), data), seated("random", data), 1)
    assert "(40, 40)" in record.aside.mister_x.stderr


def test_bot_goes_quietly_when_the_referee_is_gone(tmp_path: Path) -> None:
    spec = find_bot("random", tmp_path).spec
    process = subprocess.Popen(
        spec.command,
        cwd=spec.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.communicate(b"", timeout=20) == (b"", b"")
    assert process.returncode == 0
