"""The replay page in a browser: what the map shows is the record, at every ply, in every view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from arena.referee.record import GameRecord
from arena.referee.replay import replay
from arena.rules.london import London, State
from reports.names import what_happened
from reports.replays import replay_data
from reports.site.replay import MAX_BYTES, write_replay
from tests.browser import open_page, started_browser
from tests.reports.games_of_london import HOSTILE, crashing, dressed, played, showing_off

pytestmark = pytest.mark.slow

SHOWN = """() => {
  const text = (one) => one.textContent.trim();
  const pawns = [...document.querySelectorAll(".pawn")].filter((one) => getComputedStyle(one).display !== "none");
  return {
    moment: Number(document.body.dataset.moment),
    pawns: Object.fromEntries(pawns.map((one) => [one.dataset.figure, Number(one.dataset.station)])),
    where: Object.fromEntries(pawns.map((one) => {
      const at = new DOMMatrix(getComputedStyle(one).transform);
      return [one.dataset.figure, [Math.round(at.e), Math.round(at.f)]];
    })),
    ghost: document.querySelector(".pawn.x").classList.contains("ghost"),
    belief: [...document.querySelectorAll(".belief circle")].map((one) => Number(one.dataset.station)),
    bright: [...document.querySelectorAll(".stations .possible")].map((one) => Number(one.dataset.station)),
    size: Number(/at (\\d+) station/.exec(document.querySelector("output.size").textContent)[1]),
    log: [...document.querySelectorAll(".slot")].filter((one) => one.querySelector(".ticket")).map(
      (one) => [text(one.querySelector(".ticket")).toLowerCase(), text(one.querySelector(".at"))]),
    rows: Object.fromEntries([...document.querySelectorAll("[data-row]")].map(
      (row) => [row.dataset.row, [...row.querySelectorAll("td")].map(text)])),
    told: text(document.querySelector(".told")),
    label: document.querySelector(".map").getAttribute("aria-label"),
  };
}"""  # noqa: E501 - JavaScript
VIEWS = {"1": "mister_x", "2": "detectives", "3": "all"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def record() -> GameRecord:
    return played()


@pytest.fixture(scope="module")
def page_file(record: GameRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("replay") / "game.html"
    assert write_replay(replay_data(record), file) <= MAX_BYTES
    return file


def states_of(record: GameRecord) -> tuple[London, list[State]]:
    """The states of a game, ply by ply, straight from the rules."""
    replayed = replay(record.core)
    rules: London = replayed.ruleset
    ends = [*(moment.state for moment in replayed.moments[1:]), replayed.state]
    states = [replayed.moments[0].state]
    for moment, end in zip(replayed.moments, ends, strict=True):
        states += [*rules.between(moment.state, moment.plies or ()), end]
    return rules, states


def expected(state: State, belief: frozenset[int], view: str) -> dict[str, Any]:
    """What the page must show of a state."""
    pawns = {figure.figure: figure.station for figure in state.figures}
    revealed = [slot.station for slot in state.log if slot.station is not None]
    captured = state.path[-1] in pawns.values()
    sees_x = view != "detectives"
    ghost = False
    if sees_x or captured:
        pawns["x"] = state.path[-1]
    elif revealed:
        pawns["x"] = revealed[-1]
        ghost = state.log[-1].station is None
    log = [
        [slot.ticket, str(slot.station or (station if sees_x else "?"))]
        for slot, station in zip(state.log, state.path[1:], strict=True)
    ]
    assert state.supply is not None
    rows = {
        figure.figure: [
            str(figure.station),
            *map(str, (figure.tickets.taxi, figure.tickets.bus, figure.tickets.metro)),
            "–",  # noqa: RUF001 - a dash
            "–",  # noqa: RUF001
        ]
        for figure in state.figures
        if figure.tickets is not None
    }
    stock = state.supply
    x_row = [stock.taxi, stock.bus, stock.metro, state.blacks, state.doubles]
    rows["x"] = [str(state.path[-1]) if sees_x else "?", *map(str, x_row)]
    return {
        "pawns": pawns,
        "ghost": ghost if "x" in pawns else True,
        "belief": sorted(belief),
        "bright": sorted(belief),
        "size": len(belief),
        "log": log,
        "rows": rows,
    }


def test_whole_game_by_keyboard_shows_the_record_at_every_ply_in_every_view(
    browser: Browser, record: GameRecord, page_file: Path
) -> None:
    rules, states = states_of(record)
    sets = rules.beliefs(states)
    places = {
        one.id: [round(one.x * 1000 * rules.board.aspect), round(one.y * 1000 + 45)]
        for one in rules.board.stations
    }
    plies = [ply for play in record.core.plays for ply in play.plies]
    with open_page(browser, page_file) as opened:
        page = opened.page
        for at, (state, belief) in enumerate(zip(states, sets, strict=True)):
            if at:
                page.keyboard.press("ArrowRight")
            for key, view in VIEWS.items():
                page.keyboard.press(key)
                shown = page.evaluate(SHOWN)
                assert shown["moment"] == at
                want = expected(state, belief, view)
                if "x" not in want["pawns"]:
                    want["ghost"] = shown["ghost"]  # nothing is drawn, whatever its class
                assert {name: shown[name] for name in want} == want, (at, view)
                for figure, station in want["pawns"].items():
                    assert shown["where"][figure] == pytest.approx(places[station], abs=1)
                if at and plies[at - 1].figure == "x" and view == "detectives":
                    hidden = state.log[-1].station is None
                    assert ("unseen" in shown["told"]) == hidden
                    assert (str(state.path[-1]) in shown["told"]) != hidden
                elif at:
                    assert str(plies[at - 1].to) in shown["told"]
        page.keyboard.press("ArrowRight")
        assert page.evaluate(SHOWN)["moment"] == len(states) - 1
        assert "won" in page.locator(".turn .ending").inner_text()
        for at in range(len(states) - 2, -1, -1):
            page.keyboard.press("ArrowLeft")
            assert page.evaluate("Number(document.body.dataset.moment)") == at
        assert page.evaluate(SHOWN)["belief"] == sorted(sets[0])


def test_map_is_the_board(browser: Browser, page_file: Path) -> None:
    rules, _ = states_of(played())
    links = rules.board.links
    with open_page(browser, page_file) as opened:
        drawn = opened.page.evaluate(
            """() => ({
              stations: [...document.querySelectorAll(".stations .station")].map(
                (one) => [Number(one.dataset.station), one.classList[1]]),
              links: Object.fromEntries([...document.querySelectorAll(".links [data-links]")].map(
                (one) => [one.classList[1], one.getAttribute("d").split("M").length - 1])),
            })"""
        )
    assert drawn["links"] == {
        "taxi": len(links.taxi),
        "bus": len(links.bus),
        "metro": len(links.metro),
        "ferry": len(links.ferry),
    }
    metro = {station for pair in links.metro for station in pair}
    bus = {station for pair in links.bus for station in pair}
    for station, kind in drawn["stations"]:
        want = "metro" if station in metro else "bus" if station in bus else "taxi"
        assert kind == want
    assert len(drawn["stations"]) == len(rules.board.stations)


def test_keys_jump_play_and_leave_a_link(browser: Browser, page_file: Path) -> None:
    last = len(replay_data(played()).moments) - 1
    with open_page(browser, page_file) as opened:
        page = opened.page

        def moment() -> int:
            found: int = page.evaluate("Number(document.body.dataset.moment)")
            return found

        page.keyboard.press("End")
        assert moment() == last
        page.keyboard.press("Home")
        assert moment() == 0
        page.keyboard.press("PageDown")
        page.keyboard.press("PageDown")
        turns = [one.turn for one in replay_data(played()).moments]
        assert turns[moment()] == 1
        assert turns[moment() + 1] == 2
        page.keyboard.press("PageUp")
        assert turns[moment()] == 0
        page.keyboard.press("2")
        assert page.url.endswith(f"#ply-{moment()}-detectives")
        page.get_by_label("Speed").select_option("8")
        page.locator("h1").click()
        page.keyboard.press("End")
        for _ in range(6):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press(" ")
        page.get_by_role("button", name="Pause", exact=True).wait_for()
        page.locator(f"body[data-moment='{last}']").wait_for()
        page.get_by_role("button", name="Play", exact=True).wait_for()
        page.keyboard.press(" ")  # from the beginning
        page.locator(f"body:not([data-moment='{last}'])").wait_for()
        page.keyboard.press(" ")
        at = moment()
        assert page.get_by_role("button", name="Play", exact=True).count() == 1
        line = page.get_by_role("slider", name="Time line")
        box = line.bounding_box()
        assert box is not None
        line.click(position={"x": box["width"] / 2, "y": 20})
        assert abs(moment() - last / 2) <= 1
        assert moment() != at
        assert line.get_attribute("aria-valuenow") == str(moment())
        opened.go("#ply-9-mister_x")
        assert (moment(), page.evaluate("document.body.dataset.view")) == (9, "mister_x")
        page.evaluate("location.hash = '#ply-3'")
        page.locator("body[data-moment='3']").wait_for()
        opened.go("#ply-999999")
        assert moment() == last


def test_zoom_changes_what_is_seen_of_the_map_and_goes_back(
    browser: Browser, page_file: Path
) -> None:
    with open_page(browser, page_file) as opened:
        page = opened.page
        box = page.locator("svg.map")
        whole = box.get_attribute("viewBox")
        page.keyboard.press("+")
        closer = box.get_attribute("viewBox")
        assert closer != whole
        station = page.locator(".stations [data-station='127']")
        before = station.bounding_box()
        page.mouse.move(300, 300)
        page.mouse.down()
        page.mouse.move(280, 290)
        page.mouse.up()
        after = station.bounding_box()
        assert before is not None
        assert after is not None
        assert after["x"] - before["x"] == pytest.approx(-20, abs=0.5)
        assert after["y"] - before["y"] == pytest.approx(-10, abs=0.5)
        page.mouse.dblclick(300, 300)
        assert box.get_attribute("viewBox") not in (whole, closer)
        page.keyboard.press("0")
        assert box.get_attribute("viewBox") == whole


def test_map_that_is_zoomed_is_moved_by_keys_and_the_moment_stays(
    browser: Browser, page_file: Path
) -> None:
    with open_page(browser, page_file) as opened:
        page = opened.page

        def seen() -> list[float]:
            box = page.locator("svg.map").get_attribute("viewBox")
            return [float(number) for number in str(box).split()]

        whole = seen()
        page.keyboard.press("Shift+ArrowLeft")
        assert seen() == whole  # there is nothing beyond it
        page.keyboard.press("+")
        middle = seen()
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowDown")
        moved = seen()
        assert moved[0] > middle[0]
        assert moved[1] > middle[1]
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("Shift+ArrowUp")
        assert seen() == pytest.approx(middle)
        for _ in range(20):
            page.keyboard.press("Shift+ArrowUp")
        assert seen()[1] == whole[1]
        assert page.evaluate("document.body.dataset.moment") == "0"


def test_time_line_goes_up_and_down_by_keys_as_sliders_do(
    browser: Browser, page_file: Path
) -> None:
    with open_page(browser, page_file) as opened:
        slider = opened.page.get_by_role("slider", name="Time line")
        for key, moment in (("ArrowUp", "1"), ("ArrowUp", "2"), ("ArrowDown", "1")):
            slider.press(key)
            assert slider.get_attribute("aria-valuenow") == moment


def test_time_line_has_a_mark_for_each_reveal_double_and_black_ticket(
    browser: Browser, record: GameRecord, page_file: Path
) -> None:
    _, states = states_of(record)
    log = states[-1].log
    facts = record.core.facts
    assert facts["doubles_used"]
    assert facts["blacks_used"]
    with open_page(browser, page_file) as opened:
        page = opened.page
        page.wait_for_selector(".line .mark")
        assert page.locator(".line .mark.reveal").count() == sum(bool(s.station) for s in log)
        assert page.locator(".line .mark.double").count() == facts["doubles_used"]
        assert page.locator(".line .mark.black").count() == facts["blacks_used"]
        assert page.locator(".line .mark.fault").count() == 0


def test_notes_times_and_standard_error_stand_beside_the_turn_for_who_may_see_them(
    browser: Browser, record: GameRecord, tmp_path: Path
) -> None:
    file = tmp_path / "game.html"
    write_replay(replay_data(dressed(record, "own words")), file)
    with open_page(browser, file, "#ply-1") as opened:
        page = opened.page
        assert "own words" in page.locator(".turn .note").inner_text()
        assert "ms" in page.locator(".turn dl").inner_text()
        for seat in page.locator("details.seat > summary").all():
            seat.click()
        assert page.locator(".seat.mister_x pre").first.inner_text() == "own words"
        page.locator("h1").click()
        page.keyboard.press("2")
        assert "own words" not in page.locator(".turn dl").inner_text()
        assert page.locator(".seat.mister_x pre").count() == 0
        assert page.locator(".seat.detectives pre").count() == 2


def test_fault_is_told_with_its_evidence(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "game.html"
    record = played(showing_off, crashing)
    write_replay(replay_data(record), file)
    with open_page(browser, file) as opened:
        page = opened.page
        page.keyboard.press("End")
        page.wait_for_selector(".line .mark.fault")
        box = page.locator(".fault-box").inner_text()
        assert "protocol" in box
        text = str(record.aside.detectives.fault_text)
        assert what_happened(text, record.core.game) in box
        assert record.core.game not in box


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(
    browser: Browser, record: GameRecord, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "game.html"
    write_replay(replay_data(dressed(record, text)), file)
    shown = re.escape(text[:8]) if text.isascii() and text.isprintable() else r"\\u202e"
    with open_page(browser, file, "#ply-1") as opened:
        page = opened.page
        assert re.search(shown, page.locator("h1").inner_text())
        for seat in page.locator("details.seat > summary").all():
            seat.click()
        page.locator("h1").hover()
        page.keyboard.press("End")
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        assert page.evaluate("document.querySelectorAll('[onload], [onmouseover], b').length") == 0
        assert page.title().endswith(record.core.game[:10])


def test_policy_stops_every_other_script(browser: Browser, page_file: Path) -> None:
    with open_page(browser, page_file) as opened:
        stopped = opened.page.evaluate(
            """() => new Promise((done) => {
              document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
              const script = document.createElement("script");
              script.textContent = "document.title = 'owned'";
              document.body.append(script);
            })"""  # noqa: E501 - JavaScript
        )
        assert stopped == "script-src-elem"
        assert "owned" not in opened.page.title()
        opened.complaints.clear()  # the browser tells of it, as it should


@pytest.mark.parametrize("width", [320, 400, 800, 1200, 1800])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(browser: Browser, page_file: Path, width: int, scheme: Any) -> None:
    with open_page(browser, page_file, "#ply-40", width=width, scheme=scheme) as opened:
        overflowing = opened.page.evaluate(
            """() => [...document.querySelectorAll("html, h1, .panel, table, button, .slot, .legend, .key")]
              .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
              .map((one) => one.className || one.tagName)"""  # noqa: E501 - JavaScript
        )
        assert overflowing == []


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_has_no_barriers(browser: Browser, tmp_path: Path, width: int, scheme: Any) -> None:
    file = tmp_path / "game.html"
    write_replay(replay_data(dressed(played(showing_off, crashing), "own words\n")), file)
    with open_page(browser, file, "#ply-5", width=width, scheme=scheme) as opened:
        for seat in opened.page.locator("details.seat > summary").all():
            seat.click()
        assert opened.barriers() == []
        opened.page.locator("h1").click()
        opened.page.keyboard.press("End")
        opened.page.keyboard.press("2")
        assert opened.barriers() == []
