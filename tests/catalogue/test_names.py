"""Section F of the catalogue: names, words and settings that are made to harm, on the command line.

Names are held to a rule, words are escaped wherever they are shown, and a bot's settings can ask
for less than it gets and for nothing more.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from arena.referee.record import GameRecord
from tests.catalogue.checks import check_output
from tests.cli.bots import write_bot
from tests.cli.calling import Called, Caller
from tests.referee.games import FAULTY
from tests.sandboxed import need_sandbox

GIB = 1024**3
WORDS = json.loads((FAULTY / "words.json").read_text())
ALL = "".join(WORDS.values())
NAMES = (
    *("\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\b", "a\x07", "a\x08", "a\rb", "a\nb"),
    *("../../x", "/etc/x", "a/b", "..", ".", "", "x" * 5_000, "a\0b", "CON", "nul.txt", "LPT1"),
    *("-rf", "--help", "*", "?", "[a]", "~", "=1+1", "+x", "@x", "\tx", 'a"b', "a,b", "a b", "a "),
    *("<script>alert(1)</script>", '" onmouseover="', "javascript:alert(1)", "</title>", "&amp;"),
    *("%s%n", "{0.__class__}", "$(id)", "`id`", "a\\nb", '{"winner":"a"}', "\u202eb", "é"),
)
HELLOS = (
    *("hello-name-steering", "hello-name-path", "hello-name-option", "hello-name-markup"),
    *("hello-version-steering", "hello-rulesets-steering"),
)
# Row of the bot, and what comes of its game.
ROWS = {
    "in-stderr": "ok",
    "in-last-words": "crash",
    "in-log": "ok",
    "in-note": "ok",
    "in-ticket": "protocol",
    "in-type": "protocol",
    "in-id": "protocol",
    "in-key": "protocol",
    "in-plain": "protocol",
}


def arena(*words: object) -> Called:
    """Call a command; nothing that it prints steers a terminal, and it never fails by itself."""
    told = Caller()(*words)
    check_output(told.stdout, told.stderr)
    assert told.code != 4, told.stderr
    assert "Traceback" not in told.stderr
    return told


def refused(told: Called, *says: str) -> None:
    """A command ended with 2 and a short text that says all this."""
    assert told.code == 2, told.stderr
    for text in says:
        assert text in told.stderr
    assert len(told.stderr) < 1_000


# --- F1, F3 to F6, F8: names ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_bad_name_in_the_settings_is_refused(name: str, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, "mine", "pass")
    toml = b'command = ["{python}", "bot.py"]\nname = ' + msgspec.json.encode(name) + b"\n"
    (bot / "bot.toml").write_bytes(toml)
    told = arena("bots", bot)
    refused(told, "bot.toml, line 2: `name`")
    assert not list(tmp_path.glob("x*"))


@pytest.mark.parametrize("name", [name for name in NAMES if name and "\0" not in name])
def test_bad_name_as_an_argument_names_no_bot(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F4 too: behind `--` nothing is an option, and without it click says that there is none."""
    monkeypatch.chdir(tmp_path)
    refused(arena("bots", "--", name))
    if name.startswith("-") and name != "--help":
        assert arena("bots", name).code == 2


@pytest.mark.parametrize("name", ["-rf", "a b", "\x1b[2J", "=1+1", "<b>", "%s", "é", "x" * 200])
def test_bad_name_of_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, name, "pass")
    toml = 'command = ["{python}", "bot.py"]\n'
    (bot / "bot.toml").write_text(toml)
    refused(arena("bots", "--", bot))


@pytest.mark.slow
@pytest.mark.parametrize("row", HELLOS)
def test_bad_word_in_a_hello_is_refused(row: str, tmp_path: Path) -> None:
    need_sandbox()
    bot = words_bot(tmp_path, row, name=None)
    told = arena("bots", bot)
    refused(told, row)


@pytest.mark.slow
def test_no_file_is_named_by_a_bot(tmp_path: Path) -> None:
    """F3: files go by generated ids."""
    need_sandbox()
    write_bot(tmp_path, "Name-42.of+a_bot", "pass")
    data = tmp_path / "data"
    told = arena("run", tmp_path / "Name-42.of+a_bot", "random", "--deals", "1", "--data", data)
    assert told.code == 0, told.stderr
    paths = [str(path.relative_to(data)) for path in data.rglob("*")]
    assert [path for path in paths if "42" in path and "Name" in path] == []
    assert [path for path in paths if path.startswith("reports/")]


