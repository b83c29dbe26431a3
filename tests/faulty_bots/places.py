"""Bots that go for files, devices and what others left: E4 to E6, E9, E11, E21 to E25."""

# No pathlib: it takes longer to load than these bots to start.
# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH113, PTH115, PTH119, PTH120, PTH208, PTH211, S103, S108

from __future__ import annotations

import fcntl
import os
import stat
import struct
import termios
from contextlib import suppress

from attempts import Attempt, call, everybody, opens, read

KEY = 0x6172656E
RINGS = {"thread": -1, "process": -2, "session": -3, "user": -4, "user session": -5}
REQUESTS = {"TIOCSTI": 0x5412, "TIOCSCTTY": 0x540E, "TIOCLINUX": 0x541C, "TIOCSWINSZ": 0x5414}


def walk(top: str, most: int) -> list[str]:
    """Return what lies in a folder and below, links not gone through."""
    found: list[str] = []
    for folder, folders, files in os.walk(top):
        found += [f"{folder}/{name}" for name in (*folders, *files)]
        if len(found) > most:
            break
    return found


class Places(Attempt):
    """Looks around, and leaves things."""

    # --- E4, E5 -------------------------------------------------------------------------------

    def read_secret(self) -> None:
        """E4: read what the test has laid out, and see whether the machine's own secrets exist."""
        for path in self.given["secret"]:
            self.tries(path, read, path)
            self.tries(f"list {path}", os.listdir, os.path.dirname(path))
        for path in (
            *("/etc/shadow", "/etc/passwd", "/etc/machine-id", "/etc/hostname", "/etc/ssh"),
            *("/home", "/root/.ssh", "/root/.bash_history", "/var", "/run", "/sys", "/boot"),
            *("/mnt", "/media", "/srv", "/opt", "/oldroot", "/newroot"),
        ):
            if os.path.lexists(path):
                self.got.append(f"sees {path}")
        self.saw["root"] = sorted(os.listdir("/"))
        self.saw["etc"] = sorted(os.listdir("/etc"))

    def read_others(self) -> None:
        """E5: read other bots' folders, by every way there."""
        for path in self.given["others"]:
            name = os.path.basename(os.path.dirname(path)) + "/" + os.path.basename(path)
            for way in (
                path,
                f"/bot/../{name}",
                f"/bot/../..{path}",
                f"/proc/self/root{path}",
                f"/proc/self/cwd/../{name}",
                *(f"/proc/{pid}/root{path}" for pid in everybody()),
                *(f"/proc/{pid}/cwd/../{name}" for pid in everybody()),
                *(f"/{top}{path}" for top in ("oldroot", "newroot", "bot", "tmp")),
            ):
                self.tries(way, read, way)
        self.saw["bot"] = sorted(os.listdir("/bot"))
        self.saw["beside"] = sorted(os.listdir("/bot/.."))

    # --- E6 -----------------------------------------------------------------------------------

    def write_self(self) -> None:
        """E6: change the own program for the next game."""
        new = "/bot/new"
        for what, attempt in {
            "create": lambda: opens(new, os.O_CREAT | os.O_WRONLY),
            "append": lambda: opens("/bot/places.py", os.O_APPEND | os.O_WRONLY),
            "truncate": lambda: os.truncate("/bot/places.py", 0),
            "rename": lambda: os.rename("/bot/places.py", "/bot/other.py"),
            "delete": lambda: os.unlink("/bot/speaking.py"),
            "make a folder": lambda: os.mkdir(new),
            "link": lambda: os.symlink("/", new),
            "hard link": lambda: os.link("/bot/places.py", "/tmp/it"),
            "mode": lambda: os.chmod("/bot/places.py", 0o777),
            "owner": lambda: os.chown("/bot/places.py", os.getuid(), -1),
            "times": lambda: os.utime("/bot/places.py"),
            "attribute": lambda: os.setxattr("/bot/places.py", "user.note", b"1"),
            "through /proc": lambda: opens("/proc/self/cwd/places.py", os.O_RDWR),
            "through an open file": self.reopened,
            "flags": self.file_flags,
        }.items():
            self.tries(what, attempt)

    def reopened(self) -> int:
        """Open the own program for reading, and that again for writing."""
        fd = os.open("/bot/places.py", os.O_RDONLY)
        try:
            return opens(f"/proc/self/fd/{fd}", os.O_RDWR)
        finally:
            os.close(fd)

    def file_flags(self) -> None:
        """Make the own program one that can't be changed."""
        fd = os.open("/bot/places.py", os.O_RDONLY)
        try:
            fcntl.ioctl(fd, 0x40086602, struct.pack("Q", 0x10))
        finally:
            os.close(fd)

    # --- E9, E11, E23 -------------------------------------------------------------------------

    def state(self) -> None:
        """E9, E11, E23: look for what others left, then leave something, in every place."""
        self.look_for_notes()
        self.leave_notes(f"{self.side} {self.given['mark']}".encode())
        self.saw["left"] = self.got
        self.got = self.saw.pop("found")

    def leave_notes(self, mine: bytes) -> None:
        """Leave it in memory, keyrings, queues and files."""
        for folder in ("/dev/shm", "/tmp", "/bot", "/", "/dev", "/usr/lib", "/etc", "/var/tmp"):
            self.tries(folder, self.write, f"{folder}/{self.given['mark']}", mine)
        for name, ring in RINGS.items():
            self.tries(name, call, 248, 217, b"user", b"arena", mine, len(mine), ring)
        self.tries("shared memory", call, 29, 194, KEY, 4096, 0o1666)
        self.tries("message queue", call, 68, 186, KEY, 0o1666)
        self.tries("semaphore", call, 64, 190, KEY, 1, 0o1666)
        self.tries("named queue", call, 240, 180, b"arena", os.O_CREAT | os.O_RDWR, 0o666, None)

    def look_for_notes(self) -> None:
        """Look for it, also with the other side's name on it."""
        found: list[str] = []
        for folder in ("/dev/shm", "/tmp", "/bot", "/var/tmp"):
            with suppress(OSError):
                names = os.listdir(folder)
                found += [f"{folder}/{name}" for name in names if name == self.given["mark"]]
                if folder != "/bot":  # an interpreter may lie in a folder below
                    found += [path for name in names if os.path.isfile(path := f"{folder}/{name}")]
        for name, ring in RINGS.items():
            with suppress(OSError):
                call(250, 219, 10, ring, b"user", b"arena", 0)
                found.append(f"key in {name}")
        for name, numbers, arguments in (
            ("shared memory", (29, 194), (KEY, 4096, 0)),
            ("message queue", (68, 186), (KEY, 0)),
            ("semaphore", (64, 190), (KEY, 1, 0)),
            ("named queue", (240, 180), (b"arena", os.O_RDWR, 0, None)),
        ):
            with suppress(OSError):
                call(*numbers, *arguments)
                found.append(name)
        self.saw["found"] = found

    def write(self, path: str, what: bytes) -> None:
        """Write a file."""
        fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o666)
        try:
            os.write(fd, what)
        finally:
            os.close(fd)

    # --- E21, E22 -----------------------------------------------------------------------------

    def terminal(self) -> None:
        """E21: reach the terminal of whoever started all this."""
        for path in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ptmx", "/dev/pts"):
            self.tries(path, opens, path, os.O_RDWR)
        for fd in range(3):
            self.tries(f"{fd} is a terminal", os.ttyname, fd)
            for name, number in REQUESTS.items():
                self.tries(f"{name} {fd}", fcntl.ioctl, fd, number, b"x" * 8)
            with suppress(termios.error):
                termios.tcsetattr(fd, termios.TCSANOW, termios.tcgetattr(fd))
                self.got.append(f"changes modes of {fd}")
        self.tries("hang up", call, 153, 58)
        self.saw["session"] = [os.getsid(0), os.getpgrp()]

    def devices(self) -> None:
        """E22: open disks, memory and the kernel's log, and make devices."""
        allowed = {"null", "zero", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr"}
        self.got += [f"/dev/{name}" for name in os.listdir("/dev") if name not in allowed]
        for name in (
            *("mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "loop0", "loop-control"),
            *("kvm", "fuse", "net/tun", "mapper/control", "vhost-net", "vsock", "hwrng", "cuse"),
            *("userfaultfd", "uinput", "input/event0", "snapshot", "watchdog", "dri/card0"),
        ):
            self.tries(name, opens, f"/dev/{name}")
        for number, path in enumerate(("/tmp/disk", "/dev/shm/memory")):
            device = os.makedev(1, 1 + number)
            for kind in (stat.S_IFBLK, stat.S_IFCHR):
                if self.tries(f"make {path}", self.make_device, path, kind | 0o666, device):
                    self.tries(f"open {path}", opens, path)

    def make_device(self, path: str, mode: int, device: int) -> bool:
        """Make a device."""
        os.mknod(path, mode, device)
        return True

    # --- E24, E25 -----------------------------------------------------------------------------

    def sockets(self) -> None:
        """E24: look for the sockets of services, by path and by variable."""
        for path in (
            *("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"),
            *("/run/podman/podman.sock", "/run/systemd/private", "/run/systemd/notify"),
            *("/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0", "/run/user", "/run/udev/control"),
            *("/run/snapd.socket", "/run/nscd/socket", "/dev/log", *self.given["paths"]),
        ):
            if os.path.lexists(path):
                self.got.append(path)
        self.got += [name for name in self.given["variables"] if name in os.environ]
        for folder in ("/usr", "/etc", "/dev"):
            for path in walk(folder, 20_000):
                with suppress(OSError):
                    if stat.S_ISSOCK(os.lstat(path).st_mode):
                        self.got.append(path)

    def environment(self) -> None:
        """E25: tell the whole environment and every open file."""
        self.saw["environment"] = dict(os.environ)
        self.saw["files"] = {}
        for fd in range(256):
            with suppress(OSError):
                self.saw["files"][fd] = oct(stat.S_IFMT(os.fstat(fd).st_mode))
        self.saw["folder"] = os.readlink("/proc/self/cwd")


if __name__ == "__main__":
    Places().run()
