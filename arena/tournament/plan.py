"""Plan: everything that a tournament is, in one frozen value that can be stored and gone on with.

Games are numbered in plan order, from 0, and made one at a time: `spec(i)` is computed from the
plan alone, in the same short time for any `i`. A plan that was broken off plays exactly what is
missing, since nothing that decides a game lies outside of it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from arena.errors import ConfigError
from arena.referee.record import BotSpec, GameSpec
from arena.tournament import seeds
from arena.tournament.interleaving import Interleaved
from arena.tournament.pairings import Gauntlet, Pairing, RoundRobin, Schedule
from protocol.messages import ClockSettings, Limits

__all__ = ["BENCH_AFTER", "FORMAT", "LOOK_AHEAD", "Plan", "Section", "decode_plan", "encode_plan"]

FORMAT = 1  # of a stored plan
BENCH_AFTER = 10  # faults in a row, by plan order
LOOK_AHEAD = 64  # games past the last judged one

_RUN_HEX = 10  # digits of a run's id
_HOW = ("jobs", "executor", "bwrap", "show", "user_ids", "format")  # fields that change no game


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ruleset of a tournament; results of two of them are never pooled."""

    ruleset: str  # canonical text
    behaviour: int  # of that ruleset when the plan was made
    board: str = ""  # SHA-256 of its board then, as `Ruleset.board_hash`; empty: not told
    deals: int  # of every pairing


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A tournament before its first game; `dict` holds what is computed once, not fields.

    Raises:
        ConfigError: if it can't be played: equal names, no opponents, impossible numbers.
    """

    kind: Literal["round_robin", "gauntlet"] = "round_robin"
    ruleset: str  # canonical text, as `Ruleset.text` says it
    behaviour: int  # of that ruleset when the plan was made
    board: str = ""  # SHA-256 of its board then; empty: not told
    entrants: tuple[BotSpec, ...]  # their order is part of the plan
    challengers: tuple[str, ...] = ()  # of a gauntlet: names of entrants
    deals: int  # of every pairing
    also: tuple[Section, ...] = ()  # more rulesets, each played by the bots that know it
    self_play: bool = False
    secret: str  # 64 hex digits; leaves the store only when the run is over
    open_seed: str | None = None  # the text that the secret is a hash of
    clock: ClockSettings | None
    nodes: int | None = None
    limits: Limits
    keep: bool = False  # processes serve one game after the other
    rated: bool = True
    sandbox: Literal["auto", "none"] = "auto"
    bench_after: int = BENCH_AFTER
    look_ahead: int = LOOK_AHEAD
    jobs: int | None = None  # games in play at once; None: `usual_jobs`
    executor: str = "local"
    bwrap: str | None = None  # path of bubblewrap; `path`: PATH is searched too; None: the usual
    show: tuple[str, ...] = ()  # folders that bots in the sandbox see besides the system's
    user_ids: tuple[int, int] | None = None  # for root's bots: first, count; None: the usual
    format: int = FORMAT

    def __post_init__(self) -> None:
        names: set[str] = set()
        for bot in self.entrants:
            if bot.name in names:
                raise ConfigError(
                    f"two bots are named {bot.name!r}: give one of them another name in its "
                    "bot.toml"
                )
            names.add(bot.name)
        for name in self.challengers:
            if name not in names:
                known = ", ".join(sorted(names)) or "none"
                raise ConfigError(f"the challenger {name!r} is none of the bots: {known}")
        if self.kind == "gauntlet" and self.self_play:
            raise ConfigError("self_play goes with a round robin only: leave it out of a gauntlet")
        if self.kind != "gauntlet" and self.challengers:
            raise ConfigError('challengers go with a gauntlet only: set kind = "gauntlet"')
        if self.clock is not None and self.nodes is not None:
            raise ConfigError("a game runs on a clock or on nodes: leave one of them out")
        for field, least in (("bench_after", 1), ("look_ahead", 1), ("jobs", 1), ("nodes", 1)):
            value = getattr(self, field)
            if value is not None and value < least:
                raise ConfigError(f"{field} is {value}: it must be at least {least}")
        if len(self.secret) != 64 or not all(c in "0123456789abcdef" for c in self.secret):
            raise ConfigError("the secret of a plan must be 64 lower-case hex digits")
        if self.open_seed is not None and self.secret != seeds.open_secret(self.open_seed).hex():
            raise ConfigError("the secret of this plan is not the hash of its open seed")
        texts = [section.ruleset for section in self.sections]
        for text in texts:
            if texts.count(text) > 1:
                raise ConfigError(f"the ruleset {text} is named twice: add up its deals")
        _ = self.schedule  # refuses a plan in which nobody meets anybody

    def __repr__(self) -> str:  # so that no log and no traceback tells the secret
        return (
            f"Plan({self.kind}, {self.rulesets}, {len(self.entrants)} bots, {self.deals} deals, "
            f"run {self.run_id})"
        )

    @functools.cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every ruleset of the tournament with its deals, in the order they were named."""
        first = Section(
            ruleset=self.ruleset, behaviour=self.behaviour, board=self.board, deals=self.deals
        )
        return (first, *self.also)

    @property
    def rulesets(self) -> str:
        """Every ruleset's text, for people: joined by plus signs."""
        return " + ".join(section.ruleset for section in self.sections)

    @functools.cached_property
    def schedule(self) -> Schedule:
        """Who meets whom, as a pure function of the game's number."""
        return self._interleaved or self._schedule_of(self.sections[0])

    @functools.cached_property
    def _interleaved(self) -> Interleaved | None:
        if not self.also:
            return None
        return Interleaved([(self._schedule_of(each), each.deals) for each in self.sections])

    def _schedule_of(self, section: Section) -> RoundRobin | Gauntlet:
        bots = self.playing(section)
        mister_x = [place for place in bots if "mister_x" in self.entrants[place].sides]
        detectives = [place for place in bots if "detectives" in self.entrants[place].sides]
        try:
            if self.kind == "gauntlet":
                challengers = [p for p in bots if self.entrants[p].name in self.challengers]
                return Gauntlet(challengers, mister_x, detectives, deals=section.deals)
            return RoundRobin(mister_x, detectives, deals=section.deals, self_play=self.self_play)
        except ConfigError as exc:
            raise ConfigError(f"{section.ruleset}: {exc}") if self.also else exc from None

    def playing(self, section: Section) -> tuple[int, ...]:
        """Return the places of the bots that play a section: all, where it is the only one."""
        text = section.ruleset
        names = {text, text.partition(":")[0]}
        return tuple(
            place
            for place, bot in enumerate(self.entrants)
            if not self.also or names & set(bot.rulesets)
        )

    def count_of(self, section: Section) -> int:
        """Return how many games a section has."""
        return self._schedule_of(section).count

    def section(self, index: int) -> Section:
        """Return the section that a game belongs to.

        Raises:
            IndexError: if the plan has no such game.
        """
        mixed = self._interleaved
        return self.sections[0 if mixed is None else mixed.place(index).part]

    @property
    def count(self) -> int:
        """All games of the plan."""
        return self.schedule.count

    @property
    def pairs(self) -> int:
        """Game pairs of the plan: one deal played twice, sides swapped."""
        return self.schedule.pairs

    def pairing(self, index: int, results: Sequence[Any] = ()) -> Pairing:
        """Return who meets whom in one game; see `Schedule.pairing`."""
        return self.schedule.pairing(index, results)

    def spec(self, index: int, results: Sequence[Any] = ()) -> GameSpec:
        """Return one game, ready to be played.

        Args:
            index: its place in the plan, from 0.
            results: judged results in plan order, for schedules that go by them.

        Raises:
            IndexError: if the plan has no such game.
        """
        pairing = self.pairing(index, results)
        ruleset = self.section(index).ruleset
        game = self.game_id(index, pairing)
        secret = self._secret
        return GameSpec(
            game=game,
            index=index,
            deal=pairing.deal,
            deal_seed=seeds.deal_seed(secret, pairing.deal).hex(),
            game_key=seeds.game_key(secret, game).hex(),
            ruleset=ruleset,
            mister_x=self.entrants[pairing.mister_x],
            detectives=self.entrants[pairing.detectives],
            clock=self.clock,
            nodes=self.nodes,
            limits=self.limits,
            keep=self.keep,
            rated=self.rated,
            sandbox=self.sandbox,
        )

    def specs(self, start: int = 0, stop: int | None = None) -> Iterator[GameSpec]:
        """Yield the games from `start` on, lazily; of schedules that need no results."""
        for index in range(start, self.count if stop is None else min(stop, self.count)):
            yield self.spec(index)

    def game_id(self, index: int, pairing: Pairing) -> str:
        """Return the id of a game, given its place and its pairing: 20 hex digits."""
        x, d = self.entrants[pairing.mister_x], self.entrants[pairing.detectives]
        ruleset = self.section(index).ruleset
        return seeds.game_id(ruleset, pairing.deal, (x.name, x.hash), (d.name, d.hash))

    @functools.cached_property
    def identity(self) -> str:
        """What makes two plans the same tournament: 64 hex digits.

        Everything counts but how it is played (`jobs`, `executor`, `bwrap`, `show`, `user_ids`),
        what bots consist of (their version, hash, command, folder), and a secret that was drawn. So
        a changed bot leaves the identity alone, and its games are the only ones missing.
        """
        fields = msgspec.to_builtins(self)
        for field in (*_HOW, "secret"):
            del fields[field]
        fields["entrants"] = [[bot.name, sorted(bot.sides)] for bot in self.entrants]
        if self.also:  # a changed bot that knows other rulesets would move the places of games
            fields["playing"] = [self.playing(section) for section in self.sections]
        else:
            del fields["also"]
        for section in (fields, *fields.get("also", ())):
            if not section["board"]:
                del section["board"]
        return hashlib.sha256(msgspec.json.encode(fields, order="sorted")).hexdigest()

    @functools.cached_property
    def run_id(self) -> str:
        """The id of this plan's run: 10 hex digits, made from the identity and the secret."""
        text = f"{self.identity} {seeds.commitment(self._secret)}"
        return hashlib.sha256(text.encode()).hexdigest()[:_RUN_HEX]

    @property
    def commitment(self) -> str:
        """SHA-256 of the secret, which is printed before the first game."""
        return seeds.commitment(self._secret)

    @functools.cached_property
    def _secret(self) -> bytes:
        return bytes.fromhex(self.secret)


class _Format(msgspec.Struct):
    """The one field that every format of a plan has."""

    format: int


_decoder = msgspec.json.Decoder(Plan)
_format_decoder = msgspec.json.Decoder(_Format)


def encode_plan(plan: Plan) -> bytes:
    """Return a plan as JSON, every option named."""
    return msgspec.json.encode(plan)


def decode_plan(text: bytes) -> Plan:
    """Return the plan that `encode_plan` wrote.

    Raises:
        ConfigError: if it was written by a newer arena, or is no plan.
    """
    try:
        made_by = _format_decoder.decode(text).format
        if made_by > FORMAT:
            raise ConfigError(
                f"this plan has format {made_by}, this arena reads up to {FORMAT}: "
                "go on with the arena that made it, or a newer one"
            )
        return _decoder.decode(text)
    except msgspec.DecodeError as exc:
        raise ConfigError(f"this is no plan of a tournament: {exc}") from exc