@pytest.mark.parametrize("command", [["--help"], ["-c", "id"], ["*"], ["$(id)"], ["`id`"], ["a;b"]])
def test_command_is_no_option_pattern_or_shell_line(command: list[str], tmp_path: Path) -> None:
    """F4, F8: of no program of ours."""
    bot = write_bot(tmp_path, "mine", "pass")
    (bot / "bot.toml").write_bytes(b"command = " + msgspec.json.encode(command))
    told = arena("bots", bot)
    refused(told, f"the program '{command[0]}' is missing")


@pytest.mark.slow
def test_program_that_is_named_like_an_option_runs(tmp_path: Path) -> None:
    """F4: and its arguments come through as they are."""
    need_sandbox()
    bot = write_bot(tmp_path, "mine", "pass")
    odd = ["--help", "-rf", "*", "$(id)", "`id`", "%s", "{0}", "a b", '"', ""]
    code = (bot / "bot.py").read_text()
    program = bot / "--help"
    program.write_text(
        f"#!/usr/bin/env python3\nimport sys\nassert sys.argv[1:] == {odd!r}\n{code}"
    )
    program.chmod(0o755)
    (bot / "bot.toml").write_bytes(b"command = " + msgspec.json.encode(["./--help", *odd[:-1]]))
    program.write_text(program.read_text().replace(repr(odd), repr(odd[:-1])))
    told = arena("play", bot, "greedy", "--data", tmp_path / "data")
    assert told.code == 0, told.stderr


# --- F2, F5 to F8: words -------------------------------------------------------------------------


def words_bot(folder: Path, row: str, *, name: str | None) -> Path:
    """Write a bot of `tests/faulty_bots/words.py` in a folder of its own."""
    bot = folder / (name or row)
    bot.mkdir()
    for file in ("words.py", "words.json", "speaking.py"):
        shutil.copyfile(FAULTY / file, bot / file)
    (bot / "bot.toml").write_text(
        f'command = ["{{python}}", "-S", "words.py", "{row}"]\nversion = "+1-1.{row}"\n'
        f"author = {json.dumps(WORDS['markup'])}\n"
    )
    return bot


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run of all of them, against a reference bot."""
    need_sandbox()
    folder = tmp_path_factory.mktemp("words")
    bots = [words_bot(folder, row, name=row) for row in ROWS]
    plan = {"mister_x": ["random"], "detectives": [str(bot) for bot in bots]}
    file = folder / "tournament.toml"
    file.write_text("".join(f"{key} = {json.dumps(names)}\n" for key, names in plan.items()))
    told = arena("run", file, "--deals", "1", "--seed", "1", "--data", folder / "data")
    assert told.code == 3, told.stderr  # G9: bots faulted
    return folder / "data"


def records(data: Path) -> list[GameRecord]:
    """Every game of the last run."""
    lines = arena("export", "--format", "jsonl", "--data", data).stdout.split("\n")[:-1]
    return [
        msgspec.json.decode(json.dumps(json.loads(line)["record"]), type=GameRecord)
        for line in lines
    ]


@pytest.mark.slow
def test_words_get_their_verdicts_and_stay_one_line_each(played: Path) -> None:
    """F2, F7: each record is a line, whatever is said in it; a fault's text is printable."""
    kinds: dict[str, set[str]] = {row: set() for row in ROWS}
    found = records(played)
    for record in found:
        names = {"mister_x": record.core.mister_x.name, "detectives": record.core.detectives.name}
        for fault in record.core.faults:
            kinds[names[fault.side]].add(fault.kind)
        for aside in (record.aside.mister_x, record.aside.detectives):
            for text in (aside.fault_text or "", aside.hint or ""):
                assert text.isprintable()
                assert len(text) < 700
            check_output(aside.stderr.replace("\t", ""))
    assert kinds == {row: set() if kind == "ok" else {kind} for row, kind in ROWS.items()}
    assert len(found) == len(ROWS)


