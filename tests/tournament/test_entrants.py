"""What a person may name as a BOT, in which order it is looked for, and what is refused."""

from __future__ import annotations

import importlib.resources
import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from arena.errors import BotRefused
from arena.sandbox.limits import default_limits
from arena.tournament import entrants
from arena.tournament.entrants import (
    Entrant,
    equal_names,
    find_bot,
    reference_names,
)
from protocol.messages import HelloAnswer


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "arena-data"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder of its own, as a person has one."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def make_bot(folder: Path, toml: str = 'command = ["{python}", "bot.py"]\n') -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(toml)
    (folder / "bot.py").write_text("print()\n")
    return folder


def a_hello(**changes: object) -> HelloAnswer:
    fields = {"id": "a", "protocol": 1, "name": "whatever", "rulesets": ("london-2013",)}
    return msgspec.convert({**fields, **changes}, HelloAnswer)


# --- reference bots -------------------------------------------------------------------------------


def test_reference_bots_are_those_of_the_wheel() -> None:
    assert reference_names() == ("belief", "greedy", "random")


@pytest.mark.parametrize("name", reference_names())
def test_reference_bot_is_staged_with_all_that_it_imports(name: str, data: Path) -> None:
    bot = find_bot(name, data, limits=default_limits())
    assert bot.spec.name == name
    assert bot.spec.trusted
    assert bot.spec.command == (sys.executable, "-S", "-E", "-s", "-B", "bot.py")
    files = set(os.listdir(bot.spec.folder))  # noqa: PTH208 (names are enough)
    assert {"bot.py", "bot.toml", "misterx_sdk.py"} <= files
    cached = os.listdir(Path(bot.spec.folder) / "__pycache__")  # noqa: PTH208 (names are enough)
    assert sum(name.startswith("misterx_sdk.") for name in cached) == 1
    assert bot.talk == ()


def test_reference_name_goes_before_a_folder_of_that_name_and_says_so(
    data: Path, here: Path
) -> None:
    make_bot(here / "random")
    bot = find_bot("random", data)
    assert bot.spec.trusted
    assert bot.talk == ("random: the reference bot; write ./random for what lies here",)
    own = find_bot("./random", data)
    assert not own.spec.trusted
    assert equal_names([bot, own]) != ()


# --- folders --------------------------------------------------------------------------------------


def test_folder_with_bot_toml_is_what_that_says(data: Path, here: Path) -> None:
    make_bot(
        here / "mine",
        'name = "Mine-2"\nversion = "0.3"\ncommand = ["{python}", "-u", "bot.py"]\n'
        'author = "<b>Ann</b>"\nsides = ["detectives"]\nrulesets = ["london-2013"]\n'
        "[limits]\nmemory_mib = 100\n",
    )
    bot = find_bot("mine", data, limits=default_limits())
    assert bot.spec.name == "Mine-2"
    assert bot.spec.version == "0.3"
    assert bot.spec.command == (sys.executable, "-u", "bot.py")
    assert not bot.spec.trusted
    assert bot.author == "<b>Ann</b>"
    assert bot.spec.limits.memory_mib == 100
    assert bot.spec.limits.within(default_limits()).memory_mib == 100
    assert Path(bot.spec.folder).parent == (data / "staged").resolve()
    assert (Path(bot.spec.folder) / "bot.py").is_file()
    spec = bot.greeted(a_hello(version="9"))
    assert (spec.version, spec.sides, spec.rulesets) == ("0.3", ("detectives",), ("london-2013",))


def test_folder_without_name_in_bot_toml_has_its_own(data: Path, here: Path) -> None:
    make_bot(here / "mine")
    assert find_bot("mine/", data).spec.name == "mine"
    assert find_bot(str(here / "mine"), data).source == str(here / "mine")


def test_folder_without_bot_toml_is_refused_with_what_to_write(data: Path, here: Path) -> None:
    (here / "mine").mkdir()
    with pytest.raises(BotRefused, match=r'mine: has no bot.toml.*command = \["\{python\}"'):
        find_bot("mine", data)
    (here / "mine" / "bot.toml").mkdir()
    with pytest.raises(BotRefused, match=r"mine: has no bot.toml"):
        find_bot("mine", data)


def test_hash_goes_by_content_and_command_not_by_place(data: Path, here: Path) -> None:
    one = find_bot(str(make_bot(here / "a" / "mine")), data)
    two = find_bot(str(make_bot(here / "b" / "mine")), data)
    assert one.spec == two.spec
    (here / "b" / "mine" / "bot.py").write_text("print(2)\n")
    assert find_bot("b/mine", data).spec.hash != one.spec.hash
    # The same files, another command: another bot.
    by_file = find_bot("a/mine/bot.py", data)
    assert by_file.spec.folder == one.spec.folder
    toml = 'command = ["{python}", "-u", "bot.py"]\n'
    assert find_bot(str(make_bot(here / "c" / "mine", toml)), data).spec.hash != one.spec.hash


