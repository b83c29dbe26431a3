"""The first page of a run of several rulesets: each one's standings, and the way to its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reports.report import Report
from reports.site import strengths
from reports.site.folder import Written
from reports.site.index import run_facts
from reports.site.manifest import FolderWriter
from reports.site.markup import linked, text
from reports.site.page import Part, facts_list, notes_list, page
from reports.site.places import Places, bot_slug

__all__ = ["folder_of", "write_several"]


def folder_of(ruleset: str) -> str:
    """Return the name of a ruleset's folder; different texts have different ones."""
    return bot_slug(ruleset)


def write_several(
    title: str, reports: Mapping[str, Report], written: Mapping[str, Written], folder: Path
) -> Written:
    """Write the page that leads to the reports of several rulesets.

    Args:
        title: of the page.
        reports: by the name of their folder.
        written: what was written of each.
        folder: in which theirs lie.

    Raises:
        StoreError: if the disk is full.
        ConfigError: if the folder can't be written to.
    """
    parts = [
        Part(
            f"ruleset-{name}",
            text(report.meta.ruleset or name),
            _part(
                report,
                Places(up=f"{name}/", bots={bot.name for bot in report.ratings.bots}),
                replays=written[name].replays,
            ),
        )
        for name, report in reports.items()
    ]
    shown = [("Rulesets", f"{len(reports):,}", "big")]
    games = sum(report.counts.counted for report in reports.values())
    shown.append(("Games that count", f"{games:,}", "big"))
    known = [run_facts(report.meta) for report in reports.values()]
    shown += [(*fact, "") for fact in known[0] if all(fact in facts for facts in known)]
    with FolderWriter(folder) as writer:
        writer.write(
            "index.html",
            page(
                title,
                parts,
                lead=facts_list(shown)
                + "<p>Each ruleset has ratings of its own; nothing is pooled.</p>",
            ),
        )
    return Written(
        page=folder / "index.html",
        files=(
            *writer.files,
            *(f"{name}/{file}" for name, one in written.items() for file in one.files),
        ),
        replays=sum(one.replays for one in written.values()),
        bytes=writer.bytes + sum(one.bytes for one in written.values()),
        notes=[note for one in written.values() for note in one.notes],
    )


def _part(report: Report, places: Places, *, replays: int) -> str:
    """Standings, what a reader must know, and where the rest is."""
    lead = linked("The whole report", places.index())
    count = report.counts.counted
    games = "1 game that counts" if count == 1 else f"{count:,} games that count"
    drawn = ", the games and their replays" if replays else ", and the games"
    return (
        f"{notes_list(report.meta.notes)}\n"
        f"<p>{lead} tells of {games}: win rates, faults, time use, every bot and pairing"
        f"{drawn}.</p>\n"
        f"{strengths.standings(report, places)}"
    )
