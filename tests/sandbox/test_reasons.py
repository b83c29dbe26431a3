"""What is said of a bot's end: one line each, with what came, the limit and a cure."""

from __future__ import annotations

import pytest

from arena.errors import BotFault
from arena.sandbox import reasons


@pytest.mark.parametrize(
    ("status", "boxed", "words"),
    [
        (0, False, "status 0"),
        (1, True, "status 1"),
        (-11, False, "SIGSEGV"),
        (-35, False, "signal 35"),
        (139, True, "SIGSEGV (status 139)"),
        (139, False, "status 139 (a program of its own died of SIGSEGV)"),
        (250, True, "status 250"),
    ],
)
def test_end_of_a_process_in_words(status: int, boxed: bool, words: str) -> None:
    assert reasons.how_it_ended(status, shifts_signals=boxed) == words


@pytest.mark.parametrize(
    ("fault", "kind", "text", "hint"),
    [
        (
            reasons.ended("status 0", b"", None),
            "crash",
            "the bot ended with status 0 before the game was over",
            "exit after `bye` only",
        ),
        (
            reasons.ended("SIGSEGV", b"{\x1b", "it had 64 of 64"),
            "crash",
            (
                r"the bot ended with SIGSEGV before the game was over"
                r", after 2 bytes without newline: {\x1b; it had 64 of 64"
            ),
            "its standard error may say why",
        ),
        (
            reasons.closed("its standard output"),
            "crash",
            "the bot closed its standard output",
            "keep it open until `bye`",
        ),
        (
            reasons.late(1.2344, 1.0),
            "timeout",
            "the answer came after 1,234 ms; the limit is 1,000 ms",
            "",
        ),
        (
            reasons.silent(1.0, b"", "it had 9 of 9"),
            "timeout",
            "no answer within 1,000 ms; it had 9 of 9",
            "did the bot flush its output, and does it answer every request?",
        ),
        (
            reasons.silent(0.7, b"ab", "it had 9 of 9"),
            "timeout",
            "no newline within 700 ms, 2 bytes without newline: ab",
            "end each answer with LF",
        ),
        (
            reasons.deaf(65_536, 500_001, 0.5),
            "timeout",
            "the bot does not read: it took 65,536 of 500,001 bytes of a request in 500 ms",
            "read every line of the standard input",
        ),
        (
            reasons.overran(65_536, b"x" * 70_000),
            "protocol",
            f"line longer than 65,536 bytes: {'x' * 200}…",
            "an answer takes a few hundred bytes; is this a log? it belongs on stderr",
        ),
    ],
    ids=["exits", "dies", "closes", "late", "silent", "half a line", "deaf", "long line"],
)
def test_fault_has_its_kind_one_line_and_a_cure(
    fault: BotFault, kind: str, text: str, hint: str
) -> None:
    assert (fault.kind, fault.text, fault.hint) == (kind, text, hint)
    assert fault.text.isprintable()


def test_our_own_faults_say_what_this_machine_did() -> None:
    found = reasons.not_set_up(" bwrap: \x1b[2J no\n")
    assert str(found) == r"the sandbox could not be set up for a bot: bwrap: \x1b[2J no"
    assert str(reasons.overloaded(5.53, 0.7)) == (
        "this machine is overloaded: it kept a bot from running for most of 5.5 s, "
        "and its time is 700 ms"
    )
