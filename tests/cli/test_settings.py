"""A tournament file names its bots as seen from its own folder, wherever it is read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.cli.settings import path_from
from tests.cli.calling import Caller


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with bots, beside a working folder with others of the same names, and more."""
    for folder, names in (("cup", "mybot random"), ("here", "mybot stray random")):
        for name in names.split():
            bot = tmp_path / folder / name
            bot.mkdir(parents=True)
            (bot / "bot.toml").write_text(f'name = "{name}-of-{folder}"\ncommand = ["./x"]\n')
            (bot / "x").write_text("#!/bin/sh\n")
            (bot / "x").chmod(0o755)
    for script in ("cup/a.py", "here/a.py", "here/b.py"):
        (tmp_path / script).touch()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "cup"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mybot", "{}/mybot"),
        ("./mybot", "{}/mybot"),
        (".", "{}"),
        ("a.py", "{}/a.py"),
        ("python3 a.py --fast", "python3 {}/a.py --fast"),
        ("random", "random"),  # the reference bot's, as everywhere
        ("./random", "{}/random"),
        ("/bin/sh a.py", "/bin/sh {}/a.py"),
        ("stray", "{}/stray"),  # what lies in the working folder alone is not meant
        ("./b.py", "{}/b.py"),
        ("python3 b.py", "python3 {}/b.py"),
        ("randon", "randon"),  # nothing is there: told as it was written
        ("python3 c.py", "python3 c.py"),
        ("'unended", "'unended"),
        ("", ""),
        ("a\0b", "a\0b"),
        ("x" * 300, "x" * 300),
    ],
)
def test_a_bot_is_looked_for_beside_the_file(cup: Path, text: str, found: str) -> None:
    assert path_from(text, cup) == found.replace("{}", str(cup))


def test_a_folder_named_without_a_slash_is_found_from_elsewhere(arena: Caller, cup: Path) -> None:
    (cup / "t.toml").write_text('bots = ["mybot", "random"]\nsandbox = "none"\n')
    called = arena("config", "check", cup / "t.toml")
    assert called.code == 0, called.stderr


def test_a_bot_of_the_working_folder_is_not_taken(arena: Caller, cup: Path) -> None:
    (cup / "t.toml").write_text('bots = ["stray", "random"]\nsandbox = "none"\n')
    called = arena("config", "check", cup / "t.toml")
    assert called.code == 2
    assert f"there is no bot '{cup}/stray'" in called.stderr
