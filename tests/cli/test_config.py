"""tournament.toml: read, refused, written and described."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cli import config, planning
from arena.cli.config import Clock, Limits, Tournament
from arena.cli.sandboxing import Sandboxing
from arena.errors import ConfigError
from arena.sandbox.limits import default_limits
from tests.cli.calling import Caller

SCHEMA = Path(config.__file__).with_name("schema") / "tournament.schema.json"


def written(value: Any) -> str:
    """Schema text as it stands in the repository."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("deal = 3", "t.toml:1: unknown key `deal`; did you mean `deals`?"),
        (
            "deals = 2\n\n[clock]\nmove = 5",
            "t.toml:4: unknown key `clock.move`; did you mean `move_ms`?",
        ),
        ('deals = "many"', "t.toml:1: `deals` must be a whole number, not text in quotes."),
        ("deals = 1.5", "t.toml:1: `deals` must be a whole number, not one with a point."),
        ("# how many\ndeals = 0", "t.toml:2: `deals` must be at least 1."),
        ("jobs = 5000", "t.toml:1: `jobs` must be at most 1,024."),
        ('restart = "kep"', "t.toml:1: `restart` must be 'game' or 'keep', not 'kep'."),
        (
            'bots = [\n "a",\n 3\n]',
            "t.toml:3: `bots[1]` must be text in quotes, not a whole number.",
        ),
        ('bots = "a"', "t.toml:1: `bots` must be a list in [ ], not text in quotes."),
        ("clock = 3", "t.toml:1: `clock` must be a table, not a whole number."),
        ("self_play = 1", "t.toml:1: `self_play` must be true or false, not a whole number."),
        ("[clock]\nmove_ms = -1", "t.toml:2: `clock.move_ms` must be at least 0."),
        (
            '[clock]\nkind = "CPU"',
            "t.toml:2: `clock.kind` must be 'wall' or 'cpu', not 'CPU'.",
        ),
        ("deals =", "t.toml: not valid TOML: Invalid value (at end of document)."),
        ("bots = " + "[" * 5000, "t.toml: not valid TOML: nested too deeply."),
    ],
)
def test_parse_refuses_with_line_key_and_cure(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse(text, "t.toml")
    assert str(caught.value) == says


def test_parse_names_every_unknown_key_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse("zzz = 1\ndeals = 2\n[limits]\nmemory = 5\n", "t.toml")
    first, second = str(caught.value).splitlines()
    assert first.startswith("t.toml:1: unknown key `zzz`; the keys here are bots, mister_x, ")
    assert second == "t.toml:4: unknown key `limits.memory`; did you mean `memory_mib`?"


def test_parse_gives_defaults_for_what_is_not_said() -> None:
    assert config.parse("", "t.toml") == Tournament()


def test_load_says_what_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.toml: can't be read \(No such file or directory\)"):
        config.load(tmp_path / "no.toml")


def test_load_refuses_what_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_bytes(b"deals = 3 # \xff")
    with pytest.raises(ConfigError, match=r"not UTF-8 text \(byte 12\)"):
        config.load(file)


texts = st.text(st.characters(codec="utf-8"), max_size=8)
names = st.lists(texts, max_size=3).map(tuple)
positive = st.integers(1, 2**53 - 1)
milliseconds = st.integers(0, 86_400_000)
asked = st.none() | positive
tournaments = st.builds(
    Tournament,
    bots=names,
    mister_x=names,
    detectives=names,
    kind=st.sampled_from(["round_robin", "gauntlet"]),
    challengers=names,
    ruleset=texts
    | st.lists(
        st.builds(config.RulesetDeals, name=texts, deals=st.none() | st.integers(1, 9)),
        min_size=1,
        max_size=3,
    ).map(tuple),
    deals=st.integers(1, config.MOST_DEALS),
    seed=st.none() | texts | st.integers(),
    jobs=st.none() | st.integers(1, 1024),
    restart=st.sampled_from(["game", "keep"]),
    executor=st.just("local"),
    sandbox=st.sampled_from(["auto", "none"]),
    bwrap=st.none() | texts,
    show=names,
    user_ids=st.none() | st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1)),
    self_play=st.booleans(),
    bench_after=positive,
    nodes=asked,
    clock=st.builds(
        Clock,
        move_ms=milliseconds,
        bank_ms=milliseconds,
        increment_ms=milliseconds,
        kind=st.sampled_from(["wall", "cpu"]),
        pondering=st.sampled_from(["watch", "freeze", "allow"]),
    ),
    limits=st.builds(
        Limits, **dict.fromkeys(Limits.__struct_fields__, st.none() | st.integers(1, 86_400_000))
    ),
)


