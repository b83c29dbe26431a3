"""What a run of bench was measured on: figures of two machines, or of a busy one, don't compare."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.tournament.executors.cpus import cpu_quota, usable_cores

__all__ = ["BUSY", "describe"]

BUSY = 0.5  # processes that want to run, for each usable core, from which on a machine is busy

_CPUINFO = Path("/proc/cpuinfo")


def describe() -> dict[str, Any]:
    """Return what is to be known of this machine now, before anything is measured.

    Returns:
        `at`: UTC, ISO 8601, to the minute; `processor`; `cpus` that may be used, `cpu_quota` where
        a container gives less time than it shows CPUs; `load`: processes that ran or wanted to, on
        average over the last minute. What the system does not tell is None.
    """
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "processor": _processor(),
        "cpus": usable_cores(),
        "cpu_quota": cpu_quota(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str | None:
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor()) or None
