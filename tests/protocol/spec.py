"""The parts of SPEC.md that are made from the code: examples, the session table, the limits.

Each stands between `<!-- begin … -->` and `<!-- end -->`; `filled` writes them again.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from arena.sandbox.limits import default_limits
from protocol.session import table_text
from tests.protocol.transcripts import GOLDEN, kept

WIDTH = 118  # of a line in an example
SECTION = re.compile(r"<!-- begin (.+?) -->\n.*?<!-- end -->", re.DOTALL)

LIMITS = {
    "line_bytes": "a line from the bot, its newline included",
    "note_bytes": "a note's JSON text",
    "log_line_bytes": "a `log` line, its newline included; a longer one is dropped",
    "log_game_bytes": "all `log` lines of a game; what is over is dropped",
    "blank_lines": "blank lines in a turn",
    "depth": "nested objects and lists, the message included",
    "unknown_keys": "unknown keys in a line",
    "first_ready_ms": "from the start of the process to the first `ready`",
    "ready_ms": "from `deal` to each later `ready`",
    "memory_mib": "memory of the bot's processes together",
    "processes": "processes and threads",
    "open_files": "open files of a process",
    "file_mib": "one file that it writes",
    "tmp_mib": "all files in `/tmp`, in the sandbox",
    "shm_mib": "all files in `/dev/shm`, in the sandbox",
    "tmp_files": "files and folders in `/tmp` and `/dev/shm`, in the sandbox",
    "sockets": "sockets of all its processes, in the sandbox",
    "nodes_turn_ms": "a turn in a game on nodes",
}


def filled(spec: str) -> str:
    """Return the text of SPEC.md with every generated part made anew."""
    return SECTION.sub(
        lambda found: f"<!-- begin {found[1]} -->\n{part(found[1])}<!-- end -->", spec
    )


def part(what: str) -> str:
    """Return one generated part: `session`, `limits`, or `TRANSCRIPT LINE [KEY]` (from 1)."""
    if what == "session":
        return table_text()
    if what == "limits":
        rows = [
            f"| `{name}` | {value:,} | {LIMITS[name]} |\n"
            for name, value in msgspec.structs.asdict(default_limits()).items()
        ]
        return "| limit | | of |\n| --- | --- | --- |\n" + "".join(rows)
    name, number, *keys = what.split()
    golden = next(golden for golden in GOLDEN if golden.name == name)
    entry = list(kept(golden))[int(number) - 1]
    found = json.loads(bytes(entry.line))
    kind = "request" if entry.speaker == "referee" else "answer"
    for key in keys:
        kind, found = key, found[key]
    return f"```json {kind}\n{fold(found)}\n```\n"


def fold(value: Any, indent: int = 0, column: int = 0) -> str:
    """Return JSON on as few lines as fit, for people.

    Args:
        value: what to write.
        indent: of the line that it begins on.
        column: where on that line it begins.
    """
    whole = json.dumps(value, ensure_ascii=False)
    if column + len(whole) < WIDTH or not isinstance(value, (dict, list)):
        return whole
    inner = indent + 2
    items: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            start = f"{json.dumps(key, ensure_ascii=False)}: "
            items.append(start + fold(item, inner, inner + len(start)))
    else:
        items = [fold(item, inner, inner) for item in value]
    lines = [""]
    for item in items:
        # What is on several lines itself stands alone; the rest fills a line.
        if lines[-1] and ("\n" in item + lines[-1] or inner + len(lines[-1] + item) + 3 > WIDTH):
            lines.append("")
        lines[-1] += f"{item}, "
    body = "\n".join(" " * inner + line.rstrip() for line in lines).rstrip(",")
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{body}\n{' ' * indent}{closing}"
