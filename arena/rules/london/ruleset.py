"""Binds state, moves and views into one Ruleset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from msgspec.structs import replace

from arena.errors import ConfigError, IllegalMove
from arena.rules.dealing import Stream
from arena.rules.london.belief import beliefs
from arena.rules.london.moves import (
    begin_mister_x_turn,
    legal_steps,
    play_mister_x,
    play_team,
    second_steps,
)
from arena.rules.london.presets import (
    EDITIONS,
    Edition,
    Map,
    bind,
    load_map,
    numbers_of,
    options_of,
)
from arena.rules.london.schema_text import schema
from arena.rules.london.state import (
    BOBBIES,
    DETECTIVES,
    MISTER_X,
    TICKETS,
    Board,
    Figure,
    Numbers,
    State,
    Step,
)
from arena.rules.london.views import DetectivesView, MisterXView, detectives_view, mister_x_view
from arena.rules.ruleset import Played, Preset, Side, Verdict, filled, spelled

__all__ = ["PRESETS", "London"]

BEHAVIOUR = 1  # raised whenever any game could come out differently

FIGURES = (MISTER_X, *DETECTIVES, *BOBBIES)
NOISE = frozenset(("a", "an", "by", "goes", "moves", "ticket", "takes", "the", "to", "with"))


class London:
    """Scotland Yard on the map of London: a Ruleset. Frozen; nothing in it changes.

    Args:
        name: the preset's name.
        text: the canonical name with its options.
        options: every option with its value.
        numbers: all that the rules ask.
        loaded: the edition's board, made ready.
    """

    __slots__ = ("_board", "_board_hash", "_name", "_numbers", "_options", "_rules", "_text")

    def __init__(
        self,
        *,
        name: str,
        text: str,
        options: Mapping[str, str | int],
        numbers: Numbers,
        loaded: Map,
    ) -> None:
        self._name = name
        self._text = text
        self._options = MappingProxyType(dict(options))
        self._numbers = numbers
        self._board = loaded.board
        self._board_hash = loaded.board_hash
        self._rules = bind(numbers, loaded)

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
        """The map with the edition's links."""
        return self._board

    @property
    def board_hash(self) -> str:
        """SHA-256 of the map's canonical JSON."""
        return self._board_hash

    @property
    def ply_type(self) -> type[Step]:
        """One figure's step."""
        return Step

    @property
    def max_turns(self) -> int:
        """Two a round."""
        return 2 * self._numbers.rounds

    @property
    def max_plies(self) -> int:
        """One a figure, and two for a double move."""
        return max(2, len(self._rules.names))

    def deal(self, seed: bytes, number: int) -> State:
        """Return the start: D cards for detectives and Bobbies, then Mister X's card (L5).

        Args:
            seed: the chance of this deal, 1 to 64 bytes.
            number: the deal's number; London has nothing that goes by it.
        """
        del number
        numbers = self._numbers
        names = self._rules.names
        pile = Stream(seed, "london: start cards of the team").shuffle(numbers.cards.detectives)
        drawn = pile[: len(names)]
        rest = [card for card in numbers.cards.mister_x if card not in drawn]
        own = Stream(seed, "london: start card of Mister X").shuffle(rest)[0]
        figures = tuple(
            Figure(name, "detective", card, numbers.detective_tickets)
            if name in DETECTIVES
            else Figure(name, "bobby", card, None)
            for name, card in zip(names, drawn, strict=False)
        )
        start = State(
            round=1,
            to_move=Side.MISTER_X,
            figures=figures,
            unmoved=(),
            pool=numbers.pool,
            supply=numbers.supply_tickets,
            blacks=numbers.blacks,
            doubles=numbers.doubles,
            log=(),
            path=(own,),
        )
        return begin_mister_x_turn(self._rules, start)

    def to_move(self, state: State) -> Side | None:
        """Return who is asked next; None once the game is over."""
        return state.to_move

    def legal(self, state: State) -> tuple[Step, ...]:
        """Return the single steps possible now, by figure, ticket (taxi … black) and station.

        For Mister X first steps alone; `followers` gives what a double move can add.
        """
        return legal_steps(self._rules, state)

    def followers(self, state: State, ply: Step) -> tuple[Step, ...]:
        """Return what can follow a legal step in the same turn, in fixed order.

        For Mister X the second steps of a double move, empty if he can't make one; for the team
        the steps of the figures that have not moved, empty if the turn is over with this one.
        """
        if state.to_move is Side.MISTER_X:
            return second_steps(self._rules, state, ply)
        after = play_team(self._rules, state, (ply,), more=True).state
        return legal_steps(self._rules, after) if after.to_move is Side.DETECTIVES else ()

    def play(self, state: State, plies: Sequence[Step], *, more: bool) -> Played:
        """Return the state after these plies of the side to move, in order.

        A part after which nothing is left to do closes the turn, `more` or not.

        Raises:
            IllegalMove: with the rule's name; what it says never depends on what is hidden.
        """
        if state.to_move is Side.DETECTIVES:
            return play_team(self._rules, state, plies, more=more)
        if state.to_move is Side.MISTER_X:
            return play_mister_x(self._rules, state, plies, more=more)
        raise IllegalMove("L30", "the game is over")

    def between(self, state: State, plies: Sequence[Step]) -> tuple[State, ...]:
        """Return the states after each ply but the last of a turn, or part of one, that was played.

        After the first step of a double move the card counts as played.
        """
        if state.to_move is Side.DETECTIVES:
            return tuple(
                play_team(self._rules, state, plies[:count], more=True).state
                for count in range(1, len(plies))
            )
        return tuple(
            replace(
                play_mister_x(self._rules, state, plies[:1], more=False).state,
                round=state.round,
                to_move=state.to_move,
                unmoved=(),
                doubles=state.doubles - 1,
                ended=None,
            )
            for _ in plies[1:]
        )

    def beliefs(self, trail: Sequence[State]) -> tuple[frozenset[int], ...]:
        """Return for each state where Mister X can be by all that the detectives know."""
        return beliefs(self._rules, trail)

    def view(self, state: State, side: Side) -> DetectivesView | MisterXView:
        """Return all that this side may know of the state (section 5), and nothing else."""
        return mister_x_view(state) if side is Side.MISTER_X else detectives_view(state)

    def verdict(self, state: State) -> Verdict | None:
        """Return how the game ended (captured, enclosed, escaped, stuck); None while it goes on."""
        return state.ended

    def say(self, ply: Step) -> str:
        """Return a ply in words, such as `d1 takes the taxi to 117`."""
        return f"{ply.figure} takes the {ply.ticket} to {ply.to}"

    def parse(self, text: str) -> Step:
        """Return the ply that a person typed, such as `d1 taxi 117`; no figure means `x`.

        Raises:
            ConfigError: if it is none; says how to write one.
        """
        words = [word for word in re.split(r"[\s:,]+", text.strip().lower()) if word]
        words = [word for word in words if word not in NOISE]
        if words and words[0] in TICKETS:
            words.insert(0, MISTER_X)
        cure = f"write a figure, a ticket ({', '.join(TICKETS)}) and a station, such as d1 taxi 117"
        if len(words) != 3:
            raise ConfigError(f"{text!r} is no step: {cure}")
        figure, ticket, station = words
        if figure not in FIGURES:
            raise ConfigError(f"{text!r}: there is no figure {figure!r}; {cure}")
        if ticket not in TICKETS:
            raise ConfigError(f"{text!r}: there is no ticket {ticket!r}; {cure}")
        if not re.fullmatch(r"[1-9][0-9]{0,5}", station):
            raise ConfigError(f"{text!r}: {station!r} is no station; {cure}")
        return Step(figure=figure, ticket=ticket, to=int(station))

    def facts(self, state: State) -> dict[str, str | int]:
        """Return flat values for reports; `capture_station` is 0 if there was no capture."""
        numbers = self._numbers
        doubles_used = numbers.doubles - state.doubles
        captured = state.ended is not None and state.ended.reason == "captured"
        return {
            "x_start": state.path[0],
            "rounds": len(state.log) - doubles_used,  # those in which Mister X moved
            "slots": len(state.log),
            "blacks_used": numbers.blacks - state.blacks,
            "doubles_used": doubles_used,
            "capture_station": state.path[-1] if captured else 0,
        }


def _make(edition: Edition, options: Mapping[str, str | int]) -> London:
    """The ruleset of an edition with every option's value."""
    known = options_of(edition)
    given = filled(known, options)
    if "pool" in options and "pool" in given and given["players"] != 2:
        raise ConfigError(
            f"{edition.name}: pool={given['pool']} has no effect with players={given['players']}; "
            "say players=2, or leave it out"
        )
    return London(
        name=edition.name,
        text=spelled(edition.name, known, given),
        options=given,
        numbers=numbers_of(edition, given),
        loaded=load_map(edition.links_added),
    )


PRESETS = tuple(
    Preset(
        name=edition.name,
        summary=edition.summary,
        options=options_of(edition),
        make=partial(_make, edition),
        schema=schema,
    )
    for edition in EDITIONS
)
