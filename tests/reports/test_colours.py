"""Colours of the pages: words can be read on what is behind them, in light, in dark, on paper."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

SCHEMES = ("light", "dark", "print")
WORDS = {
    "style.css": ("ink", "soft", "accent", "warn", "x", "d"),
    "viewer/viewer.css": (
        *("ink", "soft", "accent", "warn", "bad", "taxi-ink", "bus", "metro", "car-ink", "rail"),
        *("air", "green", "yellow", "orange", "other"),
    ),
}
PAWNS = ("d1", "d2", "d3", "d4", "d5", "b1", "b2")  # with white numbers


def colours(sheet: str, scheme: str) -> dict[str, str]:
    """The variables of a style sheet as they hold in one scheme; on paper over those of the dark.

    A person who reads in the dark prints on white too.
    """
    text = files("reports.site").joinpath(sheet).read_text("utf-8")
    light, dark, paper = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    )
    over = {"light": [light], "dark": [light, dark], "print": [light, dark, paper]}[scheme]
    return {name: value for block in over for name, value in block.items()}


def luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sheet", sorted(WORDS))
def test_words_stand_out_from_paper_and_cards(sheet: str, scheme: str) -> None:
    """Contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    found = colours(sheet, scheme)
    faint = {
        f"{word} on {ground}": round(contrast(found[word], found[ground]), 2)
        for word in WORDS[sheet]
        for ground in ("paper", "card")
        if contrast(found[word], found[ground]) < 4.5
    }
    assert faint == {}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_of_pawns_and_rounds_stand_out(scheme: str) -> None:
    found = colours("viewer/viewer.css", scheme)
    pairs = {pawn: ("#ffffff", found[pawn]) for pawn in PAWNS}
    pairs["Mister X"] = (found["x-ink"], found["x"])
    pairs["round"] = (found["soft"], found["rule"])
    if scheme != "print":  # where there is nothing to press
        pairs["pressed button"] = (found["paper"], found["accent"])
    assert {name: pair for name, pair in pairs.items() if contrast(*pair) < 4.5} == {}


@pytest.mark.parametrize("sheet", sorted(WORDS))
def test_paper_has_no_colour_of_the_dark(sheet: str) -> None:
    light, dark, paper = (colours(sheet, scheme) for scheme in SCHEMES)
    left = {name for name in light if paper[name] == dark[name] != light[name]}
    assert left == set()
