"""The same games on a Dask cluster: on other machines, or in other processes of this one.

Each Dask worker plays with worker processes as `local` does. It is given games for a few seconds,
measured by those that it played before, and answers with records as they come; so no more games
than that are lost with it, and the plan stays where it is.
"""

from __future__ import annotations

import itertools
import sys
import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import trio

import arena
from arena.errors import ConfigError, HostFault, Interrupted
from arena.tournament.executors import dask_worker
from arena.tournament.executors.batches import BATCH_S, held, share
from arena.tournament.executors.cpus import usable_cores, usual_jobs
from arena.tournament.executors.crossing import (
    Answer,
    Batch,
    Keeping,
    Ready,
    Setup,
    code_hash,
    differences,
    versions,
)
from arena.tournament.executors.dask_cluster import (
    Cluster,
    SchedulerLostError,
    TaskLostError,
    open_cluster,
)
from arena.tournament.executors.executor import Finished, Job, decode_spec
from arena.tournament.executors.local import REFEREE
from arena.tournament.executors.members import PAUSED, Bots, Member
from arena.tournament.executors.supply import Supply

__all__ = ["DaskExecutor"]

T = TypeVar("T")

_LOOK_S = 0.5  # between two looks at which workers there are
_NOBODY_S = 600.0  # without a worker
_COME_AGAIN_S = 30.0  # for a worker to be started anew
_READY_S = 60.0
_END_S = 1.5


