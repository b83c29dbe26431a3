"""Bots that take their time, burn it, or burn the other side's: rows D10 to D15, and clocks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from speaking import LIFE_S, Message, Talk, silence

BURN_S = 3.0  # of CPU time of one process or thread, at most


def burn(cpu_s: float) -> None:
    """Use CPU time of this thread; never for longer than the bot may live."""
    until, last = time.thread_time() + cpu_s, time.monotonic() + LIFE_S
    while time.thread_time() < until and time.monotonic() < last:
        pass


class Clocks(Talk):
    """Goes on in the way of the row that it is started with, at the given turn or at each."""

    def __init__(self) -> None:
        super().__init__()
        name, _, number = self.row.partition(":")
        self.way = getattr(self, name.replace("-", "_"))
        self.number = float(number) if number else 0.0

    def hello(self, message: Message) -> None:
        """Answer the greeting; one loads its libraries first."""
        if self.way == self.loads:
            time.sleep(self.number)
        super().hello(message)

    def turn(self, message: Message) -> None:
        """Take a turn, in its way."""
        self.way(message)

    def spin(self, message: Message) -> None:  # D10
        if self.turns == 3:
            burn(BURN_S)
            silence()
        super().turn(message)

    def spin_many(self, message: Message) -> None:  # D11: processes, as Python's threads take turns
        if self.turns == 3:
            for _ in range(7):
                if os.fork() == 0:
                    signal.alarm(LIFE_S)
                    break
            burn(BURN_S)
            silence()
        super().turn(message)

    def hidden_crowd(self, message: Message) -> None:  # D11: by children that nobody counts
        if self.turns == 3:
            if os.fork() == 0:
                signal.alarm(LIFE_S)
                self.breed()
            self.run_on()
        super().turn(message)

    def run_on(self) -> None:
        """Be ready to run for a time, whoever runs."""
        until = time.monotonic() + self.number
        while time.monotonic() < until:
            pass

    def breed(self) -> None:
        """Let eight children burn at a time, which the kernel reaps; each for a moment."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        told, done = os.pipe()
        until, left = time.monotonic() + BURN_S, 8
        while time.monotonic() < until:
            if os.fork() == 0:
                os.close(told)
                burn(0.015)
                os.write(done, b".")
                os._exit(0)
            left -= 1
            if left == 0:
                left = len(os.read(told, 8))
        os._exit(0)

    def sleeper(self, message: Message) -> None:  # D12
        if self.turns == 3:
            silence()
        super().turn(message)

    def ponderer(self, message: Message) -> None:  # D13
        super().turn(message)
        if not any(thread.name == "ponders" for thread in threading.enumerate()):
            threading.Thread(target=burn, args=(BURN_S,), name="ponders", daemon=True).start()

    def child_burn(self, message: Message) -> None:  # D14: a child that it waits for
        if os.fork() == 0:
            burn(self.number)
            os._exit(0)
        os.wait()
        super().turn(message)

    def orphan_burn(self, message: Message) -> None:  # D14: nobody's child, that tells its end
        told, done = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0:
                signal.alarm(LIFE_S)
                os.close(told)
                burn(self.number)
            os._exit(0)
        os.wait()
        os.close(done)
        os.read(told, 1)
        os.close(told)
        super().turn(message)

    def unreaped_burn(self, message: Message) -> None:  # D14: children that the kernel reaps
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        told, done = os.pipe()
        if os.fork() == 0:
            burn(self.number)
            os._exit(0)
        os.close(done)
        os.read(told, 1)
        os.close(told)
        super().turn(message)

    def edge(self, message: Message) -> None:  # D15
        burn(self.number)
        super().turn(message)

    def sleeps(self, message: Message) -> None:
        time.sleep(self.number)
        super().turn(message)

    def slow_once(self, message: Message) -> None:
        if self.turns == 7:
            time.sleep(self.number)
        super().turn(message)

    def loads(self, message: Message) -> None:
        super().turn(message)

    def tells(self, message: Message) -> None:
        print(message["bank_ms"], message["charged_ms"], file=sys.stderr, flush=True)  # noqa: T201
        time.sleep(self.number)
        super().turn(message)


if __name__ == "__main__":
    Clocks().run()
