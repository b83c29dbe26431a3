"""The system calls that a bot is refused, with their numbers and the reason for each.

What is not here is allowed: bots come in any language, and a list of what every runtime needs would
be lasting work. Numbers are those of the kernel's own tables: `unistd_64.h` for x86-64 and the
generic `unistd.h` for aarch64; from 424 on they are the same. A test compares them with the
headers of the machine it runs on.
"""

from __future__ import annotations

from collections.abc import Sequence
from errno import (
    EACCES,
    EAFNOSUPPORT,
    EINVAL,
    ENOLCK,
    ENOMEM,
    ENOSYS,
    ENOTTY,
    EPERM,
    EPROTONOSUPPORT,
)
from typing import Literal, NamedTuple

__all__ = ["CHECKS", "LAST_KNOWN", "REFUSALS", "Check", "Machine", "Refusal", "is_for_builds"]

Machine = Literal["x86_64", "aarch64"]

# Calls are added at the end, with one number on all machines. What came after Linux 6.7 answers as
# on an older kernel: among it are listmount, statmount and open_tree_attr, and nobody has read the
# rest for us.
LAST_KNOWN = 456


class Refusal(NamedTuple):
    """One system call that always fails; with an error of 0 it succeeds and does nothing.

    `x86_64` and `aarch64` are its numbers; None where that machine does not have it.
    """

    name: str
    x86_64: int | None
    aarch64: int | None
    errno: int
    reason: str

    def number(self, machine: Machine) -> int | None:
        """Return its number on a machine."""
        return self.x86_64 if machine == "x86_64" else self.aarch64


class Check(NamedTuple):
    """One system call whose argument decides; its low 32 bits are looked at, as the kernel does.

    Attributes:
        argument: which one, from 0.
        how: `any_bit`: refused if it has one of the bits of `values[0]`; `all_bits`: refused if it
            has a bit of every one of `values`; `one_of`: refused if it is one of `values`;
            `none_of`: refused unless it is one of `values`.
        pointer: an argument that must not be null for the call to be refused; None for none. Of
            these, `how` is `one_of` and there is one value.
    """

    name: str
    x86_64: int
    aarch64: int
    argument: int
    how: Literal["any_bit", "all_bits", "one_of", "none_of"]
    values: tuple[int, ...]
    errno: int
    reason: str
    pointer: int | None = None

    def number(self, machine: Machine) -> int:
        """Return its number on a machine."""
        return self.x86_64 if machine == "x86_64" else self.aarch64

    def refuses(self, arguments: Sequence[int]) -> bool:
        """Whether the call fails with these arguments."""
        if self.pointer is not None and not arguments[self.pointer]:
            return False
        low = arguments[self.argument] & 0xFFFF_FFFF
        if self.how == "any_bit":
            return bool(low & self.values[0])
        if self.how == "all_bits":
            return all(low & bit for bit in self.values)
        return (low in self.values) == (self.how == "one_of")


_TIMES = frozenset({"utime", "utimes", "futimesat", "utimensat"})
_INTERNET = "sockets and packets of all sandboxes are counted together, in /proc/net"


def is_for_builds(refused: Refusal | Check) -> bool:
    """Whether a build may use it all the same.

    It locks files and sets their times, and its programs speak to each other through sockets of an
    internet that ends in the sandbox. It runs before the games and alone, so there is nobody whom
    it could tell something.
    """
    return refused.errno == ENOLCK or refused.name in _TIMES or refused.reason == _INTERNET


def _all(
    errno: int, reason: str, *calls: tuple[str, int | None, int | None]
) -> tuple[Refusal, ...]:
    return tuple(Refusal(name, x86_64, aarch64, errno, reason) for name, x86_64, aarch64 in calls)


