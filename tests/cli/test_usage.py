"""What is asked for wrongly ends with 2, a sentence, and nothing stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Caller


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "random"), "one bot alone has nobody to meet"),
        (("run", "random", "random"), "random is named 2 times"),
        (("run", "nosuch", "randon"), "did you mean 'random'?"),
        (("run", "random", "greedy", "--ruleset", "london-2012"), "the nearest is 'london-2013'"),
        (("run", "random", "greedy", "--ruleset", "london-2013:player=3"), "'players'"),
        (("run", "random", "greedy", "--deals", "0"), "0 is not in the range"),
        (("run", "random", "greedy", "--ruleset", ""), "'--ruleset': nothing stands there"),
        (("run", "random", "greedy", "--seed", ""), "'--seed': nothing stands there"),
        (("play", "random", "greedy", "--seed", ""), "'--seed': nothing stands there"),
        (("run", "random", "greedy", "--jobs", "many"), "'many' is not a valid integer"),
        (("run", "random", "greedy", "--restart", "never"), "'never' is not one of"),
        (("run", "x.toml"), "x.toml: can't be read (No such file or directory)"),
        (("run", "x.toml", "y.toml"), "y.toml: one tournament file can be named"),
        (("run", "random", "--deal", "3"), "--deals"),
        (("plan", "nosuch"), "there is no bot 'nosuch'"),
        (("play", "random", "nosuch"), "there is no bot 'nosuch'"),
        (("play", "random"), "Missing argument 'DETECTIVES_BOT'"),
        (("resume",), "holds no runs"),
        (("games",), "holds no runs"),
        (("report",), "holds no runs"),
        (("verify",), "holds no runs"),
        (("verify", "--vectors", "none.jsonl"), "none.jsonl: these vectors can't be read"),
        (("verify", "x", "--vectors", "none.jsonl"), "--vectors checks vectors alone"),
        (("export", "--format", "csv"), "holds no runs"),
        (("export", "--format", "xml"), "'xml' is not one of"),
        (("export",), "Missing option '--format'"),
        (("export", "--format", "csv", "--json"), "name a file with -o"),
        (("rate", "none.csv"), "none.csv: can't be read"),
        (("rate", "none.csv", "--prior", "nan"), "'--prior': nan is not in the range"),
        (("play", "random", "greedy", "--pace", "nan"), "'--pace': nan is not in the range"),
        (("bots", "nosuch"), "there is no bot 'nosuch'"),
        (("rulesets", "chess"), "there is no ruleset 'chess'"),
        (("limits", "none.toml"), "none.toml: can't be read"),
        (("config", "check", "none.toml"), "none.toml: can't be read"),
        (("nosuch",), "There is no command 'nosuch'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_ends_with_2_and_a_sentence(
    arena: Caller,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    called = arena(*words)
    assert called.code == 2, called.stderr
    assert says in called.stderr
    assert "Traceback" not in called.stderr
    assert called.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} <= {"arena-data"}
    assert not (tmp_path / "arena-data" / "arena.sqlite3").exists()