def test_program_in_a_place_that_is_never_copied_is_told_from_a_missing_one(
    data: Path, here: Path
) -> None:
    folder = make_bot(here / "rusty", 'command = ["./target/release/bot"]\n')
    (folder / "target" / "release").mkdir(parents=True)
    (folder / "target" / "release" / "bot").touch(0o755)
    with pytest.raises(BotRefused, match=r"target is never copied.*`build` in bot.toml"):
        find_bot("rusty", data)


@pytest.mark.slow
def test_build_runs_once_for_each_content_in_a_copy_of_its_own(data: Path, here: Path) -> None:
    code = "import os; os.mkdir('target'); open('target/bot.py', 'w').write('built')"
    folder = make_bot(
        here / "built",
        f'command = ["{{python}}", "target/bot.py"]\nbuild = [["{{python}}", "-c", "{code}"]]\n',
    )
    bot = find_bot("built", data)
    assert (Path(bot.spec.folder) / "target" / "bot.py").read_text() == "built"
    assert not (folder / "target").exists()
    assert find_bot("built", data).spec == bot.spec
    (folder / "bot.toml").write_text('command = ["x"]\nbuild = [["{python}", "-c", "1/0"]]\n')
    with pytest.raises(BotRefused, match=r"built: build: .*ended with status 1"):
        find_bot("built", data)


def test_a_bot_is_looked_at_without_its_build(data: Path, here: Path, tmp_path: Path) -> None:
    """A tournament file is checked so, and nothing of it is kept."""
    make_bot(
        here / "made",
        'name = "known"\ncommand = ["target/bot"]\nbuild = [["{python}", "-c", "1/0"]]\n',
    )
    into = tmp_path / "elsewhere"
    bot = find_bot("made", data, into=into, builds=False)
    assert (bot.spec.name, bot.is_built) == ("known", False)
    assert Path(bot.spec.folder).parent == into
    assert not data.exists()
    make_bot(here / "plain")
    assert find_bot("plain", data, into=into, builds=False).is_built
    with pytest.raises(BotRefused, match="holds the data folder"):
        find_bot("plain", here / "plain" / "data", into=into, builds=False)


def test_name_is_that_of_the_settings_or_the_file(data: Path, here: Path) -> None:
    """What a tournament file may call its challengers."""
    make_bot(here / "dir")
    make_bot(here / "named", 'name = "known"\ncommand = ["{python}", "bot.py"]\n')
    words = {
        "random": "random", "dir": "dir", "./named": "known", "dir/bot.py": "bot",
        "python3 -u named/bot.py": "bot",
    }  # fmt: skip
    for text, name in words.items():
        assert find_bot(text, data).spec.name == name
    (here / "bare").mkdir()
    for text, says in {
        "none": "there is no bot",
        "bare": "has no bot.toml",
        "a b": "no word",
    }.items():
        with pytest.raises(BotRefused, match=says):
            find_bot(text, data)


def test_settings_of_a_bot_are_no_bot(data: Path, here: Path) -> None:
    make_bot(here / "dir")
    with pytest.raises(
        BotRefused, match=r"dir/bot\.toml: this is a bot's settings; name its folder"
    ):
        find_bot("dir/bot.toml", data)


def test_interpreter_of_a_virtual_environment_is_told_from_a_bot(data: Path, here: Path) -> None:
    make_bot(here / "dir")
    (here / "venv").mkdir()
    (here / "venv" / "python3").symlink_to(sys.executable)
    with pytest.raises(BotRefused, match=r"python3 is an interpreter.*; write \{python\} for the"):
        find_bot("venv/python3 -u dir/bot.py", data)
    assert find_bot("{python} -u dir/bot.py", data).spec.command == (sys.executable, "-u", "bot.py")


