"""What `--json` prints, one struct a command; `schema` tells them apart.

Fields are added, never renamed or removed; a change that breaks a script raises the number at the
end of `schema`. The JSON Schema of all of them is `schema/answers.schema.json`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from arena.referee.record import FaultKind, Phase, SideWord
from protocol.messages import ClockSettings, Limits

__all__ = [
    "Answer",
    "AnyAnswer",
    "BoardCheck",
    "Bot",
    "Bots",
    "ConfigCheck",
    "Doctor",
    "Exported",
    "Failed",
    "FaultShown",
    "Game",
    "Games",
    "GamesCount",
    "LimitsAnswer",
    "Machine",
    "Measured",
    "MissionFound",
    "PairsNeeded",
    "Plan",
    "Play",
    "RefusalShown",
    "Replayed",
    "Reported",
    "Rerun",
    "Rerunning",
    "Rules",
    "RulesetRatings",
    "Rulesets",
    "Run",
    "SandboxShown",
    "SeenPairs",
    "SequentialTest",
    "Sprt",
    "Verify",
    "Wire",
    "schema",
]


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema"):
    """Base of the one object that a command prints with `--json`."""


class GamesCount(msgspec.Struct, frozen=True, kw_only=True):
    """Games of a run: in its plan, played to an end that counts, void."""

    planned: int
    played: int
    void: int


class AfterSecret(msgspec.Struct, frozen=True, kw_only=True):
    """Games played when the run's secret had been shown: of bots that were changed since."""

    since: str  # UTC, ISO 8601
    games: int
    bots: tuple[str, ...]  # whose authors could know the deals


class RulesetRatings(msgspec.Struct, frozen=True, kw_only=True):
    """The games of one ruleset of a run; nothing is pooled with another's."""

    ruleset: str
    games: GamesCount
    ratings: dict[str, Any] | None  # as `arena rate`; null as long as no game counts


class Run(Answer, frozen=True, kw_only=True, tag="arena.run/1"):
    """`arena run` and `arena resume`; `ratings` and `report` are null as long as no game counts."""

    run: str
    games: GamesCount
    faults: dict[str, int]
    ratings: dict[str, Any] | None  # as `arena rate`; null where there are several rulesets
    rulesets: tuple[RulesetRatings, ...]
    report: str | None
    secret_sha256: str
    took_s: float
    after_secret: AfterSecret | None = None  # never with an open seed: all can know its deals


class Stopped(Answer, frozen=True, kw_only=True, tag="arena.stopped/1"):
    """`arena run` and `arena resume`, broken off when the run was stored: it can go on."""

    run: str
    games: GamesCount  # `void`: games that were, of which most will be played once more
    next: str  # the command that goes on, or writes the report where all games are stored


class FaultShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a bot did wrong, for its author; `stderr` is the tail that was kept."""

    side: SideWord
    kind: FaultKind
    phase: Phase
    text: str
    hint: str | None
    stderr: str


class Play(Answer, frozen=True, kw_only=True, tag="arena.play/1"):
    """`arena play`; `fault` is the first of `faults`."""

    game: str
    mister_x: str
    detectives: str
    winner: SideWord | None
    reason: str
    fault: FaultShown | None
    faults: tuple[FaultShown, ...]
    rounds: int
    seed: str  # `--seed` of the same deal again
    took_s: float
    void: str | None


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """One game in a list."""

    game: str
    index: int
    ruleset: str
    deal: int
    mister_x: str
    detectives: str
    winner: SideWord | None
    reason: str
    fault: str | None  # the kind
    rounds: int
    marks: tuple[str, ...] = ()  # `unsandboxed`, `kept`, `overloaded`
    given_back_ms: float = 0.0  # by which deadlines were moved for want of a processor, both sides


class Games(Answer, frozen=True, kw_only=True, tag="arena.games/1"):
    """`arena games`: the games asked for, and how many the run has."""

    run: str
    total: int
    games: tuple[Game, ...]


class SeenPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Game pairs of a stored run of the same rules."""

    run: str
    pairs: int
    split_rate: float


class PairsNeeded(msgspec.Struct, frozen=True, kw_only=True):
    """Game pairs of two bots that show a gap: so many, or on average by `arena sprt`."""

    elo: float
    pairs: int
    sequential_pairs: int


