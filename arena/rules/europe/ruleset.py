"""Binds state, moves and views into one Ruleset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from arena.rules.europe import moves, words
from arena.rules.europe.belief import beliefs
from arena.rules.europe.board import Board
from arena.rules.europe.mister_x import place_detectives
from arena.rules.europe.presets import (
    NAME,
    Bound,
    bind,
    bind_typed_in,
    numbers_of,
    options_of,
    summary_of,
)
from arena.rules.europe.schema_text import schema
from arena.rules.europe.state import (
    TICKETS,
    ChooseMission,
    ChooseStart,
    EuropePly,
    Investigate,
    Lay,
    Move,
    Numbers,
    Pay,
    PutBack,
    Special,
    State,
    Tally,
)
from arena.rules.europe.table import Table
from arena.rules.europe.views import DetectivesView, MisterXView, detectives_view, mister_x_view
from arena.rules.ruleset import Played, Preset, Side, Verdict, filled, spelled

__all__ = ["PRESETS", "Europe", "make", "make_on"]

BEHAVIOUR = 1  # raised whenever any game could come out differently


class Europe:
    """Mister X: Flucht durch Europa: a Ruleset. Frozen; nothing in it changes.

    Args:
        name: the preset's name.
        text: the canonical name with its options.
        options: every option with its value.
        numbers: all that the rules ask.
        bound: the board, made ready.
    """

    __slots__ = (
        "_board",
        "_board_hash",
        "_name",
        "_net",
        "_numbers",
        "_options",
        "_rules",
        "_text",
    )

    def __init__(
        self,
        *,
        name: str,
        text: str,
        options: Mapping[str, str | int],
        numbers: Numbers,
        bound: Bound,
    ) -> None:
        self._name = name
        self._text = text
        self._options = MappingProxyType(dict(options))
        self._numbers = numbers
        self._board = bound.board
        self._board_hash = bound.board_hash
        self._net = bound.net
        self._rules = bound.rules(numbers)

    @property
    def name(self) -> str:
        """The preset's name."""
        return self._name

    @property
    def text(self) -> str:
        """The canonical name with the options that are not the default."""
        return self._text

    @property
    def behaviour(self) -> int:
        """Raised whenever any game could come out differently."""
        return BEHAVIOUR

    @property
    def options(self) -> Mapping[str, str | int]:
        """Every option with its value."""
        return self._options

    @property
    def numbers(self) -> Numbers:
        """All that the rules ask."""
        return self._numbers

    @property
    def board(self) -> Board:
        """The cities and links, with missions, start cards and tickets."""
        return self._board

    @property
    def board_hash(self) -> str:
        """SHA-256 of the board, 64 hex digits."""
        return self._board_hash

    @property
    def ply_type(self) -> Any:
        """One thing that a side does; `do` tells which."""
        return ChooseMission | ChooseStart | Move | Pay | Lay | Investigate | Special | PutBack

    @property
    def max_turns(self) -> int:
        """Two a round."""
        return 2 * self._numbers.cap

    @property
    def max_plies(self) -> int:
        """Every ticket of all hands once, and the ply that an action has besides its tickets."""
        numbers = self._numbers
        return max(2 + numbers.mister_x_hand, 1 + sum(numbers.hand_sizes))

    def deal(self, seed: bytes, number: int) -> State:
        """Return the start: tickets for everybody, then the detectives' cards (E9, E10, E13).

        Args:
            seed: the chance of this deal, 1 to 64 bytes.
            number: the deal's number; with `mission=balanced` the colours follow each other by it.
        """
        numbers, rules = self._numbers, self._rules
        colour: str | None = numbers.mission
        if numbers.mission == "choose":
            colour = None
        elif numbers.mission == "balanced":
            colour = rules.colours[number % len(rules.colours)]
        first = numbers.setup_order == "detectives-first"
        start = State(
            round=1,
            to_move=Side.MISTER_X,
            stage="mission" if colour is None else "start",
            seed=seed,
            drawn=0,
            colour=colour,
            figures=place_detectives(rules, seed) if first else (),
            unmoved=(),
            hands=((),) * len(rules.players),
            hand=(),
            bag=rules.tickets,
            box=(0,) * len(TICKETS),
            spent=(),
            board=(),
            path=(),
            known=(),
            rings=(),
            ringed=0,
            paid=(),
            payers=(),
            mark=-1,
            stepped=(),
            entered=(),
            tally=Tally(),
        )
        table = Table(rules, start)
        for place in range(-1, len(rules.players)):  # Mister X first (A17)
            table.draw(place)
        return table.freeze()

    def to_move(self, state: State) -> Side | None:
        """Return who is asked next; None once the game is over."""
        return state.to_move

    def legal(self, state: State) -> tuple[EuropePly, ...]:
        """Return the single plies possible now: moves, payments, laying, actions, put-backs.

        Within a kind they go by figure or player, ticket and city.
        """
        return moves.legal_plies(self._rules, state)

    def followers(self, state: State, ply: EuropePly) -> tuple[EuropePly, ...]:
        """Return what can follow a legal ply in the same turn; empty if it is over with it."""
        return moves.followers(self._rules, state, ply)

    def play(self, state: State, plies: Sequence[EuropePly], *, more: bool) -> Played:
        """Return the state after these plies of the side to move, in order.

        A part after which nothing is left to do closes the turn, `more` or not.

        Raises:
            IllegalMove: with the rule's name; what it says never depends on what is hidden.
        """
        return moves.play(self._rules, state, plies, more=more)

    def between(self, state: State, plies: Sequence[EuropePly]) -> tuple[State, ...]:
        """Return the states after each ply but the last of a turn, or part of one, that was played.

        What has to be done without asking is done at the end of a turn, and not in these.
        """
        return moves.after_each(self._rules, state, plies)

    def beliefs(self, trail: Sequence[State]) -> tuple[frozenset[int], ...]:
        """Return for each state where Mister X can be by all that the detectives know."""
        return beliefs(self._net, self._numbers, trail)

    def view(self, state: State, side: Side) -> DetectivesView | MisterXView:
        """Return all that this side may know of the state, and nothing else."""
        return mister_x_view(state) if side is Side.MISTER_X else detectives_view(state)

    def verdict(self, state: State) -> Verdict | None:
        """Return how the game ended (escaped, captured, encircled, cap); None while it goes on."""
        return state.ended

    def place_names(self) -> dict[int, str]:
        """Return the name of each city by its number."""
        return {city.id: city.name for city in self._board.cities}

    def say(self, ply: EuropePly) -> str:
        """Return a ply in words, such as `d1 goes by car-double to 45`."""
        return words.say(ply)

    def parse(self, text: str) -> EuropePly:
        """Return the ply that a person typed, such as `d1 car-double 45`; no figure means `x`.

        Raises:
            ConfigError: if it is none; says how to write one.
        """
        return words.parse(text)

    def facts(self, state: State) -> dict[str, str | int]:
        """Return flat values for reports; what there is not is "" or 0."""
        captured = state.ended is not None and state.ended.reason == "captured"
        tally = state.tally
        return {
            "mission": state.colour or "",
            "x_start": state.path[0] if state.path else 0,
            "rounds": state.round,
            "entries": max(0, len(state.path) - 1),
            "doubles_used": tally.doubles,
            "hiddens_used": tally.hiddens,
            "stuck": tally.stuck,
            "investigations": tally.investigations,
            "specials": tally.specials,
            "entries_known": len(state.known),
            "x_end": state.path[-1] if state.path else 0,
            "capture_city": state.path[-1] if captured else 0,
        }


def make_on(bound: Bound, options: Mapping[str, str | int], name: str = NAME) -> Europe:
    """Return the ruleset on any board, with the options that are given.

    Args:
        bound: the board, made ready.
        options: those that are not the default.
        name: what stands before the options in its text.
    """
    known = options_of(bound.board, bound.called)
    given = filled(known, options)
    return Europe(
        name=name,
        text=spelled(name, known, given),
        options=given,
        numbers=numbers_of(bound.board, given),
        bound=bound,
    )


def make(options: Mapping[str, str | int]) -> Europe:
    """Return the ruleset on the package's own board."""
    return make_on(bind(), options)


def on_board(called: str) -> Preset:
    """Return the preset on a board that was typed in, by its name.

    Raises:
        ConfigError: if there is none of this name, or it is not sound.
    """
    bound = bind_typed_in(called)
    return Preset(
        name=NAME,
        summary=summary_of(bound.board, called),
        options=options_of(bound.board, called),
        make=partial(make_on, bound),
        schema=schema,
    )


PRESETS = (
    Preset(
        name=NAME,
        summary=summary_of(bind().board),
        options=options_of(bind().board),
        make=make,
        schema=schema,
        on_board=on_board,
    ),
)