def test_build_runs_in_an_absolute_folder_wherever_the_data_is(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data folder is relative unless somebody names another; the sandbox needs a whole path."""
    make_bot(here / "built", 'command = ["{python}", "bot.py"]\nbuild = [["make"]]\n')
    folders: list[Path] = []

    def note(commands: object, folder: Path, **_: object) -> None:
        folders.append(folder)

    monkeypatch.setattr(entrants, "build", note)
    find_bot("built", Path("arena-data"))
    assert [folder.is_absolute() for folder in folders] == [True]


# --- files and command lines ----------------------------------------------------------------------


def test_script_without_the_execute_bit_runs_with_our_python(data: Path, here: Path) -> None:
    make_bot(here / "dir")
    bot = find_bot("dir/bot.py", data)
    assert bot.spec.name == "bot"
    assert bot.spec.command == (sys.executable, "bot.py")
    assert bot.talk == ("bot: staged the folder dir of bot.py",)


def test_executable_runs_as_it_is(data: Path, here: Path) -> None:
    (here / "dir").mkdir()
    for name in ("prog", "prog.py", "--rm.sh"):
        (here / "dir" / name).write_text("#!/bin/sh\n")
        (here / "dir" / name).chmod(0o755)
    assert find_bot("dir/prog", data).spec.command == ("./prog",)
    assert find_bot("dir/prog.py", data).spec.command == ("./prog.py",)
    with pytest.raises(BotRefused, match="can't be a bot's name"):
        find_bot("dir/--rm.sh", data)


def test_file_that_nothing_can_start_is_refused_with_the_cure(data: Path, here: Path) -> None:
    (here / "notes.txt").touch()
    with pytest.raises(BotRefused, match=r"notes.txt: has no execute bit.*chmod \+x"):
        find_bot("notes.txt", data)


def test_command_line_stages_the_folder_of_the_first_file_named(data: Path, here: Path) -> None:
    folder = make_bot(here / "dir")
    (folder / "book.txt").touch()
    (here / "other.txt").touch()
    bot = find_bot("python3 dir/bot.py --depth 3 dir/book.txt other.txt", data)
    assert bot.spec.name == "bot"
    assert bot.spec.command == ("python3", "bot.py", "--depth", "3", "book.txt", "other.txt")
    assert bot.talk == (
        "bot: staged the folder dir of bot.py",
        "bot: other.txt lies outside that folder, and the bot won't find it",
    )
    assert find_bot("{python} dir/bot.py", data).spec.command == (sys.executable, "bot.py")


def test_command_line_finds_the_bot_behind_the_machines_own_program(data: Path, here: Path) -> None:
    make_bot(here / "dir")
    shell = shutil.which("sh")
    assert shell is not None
    bot = find_bot(f"{shell} dir/bot.py 'two words' $(id)", data)
    assert bot.spec.command == (shell, "bot.py", "two words", "$(id)")  # no shell reads it
    (here / "dir" / "bot.py").chmod(0o755)
    assert find_bot("dir/bot.py -v", data).spec.command == ("./bot.py", "-v")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gredy", "did you mean 'greedy'"),
        ("./nothing", "there are belief, greedy, random"),
        ("python3 -m mybot", "no word of this command line is a file"),
        ("python3 'bot", "can't be split into words"),
        ("", "names no bot"),
        ("a\nb", "names no bot"),
        ("bot\x1b[2J", "names no bot"),
        ("/dev/null", "is no file and no folder"),
        ("/", "root folder"),
        ("x" * 5_000, "there is no bot"),
    ],
)
def test_what_is_no_bot_is_refused_in_one_short_line(text: str, says: str, data: Path) -> None:
    with pytest.raises(BotRefused, match=says) as caught:
        find_bot(text, data)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_folder_that_holds_the_data_folder_is_refused(here: Path) -> None:
    make_bot(here / "mine")
    for text in ("mine", "mine/bot.py", "python3 mine/bot.py"):
        with pytest.raises(BotRefused, match="holds the data folder"):
            find_bot(text, here / "mine" / "arena-data")


def test_script_that_imports_the_sdk_finds_it_in_its_copy(data: Path, here: Path) -> None:
    (here / "one").mkdir()
    script = here / "one" / "first.py"
    script.write_text("import os\nfrom misterx_sdk import play\n")
    os.mkfifo(here / "fifo.py")  # never opened: it is not in that folder's copy
    bot = find_bot("one/first.py", data)
    assert (Path(bot.spec.folder) / "misterx_sdk.py").is_file()
    assert bot.talk[1] == "one: first.py imports the SDK; the copy gets the arena's"
    assert not (Path(bot.spec.folder) / "misterx_europe.py").exists()

    own = here / "one" / "misterx_sdk.py"
    own.write_text("mine = 1\n")
    bot = find_bot("{python} one/first.py", data)
    assert (Path(bot.spec.folder) / "misterx_sdk.py").read_text() == "mine = 1\n"
    assert len(bot.talk) == 1
    own.unlink()
    script.write_text("# misterx_sdk is not needed\n")
    bot = find_bot("one/first.py", data)
    assert os.listdir(bot.spec.folder) == ["first.py"]  # noqa: PTH208 (names are enough)


@pytest.mark.parametrize(
    "text",
    [
        "from misterx_europe import Hunt\nfrom misterx_sdk import play\n",
        "import os, misterx_europe\nfrom misterx_sdk import play\n",
    ],
)
def test_script_that_imports_the_sdk_of_europe_finds_both_modules(
    data: Path, here: Path, text: str
) -> None:
    (here / "one").mkdir()
    (here / "one" / "bot.py").write_text(text)
    bot = find_bot("one/bot.py", data)
    home = importlib.resources.files("bots") / "sdk"
    for name in ("misterx_sdk.py", "misterx_europe.py"):
        assert (Path(bot.spec.folder) / name).read_bytes() == (home / name).read_bytes()
    assert len(bot.talk) == 2


# --- names ----------------------------------------------------------------------------------------

BAD_NAMES = (
    "\x1b[2J", "a\x07", "a\rb", "../../x", "/etc/x", "a/b", "..", "", "x" * 41, "x" * 5_000, "a\0b",
    "CON", "nul", "com1.txt", "-rf", "*", "a b", "a ", "=1+1", "+x", "@x", "\tx", 'a"b', "a,b",
    "<script>", "%s%n ", "{0}", "$(id)", "`id`", "é",
)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_are_refused_by_the_rule(name: str, data: Path, here: Path) -> None:
    """F1, F3, F4, F5, F6, F8: nothing that a terminal, a file system, CSV or HTML could mind."""
    folder = make_bot(here / "mine")
    (folder / "bot.toml").write_bytes(
        b'command = ["x"]\nname = ' + msgspec.json.encode(name) + b"\n"
    )
    with pytest.raises(BotRefused) as caught:
        find_bot("mine", data)
    text = str(caught.value)
    assert text.startswith("mine/bot.toml, line 2: `name`")
    assert text.isprintable()
    assert len(text) < 400


@pytest.mark.parametrize("name", ["a", "Mine-2.0_x+y", "0", "x" * 40, "constant", "nullbot"])
def test_good_names_are_taken(name: str, data: Path, here: Path) -> None:
    make_bot(here / "mine", f'command = ["x"]\nname = "{name}"\n')
    assert find_bot("mine", data).spec.name == name


def test_folder_and_file_names_are_held_to_the_same_rule(data: Path, here: Path) -> None:
    make_bot(here / "my bot")
    with pytest.raises(BotRefused, match="the folder's name 'my bot' can't be"):
        find_bot("my bot", data)
    shutil.copy(here / "my bot" / "bot.py", here / "my bot" / "a b.py")
    with pytest.raises(BotRefused, match="the file's name 'a b' can't be"):
        find_bot("my bot/a b.py", data)


def test_two_equal_names_are_told_naming_both(data: Path, here: Path) -> None:
    """F9: also those that differ in case only."""
    one = find_bot(str(make_bot(here / "a" / "Bot")), data)
    two = find_bot(str(make_bot(here / "b" / "bot")), data)
    other = find_bot("random", data)
    assert equal_names([one, other]) == ()
    (line,) = equal_names([one, other, two])
    assert str(here / "a" / "Bot") in line
    assert str(here / "b" / "bot") in line


# --- what bot.toml narrows ------------------------------------------------------------------------


def an_entrant(data: Path, here: Path, toml: str) -> Entrant:
    return find_bot(str(make_bot(here / "mine", f'command = ["x"]\n{toml}')), data)


def test_bot_toml_without_sides_and_rulesets_narrows_nothing(data: Path, here: Path) -> None:
    hello = a_hello(version="1.2", rulesets=("london-2013", "london-classic"))
    spec = an_entrant(data, here, "").greeted(hello)
    assert spec.sides == ("mister_x", "detectives")
    assert spec.rulesets == ("london-2013", "london-classic")
    assert spec.version == "1.2"
    assert spec.name == "mine"  # never what the bot says of itself


def test_bot_toml_narrows_sides_and_rulesets_and_never_adds(data: Path, here: Path) -> None:
    bot = an_entrant(
        data, here, 'sides = ["detectives"]\nrulesets = ["london-2013:players=2", "europe"]\n'
    )
    spec = bot.greeted(a_hello(rulesets=("london-2013", "london-classic")))
    assert spec.sides == ("detectives",)
    assert spec.rulesets == ("london-2013:players=2",)
    wide = an_entrant(data, here / "2", 'rulesets = ["london-2013"]\n')
    assert wide.greeted(a_hello(rulesets=("london-2013:players=3",))).rulesets == (
        "london-2013:players=3",
    )


@pytest.mark.parametrize(
    ("toml", "hello", "says"),
    [
        ('sides = ["mister_x"]\n', {"sides": ("detectives",)}, "narrows `sides` to mister_x"),
        ('rulesets = ["europe"]\n', {}, "narrows `rulesets` to europe.*says london-2013"),
    ],
)
def test_bot_toml_that_leaves_nothing_is_refused(
    data: Path, here: Path, toml: str, hello: dict[str, object], says: str
) -> None:
    with pytest.raises(BotRefused, match=says):
        an_entrant(data, here, toml).greeted(a_hello(**hello))