def test_every_option_is_drawn_by_the_round_trip() -> None:
    fields = set(Tournament.__struct_fields__)
    drawn = {
        "bots", "mister_x", "detectives", "kind", "challengers", "ruleset", "deals", "seed", "jobs",
        "restart", "executor", "sandbox", "bwrap", "show", "user_ids", "self_play", "bench_after",
        "nodes", "clock", "limits",
    }  # fmt: skip
    assert fields == drawn


def test_schema_in_the_repository_is_fresh() -> None:
    if os.environ.get("ARENA_SNAPSHOTS") == "write":
        SCHEMA.write_text(written(config.schema()))
    assert SCHEMA.read_text() == written(config.schema())


@given(tournaments)
def test_every_option_survives_save_and_load(tournament: Tournament) -> None:
    if tournament.nodes is not None:  # then there is no clock
        tournament = msgspec.structs.replace(tournament, clock=Clock())
    text = config.to_toml(tournament)
    assert config.parse(text, "t.toml") == tournament
    jsonschema.validate(tomllib.loads(text), json.loads(SCHEMA.read_text()))


@pytest.mark.parametrize(
    "text", ["deal = 3", "deals = 0", "restart = 'kep'", "[clock]\nx = 1", "nodes = 9\n[clock]"]
)
def test_schema_refuses_what_load_refuses(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), config.schema())


def test_config_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Tournament().deals = 3  # type: ignore[misc]
    assert msgspec.structs.replace(Tournament(), deals=3).deals == 3


def test_a_game_on_nodes_has_no_clock() -> None:
    with pytest.raises(ConfigError, match=r"t.toml:2: a game runs on `clock` or on `nodes`"):
        config.parse("nodes = 9\n[clock]\nmove_ms = 5\n", "t.toml")


def test_strange_key_is_shown_by_its_numbers() -> None:
    with pytest.raises(ConfigError, match=r"unknown key `\\x1b\[31m`"):
        config.parse('"\\u001b[31m" = 1', "t.toml")


