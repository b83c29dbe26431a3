"""What a coordinator and the Dask workers say to each other: structs that travel as bytes.

Nothing of ours is pickled but the names of six functions, so two machines need the same arena and
nothing else in common. What makes them play alike is told where it differs (`versions`).
"""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import msgspec

import arena
import protocol
from arena.tournament.executors.executor import Job
from arena.tournament.executors.room import Played

__all__ = ["Answer", "Batch", "Keeping", "Ready", "Setup", "code_hash", "differences", "versions"]


class Keeping(msgspec.Struct, frozen=True, kw_only=True):
    """How each machine is to look for a sandbox of its own.

    Attributes:
        bwrap: see `arena.sandbox.finding.candidates`.
        show: folders that bots see besides the system's.
        user_ids: for root's bots: first, count; None for the usual ones.
        has_strangers: whether there are bots that play in a sandbox or not at all.
    """

    bwrap: str | None = None
    show: tuple[str, ...] = ()
    user_ids: tuple[int, int] | None = None
    has_strangers: bool = True


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is told before its first game.

    Attributes:
        version: of the coordinator's arena; the worker must have the same.
        code: see `code_hash`; the same.
        versions: as `versions` gives them on the coordinator's machine.
        boards: rulesets that are played, and the SHA-256 of the board of each, which must be the
            worker's too; see `Ruleset.board_hash`, empty: not told.
        python: the coordinator's interpreter, which stands in the commands of its bots.
        table: `module:name` of what plays games.
        settings: what it is opened with; None: the worker's own sandbox, once it has passed.
        keeping: how that is found; None where `settings` says all.
        lanes: games at once that it may ever be asked for; None for one a thread.
        is_ours: whether the coordinator has started it: then a terminal's Ctrl-C, which goes to it
            as well, is not its business.
    """

    version: str
    code: str
    versions: dict[str, str] = {}
    boards: tuple[tuple[str, str], ...] = ()
    python: str
    table: str
    settings: bytes | None
    keeping: Keeping | None
    lanes: int | None
    is_ours: bool


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says to that.

    Attributes:
        refusal: why it can't play, with the cure; None if it can.
        notes: what is to be told though it can, each to go on after its name.
        most: games at once for which it has open files, and user ids of bots; None: no such bound.
        where: it plays, in a few words, such as `in 2 workers on 2 CPUs (0-1), unpinned`.
    """

    refusal: str | None = None
    notes: tuple[str, ...] = ()
    most: int | None = None
    where: str = ""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Games for a worker.

    Attributes:
        jobs: in the order in which they are to begin.
        at_once: games in play at once from now on.
        here: games of earlier batches that it should still have.
    """

    jobs: list[Job]
    at_once: int
    here: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says to a batch.

    Attributes:
        played: games that were finished since the last answer.
        is_lost: whether it has not all the games that it should have: they are to be sent again.
        failure: why it can't play any more; None if it can.
    """

    played: list[Played] = []
    is_lost: bool = False
    failure: str | None = None


def versions() -> dict[str, str]:
    """Return of what a cluster's machines should have the same, name to version, of this one."""
    return {
        "misterx-arena": arena.__version__,
        "Python": platform.python_version(),
        "Dask": metadata.version("distributed"),
        "msgpack": metadata.version("msgpack"),
    }


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Return the SHA-256 of all code of the arena and the wire: two checkouts have one version."""
    digest = hashlib.sha256()
    for package in (arena, protocol):
        top = Path(str(package.__file__)).parent
        for file in sorted(top.rglob("*.py")):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(top).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """Say what they have otherwise than the coordinator, which has ours; nothing if nothing."""
    other = [name for name in ours if theirs.get(name) != ours[name]]
    if not other:
        return ""
    there = " and ".join(f"{name} {theirs.get(name, '(none)')}" for name in other)
    here = " and ".join(f"{name} {ours[name]}" for name in other)
    return f"has {there}, not {here} as this machine"
