"""How a run is watched."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from arena.cli import progress
from arena.cli.progress import PlainView, picture
from arena.cli.talk import Settings, Talk
from arena.cli.tally import Tally
from arena.referee.record import SideWord
from tests.cli.test_tally import judged


def tally_of(count: int) -> Tally:
    """A run of many bots, one of which faulted once."""
    names = [f"bot-{number}" for number in range(count)]
    tally = Tally(names, 9_999, 0, 0.0)
    for number in range(count):
        for game in range(10):
            tally.add_played(1.0)
            winner: SideWord = "mister_x" if game < number else "detectives"
            tally.add_judged(judged(number, number - 1, winner))
    tally.add_played(10.0)
    tally.add_judged(judged(0, 1, "mister_x", ("detectives", "timeout")))
    return tally


def drawn(tally: Tally, width: int, height: int) -> list[str]:
    """The lines of a live frame on a terminal of that size."""
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=False)
    console.print(picture(tally, 10.0, rows=height - progress.AROUND))
    return out.getvalue().rstrip("\n").split("\n")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
@pytest.mark.parametrize("bots", [2, 9, 100])
def test_live_view_fits_the_terminal(bots: int, width: int, height: int) -> None:
    lines = drawn(tally_of(bots), width, height)
    assert len(lines) < height
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert f"{bots * 10 + 1:,} of 9,999 games" in text
    assert "1 fault" in text


def test_live_view_says_how_many_bots_it_leaves_out() -> None:
    text = "\n".join(drawn(tally_of(100), 80, 24))
    assert "… and 85 more bots" in text


def test_live_view_keeps_markup_in_names_as_it_is() -> None:
    tally = Tally(["[red]a", "b"], 2, 0, 0.0)
    assert any("[red]a" in line for line in drawn(tally, 80, 24))


def test_plain_view_prints_one_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    tally = Tally(["a", "b"], 1000, 0, 0.0)
    view = PlainView(tally, Talk(Settings()))
    for second in range(1, 181):
        now = float(second)
        tally.add_played(now)
        view.update()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" of ")[0] for line in lines] == [
        "60",
        "120",
        "180",
    ]
