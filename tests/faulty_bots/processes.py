"""Bots that go for other processes and for the kernel: E1 to E3, E15 to E20, a row a name."""

# No pathlib: it takes longer to load than these bots to start.
# ruff: noqa: PTH101, PTH103, PTH115, PTH208, S103, S108

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import shutil
import signal
import stat
import struct
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from attempts import ARM, LIBC, Attempt, call, everybody, opens, packed, raised, read

PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
MOST_PIDS = 100_000
MOST_S = 3
NEW = {  # flags of clone and unshare
    "time": 0x80,
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
REMOUNT, BIND, READ_ONLY, NO_DEVICES = 0x20, 0x1000, 0x1, 0x4
CALLED_OUT = 128 + signal.SIGSYS


class Processes(Attempt):
    """Goes for others, and for the kernel."""

    # --- E1 -----------------------------------------------------------------------------------

    def kill_parent(self) -> None:
        """E1: kill the parent, the first process, everybody, and the decoy of the test."""
        for pid in (self.given["decoy"], self.given["referee"]):
            self.tries(f"signal {pid}", os.kill, pid, 0)
        if not self.shut_in:
            self.got.append("sees the processes of the machine")
            return
        self.tries("kill the decoy", os.kill, self.given["decoy"], signal.SIGKILL)
        self.tries("kill the decoy's group", os.killpg, self.given["decoy"], signal.SIGKILL)
        own = {os.getpid(), os.getppid()}
        seen = []
        for pid in range(1, MOST_PIDS):
            if pid not in own:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    seen.append(pid)
        self.saw["killed"] = seen
        for pid in (os.getppid(), 1):
            with suppress(OSError):  # whoever is first in a sandbox takes no signal from inside
                os.kill(pid, signal.SIGKILL)
        with suppress(OSError):
            os.kill(-1, signal.SIGKILL)  # all but oneself
        self.saw["parent"] = os.getppid()

    def kill_group(self) -> None:
        """E1: kill the own group, and so itself."""
        if self.shut_in:
            os.kill(0, signal.SIGKILL)

    # --- E2 -----------------------------------------------------------------------------------

    def ptrace(self) -> None:
        """E2: attach to others and read their memory."""
        child = os.fork()
        if not child:
            signal.alarm(MOST_S)
            signal.pause()
        decoy = self.given["decoy"]
        for pid in (child, decoy, *(everybody() if self.shut_in else ())):
            for how in (PTRACE_SEIZE, PTRACE_ATTACH):
                self.tries(
                    f"ptrace {pid}", lambda pid=pid, how=how: raised(LIBC.ptrace(how, pid, 0, 0))
                )
            self.tries(f"process_vm_readv {pid}", self.read_memory, pid)
            self.tries(f"pidfd_getfd {pid}", self.steal_file, pid)
            self.tries(f"kcmp {pid}", call, 312, 272, pid, os.getpid(), 0, 0, 0)
            if pid != child:
                for flags in (os.O_RDONLY, os.O_RDWR):
                    self.tries(f"/proc/{pid}/mem", opens, f"/proc/{pid}/mem", flags)
        self.tries("trace me", lambda: raised(LIBC.ptrace(0, 0, 0, 0)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    def read_memory(self, pid: int) -> int:
        """Read eight bytes of another process."""
        room = ctypes.create_string_buffer(8)
        ours = (ctypes.c_void_p * 2)(ctypes.addressof(room), 8)
        theirs = (ctypes.c_void_p * 2)(id(room), 8)
        return call(310, 270, pid, ours, 1, theirs, 1, 0)

    def steal_file(self, pid: int) -> int:
        """Take an open file of another process."""
        fd = os.pidfd_open(pid)
        try:
            return call(438, 438, fd, 0, 0)
        finally:
            os.close(fd)

    # --- E3 -----------------------------------------------------------------------------------

    def peek_proc(self) -> None:
        """E3: read all that /proc tells of anybody."""
        loot = b""
        self.saw["pids"] = everybody()
        for pid in (*self.saw["pids"], "self"):
            for name in (
                *("cmdline", "environ", "maps", "mountinfo", "mounts", "status", "cgroup", "comm"),
                *("auxv", "stack", "syscall", "sched", "limits", "uid_map", "net/unix", "net/tcp"),
            ):
                with suppress(OSError):
                    loot += read(f"/proc/{pid}/{name}")
            for name in ("cwd", "root", "exe"):
                with suppress(OSError):
                    loot += os.readlink(f"/proc/{pid}/{name}").encode() + b"\n"
            for folder in (f"/proc/{pid}/fd", f"/proc/{pid}/map_files", f"/proc/{pid}/ns"):
                with suppress(OSError):
                    for name in os.listdir(folder):
                        loot += os.readlink(f"{folder}/{name}").encode() + b"\n"
        for name in ("cmdline", "mounts", "modules", "keys", "locks", "version"):
            with suppress(OSError):
                loot += read(f"/proc/{name}")
        for pid in (self.given["decoy"], self.given["referee"]):
            self.tries(f"/proc/{pid}", os.listdir, f"/proc/{pid}")
        self.saw["loot"] = packed(loot)

    # --- E15 ----------------------------------------------------------------------------------

    def setuid(self) -> None:
        """E15: become root, by oneself or through a program that may."""
        for name, become in (
            ("setuid", lambda: os.setuid(0)),
            ("setgid", lambda: os.setgid(0)),
            ("setresuid", lambda: os.setresuid(0, 0, 0)),
            ("setgroups", lambda: os.setgroups([0])),
            ("setreuid", lambda: os.setreuid(0, 0)),
            ("setfsuid", self.file_user),
            ("ambient rights", lambda: raised(LIBC.prctl(47, 2, 21, 0, 0))),
            ("rights", self.ask_for_rights),
        ):
            self.tries(name, become)
        for words in (["sudo", "-n", "id"], ["su", "-c", "id"], ["pkexec", "id"]):
            self.runs(words)
        self.saw["setuid programs"] = self.programs_of_root()
        self.saw["mounts that heed setuid"] = [
            line.split()[4]
            for line in read("/proc/self/mountinfo", 1 << 20).decode().splitlines()
            if "nosuid" not in line.split()[5]
        ]
        for path in self.saw["setuid programs"][:8]:
            self.becomes_root(path)
        own = "/tmp/it"
        shutil.copyfile("/usr/bin/id", own)
        self.tries("own setuid program for root", os.chown, own, 0, 0)
        os.chmod(own, 0o4755)
        self.tries("file rights", os.setxattr, own, "security.capability", bytes(20))

    def file_user(self) -> None:
        """Open files as root."""
        LIBC.setfsuid(0)
        if LIBC.setfsuid(-1) != 0:
            raise OSError(1, "refused")

    def ask_for_rights(self) -> None:
        """Ask for all rights there are."""
        head = struct.pack("Ii", 0x20080522, 0)
        call(126, 91, head, b"\xff" * 24)

    def runs(self, words: list[str]) -> None:
        """Try a program that gives rights."""
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=MOST_S,
                check=False,
            )
            if done.returncode == 0:
                self.got.append(" ".join(words))

    def programs_of_root(self) -> list[str]:
        """Return the setuid programs in sight."""
        found = []
        for folder in ("/usr/bin", "/usr/sbin", "/usr/local/bin"):
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if entry.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
                            found.append(entry.path)
        return sorted(found)

    def becomes_root(self, path: str) -> None:
        """Start a setuid program and look at whom it runs as, while it waits for input."""
        with suppress(OSError):
            process = subprocess.Popen(
                [path],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            with process, suppress(OSError):
                status = read(f"/proc/{process.pid}/status").decode()
                (line,) = (line for line in status.splitlines() if line.startswith("Uid:"))
                if "0" in line.split()[1:]:
                    self.got.append(f"{path} runs as root")
                process.kill()

    # --- E16, E17, E18 ------------------------------------------------------------------------

    def mount(self) -> None:
        """E16: change what is mounted."""
        own = "/tmp/at"
        os.makedirs(own, exist_ok=True)
        for what, arguments in {
            "tmpfs": (b"none", own.encode(), b"tmpfs", 0, None),
            "proc": (b"proc", own.encode(), b"proc", 0, None),
            "overlay": (b"none", own.encode(), b"overlay", 0, b"lowerdir=/usr:/bot"),
            "bind /proc": (b"/proc", own.encode(), None, BIND, None),
            "bind /dev/null": (b"/dev/null", b"/proc/self/status", None, BIND, None),
            "remount /": (b"none", b"/", None, REMOUNT | BIND, None),
            "remount /bot": (b"none", b"/bot", None, REMOUNT | BIND, None),
            "remount /usr": (b"none", b"/usr", None, REMOUNT | BIND, None),
            "remount /tmp": (b"none", b"/tmp", None, REMOUNT, b"size=1g"),
        }.items():
            self.tries(what, lambda arguments=arguments: raised(LIBC.mount(*arguments)))
        for place in (b"/proc/meminfo", b"/proc/sys", b"/proc/1", b"/dev", b"/bot", b"/tmp"):
            self.tries(f"umount {place!r}", lambda place=place: raised(LIBC.umount2(place, 2)))
        self.tries("pivot_root", call, 155, 41, b"/tmp", b"/tmp/at")
        self.tries("open_tree", call, 428, 428, -100, b"/proc", 1)
        self.tries("fsopen", call, 430, 430, b"tmpfs", 0)
        self.tries("fspick", call, 433, 433, -100, b"/", 0)
        self.tries("move_mount", call, 429, 429, -100, b"/bot", -100, b"/tmp/at", 0)
        self.tries("mount_setattr", call, 442, 442, -100, b"/bot", 0, bytes(32), 32)
        for words in (["mount", "-t", "tmpfs", "none", own], ["umount", "-l", "/proc/sys"]):
            self.runs(words)

    def chroot(self) -> None:
        """E17: leave the view of the files."""
        self.tries("chroot", os.chroot, "/tmp")
        fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            for _ in range(64):
                os.chdir("..")
            self.saw["far up"] = sorted(os.listdir("."))
            os.chdir("/bot")
            self.tries("openat above", os.open, "../../../../home", os.O_RDONLY, 0o600)
            handle = struct.pack("Ii128s", 128, 0, b"")
            mount_id = ctypes.c_int()
            self.tries("handle", call, 303, 264, fd, b"usr", handle, ctypes.byref(mount_id), 0)
            for inode in (2, 128, 256):  # a root folder's, on the usual file systems
                handle = struct.pack("IiQI", 12, 1, inode, 0)
                self.tries("open by handle", call, 304, 265, fd, handle, os.O_RDONLY)
        finally:
            os.close(fd)

    def userns(self) -> None:
        """E18: make or enter namespaces."""
        for name, flag in NEW.items():
            self.tries(f"unshare {name}", lambda flag=flag: raised(LIBC.unshare(flag)))
            if name != "time":
                self.tries(f"clone {name}", self.clones, 56, 220, flag | signal.SIGCHLD)
            self.tries(f"clone3 {name}", self.clones3, flag)
        for name in os.listdir("/proc/self/ns"):
            fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
            self.tries(f"setns {name}", lambda fd=fd: raised(LIBC.setns(fd, 0)))
            self.tries(f"parent of {name}", fcntl.ioctl, fd, 0xB702)  # NS_GET_PARENT
            self.tries(f"owner of {name}", fcntl.ioctl, fd, 0xB701)  # NS_GET_USERNS
            os.close(fd)
        for words in (["unshare", "-Ur", "true"], ["nsenter", "-t", "1", "-m", "true"]):
            self.runs(words)
        self.runs(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"])

    def clones(self, x86: int, arm: int, flags: int) -> int:
        """Start a process in a namespace of its own; it ends at once."""
        pid = call(x86, arm, flags, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return pid

    def clones3(self, flag: int) -> int:
        """Start one with the newer call."""
        pid = call(435, 435, struct.pack("QQQQQQQQQQQ", flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)
        if pid == 0:
            os._exit(0)
        return pid

    # --- E19 ----------------------------------------------------------------------------------

    def sysctl(self) -> None:
        """E19: open the kernel's settings for writing, and write nothing."""
        named = [
            *("kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "vm/drop_caches"),
            *("fs/binfmt_misc/register", "net/ipv4/ip_forward", "user/max_user_namespaces"),
        ]
        paths = [f"/proc/sys/{name}" for name in named]
        paths += ["/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/scsi/scsi"]
        paths += ["/sys/kernel/uevent_helper", "/sys/power/state", "/sys/fs/cgroup/cgroup.procs"]
        for top in ("/proc", "/sys"):
            for folder, folders, files in os.walk(top):
                if folder == "/proc":
                    folders[:] = [name for name in folders if not name.isdigit()]
                paths += [f"{folder}/{name}" for name in files]
        own = ("/proc/self", "/proc/thread-self", "/proc/mounts")
        for path in paths:
            if not path.startswith(own):
                self.tries(path, opens, path, os.O_WRONLY)
        self.saw["paths"] = len(paths)

    # --- E20 ----------------------------------------------------------------------------------

    def odd_calls(self) -> None:
        """E20: calls with a history; arguments do no harm where they are let through."""
        bad = ctypes.c_void_p(8)
        for name, numbers, arguments in (
            ("io_uring_setup", (425, 425), (4, bytes(120))),
            ("io_setup", (206, 0), (1, ctypes.byref(ctypes.c_ulong(0)))),
            ("bpf", (321, 280), (9_999, None, 0)),
            ("bpf map", (321, 280), (0, struct.pack("IIII16x", 2, 4, 4, 1), 32)),
            ("perf_event_open", (298, 241), (bytes(128), 0, -1, -1, 0)),
            ("userfaultfd", (323, 282), (1,)),
            ("personality", (135, 92), (0x0040000,)),
            ("init_module", (175, 105), (None, 0, b"")),
            ("finit_module", (313, 273), (-1, b"", 0)),
            ("delete_module", (176, 106), (b"no such module", 0)),
            ("kexec_load", (246, 104), (0, 99, None, -1)),
            ("kexec_file_load", (320, 294), (-1, -1, 0, None, -1)),
            ("reboot", (169, 142), (0, 0, 0, None)),
            ("swapon", (167, 224), (b"/no such file", 0)),
            ("acct", (163, 89), (b"/no such file",)),
            ("syslog", (103, 116), (10, None, 0)),
            ("settimeofday", (164, 170), (bad, bad)),
            ("clock_settime", (227, 112), (0, bad)),
            ("sethostname", (170, 161), (b"", -1)),
            ("keyctl", (250, 219), (0, -3, 0)),
            ("lookup_dcookie", (212, 18), (0, bad, 0)),
            ("memfd_secret", (447, 447), (0,)),
            ("iopl", (172, None), (3,)),
            ("ioperm", (173, None), (0x80, 1, 1)),
            ("modify_ldt", (154, None), (0, bad, 0)),
            ("sysinfo", (99, 179), (ctypes.create_string_buffer(256),)),
            ("newer than the table", (467, 467), (0, 0, 0, 0)),
            ("x32 getpid", (0x4000_0027, None), ()),
            ("x32 execve", (0x4000_0208, None), (b"/bin/true", None, None)),
        ):
            self.refused(name, call, *numbers, *arguments)
        for name, number in (("flags", 0x80086601), ("keys", 0xC0506617), ("entropy", 0x80045200)):
            fd = os.open("/dev/urandom" if name == "entropy" else "/usr/bin", os.O_RDONLY)
            self.refused(name, fcntl.ioctl, fd, number, bytes(128))
            os.close(fd)

    def refused(self, name: str, attempt: Callable[..., Any], *args: Any) -> None:
        """Note down a call that was not refused outright, by the filter or for lack of rights."""
        try:
            attempt(*args)
        except OSError as exc:
            if exc.errno in {1, 13, 25, 38}:  # EPERM, EACCES, ENOTTY, ENOSYS
                return
            name = f"{name}: {exc}"
        self.got.append(name)

    def calls_32(self) -> None:
        """E20: a call of a 32-bit program, from a 64-bit one; it ends the child that makes it."""
        child = os.fork()
        if not child:
            signal.alarm(MOST_S)
            os._exit(0 if getpid_32() == os.getpid() else 1)
        _, status = os.waitpid(child, 0)
        self.saw["status"] = os.waitstatus_to_exitcode(status)


def getpid_32() -> int:
    """Make system call 20 of a 32-bit x86 program, which is `getpid`."""
    if ARM:
        return -1
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20; int 0x80; ret
    rights = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, rights)
    page.write(code)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return int(ctypes.CFUNCTYPE(ctypes.c_int)(at)())


if __name__ == "__main__":
    Processes().run()
