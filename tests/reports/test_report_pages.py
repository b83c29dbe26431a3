"""The report in a browser, from disk with the network off: every page, and the ways between."""

from __future__ import annotations

import html.parser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page, expect

from reports.frames import GameRow, Games, row_of
from reports.report import Meta, build
from reports.site.folder import write, write_single
from reports.site.places import bot_slug, pairing_slug
from tests.browser import open_page, started_browser
from tests.reports.site_run import BOTS, HOSTILE, RUN

pytestmark = pytest.mark.slow

DRAWN = 8  # games that have a replay
LONGEST_NAME = 30  # characters of a name in the table of games
IN_ONE = ("greedy", HOSTILE[0], HOSTILE[2])  # bots of the one page, which holds all of theirs


class Report(NamedTuple):
    """A report folder, one page that tells of some of its bots, and the games of the folder."""

    folder: Path
    single: Path
    rows: list[GameRow]

    def pages(self) -> dict[str, Path]:
        """One page of each kind; of bots and pairings those with hostile names."""
        return {
            "index": self.folder / "index.html",
            "bot": self.folder / "bots" / f"{bot_slug(HOSTILE[0])}.html",
            "pairing": self.folder / "pairings" / f"{pairing_slug(HOSTILE[1], HOSTILE[2])}.html",
            "games": self.folder / "games.html",
            "replay": min((self.folder / "replays").glob("*.html")),
            "single": self.single,
        }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    rows = [row_of(record) for record in RUN().values()]
    games = Games.collect(rows)
    made = build(games, Meta(title="Run ab12", facts=[("Clock", "1 s a turn")], notes=["A note."]))
    folder = tmp_path_factory.mktemp("report")
    write(made, games, folder, record=RUN().__getitem__, replays=DRAWN)
    single = tmp_path_factory.mktemp("single") / "report.html"
    few = Games.collect(row for row in rows if {row.mister_x, row.detectives} <= set(IN_ONE))
    write_single(build(few, Meta(title="Run ab12")), few, single)
    return Report(folder, single, rows)


@pytest.mark.parametrize("kind", ["index", "bot", "pairing", "games", "replay", "single"])
def test_page_has_no_barriers_and_nothing_is_cut_off(
    browser: Browser, report: Report, kind: str
) -> None:
    file = report.pages()[kind]
    with open_page(browser, file, folder=report.folder, width=1280) as opened:
        page = opened.page
        page.locator("h1").wait_for()
        assert kind == "single" or opened.barriers() == []  # it is long: once is enough
        assert opened.overflowing() == []
        page.set_viewport_size({"width": 400, "height": 860})
        page.emulate_media(color_scheme="dark")
        assert opened.barriers() == []
        assert opened.overflowing() == []


@pytest.mark.parametrize("kind", ["index", "bot", "pairing", "games", "replay", "single"])
def test_names_that_are_markup_are_shown_as_text_and_do_nothing(
    browser: Browser, report: Report, kind: str
) -> None:
    file = report.pages()[kind]
    with open_page(browser, file, folder=report.folder) as opened:
        page = opened.page
        page.locator("h1").wait_for()
        if kind in ("index", "games"):
            page.locator("table").first.wait_for()
            text = page.locator("main").inner_text()
            for seen in ("<img src=x onerror=", "</script><script>", "\\u202egnp.exe", "xxxx…xxxx"):
                assert seen in text
        assert "owned" not in page.title() or "document.title" in page.title()
        assert page.locator("img, [onerror], [onload], [onclick]").count() == 0
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.locator("body").inner_text()
        assert not page.evaluate(
            "[...document.scripts].some((one) => one.textContent.startsWith('document.title'))"
        )