class Plan(Answer, frozen=True, kw_only=True, tag="arena.plan/1"):
    """`arena plan`: what `arena run` would play, and what it could see."""

    ruleset: str  # of several the texts, joined by ` + `
    bots: tuple[str, ...]
    deals: int  # of several rulesets the fewest: what can be seen goes by them
    games: int
    pairs: int  # of one deal, sides swapped
    sampled: int  # games tried, which time and disk go by
    expected_s: float | None
    longest_s: float | None  # that the clock allows
    expected_bytes: int | None
    mister_x_rate: float  # that the gap goes by
    smallest_gap_elo: float | None  # of two bots, 95 % two-sided, 80 % power
    deal_sd: float  # by how much deals differ, in logits, that the gaps go by
    seen: SeenPairs | None  # where rate and deals were read off; null: from games tried, or usual
    gaps: tuple[PairsNeeded, ...]  # none where bots play one side only


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A record or vector that did not pass."""

    id: str
    what: str


class Verify(Answer, frozen=True, kw_only=True, tag="arena.verify/1"):
    """`arena verify`."""

    checked: int
    passed: int
    failed: tuple[Failed, ...]


class Rerunning(msgspec.Struct, frozen=True, kw_only=True):
    """One request with the recorded answer and today's, as messages of the wire."""

    turn: int  # of the side, from 1
    part: int
    play: int  # the record's index
    same: bool
    request: dict[str, Any]
    recorded: dict[str, Any] | None  # null: the side's fault stood in its place
    answered: dict[str, Any]


class Rerun(Answer, frozen=True, kw_only=True, tag="arena.rerun/1"):
    """`arena rerun`: the first other answer, or all of the turn that `--at` names."""

    game: str
    side: SideWord
    bot: str
    asked: int  # answers compared
    differing: int
    shown: tuple[Rerunning, ...]
    fault: FaultShown | None


class Reported(Answer, frozen=True, kw_only=True, tag="arena.report/1"):
    """`arena report`: the folder, and the files in it."""

    run: str
    report: str
    files: tuple[str, ...]


class Replayed(Answer, frozen=True, kw_only=True, tag="arena.replay/1"):
    """`arena replay`: the page, and its size."""

    run: str
    game: str
    file: str
    bytes: int


class Exported(Answer, frozen=True, kw_only=True, tag="arena.export/1"):
    """`arena export`: where the games went, and how many."""

    run: str
    format: Literal["csv", "jsonl", "parquet"]
    file: str | None  # null: stdout
    games: int


class SequentialTest(msgspec.Struct, frozen=True, kw_only=True):
    """A log-likelihood ratio, the bounds at which H0 and H1 are accepted, and which one is."""

    llr: float
    lower: float
    upper: float
    verdict: Literal["H0", "H1", "undecided"]


class Sprt(Answer, frozen=True, kw_only=True, tag="arena.sprt/1"):
    """`arena sprt`; the dichotomy decides. What is null has its reason in `reasons`, by field."""

    pairs: tuple[int, int, int]  # lost both times, split, won both times
    elo0: float
    elo1: float
    alpha: float
    beta: float
    dichotomy: SequentialTest
    gsprt_logistic: SequentialTest | None
    gsprt_normalized: SequentialTest | None
    elo_conditional: float | None  # gap on one deal, by the decided pairs
    se: float | None
    low: float | None  # 95 %, with half a pair added to both counts
    high: float | None
    los: float | None
    p_better: float | None  # exact, one-sided
    p_different: float | None  # exact, two-sided
    elo_score: float | None  # of the mean score a pair, as in chess
    elo_score_half: float | None  # half of its 95 % interval
    elo_normalized: float | None
    elo_normalized_half: float | None
    reasons: dict[str, str]


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot as it would be played."""

    name: str
    version: str
    about: str
    sides: tuple[SideWord, ...]
    rulesets: tuple[str, ...]  # empty: as its greeting says


class Bots(Answer, frozen=True, kw_only=True, tag="arena.bots/1"):
    """`arena bots`."""

    bots: tuple[Bot, ...]


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """A ruleset with its options bound."""

    name: str
    text: str
    behaviour: int
    options: dict[str, str | int]
    numbers: Any
    board: str  # SHA-256 of the map
    max_turns: int


class Rulesets(Answer, frozen=True, kw_only=True, tag="arena.rulesets/1"):
    """`arena rulesets`."""

    rulesets: tuple[Rules, ...]


class MissionFound(msgspec.Struct, frozen=True, kw_only=True):
    """How many starts and targets a mission has."""

    starts: int
    targets: int


class BoardCheck(Answer, frozen=True, kw_only=True, tag="arena.board/1"):
    """`arena rulesets --check`: what stands in a board of Europe; counts go by transport."""

    file: str
    name: str
    origin: str
    board: str  # SHA-256 of the map
    cities: dict[str, int]  # by kind: the highest transport that stops there
    links: dict[str, int]
    joined: int  # pairs of cities with a link of any transport
    missions: dict[str, MissionFound]
    detective_starts: int
    tickets: dict[str, dict[str, int]]  # transport → action → how many
    warnings: tuple[str, ...]


class LimitsAnswer(Answer, frozen=True, kw_only=True, tag="arena.limits/1"):
    """`arena limits`: as `hello` and `deal` carry them."""

    limits: Limits
    clock: ClockSettings
    fixed: dict[str, int]  # the same in every run
    not_set_here: tuple[str, ...]  # what this machine does not hold a bot to, a line each


class Wire(Answer, frozen=True, kw_only=True, tag="arena.protocol/1"):
    """`arena protocol`: the version spoken and the JSON Schema of every message."""

    protocol: int
    json_schema: dict[str, Any]


class ConfigCheck(Answer, frozen=True, kw_only=True, tag="arena.config/1"):
    """`arena config check`: the file's settings, defaults filled in."""

    file: str
    settings: dict[str, Any]


