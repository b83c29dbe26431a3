"""What of the host is shown, and what never is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.sandbox import visible
from arena.sandbox.visible import interpreter_trees, look_around


def test_system_folders_are_shown_and_nothing_else_of_the_root() -> None:
    found = look_around()
    assert "/usr" in found.trees
    tops = {Path(tree).parts[1] for tree in found.trees}
    assert tops <= {"usr", "etc", "nix", "gnu", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}


def test_of_etc_nothing_tells_about_users_or_hosts() -> None:
    names = {Path(tree).name for tree in look_around().trees if tree.startswith("/etc/")}
    for name in names:
        assert name in {"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives"} or (
            name.startswith("java-")
        )


def test_own_interpreter_brings_its_installation_and_environment() -> None:
    found = look_around(interpreters=[sys.executable])
    for folder in {sys.prefix, sys.base_prefix}:
        for part in (f"{folder}/bin", f"{folder}/lib"):
            assert any(part == tree or part.startswith(tree + "/") for tree in found.trees)


def test_of_an_environment_nothing_is_shown_that_is_not_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a person's `~/.local`, or the folder of a project."""
    place = tmp_path / ".local"
    for name in ("bin", "lib", "share/keyrings", "secrets"):
        (place / name).mkdir(parents=True)
    (place / "lib64").symlink_to("lib")
    (place / "pyvenv.cfg").touch()
    (place / "bin" / "python3").touch()
    monkeypatch.setattr(sys, "executable", str(place / "bin" / "python3"))
    for prefix in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, prefix, str(place))
    folders, links = interpreter_trees(sys.executable)
    assert folders == [str(place / "bin"), str(place / "lib"), str(place / "pyvenv.cfg")]
    assert links == [("lib", str(place / "lib64"))]
    assert set(folders) <= set(look_around(interpreters=[sys.executable]).trees)


def test_what_a_part_of_an_environment_leads_to_is_shown_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libraries").mkdir()
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "lib").symlink_to(tmp_path / "libraries")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "env" / "bin" / "python3"))
    for prefix in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, prefix, str(tmp_path / "env"))
    folders, links = interpreter_trees(sys.executable)
    assert folders == [str(tmp_path / "env" / "bin"), str(tmp_path / "libraries")]
    assert links == [(str(tmp_path / "libraries"), str(tmp_path / "env" / "lib"))]


def test_links_on_the_way_to_an_interpreter_are_made_too(tmp_path: Path) -> None:
    """As pyenv and uv have it: a link to a version, in which there is a link to the program."""
    real = tmp_path / "versions" / "3.12.1" / "bin"
    real.mkdir(parents=True)
    (real / "python3.12").touch()
    (real / "python3").symlink_to("python3.12")
    (tmp_path / "versions" / "3.12").symlink_to("3.12.1")
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "py").symlink_to("../versions/3.12/bin/python3")
    folders, links = interpreter_trees(str(tmp_path / "shims" / "py"))
    assert folders == [str(real.parent)]
    assert links == [
        ("../versions/3.12/bin/python3", str(tmp_path / "shims" / "py")),
        ("3.12.1", str(tmp_path / "versions" / "3.12")),
    ]


def test_a_circle_of_links_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert len(visible._links_on_the_way(str(tmp_path / "a"))) == 40


def test_more_folders_can_be_shown(tmp_path: Path) -> None:
    assert str(tmp_path) in look_around(more=[str(tmp_path)]).trees


@pytest.mark.parametrize("tree", ["/nowhere/at/all", "relative"])
def test_a_folder_that_is_not_there_is_refused(tree: str) -> None:
    with pytest.raises(ConfigError, match="no such absolute path"):
        look_around(more=[tree])


def test_root_and_home_folders_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/var/lib/somebody")
    for tree in ("/", "/var", "/var/lib", "/home", "/root"):
        with pytest.raises(ConfigError, match="is or holds somebody's home folder"):
            look_around(more=[tree])


def test_a_program_in_a_persons_local_folder_does_not_bring_it_along(tmp_path: Path) -> None:
    """`~/.local/bin/deno` would bring `~/.local/share`, with all that is in it."""
    program = tmp_path / ".local" / "bin" / "deno"
    program.parent.mkdir(parents=True)
    program.touch()
    with pytest.raises(ConfigError, match="in a folder of its own"):
        look_around(interpreters=[str(program)])


@pytest.mark.parametrize(("shown", "secret"), [("", "data"), ("data", "data"), ("data/x", "data")])
def test_the_data_folder_is_never_shown(tmp_path: Path, shown: str, secret: str) -> None:
    (tmp_path / "data" / "x").mkdir(parents=True)
    with pytest.raises(ConfigError, match="no bot may see"):
        look_around(more=[str(tmp_path / shown)], secret=[tmp_path / secret])


def test_the_data_folder_is_found_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "data").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(ConfigError, match="no bot may see"):
        look_around(more=[str(tmp_path / "real")], secret=[tmp_path / "link" / "data"])


def test_a_folder_beside_the_data_folder_may_be_shown(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "tools").mkdir()
    look_around(more=[str(tmp_path / "tools")], secret=[tmp_path / "data"])


def test_what_proc_tells_of_others_is_masked_and_what_is_new_too(tmp_path: Path) -> None:
    for name, mode in {
        "meminfo": 0o444,
        "cpuinfo": 0o444,
        "brand_new": 0o444,
        "kmsg": 0o400,
    }.items():
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    for name in ("1", "sys", "pressure", "bus"):
        (tmp_path / name).mkdir()
    (tmp_path / "self").symlink_to("1")
    files, folders = visible._proc_masks(tmp_path)
    assert files == ("/proc/brand_new", "/proc/meminfo")
    assert folders == ("/proc/pressure", "/proc/sys")


def test_this_kernels_shared_counts_are_masked() -> None:
    found = look_around()
    assert {"/proc/meminfo", "/proc/stat", "/proc/loadavg"} <= set(found.masked_files)
    assert "/proc/sys" in found.masked_folders
