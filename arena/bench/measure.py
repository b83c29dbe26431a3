"""Takes all measures of `arena bench`, one after the other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.bench.build import build_programs
from arena.bench.coordinator import measure_coordinator
from arena.bench.memory import measure_memory
from arena.bench.requests import measure_requests
from arena.bench.rules import measure_rules
from arena.bench.starting import measure_first_game, measure_help, measure_sandbox
from arena.bench.storing import measure_storing
from arena.bench.throughput import measure_python_games, measure_scaling, measure_stub_requests
from arena.referee.record import BotSpec
from arena.sandbox.bubblewrap import Profile
from arena.tournament.executors.cpus import usable_cores

__all__ = ["WORKERS", "measure", "measure_stubs", "stub_workers"]

WORKERS = 2  # that promises of throughput were made for


def stub_workers() -> int:
    """Return with how many workers `measure_stubs` plays: all that this machine has CPUs for."""
    return usable_cores()


def measure(
    *,
    random: BotSpec,
    seconds: float = 3.0,
    memory_games: int = 2_000,
    profile: Profile | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure how fast this machine plays.

    Args:
        random: the random reference bot, staged.
        seconds: how long each throughput is measured.
        memory_games: over how many games a worker's growth is measured.
        profile: of this machine's sandbox, in which all bots are measured; None for none.
        tell: is told in a line what is measured next.

    Returns:
        The fields of `arena bench --json`: see the table in README.md.

    Raises:
        ConfigError: if this machine has no C compiler.
    """
    cpus = min(WORKERS, usable_cores())
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        stub, echo = build_programs(Path(folder))
        tell("the referee's cost a request, against the bare round trip")
        found |= measure_requests(stub, echo, profile=profile)
        tell("what the rules cost")
        found["rules"] = measure_rules()
        tell("requests a second")
        found["requests_per_s"] = measure_stub_requests(
            stub, seconds, workers=WORKERS, profile=profile
        )
        tell("games a second of random Python bots, kept and fresh")
        found["games_per_s"] = measure_python_games(random, seconds, cpus=cpus, profile=profile)
        tell("two workers against one")
        found["scaling_2"] = measure_scaling(stub, seconds, profile=profile) if cpus > 1 else None
        tell("what the coordinator costs beside its workers")
        found["coordinator"] = measure_coordinator(stub, seconds, profile=profile)
        tell("how fast games are stored, against SQLite alone")
        found["storing"] = measure_storing(stub)
        tell("starting")
        found["start"] = {
            "help_ms": measure_help(),
            "first_game_ms": measure_first_game(),
            "sandbox_ms": None if profile is None else measure_sandbox(random, profile),
        }
        tell(f"memory over {memory_games:,} games")
        found["memory"] = measure_memory(stub, memory_games, profile=profile)
    return found


def measure_stubs(
    *,
    random: BotSpec,
    seconds: float = 3.0,
    profile: Profile | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure what this machine plays a second, and nothing else: four times `seconds`.

    Args:
        random: as for `measure`, as are the others.
        seconds: as for `measure`.
        profile: as for `measure`.
        tell: as for `measure`.

    Returns:
        `requests_per_s`, `games_per_s` and `scaling_2` of `arena bench --json`.

    Raises:
        ConfigError: if this machine has no C compiler.
    """
    cpus = stub_workers()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        stub, _ = build_programs(Path(folder))
        tell("requests a second with bots that answer at once")
        found["requests_per_s"] = measure_stub_requests(
            stub, seconds, workers=cpus, profile=profile
        )
        tell("games a second of random Python bots, kept and fresh")
        found["games_per_s"] = measure_python_games(random, seconds, cpus=cpus, profile=profile)
        tell("two workers against one")
        found["scaling_2"] = measure_scaling(stub, seconds, profile=profile) if cpus > 1 else None
    return found