def test_mark_of_an_editor_at_the_start_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_bytes(b"\xef\xbb\xbfdeals = 3\n")
    assert config.load(file).deals == 3


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a tenth of a second to be tried, and not every machine has one."""
    monkeypatch.setattr(planning, "kept_for", lambda *_, **__: Sandboxing(mode="none"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("deals = 3", "names no bots"),
        ('bots = ["random", "random"]', "random is named 2 times"),
        ('mister_x = ["random"]', "no bot here plays the detectives"),
        ('detectives = ["random"]', "no bot here plays Mister X"),
        ('bots = ["random"]', "one bot alone has nobody to meet"),
        ('bots = ["random", "greedy"]\nchallengers = ["random"]', "with a gauntlet only"),
        ('bots = ["random", "greedy"]\nkind = "gauntlet"', "a gauntlet needs challengers"),
        ('bots = ["random", "none", "./x"]', "there is no bot 'none'"),
        ('bots = ["random", "none", "./x"]', "there is no bot './x'"),
        (
            'bots = ["random", "./mine"]\nkind = "gauntlet"\nchallengers = ["randon"]',
            "the challenger 'randon' is none of the bots: my-name, random",
        ),
        ('bots = ["./mine", "./theirs"]', "theirs have one name, 'my-name' and 'My-Name'; give"),
        ('bots = ["random", "./mine", "mine/"]', "mine is named 2 times"),
        (
            'bots=["./mine","random"]\nself_play=true\nkind="gauntlet"\nchallengers=["random"]',
            "self_play goes with a round robin only",
        ),
        ('bots = ["random", "./mine/data.txt"]', "has no execute bit and is no .py file"),
        (
            'mister_x = ["random"]\ndetectives = ["./x_only"]',
            "x_only: asked to play detectives, but plays mister_x only",
        ),
        ('bots = ["./x_only", "./x_too"]', "no bot here plays the detectives"),
        (
            'bots = ["random", "./x_only"]\nruleset = "europe-2009"',
            "x_only: plays london-2013 only, and is to play europe-2009",
        ),
        ('bots = ["random", "./lost"]', "lost: the program 'bot' is missing; is it built"),
        (
            'bots = ["random", "./hidden"]',
            "hidden: the command names '.bin/bot', but .bin is never",
        ),
        ('bots = ["random", "./leads_out"]', "leads_out: link: a link out of the bot's"),
        ('bots = ["random", "./holds"]', "holds the data folder"),
        ('bots = ["random", "greedy"]\nruleset = "london-2012"', "t.toml:2: there is no ruleset"),
        ('bots = ["random", "greedy"]\nseed = ""', "t.toml:2: `seed` is empty; leave it out"),
        (
            'bots = ["random", "greedy"]\n[clock]\nmove_ms = 0\nincrement_ms = 5',
            "t.toml:2: this `clock` gives a bot no time for its first turn",
        ),
        (f"deals = {'9' * 5_000}", "holds a number that is far too long"),
        ('bots = ["random", "greedy"]\nlimits.file_mib = 9007199254740991', "at most 2,147,483,"),
    ],
)
def test_check_refuses_what_run_would(
    arena: Caller, tmp_path: Path, no_sandbox: None, text: str, says: str
) -> None:
    file = tmp_path / "t.toml"
    file.write_text(text)
    london = 'sides = ["mister_x"]\nrulesets = ["london-2013"]'
    for name, toml in {
        "mine": 'name = "my-name"\ncommand = ["./x"]',
        "theirs": 'name = "My-Name"\ncommand = ["./x"]',
        "x_only": f'command = ["./x"]\n{london}',
        "x_too": f'command = ["./x"]\n{london}',
        "lost": 'command = ["./bot"]',
        "hidden": 'command = [".bin/bot"]',
        "leads_out": 'command = ["./x"]',
        "holds": 'command = ["./x"]',
    }.items():
        write_runnable(tmp_path / name, toml)
    (tmp_path / "mine" / "data.txt").touch()
    (tmp_path / "hidden" / ".bin").mkdir()
    (tmp_path / "hidden" / ".bin" / "bot").touch()
    (tmp_path / "leads_out" / "link").symlink_to("/etc/passwd")
    before = sorted(tmp_path.rglob("*"))
    called = arena("config", "check", file, "--data", tmp_path / "holds" / "data")
    assert called.code == 2
    assert f"{file}" in called.stderr
    assert says in called.stderr
    assert sorted(tmp_path.rglob("*")) == before


def write_runnable(folder: Path, toml: str) -> None:
    """Write a bot whose program could be started."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(f"{toml}\n")
    (folder / "x").write_text("#!/bin/sh\n")
    (folder / "x").chmod(0o755)


def test_check_takes_what_is_yet_to_be_built(
    arena: Caller, tmp_path: Path, no_sandbox: None
) -> None:
    write_runnable(tmp_path / "mine", 'command = ["target/bot"]\nbuild = [["./x"]]')
    file = tmp_path / "t.toml"
    file.write_text('bots = ["random", "./mine"]')
    data = tmp_path / "arena-data"
    called = arena("config", "check", file, "--data", data)
    assert called.code == 0, called.stderr
    assert f"Next: arena plan {file} --data {data}" in called.stderr
    assert not data.exists()


def test_check_tells_what_is_wrong_with_how_bots_are_kept(arena: Caller, tmp_path: Path) -> None:
    write_runnable(tmp_path / "mine", 'command = ["./lost"]')
    file = tmp_path / "t.toml"
    file.write_text('bots = ["random", "./mine"]\nbwrap = "./none"')
    called = arena("config", "check", file)
    assert called.code == 2
    assert called.stderr.startswith(f"error: {file}: it can't be played:\n  {tmp_path}/mine: ")
    assert "\n  Cannot run untrusted bots: " in called.stderr
    assert f"{tmp_path}/none" in called.stderr


@pytest.mark.parametrize("command", [("config", "check"), ("run",), ("plan",)], ids=" ".join)
def test_more_games_at_once_than_open_files_allow_are_refused_before_anything_is_done(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _kind: (70, 70))
    file = tmp_path / "t.toml"
    file.write_text('bots = ["random", "greedy"]\nsandbox = "none"\njobs = 1_024')
    called = arena(*command, file, "--data", tmp_path / "data")
    assert called.code == 2, called.stderr
    assert "1,024 games at once need more open files than the 70 that" in called.stderr
    assert not (tmp_path / "data").exists()


