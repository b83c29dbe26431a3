"""Bots that misuse their streams: section A of the catalogue, a row a name."""

from __future__ import annotations

import os
import sys
import time

from speaking import Message, Talk, encode, silence, write

LIMIT = 65_536  # bytes of a line, its newline included


def padded(line: bytes, size: int) -> bytes:
    """The same message in exactly `size` bytes, newline included."""
    head = line.rstrip(b"\n}")
    pad = size - len(head) - len(b', "pad": ""}\n')
    return head + b', "pad": "' + b"x" * pad + b'"}\n'


class Streams(Talk):
    """Goes wrong at its third turn, in the way of the row that it is started with."""

    def turn(self, message: Message) -> None:
        """Take a turn, or go wrong."""
        if self.turns == 3:
            getattr(self, self.row.replace("-", "_"))(message)
        else:
            super().turn(message)

    def firehose(self, message: Message) -> None:  # A1
        del message
        for _ in range(1000):
            write(b"x" * 65_536)

    def giant_line(self, message: Message) -> None:  # A2
        write(padded(self.answer(message), 50_000_000))

    def edge_under(self, message: Message) -> None:  # A3
        write(padded(self.answer(message), LIMIT - 1))

    def edge_at(self, message: Message) -> None:
        write(padded(self.answer(message), LIMIT))

    def edge_over(self, message: Message) -> None:
        write(padded(self.answer(message), LIMIT + 1))

    def line_flood(self, message: Message) -> None:  # A4
        write(self.answer(message) * 100_000)

    def not_utf8(self, message: Message) -> None:  # A5
        write(self.answer(message).replace(b'"type"', b'"a": "\xff\xfe", "type"'))

    def overlong(self, message: Message) -> None:
        write(self.answer(message).replace(b'"type"', b'"a": "\xc0\xaf", "type"'))

    def cut_off(self, message: Message) -> None:
        write(self.answer(message).replace(b'"type"', b'"a": "\xe2\x82", "type"'))

    def utf16(self, message: Message) -> None:  # A6
        write(self.answer(message).decode().encode("utf-16") + b"\n")

    def bom(self, message: Message) -> None:  # A7
        write(b"\xef\xbb\xbf" + self.answer(message))

    def nul_before(self, message: Message) -> None:  # A8
        write(b"\0" + self.answer(message))

    def nul_inside(self, message: Message) -> None:
        write(self.answer(message).replace(b'"type"', b'"a": "\0", "type"'))

    def nul_after(self, message: Message) -> None:
        write(self.answer(message)[:-1] + b"\0\n")

    def crlf(self, message: Message) -> None:  # A9
        write(self.answer(message)[:-1] + b"\r\n")

    def lone_cr(self, message: Message) -> None:  # A10
        write(self.answer(message)[:-1] + b"\r")

    def blank_10(self, message: Message) -> None:  # A11
        write(b"\n  \n\t\n\r\n \r\n\n\n\n\n\n" + self.answer(message))

    def blank_11(self, message: Message) -> None:
        write(b"\n" * 11 + self.answer(message))

    def half_line(self, message: Message) -> None:  # A12
        write(self.answer(message)[:20])

    def dribble(self, message: Message) -> None:  # A13
        for byte in self.answer(message):
            write(bytes([byte]))
            time.sleep(0.1)

    def no_flush(self, message: Message) -> None:  # A14
        self.kept = open(1, "wb", closefd=False)  # noqa: SIM115 - a buffer never flushed
        self.kept.write(self.answer(message))
        silence()

    def debug_print(self, message: Message) -> None:  # A15
        write(b"thinking...\n" + self.answer(message))

    def closed_in(self, message: Message) -> None:  # A16
        os.close(0)  # before the answer: else the next request may be written already
        super().turn(message)
        silence()

    def deaf(self, message: Message) -> None:  # A17
        del message
        silence()

    def closed_out(self, message: Message) -> None:  # A18
        del message
        os.close(1)
        silence()

    def swap(self, message: Message) -> None:  # A19
        os.dup2(2, 1)
        super().turn(message)

    def stderr_flood(self, message: Message) -> None:  # A20
        os.write(2, b"the beginning\n")
        for _ in range(1000):
            os.write(2, b"y" * 65_535 + b"\n")
        os.write(2, b"the end\n")
        super().turn(message)

    def stderr_line(self, message: Message) -> None:  # A21
        for _ in range(1600):
            os.write(2, b"\xff\x1b[2J" * 13_000)
        super().turn(message)

    def log_flood(self, message: Message) -> None:
        line = encode({"type": "log", "text": "z" * 900})
        write(line * 200 + encode({"type": "log", "text": "z" * 2000}) + self.answer(message))

    def idle_writer(self, message: Message) -> None:  # B12, seen when it is asked again
        write(self.answer(message))
        time.sleep(0.1)
        write(self.answer(message))


class Early(Talk):
    """Answers at once when it is started, before anybody asks."""

    def run(self) -> None:
        """Say it, then go on."""
        write(encode({"type": "play", "id": "0", "plies": []}))
        super().run()


class Environment(Talk):
    """Tells what it was given: variables and descriptors."""

    def end(self, message: Message) -> None:
        """Tell it on standard error."""
        found = sorted(os.listdir("/proc/self/fd"), key=int)  # noqa: PTH208 - no Path needed
        print(dict(sorted(os.environ.items())), found[:-1], file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    bots = {"early": Early, "environment": Environment}
    bots.get(sys.argv[1], Streams)().run()
