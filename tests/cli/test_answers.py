"""What `--json` prints, as it is published."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest

from arena.cli import answers
from tests.cli.calling import Caller

VECTORS = Path(__file__).parent.parent / "vectors"
SCHEMA = Path(answers.__file__).with_name("schema") / "answers.schema.json"

PROMISED = {  # what scripts rely on
    "Run": "run games faults ratings report",
    "Play": "game winner reason fault rounds",
    "Verify": "checked passed failed",
    "Standings": "model parts role_advantage bots los warnings",
    "Results": "model parts role_advantage bots los warnings",
    "Sprt": "dichotomy gsprt_logistic gsprt_normalized elo_conditional se los",
    "SequentialTest": "llr lower upper verdict",
    "Measured": "sandbox bare request requests_per_s games_per_s scaling_2 coordinator start "
    "memory",
    "GamesCount": "planned played void",
    "FaultShown": "side kind phase text stderr",
    "Failed": "id what",
    "RoleAdvantage": "elo se",
    "Standing": "name elo se low high games bounded mister_x detectives",
}


def test_schema_in_the_repository_is_fresh() -> None:
    text = msgspec.json.format(msgspec.json.encode(answers.schema()), indent=2).decode() + "\n"
    if os.environ.get("ARENA_SNAPSHOTS") == "write":
        SCHEMA.write_text(text, encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", PROMISED)
def test_promised_fields_are_there(name: str) -> None:
    fields = answers.schema()["$defs"][name]["properties"]
    assert set(PROMISED[name].split()) <= set(fields)


def test_every_answer_has_a_schema_word_of_its_own() -> None:
    words = [kind.__struct_config__.tag for kind in get_args(answers.AnyAnswer)]
    assert len(set(words)) == len(words)
    assert all(str(word).startswith("arena.") and str(word).endswith("/1") for word in words)


@pytest.mark.parametrize(
    "words",
    [
        ("bots",),
        ("bots", "random"),
        ("rulesets",),
        ("rulesets", "london-2013:players=2"),
        ("limits",),
        ("protocol",),
        ("config", "check", "t.toml"),
        ("rate", "r.csv"),
        ("rate", "r.csv", "--pairs", "--bootstrap", "20"),
        ("rate", "f.csv"),
        ("rate", "r.csv", "--model", "b", "--prior", "0.5", "--anchor", "A=1500"),
        ("verify", "--vectors", "v.jsonl"),
    ],
    ids=" ".join,
)
def test_json_is_one_object_of_the_published_schema(
    arena: Caller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.toml").write_text('bots = ["random", "greedy"]\n')
    vectors = (VECTORS / "london-legal.jsonl").read_text(encoding="utf-8")
    (tmp_path / "v.jsonl").write_text(vectors.splitlines()[0])
    (tmp_path / "r.csv").write_text(
        "deal,mister_x,detectives,winner\n"
        + "".join(
            f"{deal},{x},{d},{'mister_x' if (deal + len(x + d)) % 3 == k % 2 else 'detectives'}\n"
            for deal in range(12)
            for k, (x, d) in enumerate([("A", "B"), ("B", "A"), ("A", "C"), ("C", "B")])
        )
    )
    (tmp_path / "f.csv").write_text(
        "deal,mister_x,detectives,winner,reason\n1,A,B,mister_x,fault\n1,B,A,mister_x,captured\n"
    )
    called = arena(*words, "--json")
    assert called.code == 0, called.stderr
    answer: dict[str, Any] = json.loads(called.stdout)
    assert next(iter(answer)) == "schema"
    jsonschema.validate(answer, json.loads(SCHEMA.read_text(encoding="utf-8")))
    quiet = arena(*words, "--json", "-q")
    assert json.loads(quiet.stdout) == answer


def test_rate_of_the_same_games_in_any_order_is_the_same(arena: Caller, tmp_path: Path) -> None:
    head = "deal,mister_x,detectives,winner\n"
    lines = [
        f"{deal},{x},{d},{'mister_x' if (deal * 7 + k) % 5 < 2 else 'detectives'}\n"
        for deal in range(10)
        for k, (x, d) in enumerate([("A", "B"), ("B", "A"), ("A", "C"), ("C", "A")])
    ]
    file = tmp_path / "r.csv"
    outputs = []
    for order in (lines, lines[::-1]):
        file.write_text(head + "".join(order))
        outputs.append(arena("rate", file, "--json").stdout)
    assert outputs[0] == outputs[1]


def test_vectors_are_counted_or_named(arena: Caller, tmp_path: Path) -> None:
    vectors = VECTORS / "london-legal.jsonl"
    called = arena("verify", "--vectors", vectors)
    assert (called.code, called.stdout) == (0, "300 of 300 vectors passed\n")
    lines = vectors.read_text(encoding="utf-8").splitlines()[:5]
    broken = json.loads(lines[2])
    broken["x_double_moves"] += 1
    lines[2] = json.dumps(broken)
    file = tmp_path / "v.jsonl"
    file.write_text("\n".join(lines))
    called = arena("verify", "--vectors", file)
    assert called.code == 1
    assert called.stdout.startswith(f"{broken['id']}: Mister X's double moves: the rules give ")
    assert called.stdout.endswith("4 of 5 vectors passed\n")
    answer = arena("verify", "--vectors", file, "--json").json
    assert (answer["checked"], answer["passed"]) == (5, 4)
    assert [one["id"] for one in answer["failed"]] == [broken["id"]]
