"""The first page of a report: the whole run; pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from reports.report import Meta, Report
from reports.site import endings, strengths
from reports.site.markup import linked, name, text
from reports.site.page import Part, facts_list, notes_list
from reports.site.places import Places
from reports.site.summary import MAX_PAIRING_PAGES, Summary

__all__ = ["index_lead", "index_parts", "run_facts"]

MAX_LISTED = 500  # bots of the list that leads to their pages


def index_lead(report: Report, notes: list[str]) -> str:
    """Facts for the head of the page, and what a reader must know.

    Args:
        report: of the run.
        notes: more of the latter than the report has.
    """
    meta, counts = report.meta, report.counts
    shown = [
        ("Games that count", f"{counts.counted:,}", "big"),
        ("Bots", f"{len(report.ratings.bots):,}", "big"),
        ("Deals", f"{counts.deals:,}", "big"),
    ]
    if counts.forfeits:
        shown.append(("Decided by faults", f"{counts.forfeits:,}", "big"))
    if counts.excluded:
        shown.append(("Count for nobody", f"{counts.excluded:,}", "big"))
    if meta.ruleset:
        shown.append(("Ruleset", meta.ruleset, ""))
    shown += [(label, value, "") for label, value in run_facts(meta)]
    return facts_list(shown) + notes_list([*meta.notes, *notes])


def run_facts(meta: Meta) -> list[tuple[str, str]]:
    """What is known of the run itself: label, value."""
    plain = [
        ("Run", meta.run),
        ("Begun", _time(meta.created)),
        ("Over", _time(meta.finished)),
        ("Arena", meta.arena),
        *meta.facts,
    ]
    return [(label, value) for label, value in plain if value]


def _time(stamp: str | None) -> str | None:
    """A UTC time to the minute; what is no ISO 8601 stays as it is."""
    if stamp is None:
        return None
    try:
        told = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    return (
        told.strftime("%Y-%m-%d %H:%M UTC") if told.utcoffset() in (None, timedelta(0)) else stamp
    )


def index_parts(told: Summary, places: Places) -> list[Part]:
    """The sections of the page."""
    report = told.report
    counts = report.counts
    ends = endings.ends(report.ends, counted=counts.counted, excluded=counts.excluded)
    ends += endings.meanings(report.ends)
    return [
        Part("standings", "Standings", strengths.standings(report, places)),
        Part("win-rates", "Win rates", strengths.win_rates(report, places)),
        Part("superiority", "Who is stronger", strengths.superiority(report.ratings, places)),
        Part("ends", "How games ended", ends + endings.rounds(report.rounds)),
        *by_words(report),
        Part("starts", "Start stations", endings.starts(report.starts)),
        Part("faults", "Faults", endings.faults(report.faults, places)),
        Part("times", "Time use", endings.times(report.times, places)),
        Part("history", "History", strengths.history(report, places)),
        Part("excluded", "Games that count for nobody", endings.excluded(report, places)),
        Part("pages", "Bots and pairings", _pages(told, places)),
        Part("reading", "How to read this", _reading(places)),
    ]


def by_words(report: Report) -> list[Part]:
    """A section on missions and the like, of rulesets that have them."""
    facts = list(dict.fromkeys(row.fact for row in report.words))
    if not facts:
        return []
    return [Part("words", f"By {text(' and '.join(facts))}", endings.words(report.words))]


def _pages(told: Summary, places: Places) -> str:
    """Links to the pages of bots and pairings."""
    bots = "".join(
        f"<li>{linked(name(bot), places.bot(bot))}</li>" for bot in told.names[:MAX_LISTED]
    )
    parts = [f'<h3>Bots</h3>\n<ul class="pages">{bots}</ul>' if bots else "<p>No bot played.</p>"]
    if len(told.names) > MAX_LISTED:
        parts.append(f"<p>The first {MAX_LISTED} of {len(told.names):,} bots.</p>")
    drawn = told.paired_pages
    if told.pairs and not drawn:
        parts.append(
            f"<p>{len(told.pairs):,} pairings are too many for a page each: up to "
            f"{MAX_PAIRING_PAGES:,} have one. The pages of bots tell of all opponents.</p>"
        )
    shown = [slug for slug in told.pairs if slug in drawn][:MAX_LISTED]
    if shown:
        two = "".join(
            f"<li>{linked(f'{name(one)} – {name(other)}', places.pairing(one, other))}</li>"  # noqa: RUF001 - a dash
            for one, other in (told.pairs[slug] for slug in shown)
        )
        parts.append(f'<h3>Pairings</h3>\n<ul class="pages">{two}</ul>')
        if len(told.pairs) > len(shown):
            parts.append(f"<p>The first {MAX_LISTED} of {len(told.pairs):,} pairings.</p>")
    return "\n".join(parts)


def _reading(places: Places) -> str:
    los = linked("the likelihood of superiority", places.index("superiority"))
    return (
        "<p>Ratings are in Elo points: 100 points more give 64&nbsp;% of the games between "
        "equal sides, 400 points more 91&nbsp;%. They come from one logistic fit over all games "
        "with a term for the advantage of a side, and with a weak prior that keeps perfect scores "
        "finite. Games on one deal share its luck, so errors are clustered on deals; two "
        f"ratings differ for sure only where {los} says so, not where their intervals happen to "
        "part.</p>"
        "<p>Strengths as Mister X and as the detectives come from a second fit with two strengths "
        "a bot.</p>"
        "<p>A rank range holds every place that the games leave open. A number that can't be told "
        "is written n/a, never as a guess. Games lost by a fault count, and are shown; where there "
        "are any, ratings without them stand beside.</p>"
    )
