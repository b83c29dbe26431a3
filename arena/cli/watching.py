"""`--watch`, `--step` and a person at the table: one game in play on a terminal, turn by turn."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

import trio

from arena.cli.following import Following, Told, WatchedChannel
from arena.cli.human import Completer, HumanChannel, PersonLeft, Prompter, is_human
from arena.cli.keys import Keyboard, Keys, Line, PipedLines, cbreak
from arena.cli.scene import Eyes, line_of, picture, standing
from arena.cli.talk import visible
from arena.referee.pool import BotPool, Starter
from arena.referee.record import BotSpec, GameRecord, GameSpec
from arena.referee.referee import play_game
from arena.referee.seat import Seat
from arena.rules.ruleset import Side
from arena.sandbox.bubblewrap import Profile
from protocol.messages import ClockSettings, Limits, Play, Turn

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["LineShow", "Screen", "Watch", "WatchedPool", "play_watched", "terminal_of"]

PROMPT_ROWS = 6  # below a frame, for what a person is told and types
END_ROWS = 5  # below the last frame, for how it ended
NEXT = "space: next turn   c: go on without stops   q: leave the game"
STDERR_KEPT = 4_096  # characters


class Show(Protocol):
    """How a game is shown."""

    def told(self, following: Following, told: Told, eyes: Eyes) -> None:
        """Something was answered."""

    def turn(self, following: Following, eyes: Eyes, *, below: str = "") -> None:
        """A side is about to be asked, or the game is over."""


def is_person(following: Following) -> bool:
    """Whether it is a person who is asked now."""
    side = following.to_move
    return side is not None and is_human(following.bot(side))


class LineShow:
    """One line for every answer; where there is no terminal, or a person plays without a map.

    Args:
        console: that lines go to.
        full: whether where everybody stands is shown before a person is asked.
    """

    def __init__(self, console: Console, *, full: bool = False) -> None:
        self._console = console
        self._full = full

    def told(self, following: Following, told: Told, eyes: Eyes) -> None:
        """Print the line."""
        self._console.print(line_of(following, told, eyes))

    def turn(self, following: Following, eyes: Eyes, *, below: str = "") -> None:
        """Print where everybody stands, if it is wanted."""
        if self._full and is_person(following) and following.part == 1:
            for line in standing(following, eyes, self._console):
                self._console.file.write(f"{line}\n")
        if below:
            self._console.print(below, markup=False)


class Screen:
    """Frames that are drawn in place on a terminal's second screen.

    Args:
        console: that is drawn on.
        spare: lines that are kept free for a person's words.
    """

    def __init__(self, console: Console, *, spare: int = 0) -> None:
        self._console = console
        self._spare = spare
        self._shown: tuple[Following, Eyes, str] | None = None
        self.last: list[str] = []

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Show the second screen; what was seen last is left on the first one."""
        try:
            self._write("\x1b[?1049h\x1b[2J\x1b[H")
            yield
        finally:
            self._write("\x1b[?1049l" + "".join(f"{line}\n" for line in self.last))

    def told(self, following: Following, told: Told, eyes: Eyes) -> None:
        """Do nothing: the next frame shows it."""

    def turn(self, following: Following, eyes: Eyes, *, below: str = "") -> None:
        """Draw a frame."""
        self._shown = following, eyes, below
        over = following.to_move is None
        spare = max(self._spare, END_ROWS) if over else self._spare
        people = any(is_human(following.bot(side)) for side in Side)  # who think for themselves
        frame = picture(
            following, eyes, self._console, spare=spare, below=below, believe=not people
        )
        self.last = [line for line in frame if line != below]
        self._write("\x1b[H" + "".join(f"{line}\x1b[K\r\n" for line in frame) + "\x1b[J")

    def again(self) -> None:
        """Draw the last frame once more, for a window of another size."""
        if self._shown is not None:
            following, eyes, below = self._shown
            self._write("\x1b[2J")
            self.turn(following, eyes, below=below)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Draw again whenever the window's size changes; on the main thread, inside of trio."""
        soon = trio.lowlevel.current_trio_token().run_sync_soon
        before = signal.signal(
            signal.SIGWINCH, lambda _number, _frame: soon(self.again, idempotent=True)
        )
        try:
            yield
        finally:
            signal.signal(signal.SIGWINCH, before)

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


