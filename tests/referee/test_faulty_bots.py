"""The catalogue of hostile bots, rows that are harmless without a sandbox: verdict, text, no trace.

The faulty bot plays the detectives, and goes wrong at its third turn. Each row is played without a
sandbox, and in one as root and as an ordinary user, with all the checks of `tests/catalogue`.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec
import pytest

from arena.referee.record import BotSpec, GameRecord, GameSpec, SideWord
from arena.sandbox.limits import STDERR_HEAD_BYTES, STDERR_TAIL_BYTES
from protocol.messages import ClockSettings
from tests.catalogue.checks import PLAYS, is_overload, play_checked
from tests.catalogue.referees import ROUTES, Referees, Route
from tests.catalogue.rows import OK, Row, check_record
from tests.referee.games import GENEROUS, Footprint, marked, play_real, script, spec

pytestmark = pytest.mark.slow

QUICK = ClockSettings(move_ms=700)  # where the limit is what is tested
# Who burns is waited for until it has had its time: on a busy machine the shorter the better.
BURNS = ClockSettings(move_ms=100)
AT_ONCE_MS = 10_000  # of 30 seconds; hosts are busy


ROWS = (
    Row("A1", "streams", "firehose", "protocol", r"line longer than 65,536 bytes"),
    Row("A2", "streams", "giant-line", "protocol", r"line longer than 65,536 bytes"),
    Row("A3", "streams", "edge-under", OK),
    Row("A3", "streams", "edge-at", OK),
    Row("A3", "streams", "edge-over", "protocol", r"line longer than 65,536 bytes"),
    Row("A4", "streams", "line-flood", "protocol", r"answer without a request", phase="off-turn"),
    Row("A5", "streams", "not-utf8", "protocol", r"not UTF-8 at byte 7"),
    Row("A5", "streams", "overlong", "protocol", r"not UTF-8 at byte"),
    Row("A5", "streams", "cut-off", "protocol", r"not UTF-8 at byte"),
    Row("A6", "streams", "utf16", "protocol", r"not UTF-8", hint="UTF-16"),
    Row("A7", "streams", "bom", "protocol", r"byte order mark \(BOM\)"),
    Row("A8", "streams", "nul-before", "protocol", r"NUL byte at 0.*\\x00"),
    Row("A8", "streams", "nul-inside", "protocol", r"NUL byte at 7.*\\x00"),
    Row("A8", "streams", "nul-after", "protocol", r"NUL byte at \d\d"),
    Row("A9", "streams", "crlf", OK),
    Row("A10", "streams", "lone-cr", "timeout", r"no newline within [\d,]+ ms, \d+ bytes"),
    Row("A11", "streams", "blank-10", OK),
    Row("A11", "streams", "blank-11", "protocol", r"more than 10 blank lines"),
    Row("A12", "streams", "half-line", "timeout", r"20 bytes without newline: \{\"type\""),
    Row("A13", "streams", "dribble", "timeout", r"no newline within [\d,]+ ms, \d bytes"),
    Row("A14", "streams", "no-flush", "timeout", r"no answer within [\d,]+ ms", hint="flush"),
    Row("A15", "streams", "debug-print", "protocol", r"thinking\.\.\.", hint="stderr"),
    Row("A16", "streams", "closed-in", "crash", r"closed its standard input"),
    Row("A17", "streams", "deaf", "timeout", r"no answer within [\d,]+ ms"),
    Row("A18", "streams", "closed-out", "crash", r"closed its standard output"),
    Row("A19", "streams", "swap", "crash", r"closed its standard output"),
    Row("A20", "streams", "stderr-flood", OK),
    Row("A21", "streams", "stderr-line", OK),
    Row("B1", "json_lines", "nest", "protocol", r"nested deeper than 16"),
    Row("B2", "json_lines", "nan", "protocol", r"NaN is not a JSON number"),
    Row("B2", "json_lines", "infinity", "protocol", r"Infinity is not a JSON number"),
    Row("B2", "json_lines", "minus-infinity", "protocol", r"-Infinity is not a JSON number"),
    Row("B3", "json_lines", "huge-int", "protocol", r"integer of 60,000 digits"),
    Row("B4", "json_lines", "big-int-53", "protocol", r"9007199254740993|2\^53"),
    Row("B4", "json_lines", "big-int-63", "protocol", r"2\^53"),
    Row("B4", "json_lines", "minus-one", "(protocol|illegal)", r"-1"),
    Row("B4", "json_lines", "float-place", "protocol", r"int"),
    Row("B5", "json_lines", "twins", "protocol", r"duplicate key 'id'"),
    Row("B6", "json_lines", "a-list", "protocol", r"expected an object, got a list"),
    Row("B6", "json_lines", "a-string", "protocol", r"expected an object, got a string"),
    Row("B6", "json_lines", "null", "protocol", r"expected an object, got null"),
    Row("B6", "json_lines", "a-number", "protocol", r"expected an object, got a number"),
    Row("B7", "json_lines", "extra-64", OK),
    Row("B7", "json_lines", "extra-500", "protocol", r"500 unknown keys"),
    Row("B8", "json_lines", "missing", "protocol", r"missing key 'plies'"),
    Row("B9", "json_lines", "proto-key", OK),
    Row("B10", "json_lines", "trailing", "protocol", r"text after the object at byte"),
    Row("B10", "json_lines", "two-objects", "protocol", r"text after the object at byte"),
    Row("B11", "streams", "early", "protocol", r"expected `hello`, got `play`", phase="start-up"),
    Row("B12", "json_lines", "double", "protocol", r"without a request", phase="off-turn"),
    Row("B12", "streams", "idle-writer", "protocol", r"expected id \w{16}, got \w{16}"),
    Row("B13", "json_lines", "old-id", "protocol", r"expected id \w{16}, got \w{16}"),
    Row("B14", "json_lines", "late", "timeout", r"no answer within [\d,]+ ms"),
    Row("B15", "json_lines", "id-guess", "protocol", r"without a request", phase="off-turn"),
    Row("B16", "json_lines", "liar", OK),
    Row("B17", "json_lines", "illegal", "illegal", r"L\d+: "),
    Row("B17", "json_lines", "not-its-own", "illegal", r"L\d+: "),
    Row("B18", "json_lines", "stubborn", "illegal", r"L\d+: "),
    Row("B", "json_lines", "unknown-ticket", "protocol", r"no plies of london-2013 .*helicopter"),
    Row("B", "json_lines", "long-note", "protocol", r"note of 1,102 bytes; at most 1,024"),
    Row("B", "json_lines", "unknown-type", "protocol", r"unknown type 'plya'", hint="play"),
    Row("C1", "lives", "exit-0", "crash", r"ended with status 0 before the game was over"),
    Row("C2", "lives", "exit-1", "crash", r"ended with status 1 before the game was over"),
    Row("C3", "lives", "segv", "crash", r"ended with SIGSEGV"),
    Row("C3", "lives", "abort", "crash", r"ended with SIGABRT"),
    Row("C3", "lives", "exit-139", "crash", r"status 139 .*SIGSEGV"),
    Row("C5", "lives", "start-silent", "timeout", r"not ready within 700 ms", phase="start-up"),
    Row("C6", "lives", "ignore-term", "timeout", r"no answer within [\d,]+ ms"),
    Row("C7", "lives", "self-stop", "timeout", r"no answer within [\d,]+ ms"),
    Row("C8", "lives", "child-holds", "crash", r"ended with status 3"),
    Row("C16", "lives", "killed", "crash", r"ended with SIGKILL"),
    Row("C16", "lives", "illegal-exit", "illegal", r"L\d+: "),
    Row("C16", "lives", "answer-exit", "crash", r"ended with status 0", phase="turn"),
    Row("C16", "lives", "half-exit", "crash", r"status 0 .*after 20 bytes without newline"),
    Row("C18", "lives", "helper", OK),
    Row("D10", "lives", "spin", "timeout", r"no answer within [\d,]+ ms"),
    Row("D12", "lives", "silent", "timeout", r"no answer within [\d,]+ ms"),
    Row("-", "lives", "start-exit", "crash", r"ended with status 1", phase="start-up"),
    Row("-", "lives", "start-protocol", "refused", r"speaks 2, .* 1", phase="start-up"),
    Row("-", "lives", "start-sides", "refused", r"plays detectives only", phase="start-up"),
    Row("-", "lives", "start-rulesets", "refused", r"europe-2024", phase="start-up"),
    Row("-", "lives", "start-illegal", "protocol", r"expected `ready`", phase="start-up"),
    Row("-", "streams", "log-flood", OK),
)
# What comes out otherwise in a sandbox: bubblewrap's processes hold the bot's streams open, and it
# ends with 128 and the number of the signal that the bot died of.
BOXED = {
    "A16-closed-in": ("timeout", r"no answer within [\d,]+ ms"),
    "A18-closed-out": ("timeout", r"no answer within [\d,]+ ms"),
    "A19-swap": ("timeout", r"no answer within [\d,]+ ms"),
    "C3-exit-139": ("crash", r"ended with SIGSEGV \(status 139\)"),
}


def boxed(row: Row) -> Row:
    """Return what a row says of a bot in a sandbox."""
    kind, text = BOXED.get(row.name, (row.kind, row.text))
    return row._replace(kind=kind, text=text)


@pytest.mark.parametrize("route", ["none", *ROUTES])
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_faulty_bot_gets_its_verdict_and_leaves_no_trace(
    row: Row,
    route: Literal["none"] | Route,
    referees: Referees,
    request: pytest.FixtureRequest,
) -> None:
    """The row's verdict and text come out, the opponent has no fault, and nothing is left."""
    if route == "none":
        record = _play(row, request.node.name)
    else:
        row, referee = boxed(row), referees.get(route)
        pair = referee.bot("speaking"), referee.bot(row.program, row.row)
        (record,) = play_checked(referee, _game(row, *pair, sandboxed=True), after=False)
    check_record(row, record, side=_side(row))
    _check_time(row, record)


