"""A plan: stored and read back whole, the same games from the same plan, and no memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ConfigError
from arena.referee.record import BotSpec
from arena.tournament import seeds
from arena.tournament.plan import Plan, Section, decode_plan, encode_plan
from protocol.messages import ClockKind, ClockSettings, Limits, Pondering
from tests.fake_games import BOTH, fake_bot, fake_plan

COUNT = st.integers(1, 2**53 - 1)
TEXT = st.text(max_size=12)

BOTS = st.builds(
    BotSpec,
    name=st.text(min_size=1, max_size=12),
    version=TEXT,
    hash=TEXT,
    command=st.lists(TEXT, max_size=3).map(tuple),
    folder=TEXT,
    trusted=st.booleans(),
    sides=st.just(BOTH),
    rulesets=st.lists(TEXT, max_size=2).map(tuple),
)
LIMITS = st.builds(Limits, **dict.fromkeys(Limits.__struct_fields__, COUNT))
CLOCKS = st.builds(
    ClockSettings,
    **dict.fromkeys(("move_ms", "bank_ms", "increment_ms"), st.integers(0, 2**40)),
    kind=st.sampled_from(get_args(ClockKind)),
    pondering=st.sampled_from(get_args(Pondering)),
)
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "ruleset": TEXT,
    "behaviour": COUNT,
    "board": st.sampled_from(["", "b0" * 32]),
    "entrants": st.lists(BOTS, min_size=2, max_size=4, unique_by=lambda bot: bot.name).map(tuple),
    "deals": COUNT,
    "limits": LIMITS,
    "keep": st.booleans(),
    "rated": st.booleans(),
    "sandbox": st.sampled_from(["auto", "none"]),
    "bench_after": COUNT,
    "look_ahead": COUNT,
    "jobs": st.none() | COUNT,
    "executor": TEXT,
    "bwrap": st.none() | TEXT,
    "show": st.lists(TEXT, max_size=2).map(tuple),
    "user_ids": st.none() | st.tuples(COUNT, COUNT),
}


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    options = {name: draw(strategy) for name, strategy in OPTIONS.items()}
    options["kind"] = draw(st.sampled_from(["round_robin", "gauntlet"]))
    if options["kind"] == "gauntlet":
        names = [bot.name for bot in options["entrants"]]
        options["challengers"] = tuple(names[: draw(st.integers(1, len(names) - 1))])
    else:
        options["self_play"] = draw(st.booleans())
    if draw(st.booleans()):  # a second ruleset, which all of them know
        second = Section(ruleset=options["ruleset"] + "+", behaviour=1, deals=draw(COUNT))
        options["also"] = (second,)
        options["entrants"] = tuple(
            msgspec.structs.replace(bot, rulesets=(options["ruleset"], second.ruleset))
            for bot in options["entrants"]
        )
    options["open_seed"] = seed = draw(st.none() | TEXT)
    secret = draw(st.binary(min_size=32, max_size=32)) if seed is None else seeds.open_secret(seed)
    options["secret"] = secret.hex()
    options["clock"] = draw(st.none() | CLOCKS)
    if options["clock"] is None:
        options["nodes"] = draw(st.none() | COUNT)
    return Plan(**options)


@given(plans())
def test_every_option_survives_saving_and_loading(plan: Plan) -> None:
    again = decode_plan(encode_plan(plan))
    assert again == plan
    assert again.run_id == plan.run_id
    assert again.spec(plan.count - 1) == plan.spec(plan.count - 1)


def test_the_property_above_draws_every_option() -> None:
    drawn_apart = {"kind", "challengers", "self_play", "open_seed", "secret", "clock", "nodes"}
    drawn_apart.add("also")
    assert {*OPTIONS, *drawn_apart, "format"} == set(Plan.__struct_fields__)


def test_a_stored_plan_names_every_option() -> None:
    assert set(msgspec.json.decode(encode_plan(fake_plan()))) == set(Plan.__struct_fields__)


def test_a_plan_of_a_newer_arena_is_refused() -> None:
    fields = msgspec.json.decode(encode_plan(fake_plan()))
    with pytest.raises(ConfigError, match="format 2, this arena reads up to 1"):
        decode_plan(msgspec.json.encode({**fields, "format": 2, "new": True}))
    with pytest.raises(ConfigError, match="no plan of a tournament"):
        decode_plan(msgspec.json.encode({**fields, "new": True}))
    with pytest.raises(ConfigError, match="no plan of a tournament"):
        decode_plan(b"[]")


def test_deal_k_is_the_same_for_every_pairing() -> None:
    plan = fake_plan(5, deals=7)
    seen: dict[int, set[str]] = {}
    for spec in plan.specs():
        seen.setdefault(spec.deal, set()).add(spec.deal_seed)
    assert len(seen) == 7
    assert all(len(deal_seeds) == 1 for deal_seeds in seen.values())
    assert len({deal_seed for (deal_seed,) in seen.values()}) == 7


def test_games_of_a_plan_have_ids_and_keys_of_their_own() -> None:
    specs = list(fake_plan(5, deals=7).specs())
    assert [spec.index for spec in specs] == list(range(140))
    assert len({spec.game for spec in specs}) == 140
    assert len({spec.game_key for spec in specs}) == 140


def test_no_game_carries_the_secret() -> None:
    plan = fake_plan()
    for spec in plan.specs():
        assert plan.secret not in msgspec.json.encode(spec).decode()


def test_a_plan_that_is_shown_does_not_tell_the_secret() -> None:
    plan = fake_plan()
    assert plan.secret not in f"{plan!r} {plan}"
    assert plan.run_id in repr(plan)


def test_two_shards_of_a_plan_are_disjoint_and_make_the_whole() -> None:
    plan = fake_plan(4, deals=3)
    assert [*plan.specs(0, 17), *plan.specs(17)] == list(plan.specs())


def test_a_changed_bot_changes_the_ids_of_its_games_alone() -> None:
    before = fake_plan([fake_bot(name) for name in "abc"])
    after = fake_plan([fake_bot("a"), fake_bot("b", content="new"), fake_bot("c")])
    assert after.identity == before.identity
    assert after.run_id == before.run_id
    for old, new in zip(before.specs(), after.specs(), strict=True):
        has_changed = "b" in {old.mister_x.name, old.detectives.name}
        assert (old.game != new.game) == has_changed
        assert (old.game_key != new.game_key) == has_changed
        assert old.deal_seed == new.deal_seed


def test_the_same_plan_under_another_secret_has_the_same_ids_and_other_deals() -> None:
    one, other = fake_plan(secret="11" * 32), fake_plan(secret="22" * 32)
    assert one.identity == other.identity
    assert one.run_id != other.run_id
    for a, b in zip(one.specs(), other.specs(), strict=True):
        assert a.game == b.game
        assert a.deal_seed != b.deal_seed
        assert a.game_key != b.game_key


@pytest.mark.parametrize(
    "option",
    [
        {"jobs": 4},
        {"executor": "dask"},
        {"bwrap": "path"},
        {"show": ("/opt/jdk",)},
        {"user_ids": (7, 7)},
    ],
)
def test_how_a_plan_is_played_is_no_part_of_its_identity(option: dict[str, Any]) -> None:
    assert fake_plan(**option).identity == fake_plan().identity


@pytest.mark.parametrize(
    "option",
    [
        {"deals": 3},
        {"self_play": True},
        {"ruleset": "london-classic"},
        {"behaviour": 2},
        {"board": "b0" * 32},
        {"clock": None, "nodes": 100},
        {"clock": ClockSettings(move_ms=5)},
        {"keep": True},
        {"rated": False},
        {"sandbox": "none"},
        {"bench_after": 3},
        {"open_seed": "7", "secret": seeds.open_secret("7").hex()},
        {"bots": [fake_bot("bot0"), fake_bot("bot1"), fake_bot("bot2", sides=["mister_x"])]},
        {"bots": 4},
    ],
)
def test_whatever_changes_a_game_changes_the_identity(option: dict[str, Any]) -> None:
    assert fake_plan(**option).identity != fake_plan().identity


def test_one_sided_bots_make_a_two_sided_table() -> None:
    plan = fake_plan(
        [fake_bot("x1", sides=["mister_x"]), fake_bot("x2", sides=["mister_x"])]
        + [fake_bot(f"d{n}", sides=["detectives"]) for n in range(3)],
        deals=2,
    )
    met = [(spec.deal, spec.mister_x.name, spec.detectives.name) for spec in plan.specs()]
    assert sorted(met) == [
        (deal, x, d) for deal in (0, 1) for x in ("x1", "x2") for d in ("d0", "d1", "d2")
    ]


def test_a_gauntlet_plays_its_challengers_against_the_rest() -> None:
    plan = fake_plan(3, deals=1, kind="gauntlet", challengers=("bot1",))
    met = [(spec.mister_x.name, spec.detectives.name) for spec in plan.specs()]
    assert met == [("bot1", "bot0"), ("bot0", "bot1"), ("bot1", "bot2"), ("bot2", "bot1")]
    assert plan.pairs == 2


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"bots": [fake_bot("a"), fake_bot("a")]}, "two bots are named 'a'"),
        ({"bots": [fake_bot("a")]}, "nobody to meet"),
        ({"bots": [fake_bot("a", sides=["mister_x"])]}, "no bot here plays the detectives"),
        ({"deals": 0}, "deals is 0"),
        ({"kind": "gauntlet", "challengers": ("zed",)}, "challenger 'zed' is none of the bots"),
        ({"kind": "gauntlet"}, "nobody to meet"),
        (
            {"kind": "gauntlet", "challengers": ("bot0",), "self_play": True},
            "self_play goes with a round robin only",
        ),
        ({"challengers": ("bot0",)}, "challengers go with a gauntlet only"),
        ({"nodes": 5}, "a clock or on nodes"),
        ({"clock": None, "nodes": 0}, "nodes is 0"),
        ({"bench_after": 0}, "bench_after is 0"),
        ({"look_ahead": 0}, "look_ahead is 0"),
        ({"jobs": 0}, "jobs is 0"),
        ({"secret": "AB" * 32}, "64 lower-case hex digits"),
        ({"open_seed": "7"}, "not the hash of its open seed"),
    ],
)
def test_an_impossible_plan_is_refused_in_one_sentence(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text) as caught:
        fake_plan(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_plan_of_ten_million_games_starts_fast_and_small() -> None:
    script = (
        "import sys, time\n"
        "sys.path.append(sys.argv[1])\n"  # behind the installed package
        "from tests.fake_games import fake_plan\n"
        "from arena.tournament.plan import decode_plan, encode_plan\n"
        "plan = decode_plan(encode_plan(fake_plan(1000, deals=11)))\n"
        "assert plan.count > 10**7 and plan.run_id\n"
        "for index in range(0, plan.count, 10_000):\n"
        "    assert plan.spec(index).index == index\n"
        # ru_maxrss would tell of the process that this one was forked from, too.
        "status = open('/proc/self/status').read()\n"
        "peak = int(status.split('VmHWM:')[1].split()[0]) // 1024\n"
        "print(time.process_time(), peak)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parents[2])],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    cpu_s, peak_mib = ended.stdout.split()
    assert float(cpu_s) <= 2.0
    assert float(peak_mib) <= 100


LONDON, SMALL, CLASSIC = "london-2013", "london-2013:players=2", "london-classic"


def knowing(*knows: tuple[str, ...]) -> list[BotSpec]:
    """Bots a, b, c, … with the rulesets that each of them knows."""
    return [
        msgspec.structs.replace(fake_bot("abcdefgh"[n]), rulesets=rulesets)
        for n, rulesets in enumerate(knows)
    ]


def sections(*rulesets: str, deals: int = 2) -> tuple[Section, ...]:
    return tuple(Section(ruleset=text, behaviour=1, deals=deals) for text in rulesets)


def test_each_ruleset_is_played_by_the_bots_that_know_it() -> None:
    both, one = (LONDON, CLASSIC), (LONDON,)
    plan = fake_plan(knowing(both, one, both), deals=3, also=sections(SMALL, CLASSIC))
    specs = list(plan.specs())
    assert len(specs) == plan.count == 3 * 6 + 2 * 6 + 2 * 2
    assert len({spec.game for spec in specs}) == len({spec.game_key for spec in specs}) == 34
    met = {
        text: {(s.mister_x.name, s.detectives.name) for s in specs if s.ruleset == text}
        for text in (LONDON, SMALL, CLASSIC)
    }
    assert met[LONDON] == met[SMALL] == {(x, d) for x in "abc" for d in "abc" if x != d}
    assert met[CLASSIC] == {("a", "c"), ("c", "a")}
    assert [plan.section(spec.index).ruleset for spec in specs] == [s.ruleset for s in specs]
    assert [spec.deal for spec in specs] == sorted(spec.deal for spec in specs)


def test_one_ruleset_is_played_as_if_there_were_no_others() -> None:
    bots = knowing(*3 * [(LONDON, CLASSIC)])
    alone, mixed = fake_plan(bots), fake_plan(bots, also=sections(CLASSIC, deals=5))
    ours = [(s.game, s.game_key, s.deal_seed) for s in mixed.specs() if s.ruleset == LONDON]
    assert ours == [(spec.game, spec.game_key, spec.deal_seed) for spec in alone.specs()]
    assert alone.identity != mixed.identity


def test_bots_that_change_what_they_know_make_another_tournament() -> None:
    both = (LONDON, CLASSIC)
    first = fake_plan(knowing(both, both, both), also=sections(CLASSIC))
    later = fake_plan(knowing(both, both, (LONDON,)), also=sections(CLASSIC))
    assert first.identity != later.identity
    alone = fake_plan(knowing(both, both)).identity
    assert alone == fake_plan(knowing(both, (LONDON,))).identity


def test_a_ruleset_that_nobody_meets_in_or_that_comes_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="london-classic: no bot here plays Mister X"):
        fake_plan(knowing((LONDON,), (LONDON,)), also=sections(CLASSIC))
    with pytest.raises(ConfigError, match="london-2013 is named twice"):
        fake_plan(knowing((LONDON,), (LONDON,)), also=sections(LONDON))


def test_a_mixed_plan_that_is_shown_names_its_rulesets() -> None:
    both = (LONDON, CLASSIC)
    assert "london-2013 + london-classic" in repr(
        fake_plan(knowing(both, both), also=sections(CLASSIC))
    )