def test_way_from_the_report_over_bot_pairing_and_games_to_a_replay_and_back(
    browser: Browser, report: Report
) -> None:
    with open_page(browser, report.folder / "index.html", folder=report.folder) as opened:
        page = opened.page
        page.locator("#standings tbody").get_by_role("link", name="greedy", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("greedy")
        row = page.locator("#opponents tbody tr").filter(has_text="belief")
        row.get_by_role("link", name="their games").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("greedy against belief")
        page.get_by_role("link", name="The same in the table of games").click()
        both = {"greedy", "belief"}
        met = [row for row in report.rows if {row.mister_x, row.detectives} == both]
        expect(page.locator(".count strong")).to_have_text(
            f"{len(met)} of {len(report.rows)} games"
        )
        assert listed(page) == [row.game for row in met]
        page.get_by_role("button", name="Clear filters").click()
        link = page.locator("#games-rows tbody a").first
        game = str(link.get_attribute("href")).removeprefix("replays/").removesuffix(".html")
        told = next(row for row in report.rows if row.game == game)
        link.click()
        page.locator("body[data-moment]").wait_for()  # it draws itself when all of it has come
        page.keyboard.press("End")
        assert "won" in page.locator(".turn .ending").inner_text()
        log = page.locator(".slot .ticket").count()
        assert log == len([ply for ply in plies_of(game) if ply.figure == "x"])
        assert told.winner is None or told.rounds is not None
        path = page.get_by_role("navigation", name="Path")
        assert path.inner_text().replace("\n", " ").split()[-1] == game[:10]
        path.get_by_role("link", name="Report").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Run ab12")
        page.go_back()
        page.go_back()
        expect(page.locator(".count strong")).to_have_text(
            f"{len(report.rows)} of {len(report.rows)} games"
        )
        page.get_by_role("navigation", name="Path").get_by_role("link").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Run ab12")


def listed(page: Page) -> list[str]:
    found: list[str] = page.locator("#games-rows tbody tr").evaluate_all(
        "rows => rows.map((row) => row.dataset.game)"
    )
    return found


def plies_of(game: str) -> list[Any]:
    return [ply for play in RUN()[game].core.plays for ply in play.plies]


def test_links_on_bot_pages_open_the_games_that_they_speak_of(
    browser: Browser, report: Report
) -> None:
    for bot in ("greedy", HOSTILE[1]):
        lost = [
            row.game
            for row in report.rows
            if (row.mister_x, row.winner) == (bot, "detectives")
            or (row.detectives, row.winner) == (bot, "mister_x")
        ]
        file = report.folder / "bots" / f"{bot_slug(bot)}.html"
        with open_page(browser, file, folder=report.folder) as opened:
            opened.page.get_by_role("link", name="All of its lost games").click()
            opened.page.locator("#games-rows tbody tr").first.wait_for()
            assert listed(opened.page) == lost


def test_one_page_has_the_games_and_keeps_its_sections(browser: Browser, report: Report) -> None:
    with open_page(browser, report.single) as opened:
        page = opened.page
        page.get_by_label("Won by").select_option(label="Mister X")
        own = [row for row in report.rows if {row.mister_x, row.detectives} <= set(IN_ONE)]
        won = sum(row.winner == "mister_x" for row in own)
        expect(page.locator(".count strong")).to_have_text(f"{won} of {len(own)} games")
        page.locator("#standings tbody").get_by_role("link", name="greedy", exact=True).click()
        assert page.url.endswith("#bot-greedy")
        expect(page.locator("#bot-greedy-h")).to_be_in_viewport()


@pytest.mark.parametrize("kind", ["index", "bot", "games", "single", "replay"])
def test_policy_stops_handlers(browser: Browser, report: Report, kind: str) -> None:
    with open_page(browser, report.pages()[kind], folder=report.folder) as opened:
        page = opened.page
        page.locator("h1").wait_for()
        page.evaluate(
            """() => {
              document.body.setAttribute("onclick", "document.title = 'owned'");
              document.body.click();
            }"""
        )
        assert page.title() != "owned"
        assert len(opened.complaints) == 1
        assert "Content Security Policy" in opened.complaints[0]
        opened.complaints.clear()  # the browser tells of it, as it should


def test_printed_report_is_light_and_whole(browser: Browser, report: Report) -> None:
    with open_page(browser, report.folder / "index.html", scheme="dark") as opened:
        page = opened.page
        page.emulate_media(media="print")
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert not page.get_by_role("navigation", name="Sections").is_visible()
        cut = page.locator(".scroll").evaluate_all(
            "all => all.filter((one) => getComputedStyle(one).overflowX !== 'visible').length"
        )
        assert cut == 0
        # What nobody opened is no heading of nothing on paper.
        assert page.locator("summary").count() > 0
        assert page.locator("summary:visible").count() == 0


def test_plots_but_the_heat_map_fit_a_narrow_window(browser: Browser, report: Report) -> None:
    with open_page(browser, report.folder / "index.html", width=400) as opened:
        wide = opened.page.locator("figure.scroll:not(.heat)").evaluate_all(
            "all => all.filter((one) => one.scrollWidth > one.clientWidth).length"
        )
        assert wide == 0


def test_names_stay_in_sight_where_a_matrix_is_wider_than_the_window(
    browser: Browser, report: Report
) -> None:
    with open_page(browser, report.folder / "index.html", width=400) as opened:
        matrix = opened.page.locator("#win-rates .scroll:has(.matrix)")
        name = matrix.locator("tbody th").first
        before = name.evaluate("one => one.getBoundingClientRect().left")
        assert matrix.evaluate("one => { one.scrollLeft = 200; return one.scrollLeft; }") == 200
        assert name.evaluate("one => one.getBoundingClientRect().left") == before
        assert name.evaluate("one => one.offsetWidth") < 160  # of 400


def test_long_names_leave_room_for_who_won_and_why(browser: Browser, report: Report) -> None:
    with open_page(browser, report.folder / "games.html", folder=report.folder, width=1280) as own:
        rows = own.page.locator("#games-rows")
        heads = rows.locator("thead th")
        reason = heads.nth(heads.all_inner_texts().index("reason"))
        assert reason.evaluate("one => one.getBoundingClientRect().right") <= rows.evaluate(
            "one => one.getBoundingClientRect().right"
        )
        whole = HOSTILE[3][:LONGEST_NAME]
        cut = rows.locator(f"td.name bdi[title^='{whole}']").first
        assert len(cut.inner_text()) <= LONGEST_NAME


class Links(html.parser.HTMLParser):
    """Collects ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.ids.add(value)
            if key in ("href", "src") and value and tag != "use":
                self.links.add(value)


def test_every_link_leads_to_something(report: Report) -> None:
    read: dict[Path, Links] = {}
    for file in [*report.folder.rglob("*.html"), report.single]:
        read[file] = Links()
        read[file].feed(file.read_text("utf-8"))
    assert len(read) == 2 + DRAWN + len(BOTS) + len(BOTS) * (len(BOTS) - 1) // 2 + 1
    for file, found in read.items():
        for link in found.links:
            if link.startswith("data:"):
                continue
            assert not re.match(r"\w+:|/", link), (file.name, link)
            path, _, anchor = link.partition("#")
            target = (file.parent / unquote(path)).resolve() if path else file
            assert target.is_file(), (file.name, link)
            if anchor and target in read and "=" not in anchor:
                assert unquote(anchor) in read[target].ids or target.parent.name == "replays"