REFUSALS: tuple[Refusal, ...] = (
    *_all(
        EPERM,
        "changes what is mounted where, or leaves the sandbox's own view of the files",
        ("mount", 165, 40),
        ("umount2", 166, 39),
        ("pivot_root", 155, 41),
        ("chroot", 161, 51),
        ("open_tree", 428, 428),
        ("move_mount", 429, 429),
        ("fsopen", 430, 430),
        ("fsconfig", 431, 431),
        ("fsmount", 432, 432),
        ("fspick", 433, 433),
        ("mount_setattr", 442, 442),
        ("swapon", 167, 224),
        ("swapoff", 168, 225),
    ),
    *_all(
        EPERM,
        "opens a file by its number on the disk, past every folder",
        ("open_by_handle_at", 304, 265),
        ("name_to_handle_at", 303, 264),
    ),
    *_all(
        EPERM,
        "makes or enters a namespace, in which a bot would have rights again",
        ("unshare", 272, 97),
        ("setns", 308, 268),
    ),
    *_all(
        ENOSYS,
        "starts processes with flags that a filter can't read; libraries fall back to clone",
        ("clone3", 435, 435),
    ),
    *_all(
        EPERM,
        "reads, writes or steers another process; a traced process makes bubblewrap end",
        ("ptrace", 101, 117),
        ("process_vm_readv", 310, 270),
        ("process_vm_writev", 311, 271),
        ("process_madvise", 440, 440),
        ("process_mrelease", 448, 448),
        ("pidfd_getfd", 438, 438),
        ("kcmp", 312, 272),
    ),
    *_all(
        EPERM,
        "a large surface of the kernel that no game needs, with a history of escapes",
        ("bpf", 321, 280),
        ("perf_event_open", 298, 241),
        ("userfaultfd", 323, 282),
        ("lookup_dcookie", 212, 18),
        ("modify_ldt", 154, None),
        ("iopl", 172, None),
        ("ioperm", 173, None),
        ("uselib", 134, None),
        ("nfsservctl", 180, 42),
    ),
    *_all(
        ENOSYS,
        "a large surface of the kernel, and works around this filter; programs fall back",
        ("io_uring_setup", 425, 425),
        ("io_uring_enter", 426, 426),
        ("io_uring_register", 427, 427),
    ),
    *_all(
        EPERM,
        "keyrings outlive a game and are shared by all processes of a user",
        ("add_key", 248, 217),
        ("request_key", 249, 218),
        ("keyctl", 250, 219),
    ),
    *_all(
        ENOLCK,
        "a lock on a file that two sandboxes see is a message: 100 bits a second were measured",
        ("flock", 73, 32),
    ),
    *_all(
        EPERM,
        "tells of what others do with files that two sandboxes see",
        ("inotify_init", 253, None),
        ("inotify_init1", 294, 26),
        ("inotify_add_watch", 254, 27),
        ("inotify_rm_watch", 255, 28),
        ("fanotify_init", 300, 262),
        ("fanotify_mark", 301, 263),
        ("cachestat", 451, 451),
    ),
    *_all(
        ENOSYS,
        "counts against one limit of the whole machine, which one bot could take from all others",
        ("io_setup", 206, 0),
        ("io_destroy", 207, 1),
        ("io_getevents", 208, 4),
        ("io_submit", 209, 2),
        ("io_cancel", 210, 3),
        ("io_pgetevents", 333, 292),
    ),
    *_all(
        0,
        "keeps the host's disks busy; what a bot writes lies in memory, and nothing is to be done",
        ("sync", 162, 81),
        ("syncfs", 306, 267),
        ("fsync", 74, 82),
        ("fdatasync", 75, 83),
        ("sync_file_range", 277, 84),
    ),
    *_all(
        0,
        "throws files out of memory that other sandboxes read; it is advice, which need not help",
        ("fadvise64", 221, 223),
    ),
    *_all(
        EPERM,
        "sets the time of change of /dev/null, which is the same file in every sandbox",
        ("utime", 132, None),
        ("utimes", 235, None),
        ("futimesat", 261, None),
        ("utimensat", 280, 88),
    ),
    *_all(
        EPERM,
        "tells the memory and load of the whole machine, which another sandbox can change",
        ("sysinfo", 99, 179),
        ("quotactl", 179, 60),
        ("quotactl_fd", 443, 443),
        ("ustat", 136, None),
        ("sysfs", 139, None),
    ),
    *_all(
        EPERM,
        "memory of the kernel that no process's count shows",
        ("shmget", 29, 194),
        ("shmat", 30, 196),
        ("shmctl", 31, 195),
        ("shmdt", 67, 197),
        ("msgget", 68, 186),
        ("msgsnd", 69, 189),
        ("msgrcv", 70, 188),
        ("msgctl", 71, 187),
        ("semget", 64, 190),
        ("semop", 65, 193),
        ("semctl", 66, 191),
        ("semtimedop", 220, 192),
        ("mq_open", 240, 180),
        ("mq_unlink", 241, 181),
        ("mq_timedsend", 242, 182),
        ("mq_timedreceive", 243, 183),
        ("mq_notify", 244, 184),
        ("mq_getsetattr", 245, 185),
    ),
    *_all(
        ENOSYS,
        "memory that no process's count shows; programs fall back to a file",
        ("memfd_create", 319, 279),
        ("memfd_secret", 447, 447),
    ),
    *_all(
        EPERM,
        "keeps in a pipe what no process has any more: up to 2 MiB for each byte; write copies it",
        ("vmsplice", 278, 75),
    ),
    *_all(
        EPERM,
        "takes more of the processors than a bot's share, or keeps others from one",
        ("sched_setaffinity", 203, 122),
        ("sched_setscheduler", 144, 119),
        ("sched_setparam", 142, 118),
        ("sched_setattr", 314, 274),
        ("ioprio_set", 251, 30),
        ("mbind", 237, 235),
        ("set_mempolicy", 238, 237),
        ("set_mempolicy_home_node", 450, 450),
        ("migrate_pages", 256, 238),
        ("move_pages", 279, 239),
    ),
    *_all(
        EPERM,
        "changes the machine: modules, another kernel, clocks, names, logs",
        ("init_module", 175, 105),
        ("finit_module", 313, 273),
        ("delete_module", 176, 106),
        ("create_module", 174, None),
        ("query_module", 178, None),
        ("get_kernel_syms", 177, None),
        ("kexec_load", 246, 104),
        ("kexec_file_load", 320, 294),
        ("reboot", 169, 142),
        ("settimeofday", 164, 170),
        ("clock_settime", 227, 112),
        ("clock_adjtime", 305, 266),
        ("adjtimex", 159, 171),
        ("sethostname", 170, 161),
        ("setdomainname", 171, 162),
        ("acct", 163, 89),
        ("syslog", 103, 116),
        ("vhangup", 153, 58),
        ("_sysctl", 156, None),
        ("vserver", 236, None),
    ),
)