class SandboxShown(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox of this machine, which has just passed its self-test."""

    route: Literal["U", "R"]  # an ordinary user's, root's
    bwrap: str
    origin: str  # `setting`, `system`, `wheel` or `PATH`
    version: str
    took_ms: float  # of the self-test
    checks: tuple[str, ...]  # what held
    filter_instructions: int
    proc: bool  # whether bots have a /proc
    notes: tuple[str, ...]


class RefusalShown(msgspec.Struct, frozen=True, kw_only=True):
    """Why strangers' bots can't be run here, and what to do."""

    cause: str
    why: str
    fix: tuple[str, ...]
    alternative: str


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What else is to be known of a machine."""

    system: str
    machine: str
    python: str
    interpreter: str
    cpus: int  # usable
    cpu_quota: float | None  # in CPUs, of our control groups; none if time is not bounded by one
    games_at_once: int  # at most, by the limit of open files
    c_compiler: str | None
    memory_cgroup: bool  # whether one is ours to use
    not_held_to: tuple[str, ...]  # limits that are not set here, a line each


class Doctor(Answer, frozen=True, kw_only=True, tag="arena.doctor/1"):
    """`arena doctor`; either the sandbox or the refusal is null."""

    sandbox: SandboxShown | None
    refusal: RefusalShown | None
    machine: Machine


Measures = dict[str, int | float | None]


class Measured(Answer, frozen=True, kw_only=True, tag="arena.bench/1"):
    """`arena bench`; what was left out is missing."""

    arena: str | None = None  # version
    at: str | None = None  # UTC, ISO 8601, to the minute
    processor: str | None = None
    cpus: int | None = None  # that it might use
    cpu_quota: float | None = None  # of a container, in CPUs
    load: float | None = None  # of the minute before: processes that ran or wanted to
    workers: int | None = None  # that throughput was measured with
    sandbox: str | None = None  # that bots were kept in
    bare: Measures | None = None
    request: Measures | None = None
    rules: Measures | None = None
    requests_per_s: float | None = None
    games_per_s: Measures | None = None
    scaling_2: float | None = None
    coordinator: Measures | None = None
    storing: Measures | None = None
    start: Measures | None = None
    memory: Measures | None = None


AnyAnswer = (
    Run
    | Stopped
    | Play
    | Games
    | Plan
    | Verify
    | Rerun
    | Reported
    | Replayed
    | Exported
    | Sprt
    | Bots
    | Rulesets
    | BoardCheck
    | LimitsAnswer
    | Wire
    | ConfigCheck
    | Doctor
    | Measured
)


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of everything that `--json` prints, ratings included."""
    from reports.results import Results  # loads the statistics
    from reports.standings import SCHEMA, Standings

    kinds = (*AnyAnswer.__args__, Results, Standings)
    _, defs = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    ratings = {"$ref": "#/$defs/Standings"}
    for name in ("Standings", "Results"):
        defs[name]["properties"]["schema"] = {"enum": [SCHEMA]}
    defs["Run"]["properties"]["ratings"] = {"anyOf": [ratings, {"type": "null"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What `arena … --json` prints",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds if kind is not Standings],
        "$defs": defs,
    }
