"""A game of Europe on the terminal: map, hands, entries, and every event in words."""

from __future__ import annotations

import io
from functools import cache
from typing import Any, get_args

import msgspec
import pytest
from rich.console import Console

from arena.cli import europe_drawn, scene
from arena.cli.following import Following
from arena.cli.scene import Eyes
from arena.rules.europe.state import Stage
from arena.rules.europe.views import EVENTS, Drew, Laid, Moved, Returned
from arena.rules.ruleset import Side
from tests.cli.watched_games import play_seen
from tests.reports.games_of_europe import eager

SIZES = [(80, 24), (120, 40), (200, 60), (40, 10)]


def console(width: int, height: int) -> Console:
    return Console(
        file=io.StringIO(), width=width, height=height, color_system=None, highlight=False
    )


@cache
def followed() -> Following:
    """A game that was watched to its end."""
    _, watch = play_seen(eager(1), eager(2), ruleset="europe-2009")
    return watch.following


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("eyes", ["mister_x", "detectives", "everything"])
def test_frames_fit_the_window(width: int, height: int, eyes: Eyes) -> None:
    frame = scene.picture(followed(), eyes, console(width, height), spare=2, below="below")
    assert len(frame) <= height - 2
    assert max(map(len, frame)) <= width
    assert frame[-1] == "below"
    assert "europe-2009" in frame[0]
    assert not any("{" in line or "Counter" in line for line in frame)


def test_map_has_the_cities_by_the_numbers_that_are_typed() -> None:
    following = followed()
    text = "\n".join(scene.picture(following, "everything", console(200, 60))).split()
    assert sum(str(city.id) in text for city in following.ruleset.board.cities) > 80
    for figure in following.state.figures:
        assert figure.figure in text


def test_panel_tells_cities_by_name_hands_and_mission() -> None:
    following = followed()
    names = {city.id: city.name for city in following.ruleset.board.cities}
    text = "\n".join(scene.picture(following, "everything", console(200, 200)))
    for figure in following.state.figures:
        assert names[figure.city] in text
    assert f"mission  {following.state.colour}" in text
    for number, hand in enumerate(following.state.hands, 1):
        assert f"p{number}  {hand[0]}" in text
    assert f"X  {following.state.hand[0]}" in text


def test_frame_says_whose_board_it_is() -> None:
    for size in ((80, 24), (200, 60)):
        text = "\n".join(scene.picture(followed(), "everything", console(*size)))
        assert "board  Own design of this project" in text


def test_who_sees_everything_is_told_what_either_side_draws_and_puts_back() -> None:
    told = followed().told
    lines = {
        eyes: [str(scene.line_of(followed(), one, eyes)) for one in told] for eyes in get_args(Eyes)
    }
    assert any("puts back a ticket" in line for line in lines["detectives"])
    for number, one in enumerate(told):
        assert "puts back a ticket" not in lines["everything"][number]
        assert "?" not in lines["everything"][number]
        own = "mister_x" if one.side is Side.MISTER_X else "detectives"
        assert len(lines["everything"][number]) >= len(lines[own][number])
        assert lines["everything"][number].count(" draws ") == lines[own][number].count(" draws ")


def test_detectives_eyes_see_no_more_than_the_detectives() -> None:
    """Frames of two states that differ only in what is hidden are the same."""
    following = Following(followed().spec)
    following.told = followed().told
    state = msgspec.structs.replace(
        followed().state, ended=None, known=(), hand=("car-double",) * 3, path=(1, 2, 3)
    )
    other = msgspec.structs.replace(state, hand=("air-hidden",) * 3, path=(4, 5, 6))
    frames = []
    for following.state in (state, other):
        frames.append(
            [scene.picture(following, "detectives", console(*size)) for size in (*SIZES, (200, 99))]
        )
    assert frames[0] == frames[1]
    assert "X  3 tickets" in "\n".join(frames[0][-1])


def test_last_entry_that_is_known_is_told_and_marked() -> None:
    following = Following(followed().spec)
    following.state = msgspec.structs.replace(
        followed().state, ended=None, known=(1,), path=(1, 2, 3)
    )
    name = next(city.name for city in following.ruleset.board.cities if city.id == 2)
    text = "\n".join(scene.picture(following, "detectives", console(200, 60)))
    assert f"?2   was in {name}" in text
    assert "@2" in text
    assert "@3" not in text


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_has_its_words(kind: type[msgspec.Struct]) -> None:
    sample: dict[str, Any] = {"tickets": ("car-double",) * 2, "cities": (1, 2), "path": (3, 4)}
    known: dict[str, Any] = {
        "figure": "d1",
        "player": "p1",
        "ticket": "car-double",
        "colour": "green",
        "transport": "air",
        "board": (),
    }
    cells = {}
    for field in msgspec.structs.fields(kind):
        is_number = field.name == "tickets" and field.type is int
        cells[field.name] = 7 if is_number else {**sample, **known}.get(field.name, 45)
    event = msgspec.to_builtins(kind(**cells))
    said = europe_drawn.event_words(event)
    assert event["event"] in europe_drawn.WORDS
    assert said.strip()
    assert "{" not in said
    assert "None" not in said


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Moved("x", "car-hidden", None), "X car-hidden ?"),
        (Laid(None, None), "X lays a ticket face down, to ?"),
        (Returned("x", None), "X puts back a ticket"),
        (Drew("p2", 2, None), "p2 draws 2"),
        (
            Drew("x", 3, ("air-double", "car-hidden", "air-double")),
            "X draws 3: air-double ×2, car-hidden",  # noqa: RUF001 - a sign of times
        ),
    ],
)
def test_what_is_hidden_is_said_to_be(event: Any, words: str) -> None:
    assert europe_drawn.event_words(msgspec.to_builtins(event)) == words


def test_event_that_is_not_known_is_told_by_its_values() -> None:
    assert europe_drawn.event_words({"event": "new", "city": 3, "to": None}) == "new 3"


def test_every_stage_has_its_words() -> None:
    assert set(get_args(Stage)) == set(europe_drawn.STAGES)


def test_believed_cities_are_counted() -> None:
    view = scene.view_of(followed(), "everything")
    board = followed().ruleset.board
    assert "in 1 city" in str(europe_drawn.panel(board, view, 1)[-1])
    assert "in 4 cities" in str(europe_drawn.panel(board, view, 4)[-1])
