"""A filter of system calls for the kernel, made from the table in `system_calls.py`.

The program is classic BPF over `struct seccomp_data`: number, machine, six arguments of 64 bits. It
uses plain compares alone, so that a kernel from 5.11 on works out once which numbers are always
allowed and does not run the program for those again: reading, writing and waiting cost nothing.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

from arena.errors import ConfigError
from arena.sandbox.system_calls import (
    CHECKS,
    LAST_KNOWN,
    REFUSALS,
    Check,
    Machine,
    is_for_builds,
)

__all__ = ["AUDIT_ARCHES", "filter_program", "this_machine"]

AUDIT_ARCHES: dict[Machine, int] = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}

_X32_BIT = 0x4000_0000  # numbers of the 32-bit calls of an x86-64 process
_ENOSYS = 38

# Places in struct seccomp_data.
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16

# BPF opcodes: load a 32-bit word; jump if equal, greater, greater or equal, any bit set; return.
_LOAD, _JEQ, _JGT, _JGE, _JSET, _RET = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06

_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF_0000, 0x0005_0000, 0x8000_0000

_Step = tuple[int, int, int, int]  # opcode, steps to skip if true, if false, number


def this_machine() -> Machine:
    """Return the machine that this program runs on.

    Raises:
        ConfigError: if there is no table for it.
    """
    machine = platform.machine()
    if machine == "x86_64":
        return "x86_64"
    if machine == "aarch64":
        return "aarch64"
    raise ConfigError(f"there is no table of system calls for {machine}, only x86_64 and aarch64")


@lru_cache(maxsize=4)
def filter_program(machine: Machine, *, building: bool = False) -> bytes:
    """Return the filter as bytes, 8 an instruction, as `bwrap --seccomp` reads it.

    A call of another machine (32-bit ones too) ends the process with SIGSYS, since its numbers mean
    something else; x32 numbers and those that are newer than the table fail as on a kernel without
    them; the refusals and checks of the table fail with their error; everything else is allowed.

    Args:
        machine: whose numbers.
        building: whether it is for a bot's build, which may do a little more.
    """
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, AUDIT_ARCHES[machine]),
        (_RET, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [(_JGE, 0, 1, _X32_BIT), (_RET, 0, 0, _ERRNO | _ENOSYS)]
    steps += [(_JGT, 0, 1, LAST_KNOWN), (_RET, 0, 0, _ERRNO | _ENOSYS)]
    for number, checks in groupby(
        sorted(
            (check for check in CHECKS if not (building and is_for_builds(check))),
            key=lambda c: c.number(machine),
        ),
        lambda c: c.number(machine),
    ):
        inner = _checks(list(checks))
        steps += [(_JEQ, 0, len(inner), number), *inner]
    for refusal in REFUSALS:
        refused = refusal.number(machine)
        if refused is not None and not (building and is_for_builds(refusal)):
            steps += [(_JEQ, 0, 1, refused), (_RET, 0, 0, _ERRNO | refusal.errno)]
    steps.append((_RET, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def _checks(checks: Iterable[Check]) -> list[_Step]:
    """Return the steps for one number: each ends the program."""
    steps: list[_Step] = []
    for check in checks:
        # The low word of the argument comes first: both machines are little-endian. The kernel
        # itself looks at 32 bits of these; whoever compared 64 let the call through with the rest.
        steps.append((_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * check.argument))
        refuse: _Step = (_RET, 0, 0, _ERRNO | check.errno)
        if check.pointer is not None:
            low = _FIRST_ARGUMENT + 8 * check.pointer
            steps += [(_JEQ, 0, 5, check.values[0]), (_LOAD, 0, 0, low), (_JEQ, 0, 2, 0)]
            steps += [(_LOAD, 0, 0, low + 4), (_JEQ, 1, 0, 0), refuse]
        elif check.how == "any_bit":
            steps += [(_JSET, 0, 1, check.values[0]), refuse]
        elif check.how == "all_bits":
            left = len(check.values)
            for bit in check.values:
                steps.append((_JSET, 0, left, bit))  # over what is left, and the refusal
                left -= 1
            steps.append(refuse)
        elif check.how == "one_of":
            for value in check.values:
                steps += [(_JEQ, 0, 1, value), refuse]
        else:
            left = len(check.values)
            for value in check.values:
                steps.append((_JEQ, left, 0, value))  # over what is left, and the refusal
                left -= 1
            steps.append(refuse)
    return [*steps, (_RET, 0, 0, _ALLOW)]
