"""Plots: text alternatives, safe names, equal bytes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest

from reports.charts import heat_map, history_plot, rating_plot, round_plot, start_plot
from reports.frames import Games
from reports.report import Meta, Report, build
from reports.win_rates import share
from tests.browser import open_page, started_browser
from tests.reports.rows import small_run

SVG = "{http://www.w3.org/2000/svg}"


def report(names: tuple[str, ...] = ("belief", "greedy", "random")) -> Report:
    return build(Games.collect(small_run(12, names)), Meta())


def drawings(made: Report) -> list[str]:
    order = [bot.name for bot in made.ratings.bots]
    return [
        rating_plot(made.ratings),
        heat_map(made.matrix),
        round_plot(made.rounds),
        start_plot(made.starts),
        history_plot(made.history, order),
    ]


def test_equal_reports_draw_equal_bytes() -> None:
    assert drawings(report()) == drawings(report())


def test_drawings_are_xml_with_title_and_description() -> None:
    expected = (
        "belief 1",
        "belief against greedy",
        "round 24: 0 by the detectives,",
        "170: ",
        "belief 1",
    )
    for text, told in zip(drawings(report()), expected, strict=True):
        root = ET.fromstring(text)  # noqa: S314 - our own text
        assert root.get("role") == "img"
        labels = (root.get("aria-labelledby") or "").split()
        named = {child.get("id"): child.text or "" for child in root}
        assert len(labels) == 2
        assert all(named[label] for label in labels)
        assert told in named[labels[1]]


def test_ids_of_two_drawings_in_one_page_differ() -> None:
    found: list[str] = []
    for text in drawings(report()):
        root = ET.fromstring(text)  # noqa: S314 - our own text
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        used = {part.split(")")[0] for part in text.split("url(#")[1:]}
        assert used <= set(ids)
        found += [name for name in ids if name]
    assert len(found) == len(set(found))


def test_heat_map_has_a_number_in_each_cell() -> None:
    made = report()
    root = ET.fromstring(heat_map(made.matrix))  # noqa: S314 - our own text
    written = [element.text for element in root.iter(f"{SVG}text")]
    for row in made.matrix.cells:
        for cell in row:
            if cell.rate is not None:
                assert f"{100 * cell.rate:.0f}" in written


def test_numbers_stand_out_from_their_cells() -> None:
    """Contrast of at least 4.5 to 1 on every colour of the map (WCAG 2.2, 1.4.3)."""
    root = ET.fromstring(heat_map(report(tuple(f"b{k}" for k in range(12))).matrix))  # noqa: S314
    fills = [style_of(path) for path in root.iter(f"{SVG}path")]
    boxes = [fill for fill in fills if fill.startswith("#")]
    numbers = [style_of(text) for text in root.iter(f"{SVG}text")]
    inks = [fill for fill in numbers if fill in ("#000000", "#ffffff")]
    assert len(boxes) == len(inks) == 132
    for box, ink in zip(boxes, inks, strict=True):
        lighter, darker = sorted((luminance(box), luminance(ink)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def style_of(element: ET.Element) -> str:
    for part in (element.get("style") or "").split(";"):
        key, _, value = part.partition(":")
        if key.strip() == "fill":
            return value.strip()
    return "#000000" if element.tag == f"{SVG}text" else ""


def luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "$\\frac{1}{0}$", "a\x1b\x00b", "猫🐈", "x" * 300, "\u202eb"],
)
def test_any_name_is_drawn_as_text(name: str) -> None:
    for text in drawings(report((name, "other"))):
        root = ET.fromstring(text)  # noqa: S314 - our own text
        assert not list(root.iter(f"{SVG}script"))
        assert not list(root.iter("script"))
        assert "\u202e" not in text


def test_nothing_to_draw_is_said() -> None:
    empty = build(Games.collect([]), Meta())
    assert "No bot has a rating." in rating_plot(empty.ratings)
    assert "No game has a winner." in heat_map(empty.matrix)


def test_open_ends_are_arrows_and_told() -> None:
    rows = [row for row in small_run(3) if {row.mister_x, row.detectives} == {"belief", "random"}]
    won = [
        type(row)(
            **{name: getattr(row, name) for name in row.__struct_fields__}
            | {"winner": "mister_x" if row.mister_x == "belief" else "detectives"}
        )
        for row in rows
    ]
    assert "to open)" in rating_plot(build(Games.collect(won), Meta()).ratings)


@pytest.mark.parametrize(("dates", "labels"), [("12", ("-01", "-02")), ("11", ("run-a", "run-b"))])
def test_runs_are_labelled_by_their_day_or_if_that_is_not_enough_by_their_id(
    dates: str, labels: tuple[str, str]
) -> None:
    games = Games.collect(small_run(3))
    runs = [
        build(games, Meta(run=f"run-{name}", created=f"2026-01-0{day}T00:00:00Z")).history[0]
        for name, day in zip("ab", dates, strict=True)
    ]
    text = history_plot(runs, ["belief"])
    assert all(re.search(rf">[^<]*{label}<", text) for label in labels)


@pytest.mark.parametrize("top", [940.0, 1000.0, 2000.0, 12000.0])
def test_labels_below_the_ratings_are_whole(top: float) -> None:
    """The last one stands at the edge; nothing of it is cut off."""
    made = report().ratings
    bot = msgspec.structs.replace(made.bots[0], elo=top, low=-4.4 * top, high=None, bounded=True)
    drawn = rating_plot(msgspec.structs.replace(made, bots=[bot]))
    width = float(re.findall(r'viewBox="0 0 ([\d.]+) ', drawn)[0])
    labels = re.findall(r'text-anchor: middle[^>]* x="([\d.]+)"[^>]*>([^<]+)<', drawn)
    assert len(labels) > 2
    for x, text in labels:
        assert float(x) + 6 * len(text) / 2 <= width
        assert float(x) - 6 * len(text) / 2 >= 0


@pytest.mark.slow
def test_no_word_of_a_plot_is_cut_off(tmp_path: Path) -> None:
    """Names as wide as can be, and as short; in the browser, whose font decides."""
    page = tmp_path / "plots.html"
    runs = (("W" * 40, "M" * 12, "@" * 30), ("a", "b"), ("l" * 40, "W" * 13, "i", "%" * 14))
    made = [drawing for names in runs for drawing in drawings(report(names))]
    page.write_text(f"<!doctype html><title>Plots</title>{''.join(made)}", "utf-8")
    with started_browser() as browser, open_page(browser, page) as opened:
        assert opened.page.locator("svg").count() == 5 * len(runs)
        cut = opened.page.evaluate(
            """() => [...document.querySelectorAll("svg text")]
              .filter((text) => {
                const [inner, outer] = [text, text.ownerSVGElement].map((one) => one.getBoundingClientRect());
                return inner.left < outer.left - 0.5 || inner.top < outer.top - 0.5
                  || inner.right > outer.right + 0.5 || inner.bottom > outer.bottom + 0.5;
              })
              .map((text) => `${text.ownerSVGElement.querySelector("title").textContent}: ${text.textContent}`)"""  # noqa: E501 - JavaScript
        )
        assert cut == []


def test_names_of_start_stations_hang_whole_below_the_axis() -> None:
    """The longest name decides how much room there is: none is cut off, and none is a number."""
    long = "Llanfairpwllgwyngyll-on-Sea"
    made = [
        msgspec.structs.replace(row, name=name)
        for row, name in zip(report().starts, ("Bodø", long), strict=False)
    ]
    text = start_plot(made)
    root = ET.fromstring(text)  # noqa: S314 - our own text
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Bodø", long, "where Mister X began"} <= set(words)
    assert f"{made[0].station}" not in words
    without = ET.fromstring(start_plot(report().starts))  # noqa: S314 - our own text
    heights = [float(one.get("viewBox", "").split()[3]) for one in (root, without)]
    assert heights[0] > heights[1] + 100


def test_start_stations_where_nobody_or_everybody_escaped_are_whole_dots() -> None:
    """A dot at 0 or 100 % is not cut in half by the edge of the plot."""
    made = [
        msgspec.structs.replace(row, escaped=share(wins, 4))
        for row, wins in zip(report().starts, (0, 4), strict=False)
    ]
    root = ET.fromstring(start_plot(made))  # noqa: S314 - our own text
    clipped = [
        element
        for group in root.iter(f"{SVG}g")
        if group.get("clip-path")
        for element in group.iter(f"{SVG}use")
    ]
    assert len(made) == 2
    assert clipped == []


def test_words_of_plots_are_in_the_colour_of_text() -> None:
    """Not in that of lines, which is too faint to read on white."""
    names = tuple(f"bot {k}" for k in range(8))
    for text in drawings(report(names)):
        root = ET.fromstring(text)  # noqa: S314 - our own text
        faint = [
            element.text
            for element in root.iter(f"{SVG}text")
            if "--line" in style_of(element) and element.text != "·"
        ]
        assert faint == []
