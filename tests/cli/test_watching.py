"""A game in play, followed and shown: frames, lines, keys, and that watching changes nothing."""

from __future__ import annotations

import io
import signal
from typing import Any

import msgspec
import pytest
import trio.testing
from rich.console import Console, ConsoleDimensions
from trio.testing import MockClock

from arena.cli import scene
from arena.cli.following import Following
from arena.cli.scene import Eyes
from arena.cli.watching import NEXT, LineShow, Screen, TypedPrompter, Watch
from arena.rules.ruleset import Side
from protocol.messages import Turn
from tests.cli.watched_games import Recorded, Scripted, play_seen
from tests.referee.games import Request, bot, honest, honest_play, line, play_fakes, spec

SIZES = [(80, 24), (120, 40), (200, 60), (40, 10)]


def console(width: int = 80, height: int = 24, *, terminal: bool = False) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        height=height,
        force_terminal=terminal,
        color_system=None,
        highlight=False,
        markup=False,
    )


def text_of(shown: Console) -> str:
    assert isinstance(shown.file, io.StringIO)
    return shown.file.getvalue()


def noting(request: Request) -> bytes:
    """An honest bot that tells what it thinks."""
    if request["type"] != "turn":
        return honest(request)
    return line(type="log", text="thinking") + line(**honest_play(request), note={"gap": 4})


def test_watched_game_is_the_same_game() -> None:
    alone, _ = trio.run(play_fakes, honest, honest)
    watched, watch = play_seen()
    assert watched.core == alone.core
    assert watched.aside.mister_x.stderr.count("its last words") >= 1
    assert len(watch.following.told) == len(alone.core.plays)
    ruleset = watch.following.ruleset
    assert dict(ruleset.facts(watch.following.state)) == alone.core.facts


def test_every_turn_is_shown_before_it_is_asked() -> None:
    shown = Recorded()
    record, _ = play_seen(show=shown)
    assert len(shown.turns) == len(record.core.plays)
    sides = [side for _, side, _ in shown.turns]
    assert sides[:2] == [Side.MISTER_X, Side.DETECTIVES]
    assert shown.eyes == {"everything"}


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("eyes", ["mister_x", "detectives", "everything"])
def test_frames_fit_the_window(width: int, height: int, eyes: Eyes) -> None:
    _, watch = play_seen(noting, noting)
    following = watch.following
    frame = scene.picture(following, eyes, console(width, height), spare=2, below="below")
    assert len(frame) <= height - 2
    assert max(map(len, frame)) <= width
    assert frame[-1] == "below"
    assert "london-2013" in frame[0]


def test_map_is_drawn_where_it_fits() -> None:
    _, watch = play_seen()
    following = watch.following
    stations = {f"{station.id:>3}" for station in following.ruleset.board.stations}

    def shown(width: int, height: int) -> int:
        text = "\n".join(scene.picture(following, "everything", console(width, height)))
        return sum(number.strip() in text.split() for number in stations)

    assert shown(80, 24) < 30
    assert shown(120, 40) > 90
    assert shown(200, 60) > 150


def test_detectives_eyes_see_no_more_than_the_detectives() -> None:
    """Frames of two games that differ only in what is hidden are the same."""
    _, watch = play_seen(noting, honest)
    following = watch.following
    x = following.ruleset.view(following.state, Side.MISTER_X)
    seen = {slot.station for slot in x.log if slot.station}
    assert seen
    for size in SIZES:
        before = scene.picture(following, "detectives", console(*size))
        hidden = following.state
        moved = msgspec.structs.replace(hidden, path=(1,) * len(hidden.path))
        following.state = moved
        assert scene.picture(following, "detectives", console(*size)) == before
        following.state = hidden
    text = "\n".join(scene.picture(following, "detectives", console(200, 400)))
    assert "X taxi ?" in text or "X bus ?" in text
    assert "note of Mister X" not in text
    assert "Mister X stderr" not in text


def test_stations_where_x_can_be_are_counted_and_marked() -> None:
    _, watch = play_seen()
    following = watch.following
    believed = following.believed()
    assert following.state.path[-1] in believed
    text = "\n".join(scene.picture(following, "detectives", console(200, 60), believe=True))
    word = "station" if len(believed) == 1 else "stations"
    assert f"X can be on {len(believed)} {word}" in text
    assert {int(found[1:]) for found in text.split() if found.startswith("*")} <= believed
    assert "*" in text or "◆" in text or len(believed) == 1
    assert "X can be" not in "\n".join(scene.picture(following, "detectives", console(200, 60)))


def test_notes_logs_and_stderr_are_shown() -> None:
    _, watch = play_seen(noting, noting)
    text = "\n".join(scene.picture(watch.following, "everything", console(120, 60)))
    assert 'note of Mister X: {"gap":4}' in text
    assert 'note of detectives: {"gap":4}' in text
    assert "detectives stderr: " in text


