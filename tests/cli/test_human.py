"""A person as a bot: what is taken, what is refused and why, and how one leaves."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from arena.cli.human import Moves, human_spec, is_human
from arena.referee.record import GameRecord
from arena.referee.replay import replay
from arena.rules.registry import make
from arena.rules.ruleset import Side
from tests.cli.watched_games import Scripted, play_seen
from tests.referee.games import bot, honest, line, spec

RULES = make("london-2013")


def start(side: Side = Side.MISTER_X) -> Any:
    """The first state of the test game in which a side is asked."""
    game = spec(bot("x"), bot("d"))
    state = RULES.deal(bytes.fromhex(game.deal_seed), game.deal)
    if side is Side.DETECTIVES:
        state = RULES.play(state, RULES.legal(state)[:1], more=False).state
    return state


def words(ply: Any) -> str:
    return " ".join(str(value) for value in msgspec.structs.astuple(ply))


class Player(Scripted):
    """A person who always takes the first completion, detectives one pawn at a time."""

    def __init__(self, *first: str) -> None:
        super().__init__(())
        self.first = list(first)

    async def ask(self, prompt: str, complete: Any) -> str:
        self.prompts.append(prompt)
        if self.first:
            return self.first.pop(0)
        found: str = complete("")[0]
        return found


def check(record: GameRecord) -> None:
    """The record is one like every other."""
    assert record.aside.void is None
    assert record.core.faults == ()
    replay(record.core, record.notes, aside=record.aside)


def test_person_plays_a_whole_game_as_mister_x() -> None:
    record, watch = play_seen(Player())
    check(record)
    assert record.core.mister_x.name == "human"
    assert all(time.charged_ms == 0 for time in record.aside.mister_x.times)
    assert msgspec.json.encode(watch.following.ruleset.facts(watch.following.state)) == (
        msgspec.json.encode(record.core.facts)
    )


def test_person_plays_detectives_in_parts() -> None:
    person = Player()
    record, _ = play_seen(honest, person)
    check(record)
    plays = [play for play in record.core.plays if play.side == "detectives"]
    assert all(len(play.plies) == 1 for play in plays)
    assert plays[0].more
    assert person.prompts[0] == "Detectives (d1 d2 d3 d4 d5 to move)> "
    assert person.prompts[1] == "Detectives (d2 d3 d4 d5 to move)> "


def test_whole_turns_and_double_moves_are_one_line() -> None:
    state = start()
    first = RULES.legal(state)[0]
    second = RULES.followers(state, first)[0]  # type: ignore[attr-defined]
    record, _ = play_seen(Scripted([f"{words(first)}; {words(second)}"]))
    assert len(record.core.plays[0].plies) == 2


@pytest.mark.parametrize(
    ("side", "text", "says"),
    [
        (Side.MISTER_X, "d1 taxi 5", "L10"),
        (Side.MISTER_X, "taxi 199", "L11"),
        (Side.MISTER_X, "x tram 5", "there is no ticket 'tram'"),
        (Side.MISTER_X, "done", "L10"),
        (Side.MISTER_X, ";", "L10"),
        (Side.DETECTIVES, "d1 taxi 199", "L11"),
        (Side.DETECTIVES, "d1 black 5", "L17"),
        (Side.DETECTIVES, "done", "L16"),
        (Side.DETECTIVES, "x taxi 5", "L10"),
    ],
)
def test_refused_move_is_answered_with_the_reason_and_asked_for_again(
    side: Side, text: str, says: str
) -> None:
    person = Player(text)
    record, _ = play_seen(
        person if side is Side.MISTER_X else honest,
        person if side is Side.DETECTIVES else honest,
    )
    check(record)
    assert [one for one in person.told if one.startswith("No: ") and says in one]


@pytest.mark.parametrize("leaves", [[], ["quit"], ["", "?", " EXIT "]])
def test_person_who_leaves_makes_the_game_void(leaves: list[str]) -> None:
    person = Scripted(leaves)
    record, _ = play_seen(honest, person)
    assert record.aside.void is not None
    assert "left the game" in record.aside.void
    assert record.core.winner is None
    assert record.core.faults == ()


def test_question_mark_lists_what_is_possible() -> None:
    person = Scripted(["?"])
    play_seen(person)
    legal = RULES.legal(start())
    listed = next(text for text in person.told if "taxi " in text and "Type" not in text)
    numbers = [
        int(word) for line in listed.split("\n") for word in line.split(" ", 1)[1].split(", ")
    ]
    assert sorted(numbers) == sorted(ply.to for ply in legal)


def test_completion_goes_ply_by_ply() -> None:
    state = start(Side.DETECTIVES)
    moves = Moves(RULES, state)
    legal = RULES.legal(state)
    assert moves.complete("") == [words(ply) for ply in legal]
    assert moves.complete("D1  ") == [words(ply) for ply in legal if ply.figure == "d1"]
    one = words(legal[0])
    rest = moves.complete(f"{one}; ")
    assert rest
    assert all(text.startswith(f"{one}; d") and not text.startswith(f"{one}; d1") for text in rest)
    assert moves.complete("nonsense; ") == []
    assert moves.complete("d1 taxi 199; ") == []


def test_completion_of_a_double_move_gives_what_can_follow() -> None:
    state = start()
    moves = Moves(RULES, state)
    first = RULES.legal(state)[0]
    text = f"{first.ticket} {first.to}"
    assert moves.complete(text) == [text]
    following = RULES.followers(state, first)  # type: ignore[attr-defined]
    assert moves.complete(f"{text};") == [f"{text}; {two.ticket} {two.to}" for two in following]
    assert moves.complete("x t") == [
        words(ply) for ply in RULES.legal(state) if ply.ticket == "taxi"
    ]


EUROPE = "europe-2009:players=2,mission=green"


def plain(request: Any) -> bytes:
    """A Mister X of Europe: the first legal ply until the turn may end."""
    if request["type"] == "hello":
        return line(**{**json.loads(honest(request)), "rulesets": ["europe-2009"]})
    if request["type"] == "deal":
        return honest(request)
    done = request["view"]["stage"] in ("action", "refill")
    plies = [] if done else request["legal"][:1]
    return line(type="play", id=request["id"], plies=plies, more=not done)


class Actor(Player):
    """A person of Europe who acts where that can be, puts one ticket back, and is done."""

    typed = ""

    async def ask(self, prompt: str, complete: Any) -> str:
        found: list[str] = complete("")
        await super().ask(prompt, complete)
        acts = [text for text in found if text.startswith(("pay", "investigate", "special"))]
        backs = [text for text in found if text.startswith("put_back")]
        if self.typed.startswith("put_back"):
            acts, backs = [], []
        end = ["done"] if "done" in found else found[:1]
        self.typed = (acts[-1:] or backs[:1] or end)[0]
        return self.typed


def test_turn_of_europe_stays_open_until_the_person_is_done() -> None:
    """Moves are typed one by one; an action, and then tickets to put back, come after them."""
    person = Actor()
    record, watch = play_seen(plain, person, ruleset=EUROPE)
    check(record)
    done = [ply["do"] for play in record.core.plays for ply in msgspec.to_builtins(play.plies)]
    assert {"pay", "put_back"} < {*done}
    assert {"investigate", "special"} & {*done}
    assert watch.following.ruleset.facts(watch.following.state)["rounds"] > 5
    assert any(prompt == "Detectives (done ends the turn)> " for prompt in person.prompts)
    assert not any("to move" in prompt and "done" in prompt for prompt in person.prompts)


def test_done_is_offered_where_it_ends_the_turn() -> None:
    rules = make(EUROPE)
    state = rules.deal(bytes(32), 0)
    moves = Moves(rules, state)
    assert not moves.may_end
    assert "done" not in moves.listed()
    start = moves.complete("start ")[0]
    step = moves.complete(f"{start}; ")[0]
    assert moves.complete(f"{start}; d") == []
    assert f"{step}; done" in moves.complete(f"{step}; ")
    open_, ended = moves.read(step), moves.read(f"{step}; done")
    assert (open_[1], ended[1]) == (True, False)
    assert open_[0] == ended[0]
    plies = [rules.parse(text) for text in step.split(";")]
    moved = Moves(rules, rules.play(state, plies, more=True).state)
    assert moved.may_end
    assert moved.complete("do") == ["done"]
    assert moved.listed().splitlines()[-1] == "done: ends the turn"
    assert moved.read(" Done ") == ((), False)


def test_every_ply_of_europe_is_completed_from_its_kind() -> None:
    rules = make("europe-2009")
    moves = Moves(rules, rules.deal(bytes(32), 0))
    assert moves.complete("mission ") == ["mission green", "mission yellow", "mission orange"]
    assert moves.listed() == "mission green, yellow, orange"


def test_every_person_is_another_bot() -> None:
    one, two = human_spec("london-2013"), human_spec("london-2013")
    assert one.hash != two.hash
    assert is_human(one)
    assert not is_human(bot("human"))