def _check_time(row: Row, record: GameRecord) -> None:
    """A1, A13: what is wrong is found when it comes, and no byte of a bot makes its time longer."""
    seat = record.aside.mister_x if _side(row) == "mister_x" else record.aside.detectives
    if row.phase != "turn" or seat.fault_ms is None:
        return
    if row.kind != "timeout":
        assert seat.fault_ms < AT_ONCE_MS
        return
    told = re.search(r"within ([\d,]+) ms", seat.fault_text or "")
    if told is not None:  # the limit, and what this machine kept from the bot until then
        limit_ms = _clock(row).move_ms
        assert limit_ms <= int(told[1].replace(",", "")) <= limit_ms + seat.given_back_ms + 1


def _play(row: Row, mark: str) -> GameRecord:
    for play in range(PLAYS):
        footprint = Footprint(mark := marked(f"{mark}-{play}"))
        pair = script("speaking", mark=mark), script(row.program, row.row, mark=mark)
        record = play_real(_game(row, *pair), footprint)
        if not is_overload(record):
            break
    return record


def _side(row: Row) -> SideWord:
    return "mister_x" if row.row == "start-sides" else "detectives"


def _clock(row: Row) -> ClockSettings:
    if row.kind != "timeout" or row.phase != "turn":
        return GENEROUS
    return BURNS if row.row == "spin" else QUICK