def test_note_that_steers_a_terminal_is_shown_as_text() -> None:
    def nasty(request: Request) -> bytes:
        if request["type"] != "turn":
            return honest(request)
        return line(**honest_play(request), note="\x1b[2J\x07")

    _, watch = play_seen(nasty, honest)
    text = "\n".join(scene.picture(watch.following, "everything", console(120, 60)))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_line_for_every_answer() -> None:
    out = console(200)
    record, watch = play_seen(show=LineShow(out))
    told = text_of(out).splitlines()
    assert len(told) == len(record.core.plays)
    assert told[0].startswith(" 1  X  X ")
    watch.over()
    assert text_of(out).splitlines() == told


def test_person_is_shown_where_everybody_stands_and_no_more_than_may_be() -> None:
    out = console(200)
    play_seen(honest, Scripted([]), LineShow(out, full=True))
    text = text_of(out)
    assert "as the detectives see it" in text
    assert "detectives to move" in text
    assert "X taxi ?" in text or "X bus ?" in text or "X metro ?" in text


def test_screen_gives_the_first_screen_back_with_the_last_frame() -> None:
    out = console(terminal=True)
    screen = Screen(out)
    with screen.opened():
        _, watch = play_seen(show=screen)
        watch.over()
    text = text_of(out)
    assert text.startswith("\x1b[?1049h")
    last = text.partition("\x1b[?1049l")[2]
    assert "won: " in last
    assert len(last.splitlines()) <= 24


def test_frame_is_drawn_again_when_the_window_changes_its_size() -> None:
    out = console(80, 24, terminal=True)
    screen = Screen(out)
    _, watch = play_seen(show=screen)

    async def resize() -> None:
        before = signal.getsignal(signal.SIGWINCH)
        with screen.fitting():
            out.size = ConsoleDimensions(120, 40)
            signal.raise_signal(signal.SIGWINCH)
            await trio.testing.wait_all_tasks_blocked()
        assert signal.getsignal(signal.SIGWINCH) is before

    drawn = len(text_of(out))
    trio.run(resize)
    frame = text_of(out)[drawn:]
    assert frame.startswith("\x1b[2J\x1b[H")
    assert sum(str(s.id) in frame.split() for s in watch.following.ruleset.board.stations) > 90


def test_screen_on_which_nothing_was_drawn_stays_empty() -> None:
    out = console()
    Screen(out).again()
    assert text_of(out) == ""


class Keyed:
    """A keyboard with these keys on it."""

    def __init__(self, *keys: str) -> None:
        self.keys = list(keys)

    async def key(self) -> str:
        await trio.lowlevel.checkpoint()
        return self.keys.pop(0) if self.keys else ""


def test_words_to_a_person_are_broken_between_words_alone() -> None:
    out = io.StringIO()
    TypedPrompter(Keyed(), out, lambda: 20).tell("Tab completes, `?` lists car-double\n\nand so on")
    lines = [line.removeprefix("\r\x1b[K") for line in out.getvalue().split("\r\n")]
    assert lines == ["Tab completes, `?`", "lists car-double", "", "and so on", ""]


def stepped(*keys: str) -> tuple[Any, Recorded, Keyed]:
    keyboard, shown = Keyed(*keys), Recorded()
    record, _ = play_seen(show=shown, watching={"keyboard": keyboard})
    return record, shown, keyboard


def test_step_waits_for_a_key_at_every_turn() -> None:
    count = len(trio.run(play_fakes, honest, honest)[0].core.plays)
    record, shown, keyboard = stepped(*" " * 500)
    assert record.aside.void is None
    asked = [below for _, _, below in shown.turns if below == NEXT]
    assert 500 - len(keyboard.keys) == len(asked)
    assert 0 < len(asked) <= count


def test_step_goes_on_alone_after_c_and_takes_no_other_key() -> None:
    record, _, keyboard = stepped("x", "\x1b[A", "\r", "c", "left")
    assert record.aside.void is None
    assert keyboard.keys == ["left"]


@pytest.mark.parametrize("keys", [(" ", "q"), (" ",)])
def test_step_is_left_with_q_or_without_keys(keys: tuple[str, ...]) -> None:
    record, _, _ = stepped(*keys)
    assert record.aside.void is not None
    assert "left the game" in record.aside.void


def test_pace_is_kept_and_not_charged() -> None:
    watch = Watch(Following(spec(bot("x"), bot("d"))), Recorded(), eyes=None, pace_s=5.0)
    watch.following.told.append(None)  # type: ignore[arg-type]

    async def wait() -> float:
        request = Turn(id="1", view={}, bank_ms=None, charged_ms=None)  # type: ignore[arg-type]
        await watch.before(Side.MISTER_X, request)
        return trio.current_time()

    async def took() -> float:
        start = trio.current_time()
        return await wait() - start

    assert trio.run(took, clock=MockClock(autojump_threshold=0)) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("people", "side", "eyes"),
    [
        ((), None, "everything"),
        (("x",), Side.DETECTIVES, "mister_x"),
        (("d",), Side.MISTER_X, "detectives"),
    ],
)
def test_eyes_are_the_persons(people: tuple[str, ...], side: Side | None, eyes: Eyes) -> None:
    _, watch = play_seen(
        Scripted([]) if "x" in people else None, Scripted([]) if "d" in people else None
    )
    assert watch.eyes(side) == eyes
