"""The rows of the catalogue of hostile bots: which bot, and what must come out.

`number` is the catalogue's, `row` the bot's name in its module under `tests/faulty_bots`. A row
that says `ok` plays its game to the end.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from arena.referee.record import GameRecord, SideWord
from tests.referee.games import FAULTY

__all__ = ["LIVES", "OK", "RESOURCES", "Row", "check_record"]

OK = "ok"


class Row(NamedTuple):
    """One row: which bot, and what must come out.

    Attributes:
        number: of the catalogue.
        program: module under `tests/faulty_bots`.
        row: name of the bot.
        kind: of the fault, as a pattern; `ok` for none.
        text: a pattern to be found in the fault's text.
        hint: what must stand in its hint.
        phase: of the fault.
        stderr: a pattern to be found in what the bot says of itself on standard error.
    """

    number: str
    program: str
    row: str
    kind: str
    text: str = ""
    hint: str = ""
    phase: str = "turn"
    stderr: str = ""

    @property
    def name(self) -> str:
        """As the test is called."""
        return f"{self.number}-{self.row}"


def check_record(row: Row, record: GameRecord, *, side: SideWord = "detectives") -> None:
    """The row's verdict and text came out, the other side has no fault, all is safe to show."""
    assert record.aside.void is None, record.aside.void
    faulty = record.aside.mister_x if side == "mister_x" else record.aside.detectives
    assert re.search(row.stderr, faulty.stderr), faulty.stderr
    if row.kind == OK:
        assert record.core.faults == (), (faulty.fault_text, faulty.stderr)
        assert record.core.winner is not None
        assert record.core.reason != "fault"
        return
    (fault,) = record.core.faults or (None,)
    assert fault is not None, (record.core.reason, faulty.stderr)
    assert re.fullmatch(row.kind, fault.kind), (faulty.fault_text, faulty.stderr)
    assert (fault.side, fault.phase) == (side, row.phase)
    assert record.core.winner == ("detectives" if side == "mister_x" else "mister_x")
    assert record.core.reason == "fault"
    assert faulty.evidence is not None
    _check_text(row, record, faulty.fault_text, faulty.hint)


def _check_text(row: Row, record: GameRecord, text: str | None, hint: str | None) -> None:
    """One line that names bot, game, place, class, what came; nothing of this host in it."""
    assert text is not None
    assert hint
    assert re.search(row.text, text), text
    assert row.hint in hint, hint
    assert text.startswith(f"{row.row[:40]}, game {record.core.game}, at ")
    for line in (text, hint):
        assert line.isprintable()
        assert len(line) < 700
        assert "Traceback" not in line
        assert str(FAULTY) not in line
        assert record.core.deal_seed not in line
        assert record.core.game_key not in line


_SLOW = r"no answer within [\d,]+ ms"
_MEMORY = r"memory [\d,]+ MiB, the limit is 512 MiB"
_AT_LIMIT = r"; it had 6[34] of its 64 processes and threads"

# Section C in the sandbox; C1 to C5 need none and are in `tests/referee/test_faulty_bots.py`.
LIVES = (
    Row("C6", "lives", "ignore-term", "timeout", _SLOW),
    Row("C6", "lives", "ignore-bye", OK),
    Row("C7", "lives", "self-stop", "timeout", _SLOW),
    Row("C8", "lives", "grandchild", OK, stderr="grandchild in session"),
    Row("C8", "lives", "grandchild-exits", "crash", r"ended with status 3"),
    Row("C9", "lives", "survivor", OK, stderr="forked again"),
    Row("C9", "lives", "survivor-exits", "crash", r"ended with status 3"),
    Row("C10", "lives", "zombies", OK, stderr="60 zombies"),
)

# Section D but for D10 to D15, which are about the clock.
RESOURCES = (
    Row("D1", "resources", "fork-bomb", "crash", r"ended with status 1", stderr="BlockingIOError"),
    Row("D1", "resources", "fork-bomb-stays", "timeout", _SLOW),
    Row("D2", "resources", "thread-bomb", "crash", _AT_LIMIT, stderr="can't start new thread"),
    Row("D2", "resources", "thread-bomb-stays", "timeout", _SLOW + _AT_LIMIT),
    Row("D4", "resources", "mem-bomb", "resource", _MEMORY),
    Row("D4", "resources", "mem-error", "crash", r"status 1", stderr="Cannot allocate memory"),
    Row("D5", "resources", "mem-many", "resource", _MEMORY),
    Row("D6", "resources", "mem-fast", "resource", _MEMORY),
    Row("D7", "resources", "fd-bomb", OK, stderr=r"2\d\d files"),
    Row("D8", "resources", "disk-fill", OK, stderr=r"\A/dev/shm 1\.0 MiB, /tmp 16\.0 MiB\n\Z"),
    Row("D8", "resources", "many-files", "resource", r"1\d,\d{3} files .* limit is 10,000"),
    Row("D9", "resources", "big-file", OK, stderr=r"EFBIG|ENOSPC"),
    Row("D9", "resources", "sparse-file", OK, stderr=r"EFBIG|ENOSPC"),
    Row("D16", "resources", "rlimit-raise", OK, stderr=r"raised: \[\]"),
    Row("D17", "resources", "nice", OK, stderr=r"gained: \[\]"),
    Row("D18", "resources", "signal-bomb", OK, stderr=r"queued [\d,]+ signals, \d+ timers"),
)