class TypedPrompter:
    """Asks a person at a terminal, key by key.

    Args:
        keyboard: the keys.
        out: where the prompt is written.
        width: tells how many columns there are now; lines are broken between words there.
    """

    def __init__(self, keyboard: Keys, out: TextIO, width: Callable[[], int]) -> None:
        self._keyboard = keyboard
        self._out = out
        self._width = width
        self._history: list[str] = []

    def tell(self, text: str) -> None:
        """Write lines above the prompt."""
        width = max(2, self._width()) - 1
        for line in visible(text).split("\n"):
            for piece in wrap(line, width, break_on_hyphens=False) or [""]:
                self._write(f"\r\x1b[K{piece}\r\n")

    async def ask(self, prompt: str, complete: Completer) -> str:
        """Wait for a line; Tab completes, arrows go through earlier ones.

        Raises:
            EOFError: at Ctrl-D, or where the terminal is gone.
        """
        line = Line(complete, self._history)
        self._write(f"\r\x1b[K{prompt}")
        try:
            while not line.press(await self._keyboard.key()):
                if line.offers:
                    self.tell("  ".join(line.offers))
                self._write(f"\r\x1b[K{prompt}{line.text}")
        finally:
            self._write("\r\n")
        if line.text.strip():
            self._history.append(line.text)
        return line.text

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class PipedPrompter:
    """Takes a person's lines from a pipe or a file.

    Args:
        lines: what is read.
        out: where prompts and answers are written.
    """

    def __init__(self, lines: PipedLines, out: TextIO) -> None:
        self._lines = lines
        self._out = out

    def tell(self, text: str) -> None:
        """Write lines."""
        self._out.write(f"{visible(text)}\n")

    async def ask(self, prompt: str, complete: Completer) -> str:
        """Take the next line.

        Raises:
            EOFError: if there is none.
        """
        del complete
        line = await self._lines.line()
        if line is None:
            raise EOFError
        self._out.write(f"{prompt}{visible(line)}\n")
        return line


class Watch:
    """An onlooker that shows a game, and keeps its pace.

    Args:
        following: the game.
        show: how it is shown.
        eyes: whose; None for those of the person who is asked.
        keyboard: for `--step`; None to go on by itself.
        pace_s: seconds between two turns, where nobody steps.
    """

    def __init__(
        self,
        following: Following,
        show: Show,
        *,
        eyes: Eyes | None,
        keyboard: Keys | None = None,
        pace_s: float = 0.0,
    ) -> None:
        self.following = following
        self._show = show
        self._eyes = eyes
        self._stepping = keyboard
        self._pace_s = pace_s
        self._people = [side for side in Side if is_human(following.bot(side))]

    def eyes(self, side: Side | None = None) -> Eyes:
        """Return whose eyes look on: those asked for, the person's, or everybody's."""
        if self._eyes is not None:
            return self._eyes
        if len(self._people) == 1:
            return self._people[0].value
        if self._people and side is not None:
            return side.value
        return "detectives" if self._people else "everything"

    async def before(self, side: Side, request: Turn) -> None:
        """Show where the game stands; wait for a key, or a moment."""
        self.following.asked(side, request)
        asks_person = side in self._people
        step = self._stepping is not None and request.part == 1 and not asks_person
        self._show.turn(self.following, self.eyes(side), below=NEXT if step else "")
        if step:
            await self._step()
        elif self._pace_s and request.part == 1 and not asks_person and self.following.told:
            await trio.sleep(self._pace_s)

    async def _step(self) -> None:
        keyboard = self._stepping
        while keyboard is not None:
            key = await keyboard.key()
            if key in ("q", ""):
                raise PersonLeft("the person at the terminal left the game")
            if key == "c":
                self._stepping = None
            if key in (" ", "\r", "\n", "c", "n", "\x1b[C"):
                return

    def after(self, side: Side, answer: Play, spent_s: float) -> None:
        """Follow an answer and show it."""
        told = self.following.answered(side, answer, spent_s)
        if told is not None:
            self._show.told(self.following, told, self.eyes(side))

    def heard(self, side: Side, stderr: str) -> None:
        """Keep the end of a side's standard error."""
        kept = self.following.stderr[side] + stderr
        self.following.stderr[side] = kept[-STDERR_KEPT:]

    def over(self) -> None:
        """Show the end."""
        self.following.to_move = None
        self._show.turn(self.following, self._eyes or "everything")


