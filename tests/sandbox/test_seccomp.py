"""The filter of system calls: its bytes, taken apart and run, against its table."""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.sandbox.seccomp import AUDIT_ARCHES, filter_program, this_machine
from arena.sandbox.system_calls import CHECKS, LAST_KNOWN, REFUSALS, Check, Machine, Refusal
from tests.tools import need_that

MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
ENOSYS = 38
LOAD, JEQ, JGT, JGE, JSET, RET = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
I386, ARM = 0x40000003, 0x40000028
SAMPLES = (0, 1, 2, 5, 10, 16, 40, 62, 0x11, 0x5412, 0x541C, 0x8000_0000, 0xFFFF_FFFF)


def steps(program: bytes) -> list[tuple[int, int, int, int]]:
    return [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]


def run(program: bytes, arch: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run a filter as the kernel does, and return what it returns."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number & 0xFFFF_FFFF, arch, 0, *padded)
    code = steps(program)
    accumulator = at = 0
    while True:
        op, if_true, if_false, k = code[at]
        at += 1
        if op == LOAD:
            accumulator = struct.unpack_from("<I", data, k)[0]
        elif op == RET:
            return k
        else:
            holds = {
                JEQ: accumulator == k,
                JGT: accumulator > k,
                JGE: accumulator >= k,
                JSET: bool(accumulator & k),
            }[op]
            at += if_true if holds else if_false


def expected(machine: Machine, number: int, arguments: tuple[int, ...]) -> int:
    """Return what the table says, read as simply as possible."""
    if machine == "x86_64" and number >= 0x4000_0000:
        return ERRNO | ENOSYS
    if number > LAST_KNOWN:
        return ERRNO | ENOSYS
    for refusal in REFUSALS:
        if refusal.number(machine) == number:
            return ERRNO | refusal.errno
    for check in CHECKS:
        if check.number(machine) == number and check.refuses(arguments):
            return ERRNO | check.errno
    return ALLOW


def headers(machine: Machine) -> Iterator[tuple[str, int]]:
    """Give the kernel's own table, if its headers are here."""
    places = {
        "x86_64": sorted(Path("/usr/include").glob("**/unistd_64.h")),
        "aarch64": sorted(Path("/usr/include").glob("asm-generic/unistd.h")),
    }[machine]
    need_that(bool(places), f"kernel headers {machine}", f"no kernel headers for {machine} here")
    for found in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", places[0].read_text()):
        if found[1] != "syscalls":  # how many there are
            yield found[1], int(found[2])


@pytest.mark.parametrize("machine", MACHINES)
def test_filter_does_what_the_table_says_for_every_number(machine: Machine) -> None:
    program = filter_program(machine)
    values = {*SAMPLES, *(value for check in CHECKS for value in check.values)}
    values |= {value + 1 for value in values} | {value | 1 << 40 for value in values}
    checked = {check.number(machine) for check in CHECKS}
    for number in (*range(600), 0x4000_0000, 0x4000_0000 + 101, 0x7FFF_FFFF, 0xFFFF_FFFF):
        for value in values if number in checked else SAMPLES:
            arguments = (value,) * 6
            found = run(program, AUDIT_ARCHES[machine], number, arguments)
            assert found == expected(machine, number, arguments), (number, hex(value))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("arch", [I386, ARM, 0, *AUDIT_ARCHES.values()])
def test_filter_kills_on_a_call_of_another_machine(machine: Machine, arch: int) -> None:
    for number in (0, 1, 11, 0x4000_0001):
        killed = run(filter_program(machine), arch, number) == KILL
        assert killed == (arch != AUDIT_ARCHES[machine])


@pytest.mark.parametrize("machine", MACHINES)
def test_filter_is_a_program_that_the_kernel_takes(machine: Machine) -> None:
    """Known opcodes; jumps forward and inside; words of the data alone; an end behind each path."""
    code = steps(filter_program(machine))
    assert len(code) <= 4096
    for at, (op, if_true, if_false, k) in enumerate(code):
        assert op in {LOAD, JEQ, JGT, JGE, JSET, RET}
        if op == LOAD:
            assert k % 4 == 0
            assert 0 <= k < 64
        if op not in {LOAD, RET}:
            assert at + 1 + max(if_true, if_false) < len(code)
    assert code[-1][0] == RET


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_the_kernels_headers(machine: Machine) -> None:
    there = dict(headers(machine))
    newest = max(there.values())
    ours = {refusal.name: refusal.number(machine) for refusal in REFUSALS}
    ours |= {check.name: check.number(machine) for check in CHECKS}
    for name, number in ours.items():
        if number is None:
            assert name not in there, name
        elif number <= newest:
            assert there[name] == number, name


def test_no_number_is_in_the_table_twice() -> None:
    for machine in MACHINES:
        numbers = [n for n in (r.number(machine) for r in REFUSALS) if n is not None]
        assert len(set(numbers)) == len(numbers)
        assert not set(numbers) & {check.number(machine) for check in CHECKS}
    assert len({refusal.name for refusal in REFUSALS}) == len(REFUSALS)


def test_every_refusal_has_a_reason_and_an_error() -> None:
    told = [(entry.reason, entry.errno) for entry in REFUSALS]
    told += [(entry.reason, entry.errno) for entry in CHECKS]
    for reason, errno in told:
        assert len(reason) > 20
        assert 0 <= errno < 4096


@pytest.mark.parametrize(
    ("how", "values", "refused", "allowed"),
    [
        ("any_bit", (0x6,), (0x2, 0x4, 0x7, 0x1_0000_0002), (0x1, 0x8, 0x1_0000_0000)),
        ("all_bits", (0x1, 0x20), (0x21, 0x23, 0x1_0000_0021), (0x1, 0x20, 0x22, 0x1_0000_0020)),
        ("one_of", (5, 7), (5, 7, 0x1_0000_0005), (6, 0)),
        ("none_of", (5, 7), (6, 0), (5, 7, 0x1_0000_0007)),
    ],
)
def test_check_looks_at_the_low_half_of_an_argument(
    how: str, values: tuple[int, ...], refused: tuple[int, ...], allowed: tuple[int, ...]
) -> None:
    """Else a call with rubbish in the high half, which the kernel ignores, would pass."""
    check = Check("it", 1, 1, 0, how, values, 1, "")  # type: ignore[arg-type]
    assert all(check.refuses((value,)) for value in refused)
    assert not any(check.refuses((value,)) for value in allowed)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_limit_of_core_files_may_be_asked_for_and_not_set(machine: Machine) -> None:
    number = {"x86_64": 302, "aarch64": 261}[machine]
    arch, program = AUDIT_ARCHES[machine], filter_program(machine)
    for kind in (0, 3, 4, 5):
        for pointer in (0, 1, 1 << 32, 0xFFFF_FFFF):
            refused = kind == 4 and pointer != 0
            found = run(program, arch, number, (0, kind, pointer, 0))
            assert found == (ERRNO | 1 if refused else ALLOW)


def test_a_check_of_a_pointer_has_one_value() -> None:
    for check in CHECKS:
        assert check.pointer is None or (check.how, len(check.values)) == ("one_of", 1)


def test_runtimes_keep_what_they_need() -> None:
    """Reading, writing, threads and waiting are allowed on both machines, whatever is added."""
    needed = {"read": (0, 63), "write": (1, 64), "futex": (202, 98), "mmap": (9, 222)}
    needed |= {"execve": (59, 221), "epoll_create1": (291, 20), "pipe2": (293, 59)}
    needed |= {"getrandom": (318, 278), "rseq": (334, 293), "prlimit64": (302, 261)}
    for numbers in needed.values():
        for machine, number in zip(MACHINES, numbers, strict=True):
            assert run(filter_program(machine), AUDIT_ARCHES[machine], number) == ALLOW


def test_a_thread_may_be_made_and_a_namespace_not() -> None:
    thread = 0x3D0F00  # what glibc passes for pthread_create
    for machine, number in zip(MACHINES, (56, 220), strict=True):
        arch, program = AUDIT_ARCHES[machine], filter_program(machine)
        assert run(program, arch, number, (thread,)) == ALLOW
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            assert run(program, arch, number, (thread | flag,)) == ERRNO | 1


def test_memory_may_be_private_or_a_files_and_not_shared_of_nothing() -> None:
    """Of such, and of huge pages, a process may hold any amount that no count shows."""
    shared, private, anonymous, huge = 0x1, 0x2, 0x20, 0x4_0000
    for machine, number in zip(MACHINES, (9, 222), strict=True):
        arch, program = AUDIT_ARCHES[machine], filter_program(machine)
        for flags in (private, shared, private | anonymous, private | anonymous | 0x4000):
            assert run(program, arch, number, (0, 4096, 3, flags)) == ALLOW
        for flags in (shared | anonymous, shared | private | anonymous, shared | anonymous | huge):
            assert run(program, arch, number, (0, 4096, 3, flags)) == ERRNO | 1
        for flags in (private | anonymous | huge, shared | huge):
            assert run(program, arch, number, (0, 4096, 3, flags)) == ERRNO | 12


@pytest.mark.parametrize("machine", MACHINES)
def test_a_build_may_lock_files_set_times_and_speak_to_itself_and_nothing_else(
    machine: Machine,
) -> None:
    bots, builds = filter_program(machine), filter_program(machine, building=True)
    lifted = set()
    entries: list[Refusal | Check] = [*REFUSALS, *CHECKS]
    for entry in entries:
        number = entry.number(machine)
        check = entry if isinstance(entry, Check) else None
        for value in (0, *(check.values if check else ())):
            arguments = tuple(value if check and at == check.argument else 0 for at in range(6))
            arch = AUDIT_ARCHES[machine]
            was = run(bots, arch, number or 0, arguments)
            now = run(builds, arch, number or 0, arguments)
            if was != now:
                assert now == ALLOW
                lifted.add((entry.name, value))
    times = {"utime", "utimes", "futimesat", "utimensat"} if machine == "x86_64" else {"utimensat"}
    locks = {("fcntl", command) for command in (5, 6, 7, 36, 37, 38)}
    internet = {("socket", family) for family in (2, 10)}
    assert lifted == {(name, 0) for name in (*times, "flock")} | locks | internet


def test_an_unknown_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ConfigError, match="riscv64"):
        this_machine()


@pytest.mark.parametrize("machine", MACHINES)
def test_machines_are_known_by_name(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert this_machine() == machine
