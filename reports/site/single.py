"""A report as one page: sections for every bot and pairing, the games, and files to save; pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from reports.frames import Games
from reports.report import Report
from reports.site.bot_page import bot_lead, bot_parts
from reports.site.games.table import embedded
from reports.site.index import index_lead, index_parts
from reports.site.markup import name, text
from reports.site.page import Part, page
from reports.site.pairing_page import pairing_parts
from reports.site.places import Places, bot_slug
from reports.site.summary import Summary

__all__ = ["single_page"]

MAX_PAIRINGS = 100  # with a section; more would bury all else
MAX_SAVED = 2_000_000  # bytes of a file that is put into the page to be saved
_KINDS = {"csv": "text/csv", "json": "application/json", "md": "text/markdown"}


def single_page(report: Report, games: Games, data: Mapping[str, str]) -> str:
    """The whole page.

    Args:
        report: what to show.
        games: the games that it was built from.
        data: the same numbers as files: name → text.
    """
    told = Summary.of(report, games.lines())
    pairings = told.paired_pages if len(told.pairs) <= MAX_PAIRINGS else frozenset[str]()
    places = Places(single=True, bots=frozenset(told.names), pairings=pairings)
    table = embedded(games, {})
    parts = index_parts(told, places)
    parts.insert(-2, Part("games", "Games", table.html))
    beyond = [
        _section(
            f"bot-{bot_slug(bot)}", name(bot), bot_lead(bot, told), bot_parts(bot, told, places)
        )
        for bot in told.names
    ]
    beyond += [
        _section(
            f"pairing-{slug}",
            f"{name(one)} against {name(other)}",
            "",
            pairing_parts(slug, told, places),
        )
        for slug, (one, other) in told.pairs.items()
        if slug in pairings
    ]
    return page(
        report.meta.title,
        parts,
        lead=index_lead(report, []),
        foot=_saved(data, report.meta.run),
        script=table.script,
        style=table.style,
        beyond="\n".join(["", *beyond]),
    )


def _section(anchor: str, heading: str, lead: str, parts: list[Part]) -> str:
    """What is a page of the folder, as a section; its own sections have no anchors."""
    inner = "\n".join(f"<h3>{part.heading}</h3>\n{part.body}" for part in parts)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-h">\n'
        f'<h2 id="{anchor}-h">{heading}</h2>\n{lead}\n{inner}\n</section>'
    )


def _saved(data: Mapping[str, str], run: str | None) -> str:
    """Files that the page holds, to be saved from it."""
    links, left_out = [], []
    for file, content in data.items():
        kind = _KINDS.get(file.rpartition(".")[2])
        if kind is None:
            continue
        if len(content) > MAX_SAVED:
            left_out.append(file)
            continue
        packed = base64.b64encode(content.encode()).decode()
        links.append(
            f'<a download="{text(file)}" href="data:{kind};charset=utf-8;base64,{packed}">'
            f"{text(file)}</a>"
        )
    foot = f"<p>The same numbers as files: {', '.join(links)}.</p>" if links else ""
    if left_out:
        of_run = f" {run}" if run else ""
        foot += (
            f"<p>Too large to be put into this page: {text(', '.join(left_out))}. "
            f"<code>arena report{text(of_run)}</code> writes a folder with all of them.</p>"
        )
    return foot