class WatchedPool(BotPool):
    """A pool whose bots are watched, and at whose table people sit.

    Args:
        watch: who looks on.
        prompter: who asks people; None if there are none.
        start: as for `BotPool`, as is `profile`.
        profile: of the sandbox.
    """

    def __init__(
        self,
        watch: Watch,
        prompter: Prompter | None,
        start: Starter | None = None,
        *,
        profile: Profile | None = None,
    ) -> None:
        super().__init__(start, profile=profile)
        self._watch_ = watch
        self._prompter = prompter

    def start(
        self,
        bot: BotSpec,
        side: Side,
        *,
        limits: Limits,
        sandbox: Literal["auto", "none"],
        cpu_s: int | None = None,
        clock: ClockSettings = ClockSettings(pondering="allow"),  # noqa: B008 - frozen
    ) -> Seat:
        """Return a seat as `BotPool.start` does; a person needs no process and no sandbox."""
        if is_human(bot) and self._prompter is not None:
            channel = HumanChannel(side, self._watch_.following, self._prompter)
            sandboxed = sandbox == "auto" and self.sandbox is not None
            seat = Seat(bot, side, channel, limits=limits, sandboxed=sandboxed)
        else:
            seat = super().start(
                bot, side, limits=limits, sandbox=sandbox, cpu_s=cpu_s, clock=clock
            )
        seat.channel = WatchedChannel(seat.channel, side, self._watch_)
        return seat


def terminal_of(stream: TextIO) -> int | None:
    """Return the descriptor of a stream that is a terminal; None if it is none."""
    try:
        return stream.fileno() if stream.isatty() else None
    except (OSError, ValueError):
        return None


def play_watched(
    spec: GameSpec,
    console: Console,
    *,
    profile: Profile | None,
    watch: bool,
    step: bool,
    eyes: Eyes | None,
    pace_s: float,
) -> GameRecord:
    """Play one game that is watched, or in which a person plays; blocks until its end.

    Args:
        spec: the game.
        console: on standard error, that is drawn on.
        profile: of the sandbox.
        watch: whether there are pictures; else lines, if a person plays.
        step: whether a key is waited for between turns; stdin is a terminal then.
        eyes: whose; None for the person's, or everybody's.
        pace_s: seconds between two turns that are watched.
    """
    person = is_human(spec.mister_x) or is_human(spec.detectives)
    keys, drawn = terminal_of(sys.stdin), terminal_of(console.file)  # type: ignore[arg-type]
    following = Following(spec)
    with ExitStack() as stack:
        keyboard = None
        if keys is not None and (person or step):
            stack.enter_context(cbreak(keys))
            keyboard = Keyboard(keys)
        show: Show = LineShow(console, full=person and drawn is not None)
        screen: Screen | None = None
        if watch and drawn is not None:
            screen = Screen(console, spare=PROMPT_ROWS if person else 0)
            stack.enter_context(screen.opened())
            show = screen
        prompter: Prompter | None = None
        if person and keyboard is not None:
            prompter = TypedPrompter(keyboard, console.file, lambda: console.width)  # type: ignore[arg-type]
        elif person:
            prompter = PipedPrompter(PipedLines(sys.stdin.fileno()), console.file)  # type: ignore[arg-type]
        seen = Watch(
            following,
            show,
            eyes=eyes,
            keyboard=keyboard if step else None,
            pace_s=pace_s if watch and drawn is not None else 0.0,
        )

        async def play() -> GameRecord:
            # A person's half a line would be lost with the frame.
            fitting = screen.fitting() if screen is not None and not person else nullcontext()
            async with WatchedPool(seen, prompter, profile=profile) as pool:
                with fitting:
                    return await play_game(spec, pool)

        record = trio.run(play)
        seen.over()
    return record