class DaskExecutor:
    """Plays games on a Dask cluster; see `Executor`.

    Args:
        jobs: games in play at once on all workers together; one a thread of each worker if left
            out, or as many as `local` plays if the cluster is started here.
        scheduler: the address of a running cluster; None to start one on this machine, with a
            process a game at once (at most one a usable core).
        table: as for `LocalExecutor`.
        settings: what a table is opened with on this machine, such as its sandbox.
        keeping: how other machines find their own; None to use `settings` everywhere.
        boards: see `Setup.boards`.
        say: is told which workers come, go and are refused, a line each.
        batch_s: how long the games that a worker is given ahead should last.
        folder: where a cluster that is started here may write while it is there.
    """

    def __init__(
        self,
        jobs: int | None = None,
        *,
        scheduler: str | None = None,
        table: str = REFEREE,
        settings: bytes = b"",
        keeping: Keeping | None = None,
        boards: tuple[tuple[str, str], ...] = (),
        say: Callable[[str], None] = lambda _line: None,
        batch_s: float = BATCH_S,
        folder: Path | None = None,
    ) -> None:
        self._reach = 0
        self._jobs = jobs
        self._scheduler = scheduler
        self._keeping = None if scheduler is None else keeping
        self._setup = Setup(
            version=arena.__version__,
            code=code_hash(),
            versions=versions(),
            boards=boards,
            python=sys.executable,
            table=table,
            settings=settings if self._keeping is None else None,
            keeping=self._keeping,
            lanes=jobs,
            is_ours=scheduler is None,
        )
        self._say = say
        self._batch_s = batch_s
        self._folder = folder
        run = uuid.uuid4().hex
        self._names = (f"{run}-{number}" for number in itertools.count())
        self._crew: dict[str, Member] = {}  # by the machine's id, in the order of coming
        self._refused: dict[str, str] = {}  # the same: why
        self._has_played = False  # any of them
        self._bots = Bots()

    @property
    def reach(self) -> int:
        """Twice the games that the workers have, as far as is known now; see `Executor.reach`."""
        return self._reach

    @property
    def in_play(self) -> int:
        """Games that a worker has been given; see `Executor.in_play`."""
        return sum(len(member.out) for member in self._crew.values())

    async def run(
        self, jobs: trio.MemoryReceiveChannel[Job], results: trio.MemorySendChannel[Finished]
    ) -> None:
        """Play every job; see `Executor.run`.

        Raises:
            ConfigError: if there is no such cluster, or neither its scheduler nor any of its
                workers can be used.
            HostFault: if none can go on.
            Interrupted: if the scheduler is lost, or no worker came for ten minutes.
        """
        supply = Supply(jobs)
        is_lost = False
        if not await supply.has_any():
            return
        workers = min(self._jobs or usual_jobs(), usable_cores())
        async with open_cluster(self._scheduler, workers=workers, folder=self._folder) as cluster:
            try:
                if self._scheduler is not None:
                    await self._check_scheduler(cluster)
                async with trio.open_nursery() as nursery:
                    await self._watch(cluster, supply, results, nursery)
            except* SchedulerLostError:
                is_lost = True
            finally:
                await self._leave(cluster)
            if is_lost:
                raise Interrupted(
                    f"the Dask scheduler at {cluster.address} is lost; what was stored stays"
                )

    async def _check_scheduler(self, cluster: Cluster) -> None:
        """Look whether the scheduler knows our functions: it unpacks what is sent to workers.

        Raises:
            ConfigError: if it does not.
        """
        try:
            theirs = await cluster.ask_scheduler(versions)
        except SchedulerLostError:
            raise
        except Exception as exc:
            raise ConfigError(
                f"the Dask scheduler at {cluster.address} can't be used: start it with a Python "
                f"that has misterx-arena[dask] {arena.__version__}, as workers ({exc})"
            ) from exc
        other = differences(theirs, self._setup.versions)
        if other:
            self._say(f"The Dask scheduler {other}.")

    async def _watch(
        self,
        cluster: Cluster,
        supply: Supply,
        results: trio.MemorySendChannel[Finished],
        nursery: trio.Nursery,
    ) -> None:
        """Set every worker that comes to play, and note those that are gone."""
        told = False
        with_nobody_since = trio.current_time()
        while not supply.is_over:
            machines = {machine.id: machine for machine in await cluster.machines()}
            await cluster.show_need(is_needed=not machines)
            for id_, machine in machines.items():
                if id_ not in self._crew and id_ not in self._refused and not machine.is_leaving:
                    member = self._crew[id_] = Member(machine, next(self._names))
                    nursery.start_soon(self._serve, cluster, supply, results, member, nursery)
            for id_, member in list(self._crew.items()):
                if id_ not in machines or machines[id_].is_leaving:
                    member.is_leaving = id_ in machines
                    member.scope.cancel()
                else:
                    member.look(is_paused=machines[id_].is_paused)
            for id_, why in list(self._refused.items()):
                goes_on = why.endswith(PAUSED) and id_ in machines and not machines[id_].is_paused
                if id_ not in machines or goes_on:
                    del self._refused[id_]
            if self._crew:
                with_nobody_since = trio.current_time()
            elif self._refused:
                self._end_if_all_are_refused(cluster, trio.current_time() - with_nobody_since)
            elif not told:
                told = True
                self._say(f"Waiting for Dask workers at {cluster.address}.")
            if trio.current_time() - with_nobody_since > _NOBODY_S:
                raise Interrupted(
                    f"there was no Dask worker at {cluster.address} for ten minutes; what was "
                    "stored stays"
                )
            await trio.sleep(_LOOK_S)
        nursery.cancel_scope.cancel()

    def _end_if_all_are_refused(self, cluster: Cluster, since_s: float) -> None:
        """Raise where no worker can play; where some could, another has a moment to come."""
        reasons = "\n  ".join(self._refused.values())
        text = f"no Dask worker at {cluster.address} can play:\n  {reasons}"
        if not self._has_played:
            raise ConfigError(text)
        if since_s > _COME_AGAIN_S:
            raise HostFault(text)

    async def _serve(
        self,
        cluster: Cluster,
        supply: Supply,
        results: trio.MemorySendChannel[Finished],
        member: Member,
        nursery: trio.Nursery,
    ) -> None:
        """Have one worker play until all games are over, or it is gone."""
        why = ""
        with member.scope:
            try:
                await self._get_ready(cluster, member)
                while await self._play_batch(cluster, supply, results, member):
                    pass
            except TaskLostError:
                pass
            except _RefusedError as refused:
                why = str(refused)
            else:
                nursery.cancel_scope.cancel()
                return
        why = why or (PAUSED if member.is_paused else "")
        del self._crew[member.machine.id]
        cluster.forget(member.machine)
        if why:
            why = f"{member.machine.name} ({member.machine.address}) {why}"
            self._refused[member.machine.id] = why
            self._say(f"Dask worker {why}{self._places()}")
        else:
            self._say(f"Dask worker {member.machine.name} is gone{self._places()}.")
        await _hand_on(supply, results, member)  # what has come counts, though it went behind it
        lost = list(member.out.values())
        if why or member.is_leaving:
            supply.send_again(lost)
            return
        for job in supply.lost(lost):
            await results.send(Finished(job.number, None))
            supply.give_back(job.number)

    async def _get_ready(self, cluster: Cluster, member: Member) -> None:
        """Have a worker check itself.

        Raises:
            _RefusedError: if it can't play.
        """
        try:
            with trio.fail_after(_READY_S):
                text = await cluster.ask(
                    member.machine,
                    dask_worker.get_ready,
                    member.name,
                    msgspec.json.encode(self._setup),
                )
        except trio.TooSlowError:
            raise _RefusedError("did not get ready in a minute") from None
        except (TaskLostError, SchedulerLostError):
            raise
        except Exception as exc:
            raise _RefusedError(
                f"can't get ready: has it misterx-arena[dask] {arena.__version__}? ({exc})"
            ) from exc
        ready = msgspec.json.decode(text, type=Ready)
        if ready.refusal is not None:
            raise _RefusedError(ready.refusal)
        member.most = ready.most
        for note in ready.notes:
            self._say(f"Dask worker {member.machine.name} {note}.")
        self._has_played = member.is_ready = True
        self._say(f"Dask worker {member.machine.name} plays {ready.where}{self._places()}.")

    async def _play_batch(
        self,
        cluster: Cluster,
        supply: Supply,
        results: trio.MemorySendChannel[Finished],
        member: Member,
    ) -> bool:
        """Bring a worker what it has room for, take what it has finished; False when all is over.

        Raises:
            TaskLostError: if the worker is gone.
            _RefusedError: if it can't go on.
        """
        at_once = self._share_of(member)
        if not at_once and not member.out:  # more workers than games at once
            await trio.sleep(_LOOK_S)
            return True
        room = held(at_once, member.lengths.mean_s, batch_s=self._batch_s)
        self._set_reach(room)
        new: list[Job] = []
        if room > len(member.out) and not member.has_suspects:
            parcel = await supply.take(
                room - len(member.out), at_once=at_once, has_none=not member.out
            )
            if parcel is None:
                return False
            new = parcel.jobs
            member.has_suspects = bool(parcel.deaths)
        here = len(member.out)
        member.out |= {job.number: job for job in new}
        if self._scheduler is not None:
            await self._send_bots(cluster, member, new)
        batch = Batch(jobs=new, at_once=max(1, at_once), here=here)
        try:
            text = await cluster.play(
                member.machine, dask_worker.exchange, member.name, msgspec.msgpack.encode(batch)
            )
        except (TaskLostError, SchedulerLostError):
            raise
        except Exception as exc:
            raise _RefusedError(f"failed: {type(exc).__name__}: {exc}") from exc
        answer = msgspec.msgpack.decode(text, type=Answer)
        for number, record, _ in answer.played:
            del member.out[number]
            member.come.append(Finished(number, record))
        await _hand_on(supply, results, member)
        member.has_suspects = member.has_suspects and bool(member.out)
        member.lengths.add(played.took_s for played in answer.played)
        if answer.failure is not None:
            raise _RefusedError(answer.failure)
        if answer.is_lost:
            raise TaskLostError("its games are gone")
        return True

    def _share_of(self, member: Member) -> int:
        """Return how many games a worker plays at once, of those that all play."""
        crew = list(self._crew.values())
        at_once = share(
            self._jobs, [each.machine.threads for each in crew], place=crew.index(member)
        )
        return at_once if member.most is None else min(at_once, member.most)

    def _places(self) -> str:
        """Say how many games are played at once now, behind what has changed that."""
        ready = [member for member in self._crew.values() if member.is_ready]
        if not ready:
            return ""
        games = sum(map(self._share_of, ready))
        workers = "one Dask worker" if len(ready) == 1 else f"{len(ready)} Dask workers"
        return f"; in all {games} game{'' if games == 1 else 's'} at once on {workers}"

    async def _send_bots(self, cluster: Cluster, member: Member, jobs: list[Job]) -> None:
        """Send a worker the bots of these games that it has not got."""
        folders: set[str] = set()
        for job in jobs:
            spec = decode_spec(job.spec)
            folders |= {spec.mister_x.folder, spec.detectives.folder} - member.bots
        digests = {folder: digest for folder in folders if (digest := await self._bots.of(folder))}
        if digests:
            for folder in await _ask(cluster, member, dask_worker.has_bots, digests):
                packed = await self._bots.packed(folder)
                digest = digests[folder]
                trouble = await _ask(cluster, member, dask_worker.take_bot, folder, digest, packed)
                if trouble:
                    raise _RefusedError(f"can't be given a bot: {trouble}")
        member.bots |= folders

    def _set_reach(self, room: int) -> None:
        """Let the tournament look further ahead the more games are out."""
        self._reach = max(self._reach, 2 * room * len(self._crew))

    async def _leave(self, cluster: Cluster) -> None:
        """End the run on every worker that is there."""
        with trio.CancelScope(shield=True), trio.move_on_after(_END_S):
            async with trio.open_nursery() as nursery:
                for member in self._crew.values():
                    nursery.start_soon(_end_on, cluster, member)


class _RefusedError(Exception):
    """A worker can't play; the text goes on after its name."""


async def _ask(
    cluster: Cluster,
    member: Member,
    function: Callable[..., Coroutine[Any, Any, T]],
    *args: object,
) -> T:
    """Call a function of ours on a worker, for its run.

    Raises:
        TaskLostError: if the worker is gone.
        _RefusedError: if the function fails there.
    """
    try:
        return await cluster.ask(member.machine, function, member.name, *args)
    except (TaskLostError, SchedulerLostError):
        raise
    except Exception as exc:
        raise _RefusedError(f"failed: {type(exc).__name__}: {exc}") from exc


async def _hand_on(
    supply: Supply, results: trio.MemorySendChannel[Finished], member: Member
) -> None:
    """Tell what a worker has finished."""
    while member.come:
        await results.send(member.come[0])
        supply.give_back(member.come.popleft().number)


async def _end_on(cluster: Cluster, member: Member) -> None:
    with suppress(Exception):  # a worker that is no use: it must not hide how the run ended
        await cluster.ask(member.machine, dask_worker.close, member.name)
