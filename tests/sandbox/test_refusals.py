"""What a person is told where strangers' programs can't be run."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.sandbox.refusals import (
    NO_SANDBOX_WARNING,
    Refusal,
    Surroundings,
    diagnose,
    failed_checks,
    is_proc_masked,
    look_at_surroundings,
    no_bubblewrap,
    no_linux,
    not_bubblewrap,
    program_missing,
    too_old,
)
from tests.ordinary_user import CHECKOUT

BWRAP = "/usr/bin/bwrap"
DESKTOP = Surroundings(
    root=False, container=False, restricted=False, switched_off=False, most_namespaces=15_000
)
NO_NAMESPACE = "bwrap: No permissions to creating new namespace, likely because the kernel does not"
UID_MAP = "bwrap: setting up uid map: Permission denied"
LOOPBACK = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
USED_UP = (
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces "
    "exceeded (ENOSPC)"
)
NO_FORK = "bwrap: Can't fork for pid 1: Resource temporarily unavailable"


def test_refusal_has_cause_why_fix_and_alternative() -> None:
    refusal = Refusal(cause="it rains", why="the sky says: wet", fix=("wait", "or go in"))
    assert refusal.text() == (
        "Cannot run untrusted bots: it rains. Nothing was started.\n"
        "Why: the sky says: wet\n"
        "Fix: wait\n"
        "     or go in\n"
        "Or:  --sandbox=none if you wrote every bot yourself"
    )


@pytest.mark.parametrize(
    ("text", "changes", "cause", "fix"),
    [
        (NO_NAMESPACE, {"restricted": True}, "AppArmor", "apparmor_parser"),
        (UID_MAP, {"restricted": True}, "AppArmor", "apparmor_parser"),
        (LOOPBACK, {"restricted": True}, "AppArmor", "apparmor_parser"),
        (NO_NAMESPACE, {"container": True}, "container", "seccomp=unconfined"),
        (NO_NAMESPACE, {"root": True}, "container", "--cap-add SYS_ADMIN"),
        (NO_NAMESPACE, {"root": True, "restricted": True}, "container", "--cap-add SYS_ADMIN"),
        (NO_NAMESPACE, {"switched_off": True}, "switched off", "unprivileged_userns_clone=1"),
        (NO_NAMESPACE.replace("creating", "create"), {}, "ordinary user", "administrator"),
        (USED_UP, {}, "limited to none", "max_user_namespaces"),
        (NO_NAMESPACE, {"most_namespaces": 0}, "limited to none", "max_user_namespaces"),
        (NO_FORK, {}, "no more processes", "ulimit -u"),
        ("bwrap: something new", {}, "fails on this machine", "arena doctor"),
        ("", {}, "fails on this machine", "arena doctor"),
    ],
)
def test_words_of_bubblewrap_are_told_apart(
    text: str, changes: dict[str, bool], cause: str, fix: str
) -> None:
    refusal = diagnose(BWRAP, text, replace(DESKTOP, **changes))
    assert cause in refusal.cause
    assert fix in " ".join(refusal.fix)
    assert refusal.why.startswith(f"{BWRAP} says: ")
    assert "--sandbox=none" in refusal.alternative


def test_a_masked_proc_is_told_apart() -> None:
    text = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
    assert is_proc_masked(text)
    assert not is_proc_masked(NO_NAMESPACE)


def test_what_bubblewrap_says_cannot_steer_a_terminal() -> None:
    refusal = diagnose(BWRAP, "a\nbwrap: \x1b[2Jgone" + "x" * 10_000, DESKTOP)
    assert "\x1b" not in refusal.text()
    assert len(refusal.text()) < 600


@pytest.mark.parametrize("system", ["Darwin", "Windows", ""])
def test_other_systems_get_the_sentence(system: str) -> None:
    refusal = no_linux(system, "x86_64")
    assert refusal is not None
    assert "needs Linux" in refusal.text()
    assert "WSL2" in refusal.text()


@pytest.mark.parametrize("name", ["README.md", "SECURITY.md"])
def test_documents_say_of_other_systems_what_the_refusal_says(name: str) -> None:
    refusal = no_linux("Darwin", "arm64")
    assert refusal is not None
    text = " ".join((CHECKOUT / name).read_text(encoding="utf-8").split())
    assert "bots are started on Linux alone" in refusal.why
    assert "Bots are started on Linux alone" in text
    assert refusal.fix == ("use WSL2, or a Linux container or machine",)
    assert refusal.fix[0] in text
    assert "macOS and Windows" in text


def test_machines_without_a_table_are_refused() -> None:
    refusal = no_linux("Linux", "riscv64")
    assert refusal is not None
    assert "riscv64" in refusal.cause
    assert no_linux("Linux", "x86_64") is None
    assert no_linux("Linux", "aarch64") is None


def test_where_it_is_missing_both_ways_to_get_it_are_named() -> None:
    text = no_bubblewrap(["/usr/bin/bwrap"]).text()
    for way in ('pip install "misterx-arena[sandbox]"', "apt install bubblewrap", "apk add"):
        assert way in text


@pytest.mark.parametrize(
    "refusal",
    [
        not_bubblewrap(BWRAP, "hangs"),
        too_old(BWRAP, "0.4.1", "0.8.0"),
        program_missing("prlimit"),
        failed_checks(BWRAP, ["saw files outside", "ran as you"]),
        no_bubblewrap([BWRAP]),
    ],
)
def test_every_text_is_made_of_short_lines_that_say_what_to_do(refusal: Refusal) -> None:
    lines = refusal.text().splitlines()
    assert lines[0].startswith("Cannot run untrusted bots: ")
    assert lines[0].endswith(". Nothing was started.")
    assert [line[:5] for line in lines if not line.startswith("     ")] == [
        "Canno",
        "Why: ",
        "Fix: ",
        "Or:  ",
    ]
    assert "\n" not in refusal.cause + refusal.why


def test_warning_without_a_sandbox_says_what_it_means() -> None:
    assert NO_SANDBOX_WARNING.startswith("WARNING: NO SANDBOX.")


def test_surroundings_are_those_of_this_machine() -> None:
    here = look_at_surroundings(root=True)
    assert here.root
    assert here.container == (Path("/.dockerenv").exists() or Path("/run/.containerenv").exists())