def _game(row: Row, honest: BotSpec, faulty: BotSpec, *, sandboxed: bool = False) -> GameSpec:
    pair = (faulty, honest) if _side(row) == "mister_x" else (honest, faulty)
    clock = _clock(row)
    game = spec(*pair, clock=clock, sandbox="auto" if sandboxed else "none")
    if row.row == "start-silent":
        limits = msgspec.structs.replace(game.limits, first_ready_ms=700)
        return msgspec.structs.replace(game, limits=limits)
    return game


def test_stderr_of_a_flood_keeps_its_beginning_and_its_end() -> None:
    """A20: 64 MiB come by, 64 KiB are kept and the rest is counted; the game goes on."""
    record = _play(Row("A20", "streams", "stderr-flood", OK), "flood-kept")
    aside = record.aside.detectives
    assert aside.stderr.startswith("the beginning\n")
    assert aside.stderr.endswith("the end\n")
    assert STDERR_HEAD_BYTES + STDERR_TAIL_BYTES < len(aside.stderr) < 66_000
    assert aside.stderr_dropped == 1000 * 65_536 + 22 - 65_536


def test_stderr_of_bad_bytes_is_shown_escaped() -> None:
    """A21: no control character of a bot comes through."""
    record = _play(Row("A21", "streams", "stderr-line", OK), "bad-bytes")
    text = record.aside.detectives.stderr
    assert "\\xff\\x1b[2J" in text
    assert text.replace("\n", "").isprintable()


def test_traceback_of_a_crash_is_kept_for_the_author() -> None:
    """C2: what the bot said before it went stands in the record, with its exit status."""
    record = _play(Row("C2", "lives", "exit-1", "crash"), "traceback-kept")
    aside = record.aside.detectives
    assert "RuntimeError: my bug at round 3" in aside.stderr
    assert aside.evidence is not None
    assert aside.evidence["exit_status"] == "status 1"
    assert '"type":"turn"' in aside.evidence["last_request"]
    assert '"type": "play"' in aside.evidence["last_line"]


def test_log_lines_are_kept_up_to_the_limits_and_counted() -> None:
    """What is over 64 KiB a game or 1 KiB a line is dropped, and is no fault."""
    record = _play(Row("-", "streams", "log-flood", OK), "logs-kept")
    aside = record.aside.detectives
    size = len('{"type": "log", "text": "' + "z" * 900 + '"}\n')
    assert len(aside.log) == 65_536 // size
    assert aside.log_dropped == 201 - 65_536 // size


@pytest.mark.parametrize("route", ["none", *ROUTES])
def test_bot_has_the_documented_environment_and_three_descriptors(
    route: Literal["none"] | Route, referees: Referees
) -> None:
    """E25, A19: a few variables, and descriptors 0, 1 and 2."""
    if route == "none":
        record = _play(Row("E25", "streams", "environment", OK), "environment")
    else:
        referee = referees.get(route)
        (record,) = play_checked(referee, referee.game("streams", "environment"), after=False)
    where = "" if route == "none" else "'PWD': '/bot', "  # said by bubblewrap
    assert record.aside.detectives.stderr == (
        "{'HOME': '/tmp', 'LANG': 'C.UTF-8', 'MALLOC_ARENA_MAX': '2', "
        f"'PATH': '/usr/local/bin:/usr/bin:/bin', {where}'PYTHONDONTWRITEBYTECODE': '1'}} "
        "['0', '1', '2']\n"
    )