@pytest.mark.slow
def test_words_come_back_whole_where_they_are_kept(played: Path) -> None:
    """F7: a note and a log line are data, and hold what was said."""
    found = records(played)
    notes = [note for record in found for note in record.notes.values()]
    assert any(isinstance(note, dict) and ALL in note.values() for note in notes)
    logs = [
        line
        for record in found
        for aside in (record.aside.mister_x, record.aside.detectives)
        for line in aside.log
    ]
    assert any(json.loads(line)["text"] == ALL if line.startswith("{") else line for line in logs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("games",), ("verify",), ("report",), ("export", "--format", "csv"), ("games", "--json")],
)
def test_every_command_shows_words_escaped(words: tuple[str, ...], played: Path) -> None:
    """G7, on what is stored."""
    told = arena(*words, "--data", played)
    assert told.code in {0, 3}, told.stderr
    assert told.stdout
    if "--json" in words:
        json.loads(told.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_a_game_is_shown_escaped(row: str, tmp_path: Path) -> None:
    """F2: as its author sees it, in words and as JSON."""
    need_sandbox()
    bot = words_bot(tmp_path, row, name=row)
    told = arena("play", "random", bot, "--seed", "3", "--json", "--data", tmp_path / "data")
    assert told.code == (0 if ROWS[row] == "ok" else 3), told.stderr
    assert "random" in told.stderr  # with --json, words for people go there
    fault = json.loads(told.stdout)["fault"]
    assert (fault or {"kind": "ok"})["kind"] == ROWS[row]


@pytest.mark.slow
def test_table_of_games_is_no_formula_and_comes_back(played: Path) -> None:
    """F5: versions may begin with a plus."""
    text = arena("export", "--format", "csv", "--data", played).stdout
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if re.match(r"[=+\-@\t]", cell) and not _is_number(cell)]
    assert set(ROWS) <= set(cells)


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", cell) is not None


def test_names_of_foreign_results_are_guarded_and_come_back(tmp_path: Path) -> None:
    """F5: of those we did not name ourselves."""
    names = ["=1+1", "+x", "-y", "@z", 'a"b', "a,b", "a\nb", "<b>", "plain", "\x1b[2J"]
    file = tmp_path / "results.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["deal", "mister_x", "detectives", "winner"])
        for deal, name in enumerate(names):
            for other in (it for it in names if it != name):
                writer.writerow([deal, name, other, ("mister_x", "detectives")[deal % 2]])
    assert arena("rate", file).code == 0
    told = arena("rate", file, "--json")
    assert {bot["name"] for bot in json.loads(told.stdout)["bots"]} == set(names)


class _Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts = 0
        self.programs: list[str] = []  # of the scripts that are run; others are data
        self.handlers: list[str] = []
        self.links: list[str] = []
        self.policy = ""
        self._runs = False
        self.feed(text)

    def check(self) -> None:
        """Nothing is run but what the page's own policy names by its content."""
        assert "default-src 'none'" in self.policy
        allowed = re.findall(r"script-src ([^;]*)", self.policy)
        digests = [hashlib.sha256(program.encode()).digest() for program in self.programs]
        named = {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}
        words = {word for words in allowed for word in words.split()}
        assert words - {"'strict-dynamic'"} == named  # a program of ours may load another
        assert self.handlers == []

    def handle_endtag(self, tag: str) -> None:
        self._runs = False

    def handle_data(self, data: str) -> None:
        if self._runs:
            self.programs[-1] += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.scripts += tag in {"script", "iframe", "object", "embed"}
        self._runs = tag == "script" and given.get("type") != "application/json"
        if self._runs:
            assert "src" not in given
            self.programs.append("")
        assert tag not in {"iframe", "object", "embed"}
        self.handlers += [name for name in given if name.startswith("on")]
        self.links += [given[name] or "" for name in ("href", "src", "action") if name in given]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""


