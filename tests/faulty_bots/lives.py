"""Bots that die, hang or refuse to go: section C, a row a name."""

from __future__ import annotations

import os
import signal
import sys
import time

from speaking import Message, Talk, encode, silence, write

IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
OFFSPRING_S = 10  # the longest life of a child that its parent does not wait for


def ignore_all() -> None:
    """Ignore every signal that can be ignored, but for the one that ends our life."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:  # the C library keeps two for itself
            continue


def fork_away() -> bool:
    """Double-fork a process in a session of its own; True in that one, with an alarm set."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(OFFSPRING_S)
    return True


def survive() -> None:
    """Go on in a new child whenever the parent has died, which it does at once."""
    until = time.monotonic() + OFFSPRING_S
    ignore_all()
    say("forked again")
    while time.monotonic() < until:
        parent = os.getppid()
        if os.fork():
            time.sleep(0.05)
            os._exit(0)
        signal.alarm(OFFSPRING_S)
        while os.getppid() == parent or time.monotonic() > until:
            time.sleep(0.01)


def say(text: str) -> None:
    """Write a line on standard error."""
    os.write(2, text.encode() + b"\n")


class Lives(Talk):
    """Goes wrong at its third turn, in the way of the row that it is started with."""

    def turn(self, message: Message) -> None:
        """Take a turn, or go wrong."""
        if self.turns == 3:
            getattr(self, self.row.replace("-", "_"))(message)
        else:
            super().turn(message)

    def exit_0(self, message: Message) -> None:  # C1
        del message
        os._exit(0)

    def exit_1(self, message: Message) -> None:  # C2
        raise RuntimeError(f"my bug at round {message['view']['round']}")

    def exit_139(self, message: Message) -> None:
        del message
        os._exit(139)

    def segv(self, message: Message) -> None:  # C3
        del message
        os.kill(os.getpid(), signal.SIGSEGV)

    def abort(self, message: Message) -> None:
        del message
        os.abort()

    def killed(self, message: Message) -> None:  # C16: silent, and killed before its time is up
        del message
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)

    def ignore_term(self, message: Message) -> None:  # C6
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        super().turn(message)
        silence()

    def self_stop(self, message: Message) -> None:  # C7
        del message
        os.kill(os.getpid(), signal.SIGSTOP)

    def silent(self, message: Message) -> None:  # D12
        del message
        silence()

    def spin(self, message: Message) -> None:  # D10
        del message
        until = time.monotonic() + 10
        while time.monotonic() < until:
            pass

    def helper(self, message: Message) -> None:  # C18: a child of the same group
        if os.fork() == 0:
            silence()
        super().turn(message)

    def child_holds(self, message: Message) -> None:  # C8 in one's own group
        del message
        if os.fork() == 0:
            silence()
        os._exit(3)

    def grandchild(self, message: Message) -> None:  # C8: it holds our standard output open
        if fork_away():
            ignore_all()
            say("grandchild in session of its own")
            silence()
        super().turn(message)

    def grandchild_exits(self, message: Message) -> None:
        del message
        if fork_away():
            ignore_all()
            silence()
        os._exit(3)

    def grandchild_stays(self, message: Message) -> None:  # C11
        del message
        if fork_away():
            ignore_all()
        silence()

    def survivor_stays(self, message: Message) -> None:
        del message
        if fork_away():
            survive()
        silence()

    def survivor(self, message: Message) -> None:  # C9
        if fork_away():
            survive()
        time.sleep(0.2)
        super().turn(message)

    def survivor_exits(self, message: Message) -> None:
        del message
        if fork_away():
            survive()
        time.sleep(0.2)
        os._exit(3)

    def zombies(self, message: Message) -> None:  # C10
        for _ in range(60):
            if os.fork() == 0:
                os._exit(0)
        say("60 zombies")
        super().turn(message)

    def pensive(self, message: Message) -> None:  # the opponent in C12
        time.sleep(15)
        super().turn(message)

    def illegal_exit(self, message: Message) -> None:  # C16
        said = self.play(message)
        said["plies"][0]["to"] = 199 if said["plies"][0]["to"] != 199 else 1
        write(encode(said))
        os._exit(1)

    def answer_exit(self, message: Message) -> None:
        super().turn(message)
        os._exit(0)

    def half_exit(self, message: Message) -> None:
        write(self.answer(message)[:20])
        os._exit(0)


class Lingering(Talk):
    """Plays fairly, and stays when it is told goodbye."""

    def run(self) -> None:  # C6
        """Talk, then hear nothing more."""
        ignore_all()
        super().run()
        silence()


class Start(Talk):
    """Goes wrong before it is ready."""

    def hello(self, message: Message) -> None:
        """Answer the greeting, or go wrong."""
        if self.row == "start-silent":  # C5
            silence()
        if self.row == "start-exit":
            print("no book of openings", file=sys.stderr, flush=True)  # noqa: T201
            os._exit(1)
        super().hello(message)

    def about(self, message: Message) -> Message:
        """What the bot says of itself, true or not."""
        changes: dict[str, Message] = {
            "start-protocol": {"protocol": 2},
            "start-sides": {"sides": ["detectives"]},
            "start-rulesets": {"rulesets": ["europe-2024"]},
            "start-nodes": {"features": []},
        }
        return {**super().about(message), **changes.get(self.row, {})}

    def deal(self, message: Message) -> None:
        """Get ready, or go wrong."""
        if self.row == "start-late":
            time.sleep(0.4)
        if self.row == "start-illegal":
            write(encode({"type": "play", "id": message["id"], "plies": []}))
        super().deal(message)


if __name__ == "__main__":
    if sys.argv[1].startswith("start"):
        Start().run()
    elif sys.argv[1] == "ignore-bye":
        Lingering().run()
    else:
        Lives().run()
