"""Make a report of games that nobody played: DEALS BOTS FOLDER; prints what it took as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from arena.bench.memory import memory_mib
from reports import site
from reports.frames import Games
from reports.report import Meta, build
from tests.reports.rows import stream

__all__ = ["main"]


def main(deals: int, bots: int, folder: Path) -> None:
    """Write both forms of the report; rows come one by one, as from a database."""
    start, busy = time.perf_counter(), time.process_time()
    games = Games.collect(stream(deals, tuple(f"bot {k}" for k in range(bots))))
    counted = time.process_time()
    report = build(games, Meta(title="Many", run="0" * 10))
    site.write(report, games, folder)
    written = time.process_time()
    site.write_single(report, games, folder / "one.html")
    told = {
        "games": len(games),
        "rows_s": round(counted - busy, 2),  # most of it goes to making the games up
        "busy_s": round(written - busy, 2),
        "single_s": round(time.process_time() - written, 2),
        "wall_s": round(time.perf_counter() - start, 2),
        "peak_mib": round(memory_mib("VmHWM")),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
