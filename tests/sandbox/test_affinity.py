"""Load 8: what processors a bot may use is set before it has a thread, and is looked up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.errors import HostFault
from arena.sandbox.processes import pids_in_namespace
from arena.tournament.executors import worker
from tests.sandboxed import sandboxed

THREADS = """
import os, threading, time
for _ in range(4): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
if not os.fork(): time.sleep(20)
os.write(1, b'up\\n')
time.sleep(20)
"""


@pytest.mark.slow
def test_every_thread_of_a_bot_stays_where_its_worker_is() -> None:
    before = os.sched_getaffinity(0)
    cpu = max(before)
    os.sched_setaffinity(0, {cpu})
    try:
        with sandboxed(THREADS) as inside:
            assert inside.line() == b"up\n"
            allowed = [
                line.split()[1]
                for pid in pids_in_namespace(inside.box.pid_namespace)
                if pid != inside.box.init
                for task in Path(f"/proc/{pid}/task").iterdir()
                for line in (task / "status").read_text().splitlines()
                if line.startswith("Cpus_allowed_list:")
            ]
    finally:
        os.sched_setaffinity(0, before)
    assert len(allowed) >= 6
    assert set(allowed) == {str(cpu)}


def test_setting_that_is_not_taken_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_setaffinity", lambda _pid, _cpus: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    with pytest.raises(HostFault, match="can't stay on CPU 1"):
        worker._stay_on(1)
