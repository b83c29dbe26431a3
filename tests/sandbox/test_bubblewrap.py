"""The argument list: what must come before what, and what must never be in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.errors import HostFault
from arena.sandbox.bubblewrap import Profile, inner_command, options, outer_command
from arena.sandbox.limits import BOT_ENVIRONMENT, default_limits
from arena.sandbox.visible import Visible

VISIBLE = Visible(
    trees=("/usr", "/etc/ld.so.cache", "/root/.pyenv/versions/3.12.1", "/srv/it/venv"),
    links=(("usr/bin", "/bin"), ("3.12.1", "/root/.pyenv/versions/3.12")),
    masked_files=("/proc/meminfo",),
    masked_folders=("/proc/sys",),
)
U = Profile(
    bwrap="/usr/bin/bwrap",
    route="U",
    visible=VISIBLE,
    prlimit="/usr/bin/prlimit",
    setpriv="/usr/bin/setpriv",
    environment=(("PATH", "/usr/bin"), ("LANG", "C.UTF-8")),
)
R = replace(U, route="R")
FOLDER = "/data/bots/0123"


def words(profile: Profile) -> tuple[str, ...]:
    return options(profile, FOLDER, limits=default_limits(), seccomp_fd=7, status_fd=8)


def at(found: Sequence[str], *wanted: str) -> int:
    """Return where these words stand in a row; fails if they do not, or twice."""
    places = [
        place for place in range(len(found)) if tuple(found[place : place + len(wanted)]) == wanted
    ]
    assert len(places) == 1, (wanted, places)
    return places[0]


@pytest.mark.parametrize("profile", [U, R])
def test_both_routes_have_namespaces_and_die_with_us(profile: Profile) -> None:
    for option in ("pid", "ipc", "uts", "net"):
        at(words(profile), f"--unshare-{option}")
    at(words(profile), "--die-with-parent")
    at(words(profile), "--new-session")
    at(words(profile), "--cap-drop", "ALL")
    at(words(profile), "--seccomp", "7")
    at(words(profile), "--json-status-fd", "8")


def test_only_route_u_has_a_user_namespace() -> None:
    at(words(U), "--unshare-user")
    at(words(U), "--disable-userns")
    assert not {"--unshare-user", "--disable-userns", "--uid"} & set(words(R))
    added = [words(R)[i + 1] for i, word in enumerate(words(R)) if word == "--cap-add"]
    assert added == ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"]
    assert "--cap-add" not in words(U)


@pytest.mark.parametrize("profile", [U, R])
def test_bots_folder_is_the_last_mount_and_nothing_is_made_under_it(profile: Profile) -> None:
    found = words(profile)
    leaf = at(found, "--ro-bind", FOLDER, "/bot")
    assert not [word for word in found if word.startswith("/bot/")]
    makes = {"--bind", "--ro-bind", "--dev-bind", "--tmpfs", "--dir", "--symlink", "--proc"}
    assert not makes & set(found[leaf + 1 :])
    assert at(found, "--remount-ro", "/") > leaf


@pytest.mark.parametrize("profile", [U, R])
def test_every_memory_file_system_has_a_size_or_is_read_only(profile: Profile) -> None:
    found = words(profile)
    for place in (i for i, word in enumerate(found) if word == "--tmpfs"):
        target = found[place + 1]
        sized = found[place - 2] == "--size" and int(found[place - 1]) > 0
        assert sized or at(found, "--remount-ro", target) > place


@pytest.mark.parametrize("profile", [U, R])
def test_proc_is_masked_after_it_is_made(profile: Profile) -> None:
    found = words(profile)
    made = at(found, "--proc", "/proc")
    assert at(found, "--ro-bind", "/dev/null", "/proc/meminfo") > made
    for folder in ("/proc/1", "/proc/sys"):
        assert at(found, "--tmpfs", folder, "--remount-ro", folder) > made


@pytest.mark.parametrize("profile", [U, R])
def test_without_proc_there_is_neither_it_nor_a_mask(profile: Profile) -> None:
    found = words(replace(profile, proc=False))
    assert not [word for word in found if word.startswith("/proc") and "/self/" not in word]


def test_devices_are_the_three_harmless_ones() -> None:
    found = words(U)
    shown = [found[i + 1] for i, word in enumerate(found) if word == "--dev-bind"]
    assert shown == ["/dev/null", "/dev/random", "/dev/urandom"]
    assert "--dev" not in found


def test_folders_above_an_interpreter_are_open_to_the_bot() -> None:
    """As made by bubblewrap itself they would be as closed as root's home is."""
    found = words(R)
    shown = at(found, "--ro-bind", "/root/.pyenv/versions/3.12.1", "/root/.pyenv/versions/3.12.1")
    for folder in ("/root", "/root/.pyenv", "/root/.pyenv/versions"):
        assert at(found, "--perms", "0755", "--dir", folder) < shown
    at(found, "--symlink", "3.12.1", "/root/.pyenv/versions/3.12")


def test_an_environment_below_tmp_is_shown_after_tmp_is_made(tmp_path: Path) -> None:
    venv = f"/{tmp_path.parts[1]}/it/venv"
    found = words(replace(R, visible=Visible(trees=("/usr", venv))))
    shown = at(found, "--ro-bind", venv, venv)
    assert at(found, "--tmpfs", BOT_ENVIRONMENT["HOME"]) < shown
    folders = [found[i + 1] for i, word in enumerate(found) if word == "--dir"]
    assert BOT_ENVIRONMENT["HOME"] not in folders


def test_environment_is_cleared_before_it_is_set() -> None:
    found = words(U)
    assert at(found, "--clearenv") < at(found, "--setenv", "PATH", "/usr/bin")
    at(found, "--setenv", "LANG", "C.UTF-8")
    assert found.count("--setenv") == 2


def test_command_line_of_bubblewrap_tells_nothing() -> None:
    assert outer_command(U, args_fd=5) == ("/usr/bin/bwrap", "--args", "5", "--")


def test_inside_limits_come_before_the_command() -> None:
    found = inner_command(U, ["./run", "--nproc=9"], rlimits={"nproc": 64, "core": 0}, uid=None)
    assert found == ("/usr/bin/prlimit", "--nproc=64", "--core=0", "--", "./run", "--nproc=9")


def test_route_r_takes_every_right_away() -> None:
    found = inner_command(R, ["./run"], rlimits={"nproc": 64}, uid=60706)
    assert found[:7] == (
        "/usr/bin/setpriv",
        "--reuid=60706",
        "--regid=60706",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
        "--inh-caps=-all",
    )


@pytest.mark.parametrize("uid", [None, 0, -1])
def test_route_r_never_starts_a_bot_as_root(uid: int | None) -> None:
    with pytest.raises(HostFault, match="as root"):
        inner_command(R, ["./run"], rlimits={}, uid=uid)


def test_route_u_gives_no_user_id() -> None:
    with pytest.raises(HostFault, match="only root"):
        inner_command(U, ["./run"], rlimits={}, uid=60706)
