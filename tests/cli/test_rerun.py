"""`arena rerun` from the command line, with real bots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from arena.cli import answers, rerun
from arena.cli.exits import Exit
from arena.cli.fed_again import Fed
from arena.cli.rerun import in_short
from arena.referee.record import AskedLimits
from arena.rules.registry import make
from arena.rules.ruleset import Side
from arena.sandbox.limits import default_limits
from protocol.messages import Limits, Turn
from tests.cli.bots import CRASHES, write_bot
from tests.cli.calling import Caller
from tests.fake_games import fake_plan, fake_record

HONEST = "pass"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Missing option '--side'"),
        (("--side", "x"), "Missing option '--bot'"),
        (("--side", "y", "--bot", "random"), "'y' is not one of"),
        (("--as", "x", "--bot", "random"), "holds no runs"),
        (("--as", "x", "--bot", "random", "--at", "0"), "0 is not in the range"),
        (("--as", "x", "--bot", "random", "--pdb"), "--pdb needs --at TURN"),
        (("--as", "x", "--bot", "random", "--at", "2", "--pdb"), "standard input is none"),
        (
            ("--as", "x", "--bot", "random", "--at", "2", "--pdb", "--sandbox", "auto"),
            "in the sandbox there is none",
        ),
    ],
)
def test_wrong_usage_ends_with_2(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    called = arena("rerun", *words)
    assert called.code == Exit.USAGE
    assert says in called.stderr
    assert called.stdout == ""


@pytest.mark.slow
def test_game_is_fed_to_bots_from_the_store_and_from_a_file(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(20):  # a bot whose files changed plays other games; one that lasts will do
        played = arena(
            "play", "random", "greedy", "--seed", str(seed), "--json", "--sandbox", "none"
        )
        assert played.code == Exit.DONE, played.stderr
        if played.json["rounds"] > 2:
            break
    game = played.json["game"]
    assert arena("export", "--format", "jsonl", "-o", "game.jsonl").code == Exit.DONE

    for named in (game[:6], "game.jsonl", f"game.jsonl:{game[:6]}"):
        same = arena("rerun", named, "--side", "detectives", "--bot", "greedy", "--sandbox", "none")
        assert same.code == Exit.DONE, same.stderr
        assert "as recorded" in same.stdout

    other = arena("rerun", "--as", "d", "--bot", "random", "--sandbox", "none")
    assert other.code == Exit.NO
    assert other.stdout.startswith("The answer in turn ")
    for word in ("asked:", "recorded:", "now:", '"type":"play"', '"type":"turn"', "takes the"):
        assert word in other.stdout

    words = ("rerun", game, "--as", "x", "--bot", "random", "--at", "2", "--sandbox", "none")
    shown = arena(*words, "--json")
    assert shown.code == Exit.DONE
    jsonschema.validate(shown.json, answers.schema())
    assert [one["turn"] for one in shown.json["shown"]] == [2]
    (one,) = shown.json["shown"]
    assert one["recorded"]["plies"] == one["answered"]["plies"]

    late = arena(*words[:6], "--at", "99", "--sandbox", "none")
    assert late.code == Exit.USAGE
    assert "--at 99: Mister X had only" in late.stderr
    missing = arena("rerun", "game.jsonl:ffff", "--as", "x", "--bot", "random")
    assert missing.code == Exit.USAGE
    assert "holds no game whose id begins with 'ffff'" in missing.stderr


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (
            AskedLimits(memory_mib=2048, processes=1, open_files=99, file_mib=7),
            "what the record's bot was: 2,048 MiB of memory, 1 process, 99 open files, 7 MiB a",
        ),
        (None, "The record has no limits of its bot: held to the usual ones"),
    ],
)
def test_a_game_of_a_file_is_held_to_the_limits_that_it_has(
    arena: Caller,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    held: AskedLimits | None,
    says: str,
) -> None:
    record = fake_record(next(iter(fake_plan(2).specs())))
    seat = replace(record.aside.mister_x, held_to=held)
    aside = replace(record.aside, mister_x=seat)
    (tmp_path / "game.jsonl").write_bytes(msgspec.json.encode(replace(record, aside=aside)))
    asked: list[Limits] = []

    async def run(*given: Any) -> Fed:
        asked.extend(one for one in given if isinstance(one, Limits))
        return Fed(
            replayed=None, asked=3, differing=0, shown=(), fault=None, at=(3, 1), stderr="",
            last=None,
        )  # fmt: skip

    monkeypatch.setattr(rerun, "run", run)
    words = ("--side", "x", "--bot", "random", "--sandbox", "none", "--data", tmp_path)
    called = arena("rerun", tmp_path / "game.jsonl", *words)
    assert called.code == 0, called.stderr
    assert says in " ".join(called.stderr.split())
    wanted = msgspec.structs.asdict(held) if held else {}
    assert asked == [replace(default_limits(), **wanted)]


@pytest.mark.slow
def test_bot_that_faults_ends_with_3_and_its_evidence(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    crashing = write_bot(tmp_path / "bots", "crashing", CRASHES)
    played = arena("play", "random", crashing, "--sandbox", "none")
    assert played.code == Exit.FAULTS
    assert f"--side detectives --bot {crashing}" in played.stderr.partition("Next: arena rerun ")[2]
    again = arena("rerun", "--as", "detectives", "--bot", crashing, "--sandbox", "none")
    assert again.code == Exit.FAULTS
    assert "The bot faulted in turn 1 (crash, turn)" in again.stdout
    assert "The game ended by a fault of this kind too." in again.stdout
    assert "    to its author" in again.stdout

    mended = write_bot(tmp_path / "mended", "crashing", HONEST)
    answered = arena("rerun", "--as", "detectives", "--bot", mended, "--sandbox", "none")
    assert answered.code == Exit.NO
    assert "recorded:  none: here the side had its fault" in answered.stdout


@pytest.mark.parametrize(
    ("side", "says"),
    [
        (Side.MISTER_X, "round 1, x on 77, d1 on "),
        (Side.DETECTIVES, "round 1, d1 on "),
    ],
)
def test_every_ruleset_is_told_in_short(side: Side, says: str) -> None:
    """Europe has cities where London has stations, and null for what is not known."""
    europe, london = make("europe-2009"), make("london-2013")
    state = msgspec.structs.replace(europe.deal(b"1" * 32, 0), path=(46, 77))
    told = in_short(asked(europe.view(state, side)))
    assert told.startswith(says)
    assert "None" not in told
    told = in_short(asked(london.view(london.deal(b"1" * 32, 0), side)))
    assert told.startswith("round 1, x on " if side is Side.MISTER_X else "round 1, d1 on ")


def asked(view: Any) -> Turn:
    """A request as it is before it is written."""
    return Turn(id="1", view=view, bank_ms=None, charged_ms=None)
