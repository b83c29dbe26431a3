"""A Dask cluster as the executor sees it: machines that come and go, functions called on them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import logging
import signal
import sys
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import trio
from distributed import Client, LocalCluster
from distributed.versions import VersionMismatchWarning

from arena.errors import ConfigError, HostFault
from arena.tournament.executors.bridge import Bridge, open_bridge
from arena.tournament.executors.scheduler_address import trouble_with_address
from arena.tournament.executors.scratch import open_scratch

__all__ = ["Cluster", "Machine", "SchedulerLostError", "TaskLostError", "open_cluster"]

T = TypeVar("T")

_CONNECT_S = 15.0
_START_S = 60.0
_END_S = 10.0  # for processes to end; most take a tenth of a second
_ANSWER_S = 20.0  # a scheduler that is there answers at once


class SchedulerLostError(Exception):
    """The scheduler can't be reached any more."""


class TaskLostError(Exception):
    """A task has no result: its machine died, or somebody took it back."""


class Machine(NamedTuple):
    """A Dask worker. Started anew it is another one, whatever its address.

    One that is paused goes on with its tasks and begins no other: it has used up its memory.
    """

    id: str
    address: str
    name: str
    threads: int
    is_leaving: bool
    is_paused: bool = False


class Cluster:
    """A connected cluster; see `open_cluster`. Every method may raise `SchedulerLostError`."""

    def __init__(self, bridge: Bridge, client: Client) -> None:
        self._bridge = bridge
        self._client = client
        scheduler: Any = client.scheduler
        self._scheduler = scheduler
        self.address = str(scheduler.address)
        self._tasks = itertools.count()
        self._last: dict[str, Any] = {}  # by a machine's id: the future of its last exchange
        self._need: Any = None  # the future of what waits for a worker

    async def machines(self) -> list[Machine]:
        """Return the workers there are now, in the order in which they came."""
        told = await self._call(self._scheduler.identity, n_workers=-1)
        return [
            Machine(
                id=f"{address} {worker['local_directory']}",
                address=address,
                name=str(worker["name"]),
                threads=int(worker["nthreads"]),
                is_leaving="clos" in str(worker["status"]),
                is_paused=str(worker["status"]) == "paused",
            )
            for address, worker in told["workers"].items()
        ]

    async def ask_scheduler(self, function: Callable[[], T]) -> T:
        """Call a function in the scheduler's process.

        Raises:
            Exception: what the function raised, or that the scheduler does not know it.
        """
        answer: T = await self._call(self._client.run_on_scheduler, function)
        return answer

    async def show_need(self, *, is_needed: bool) -> None:
        """Have something wait for any worker, or no more.

        A cluster that starts workers when they are needed (`cluster.adapt()`) goes by what waits,
        and our games wait here until there is a worker.
        """
        if is_needed and self._need is None:

            async def submit() -> Any:
                return self._client.submit(bool, key=f"arena-need-{uuid.uuid4().hex}", pure=False)

            self._need = await self._call(submit)
        elif self._need is not None and not is_needed:
            self._need.release()
            self._need = None

    async def ask(
        self, machine: Machine, function: Callable[..., Coroutine[Any, Any, T]], *args: object
    ) -> T:
        """Call a function in the loop of a worker, past its tasks.

        Raises:
            TaskLostError: if the worker is gone, or another one by now.
            Exception: what the function raised, or what the worker could not read.
        """
        try:
            answers: dict[str, T] = await self._bridge.call(
                self._client.run, function, *args, workers=[machine.address]
            )
        except (OSError, asyncio.CancelledError) as exc:
            await self.machines()  # is it the scheduler that is lost?
            raise TaskLostError(str(exc)) from exc
        except KeyError as exc:  # a worker that was started anew knows nothing of the run
            raise TaskLostError(f"{machine.address} was started anew") from exc
        except Exception:
            await self.machines()  # a client without its scheduler fails in many ways
            raise
        if machine.address not in answers:
            raise TaskLostError(f"{machine.address} is gone")
        return answers[machine.address]

    async def play(
        self, machine: Machine, function: Callable[..., bytes], *args: str | bytes
    ) -> bytes:
        """Run a function as a task on one worker, and nowhere else.

        Its result is held until the next one is on its way, or `forget`: that is how the worker
        knows that we are still there (`dask_worker._wanted`).

        Raises:
            TaskLostError: if it has no result, nor will have one. Where the worker is gone this
                may wait for ever.
            Exception: what the function raised, or what the worker could not read.
        """
        key = f"arena-{function.__name__}-{next(self._tasks)}-{args[0]!s}"

        async def run() -> bytes:
            future = self._client.submit(
                function,
                *args,
                key=key,
                workers=[machine.address],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            self.forget(machine)
            try:
                result: bytes = await future
            except BaseException:  # takes the task back if it still runs
                future.release()
                raise
            self._last[machine.id] = future
            return result

        try:
            return await self._bridge.call(run)
        except (asyncio.CancelledError, concurrent.futures.CancelledError, OSError) as exc:
            await self.machines()  # is it the scheduler that is lost?
            raise TaskLostError(str(exc)) from exc
        except Exception:
            await self.machines()
            raise

    def forget(self, machine: Machine) -> None:
        """Let go of a worker's last result: nobody will come to it again."""
        last = self._last.pop(machine.id, None)
        if last is not None:
            last.release()

    async def _call(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if self._client.status != "running":
            raise SchedulerLostError(self.address)
        try:
            with trio.fail_after(_ANSWER_S):
                return await self._bridge.call(function, *args, **options)
        except (OSError, asyncio.CancelledError, trio.TooSlowError) as exc:
            raise SchedulerLostError(self.address) from exc


@asynccontextmanager
async def open_cluster(
    scheduler: str | None, *, workers: int, folder: Path | None = None
) -> AsyncIterator[Cluster]:
    """Connect to a cluster, or start one on this machine; left, it ends what it started.

    Args:
        scheduler: the address of a running one, such as `tcp://10.0.0.1:8786`; None to start one
            that nobody but this machine can reach.
        workers: processes of one that is started.
        folder: see `open_scratch`, for one that is started.

    Raises:
        ConfigError: if no scheduler answers there, or none can have such an address.
        HostFault: if no cluster can be started here.
    """
    _quieten()
    async with open_bridge() as bridge:
        local: LocalCluster | None = None
        scratch = ExitStack()
        try:
            if scheduler is None:
                place = scratch.enter_context(open_scratch(folder))
                local = await _started(bridge, workers, str(place))
                client = await _connected(bridge, local)
            else:
                await _check_address(scheduler)
                client = await _connected(bridge, scheduler)
            try:
                yield Cluster(bridge, client)
            finally:
                await _ended(bridge, client.close)
        finally:
            if local is not None:
                await _ended(bridge, local.close)
            scratch.close()


def _quieten() -> None:
    """Keep Dask from telling what we say ourselves; it has set a level for loggers of its own."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", "tornado", *names):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", category=VersionMismatchWarning)


async def _started(bridge: Bridge, workers: int, folder: str) -> LocalCluster:
    async def start() -> LocalCluster:
        # A terminal's Ctrl-C goes to the cluster's processes too. They inherit that it is blocked,
        # until they can say what they do about it (`dask_worker.get_ready`). The tracker must be
        # there before: where it is started this thread unblocks it.
        _start_quiet_tracker()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        return await LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            memory_limit=None,
            local_directory=folder,
            asynchronous=True,
        )

    try:
        with trio.fail_after(_START_S):
            return await bridge.call(start)
    except (OSError, RuntimeError, trio.TooSlowError, asyncio.CancelledError) as exc:
        raise HostFault(f"a Dask cluster can't be started on this machine: {exc}") from exc


def _start_quiet_tracker() -> None:
    """Start what deletes the semaphores of a killed coordinator, so that it does so in silence.

    It is Python's own helper, writes to our standard error, and is started with our warning
    options; if it is there already it is left as it is.
    """
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


async def _check_address(scheduler: str) -> None:
    trouble = await trouble_with_address(scheduler, limit_s=_CONNECT_S)
    if trouble is not None:
        raise ConfigError(
            f"{scheduler} is no address of a Dask scheduler ({trouble}): give --scheduler one "
            "such as tcp://10.0.0.1:8786, or leave it out to use this machine alone"
        )


async def _connected(bridge: Bridge, where: LocalCluster | str) -> Client:
    async def connect() -> Client:
        client = Client(where, asynchronous=True, set_as_default=False, timeout=_CONNECT_S)
        try:
            async with asyncio.timeout(_CONNECT_S):
                await client
        except BaseException:
            with suppress(Exception):  # else it warns of itself when it is deleted
                await client.close()
            raise
        return client

    try:
        with trio.fail_after(3 * _CONNECT_S):
            return await bridge.call(connect)
    except (Exception, asyncio.CancelledError) as exc:  # it ends in many ways
        why = _first_line(exc) or _no_answer(exc)
        if not isinstance(where, str):
            raise HostFault(f"a Dask cluster can't be started on this machine: {why}") from exc
        raise ConfigError(
            f"no Dask scheduler answers at {where} ({why}): start `dask scheduler` there, or leave "
            "--scheduler out to use this machine alone"
        ) from exc


def _no_answer(error: BaseException) -> str:
    """Say that time is over, and what was in the way of the last try, if the system told."""
    why = f"no answer of a scheduler in {_CONNECT_S:g} s"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno and cause.strerror:
            return f"{why}: {cause.strerror.lower()}"
        cause = cause.__cause__ or cause.__context__
    return why


def _first_line(error: BaseException) -> str:
    """Return the beginning of what an error says, in one line; nothing where it says nothing."""
    return next(iter(str(error).strip().splitlines()), "")[:200]


async def _ended(bridge: Bridge, close: Callable[..., Any]) -> None:
    # What is cancelled over there is no `Exception`, and would take the place of why we leave.
    hushed = suppress(Exception, asyncio.CancelledError)
    with trio.CancelScope(shield=True), trio.move_on_after(_END_S), hushed:
        await bridge.call(close)
