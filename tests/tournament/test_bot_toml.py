"""bot.toml is read strictly: every complaint names file, line, key and cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import BotRefused
from arena.sandbox.limits import default_limits
from arena.tournament.bot_toml import MAX_BYTES, BotToml, read_bot_toml

COMMAND = 'command = ["x"]\n'


def read(tmp_path: Path, data: str | bytes) -> BotToml:
    file = tmp_path / "bot.toml"
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_bot_toml(file, where="mine/bot.toml", limits=default_limits())


def test_least_that_a_bot_needs_is_its_command(tmp_path: Path) -> None:
    assert read(tmp_path, COMMAND) == BotToml(command=("x",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"`command` is missing; write command = \["),
        ("command = 3\n", r"line 1: `command` must be a list that begins with the program"),
        ("command = []\n", "line 1: `command`"),
        ('command = ["a\\u0000b"]\n', "line 1: `command"),
        ('command = [["a"]]\n', "line 1: `command"),
        (COMMAND + 'comand = "y"\n', "line 2: unknown key `comand`; did you mean `command`"),
        (COMMAND + 'sandbox = "none"\n', "line 2: unknown key `sandbox`; known are name"),
        (COMMAND + "[limits]\nmemory = 9\n", "line 3: unknown key `limits.memory`; did you mean"),
        (COMMAND + "[limits]\nmemory_mib = 4096\n", "line 3: .*4,096 is more than.*512"),
        (COMMAND + "limits.processes = 65\n", "line 2: .*65 is more than the organiser's 64"),
        (COMMAND + "[limits]\nmemory_mib = -1\n", "line 3: `limits.memory_mib`"),
        (COMMAND + "[limits]\nmemory_mib = true\n", "line 3: `limits.memory_mib`"),
        (COMMAND + "limits = 3\n", "line 2: `limits`"),
        (COMMAND + "author = 2026-01-01\n", "line 2: `author` must be text in quotes"),
        (COMMAND + 'sides = ["mr_x"]\n', 'line 2: `sides.*must be a list of "mister_x", "det'),
        (COMMAND + "sides = []\n", "line 2: `sides` must be a list of"),
        (COMMAND + "rulesets = []\n", "line 2: `rulesets` must be a list of rulesets"),
        (COMMAND + "name = 7\n", "line 2: `name`"),
        (COMMAND + 'version = "1 2"\n', "line 2: `version`"),
        (COMMAND + COMMAND, "mine/bot.toml: not valid TOML: Cannot overwrite"),
        ("command = !!python/object\n", "mine/bot.toml: not valid TOML: Invalid value"),
        (COMMAND + "a = " + "[" * 30_000 + "\n", "can't be read as TOML"),
        (COMMAND + "a = " + "9" * 5_000 + "\n", "mine/bot.toml"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        ("#" * (MAX_BYTES + 1), "larger than 64 KiB"),
    ],
)
def test_mistakes_are_told_with_place_and_cure(
    tmp_path: Path, text: str | bytes, says: str
) -> None:
    with pytest.raises(BotRefused, match=says) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith("mine/bot.toml")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_file_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "bot.toml"
    with file.open("wb") as writer:
        writer.truncate(1024**3)
    with pytest.raises(BotRefused, match="larger than 64 KiB"):
        read_bot_toml(file, where="mine/bot.toml", limits=None)


def test_mark_of_an_editor_at_the_start_is_no_text(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf" + COMMAND.encode()).command


def test_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(BotRefused, match=r"x: can't be read \(No such file"):
        read_bot_toml(tmp_path / "bot.toml", where="x", limits=None)


def test_limits_up_to_the_organisers_are_taken(tmp_path: Path) -> None:
    settings = read(tmp_path, COMMAND + "[limits]\nmemory_mib = 512\nopen_files = 10\n")
    assert settings.limits.memory_mib == 512
    assert settings.limits.open_files == 10


def test_without_an_organiser_any_limit_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(COMMAND + "[limits]\nmemory_mib = 4096\n")
    settings = read_bot_toml(tmp_path / "bot.toml", where="x", limits=None)
    assert settings.limits.memory_mib == 4096