def test_check_tells_that_dask_is_not_there(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_sandbox: None
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    file = tmp_path / "t.toml"
    file.write_text('bots = ["random", "greedy"]\nexecutor = "dask"')
    called = arena("config", "check", file)
    assert called.code == 2
    assert "pip install 'misterx-arena[dask]'" in called.stderr


@pytest.mark.parametrize("name", ["bot.toml", "tournament.conf"])
def test_check_refuses_a_file_that_run_would_not_know(
    arena: Caller, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.write_text('bots = ["random", "greedy"]')
    called = arena("config", "check", file)
    assert called.code == 2
    assert f"error: {file}: " in called.stderr
    assert arena("run", file).code == 2


def test_check_on_another_system_looks_at_no_bot(
    arena: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    file = tmp_path / "t.toml"
    file.write_text('bots = ["random", "./none"]')
    called = arena("config", "check", file)
    assert called.code == 0
    assert "bots are started on Linux alone: here none is looked at" in called.stderr
    file.write_text('bots = ["random", "random"]')
    assert arena("config", "check", file).code == 2


def test_check_fills_every_default_in(arena: Caller, tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(MIXED + "[limits]\nmemory_mib = 64\n")
    called = arena("config", "check", file, "--json")
    assert called.code == 0, called.stderr
    settings = called.json["settings"]
    limits = msgspec.structs.asdict(default_limits())
    assert settings["limits"] == {
        **{key: limits[key] for key in config.Limits.__struct_fields__},
        "memory_mib": 64,
    }
    assert [each["deals"] for each in settings["ruleset"]] == [3, 5]
    assert {key for key, value in settings.items() if value is None} == {
        "seed", "jobs", "nodes", "bwrap", "user_ids",
    }  # fmt: skip
    told = arena("config", "check", file).stdout
    again = tmp_path / "again.toml"
    again.write_text(told)
    assert arena("config", "check", again).stdout == told


@pytest.mark.parametrize(
    ("word", "cure"),
    [("t.toml", "check t.toml` checks"), ("a b.toml", "'a b.toml'`"), ("x", "check FILE.toml`")],
)
def test_config_without_its_command_is_answered_with_it(
    arena: Caller, word: str, cure: str
) -> None:
    called = arena("config", word)
    assert called.code == 2
    assert f"There is no command '{word}': `arena config check " in called.stderr
    assert cure in called.stderr
    assert "`arena config schema`" in called.stderr


def test_file_of_a_bot_is_no_tournament(arena: Caller, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "a"\n')
    called = arena("run", tmp_path / "bot.toml", "greedy")
    assert called.code == 2
    assert f"a bot's own file, no tournament's; name its folder, {tmp_path}" in called.stderr


MIXED = """bots = ["random", "greedy"]
deals = 3

[[ruleset]]
name = "london-2013"

[[ruleset]]
name = "london-2013:players=2"
deals = 5
"""


def test_several_rulesets_each_have_their_deals(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(MIXED, encoding="utf-8")
    made = config.load(file)
    assert made.rulesets == (("london-2013", 3), ("london-2013:players=2", 5))
    assert config.parse(config.to_toml(made), "t.toml") == made
    jsonschema.validate(tomllib.loads(MIXED), config.schema())
    assert Tournament(bots=("random",)).rulesets == (("london-2013", 20),)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("deals = 5", "deal = 5", 9, "unknown key `ruleset[1].deal`; did you mean `deals`?"),
        ("players=2", "players=9", 8, "players can't be '9'"),
        ("london-2013:players=2", "london-2013", 8, "london-2013 is named twice; add up its deals"),
        ("deals = 5", "deals = 0", 9, "`ruleset[1].deals` must be at least 1"),
        ('name = "london-2013"\n', "deals = 2\n", 4, "`ruleset[0]`"),
    ],
)
def test_a_wrong_ruleset_of_several_is_refused_by_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    file = tmp_path / "t.toml"
    file.write_text(MIXED.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config.load(file)
    assert f":{line}: " in str(caught.value)
    assert words in str(caught.value)