_NEW_NAMESPACES = 0x7E02_0000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_FAMILIES = "netlink, vsock, packet and the rare families reach the host or its kernel"
# Of what others do with a file nothing is set, asked or told: DUPFD, GETFD, SETFD, GETFL, SETFL,
# the locks (see below), SETOWN to GETSIG, SETOWN_EX to GETOWNER_UIDS, DUPFD_QUERY, CREATED_QUERY,
# DUPFD_CLOEXEC, GETPIPE_SZ, ADD_SEALS, GET_SEALS.
_LOCKS = (5, 6, 7, 36, 37, 38)  # F_GETLK, F_SETLK, F_SETLKW; the same for open files
_FCNTLS = (0, 1, 2, 3, 4, *_LOCKS, 8, 9, 10, 11, 15, 16, 17, 1027, 1028, 1030, 1032, 1033, 1034)
# FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, SIOCOUTQ, and questions about a network's devices.
_IOCTLS = (
    *(0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x5411),
    *(0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891B, 0x891D, 0x8921, 0x8927, 0x8933),
)
# See `sandboxes.py`: it is 1, and any other value calls the handler.
_CORE = "a crash would be looked at by a program of root's, outside of the sandbox"

CHECKS: tuple[Check, ...] = (
    Check(
        "clone", 56, 220, 0, "any_bit", (_NEW_NAMESPACES,), EPERM,
        "makes a namespace, in which a bot would have rights again",
    ),
    Check(
        "socket", 41, 198, 0, "none_of", (_AF_UNIX, _AF_INET, _AF_INET6), EAFNOSUPPORT, _FAMILIES,
    ),
    Check(
        "socket", 41, 198, 0, "one_of", (_AF_INET, _AF_INET6), EAFNOSUPPORT, _INTERNET,
    ),
    Check(
        "socket", 41, 198, 2, "none_of", (0, 1, 6, 17), EPROTONOSUPPORT,  # of its family; TCP, UDP
        "makes the kernel load the modules of rare protocols, with a history of escapes",
    ),
    Check(
        "socketpair", 53, 199, 0, "none_of", (_AF_UNIX, _AF_INET, _AF_INET6), EAFNOSUPPORT,
        _FAMILIES,
    ),
    Check(
        "ioctl", 16, 29, 1, "one_of", (0x5412, 0x541C), EPERM,  # TIOCSTI, TIOCLINUX
        "types into a terminal, as if a person had",
    ),
    Check(
        "ioctl", 16, 29, 1, "none_of", _IOCTLS, ENOTTY,
        "file systems and devices take orders by it that need no right to write; no bot has one",
    ),
    Check(
        "fcntl", 72, 25, 1, "one_of", _LOCKS, ENOLCK,
        "as flock; /dev/null can be opened for writing and is the same file in every sandbox",
    ),
    Check(
        "fcntl", 72, 25, 1, "one_of", (1024, 1025, 1026), EACCES,
        # F_SETLEASE, F_GETLEASE, F_NOTIFY
        "leases and notices tell of what others do with files that two sandboxes see",
    ),
    Check(
        "fcntl", 72, 25, 1, "one_of", (1031,), EPERM,  # F_SETPIPE_SZ
        "memory for pipes is counted for each user: one bot's large pipes make the others' small",
    ),
    Check(
        "fcntl", 72, 25, 1, "none_of", _FCNTLS, EINVAL,
        "sets and tells marks on a file that two sandboxes see (F_SET_RW_HINT), or is new",
    ),
    Check(
        "madvise", 28, 233, 2, "one_of", (12,), EINVAL,  # MADV_MERGEABLE
        "tells by the time of a write whether another sandbox has the same page in memory",
    ),
    Check(
        "mmap", 9, 222, 3, "all_bits", (0x1, 0x20), EPERM,  # MAP_SHARED, MAP_ANONYMOUS
        "memory that stays when all but a page of it is given back: no process's count shows it",
    ),
    Check(
        "mmap", 9, 222, 3, "any_bit", (0x4_0000,), ENOMEM,  # MAP_HUGETLB
        "the machine's reserve of huge pages, which no process's count shows",
    ),
    Check(
        "msync", 26, 227, 2, "any_bit", (4,), 0,  # MS_SYNC
        "as fsync, for a file that is mapped into memory",
    ),
    Check(
        "setrlimit", 160, 164, 0, "one_of", (4,), EPERM, _CORE,  # RLIMIT_CORE
    ),
    Check(
        "prlimit64", 302, 261, 1, "one_of", (4,), EPERM, _CORE, pointer=2,  # null: only asked
    ),
    Check(
        "personality", 135, 92, 0, "none_of", (0, 0xFFFF_FFFF), EPERM,  # plain Linux; asking
        "switches protections of memory off, or to another system's rules",
    ),
    Check(
        "prctl", 157, 167, 0, "one_of", (62,), EPERM,  # PR_SCHED_CORE
        "keeps the referee off the other half of a processor core",
    ),
    Check(
        "prctl", 157, 167, 0, "one_of", (67,), EINVAL,  # PR_SET_MEMORY_MERGE
        "as MADV_MERGEABLE, for all of a process",
    ),
)  # fmt: skip