@pytest.mark.slow
def test_report_shows_words_as_text(played: Path, tmp_path: Path) -> None:
    """F6: no script but our own, no handler, no foreign link; a policy would stop them."""
    told = arena("report", "--data", played, "-o", tmp_path / "report")
    assert told.code == 0, told.stderr
    pages = list((tmp_path / "report").rglob("*.html"))
    assert pages
    for path in pages:
        page = _Page(path.read_text())
        page.check()
        assert not [link for link in page.links if re.match(r"(?i)(https?|javascript|data):", link)]
        assert WORDS["markup"] not in path.read_text()
    for path in (tmp_path / "report").rglob("*.json"):
        json.loads(path.read_text())


@pytest.mark.slow
def test_a_replay_shows_words_as_text(played: Path, tmp_path: Path) -> None:
    """F6: notes, logs and last words lie in the page as data, which no browser takes for more."""
    for record in records(played):
        file = tmp_path / "game.html"
        game = arena("replay", record.core.game, "--data", played, "-o", file)
        assert game.code == 0, game.stderr
        text = file.read_text()
        page = _Page(text)
        assert page.scripts == 2  # the game as data, and the viewer
        page.check()
        assert not [link for link in page.links if re.match(r"(?i)(https?|javascript):", link)]
        assert re.match(r"default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src", page.policy)
        assert WORDS["markup"] not in text
        assert "<script>alert" not in text


@pytest.mark.slow
@pytest.mark.parametrize("row", ["in-note", "in-log", "in-last-words"])
def test_a_watched_game_shows_words_escaped(row: str, tmp_path: Path) -> None:
    need_sandbox()
    bot = words_bot(tmp_path, row, name=row)
    words = ("--watch", "--seed", "3", "--data", tmp_path / "data")
    told = Caller()("play", "random", bot, *words)
    assert told.code == (0 if ROWS[row] == "ok" else 3), told.stderr
    check_output(told.stdout, told.stderr.replace("\xa0", " "))  # blanks of our own


# --- F9: two of one name -------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "two"), [("Bot", "Bot"), ("Bot", "bot"), ("BOT", "bOT")])
def test_second_bot_of_a_name_is_refused_naming_both(one: str, two: str, tmp_path: Path) -> None:
    first = write_bot(tmp_path / "a", one, "pass")
    second = write_bot(tmp_path / "b", two, "pass")
    told = arena("run", first, second, "--deals", "1", "--data", tmp_path / "data")
    refused(told, str(first), str(second))


# --- F10: settings -------------------------------------------------------------------------------

COMMAND = 'command = ["{python}", "bot.py"]\n'


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        (COMMAND + "#" * 70_000, "larger than 64 KiB"),
        (COMMAND + "x = " + "[" * 20_000 + "]" * 20_000, "bot.toml"),
        (COMMAND + "x = " + "{a=" * 5_000 + "1" + "}" * 5_000, "bot.toml"),
        (COMMAND + "version = 1979-05-27T07:32:00Z", "`version`"),
        (COMMAND + "name = 1979-05-27", "`name`"),
        ("command: !!python/object/apply:os.system ['id']", "bot.toml"),
        (COMMAND + 'sandbox = "none"', "unknown key `sandbox`"),
        (COMMAND + "trusted = true", "unknown key `trusted`"),
        (COMMAND + "[limits]\nmemory_mib = 100000", "more than the organiser's"),
        (COMMAND + "[limits]\nprocesses = 65", "more than the organiser's"),
        (COMMAND + "[limits]\nprocesses = -1", "`limits.processes`"),
        (COMMAND + "[limits]\ntime_ms = 1", "unknown key `limits.time_ms`"),
        (COMMAND + "version = " + "9" * 5_000, "bot.toml"),
        (COMMAND + 'author = "' + "a" * 300 + '"', "`author`"),
        ("command = []", "`command`"),
        ('command = ["a\\u0000b"]', "`command[0]`"),
        ("\x00", "bot.toml"),
    ],
)
def test_settings_that_ask_for_more_are_refused(toml: str, says: str, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, "mine", "pass")
    (bot / "bot.toml").write_text(toml)
    refused(arena("bots", bot), says)


def test_settings_of_a_gigabyte_are_not_read(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, "mine", "pass")
    with (bot / "bot.toml").open("r+b") as file:
        file.truncate(GIB)
    refused(arena("bots", bot), "more than 64 MiB")
