"""The replay page of Europe in a browser: it shows the record, at every ply, in every view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser

from arena.referee.record import GameRecord
from arena.referee.replay import replay
from arena.rules.europe.ruleset import Europe
from arena.rules.europe.state import Hand, State
from reports.replays import replay_data
from reports.site.replay import MAX_BYTES, write_replay
from tests.browser import open_page, started_browser
from tests.reports.games_of_europe import acting_game, long_game

pytestmark = pytest.mark.slow

SHOWN = """() => {
  const text = (one) => one.textContent.trim();
  const seen = [...document.querySelectorAll(".pawn")].filter((one) => getComputedStyle(one).display !== "none");
  const badge = (one) => {
    const [, count, kind] = /^(?:(\\d+) . )?(.*)$/.exec(one.title);
    return Array(Number(count ?? 1)).fill(kind);
  };
  return {
    moment: Number(document.body.dataset.moment),
    pawns: Object.fromEntries(seen.map((one) => [one.dataset.figure, Number(one.dataset.station)])),
    ghost: document.querySelector(".pawn.x").classList.contains("ghost"),
    belief: [...document.querySelectorAll(".belief circle")].map((one) => Number(one.dataset.station)),
    bright: [...document.querySelectorAll(".cities .possible")].map((one) => Number(one.dataset.station)),
    size: Number(/in (\\d+) cit/.exec(document.querySelector("output.size").textContent)[1]),
    rings: [...document.querySelectorAll(".ring[data-ring]")].map((one) => Number(one.dataset.station)),
    tags: [...document.querySelectorAll(".ring-tag")].map((one) => Number(text(one))),
    board: [...document.querySelectorAll(".slot")].filter((one) => one.querySelector(".at")).map(
      (one) => [text(one.querySelector(".ticket")), text(one.querySelector(".at"))]),
    start: text(document.querySelector(".entry-0")),
    hands: Object.fromEntries([...document.querySelectorAll("tr[data-row]")].map((row) => [row.dataset.row,
      row.querySelector(".ticket") ? [...row.querySelectorAll(".ticket")].flatMap(badge).sort() : text(row.querySelector("td"))])),
    goals: [...document.querySelectorAll(".goals .goal:not(.other)")].map((one) => Number(one.dataset.station)).sort((a, b) => a - b),
    told: text(document.querySelector(".told")),
  };
}"""  # noqa: E501 - JavaScript
# Every moment in every view, by the keys that a reader has.
PLAYED = f"""(last) => {{
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
  const shown = {SHOWN};
  const found = [];
  for (let at = 0; at <= last; at += 1) {{
    if (at) press("ArrowRight");
    found.push(["1", "2", "3"].map((key) => {{ press(key); return shown(); }}));
  }}
  return found;
}}"""  # noqa: E501 - JavaScript
VIEWS = ("mister_x", "detectives", "all")
WORDS = {
    "double": "double move",
    "hidden": "hidden move",
    "investigate": "investigation",
    "special": "special mission",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def record() -> GameRecord:
    return acting_game()


@pytest.fixture(scope="module")
def page_file(record: GameRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("replay") / "game.html"
    assert write_replay(replay_data(record), file) <= MAX_BYTES
    return file


def states_of(record: GameRecord) -> tuple[Europe, list[State]]:
    """The states of a game, ply by ply, straight from the rules."""
    replayed = replay(record.core)
    rules: Europe = replayed.ruleset
    ends = [*(moment.state for moment in replayed.moments[1:]), replayed.state]
    states = [replayed.moments[0].state]
    for moment, end in zip(replayed.moments, ends, strict=True):
        states += [*rules.between(moment.state, moment.plies or ()), end]
    return rules, states


def hand(tickets: Hand) -> list[str]:
    """A hand in the words of its badges."""
    return sorted(
        f"{transport} or {WORDS[action]}"
        for transport, action in (one.split("-") for one in tickets)
    )


def count(tickets: int) -> str:
    return "1 ticket" if tickets == 1 else f"{tickets} tickets"


def expected(rules: Europe, state: State, belief: frozenset[int], view: str) -> dict[str, Any]:
    """What the page must show of a state."""
    names = {city.id: city.name for city in rules.board.cities}
    over = state.ended is not None
    sees_x = view != "detectives"
    told = [entry for entry in range(len(state.path)) if over or entry in state.known]
    pawns: dict[str, int] = {figure.figure: figure.city for figure in state.figures}
    now = bool(told) and told[-1] == len(state.path) - 1
    if state.path and (sees_x or told):
        pawns["x"] = state.path[-1 if sees_x else told[-1]]
    board: list[list[str]] = []
    for entry, city in list(enumerate(state.path))[1:]:
        slot = state.board[entry - 1] if entry <= len(state.board) else None
        ticket = "open"
        if slot is not None:
            assert slot.ticket is not None
            hidden = slot.hidden and not sees_x and not over
            ticket = "hidden" if hidden else slot.ticket.partition("-")[0]
        board.append([ticket, names[city] if sees_x or entry in told else "?"])
    start = "not yet"
    if state.path:
        start = names[state.path[0]] if sees_x or 0 in told else "?"
    colour = f"mission: {state.colour}" if state.colour else "mission not named yet"
    mission = rules.board.missions.get(state.colour or "")

    def shown(tickets: Hand, *, sees: bool) -> Any:
        return hand(tickets) if sees and tickets else count(len(tickets))

    hands: dict[str, Any] = {"x": shown(state.hand, sees=sees_x)}
    for place, one in enumerate(state.hands, 1):
        hands[f"p{place}"] = shown(one, sees=view != "mister_x")
    hands["bag"] = count(sum(state.bag))
    return {
        "pawns": pawns,
        "ghost": not sees_x and not now,
        "belief": sorted(belief),
        "bright": sorted(belief),
        "size": len(belief),
        "rings": [state.path[entry] for entry in state.rings],
        "tags": list(state.rings),
        "board": board,
        "start": f"Start: {start} · {colour}",
        "goals": sorted([*mission.starts, *mission.targets]) if mission else [],
        "hands": hands,
    }


def test_whole_game_shows_the_record_at_every_ply_in_every_view(
    browser: Browser, record: GameRecord, page_file: Path
) -> None:
    rules, states = states_of(record)
    sets = rules.beliefs(states)
    names = {city.id: city.name for city in rules.board.cities}
    plies = [ply for play in record.core.plays for ply in play.plies]
    moments = replay_data(record).moments
    with open_page(browser, page_file) as opened:
        page = opened.page
        views = page.evaluate(PLAYED, len(moments) - 1)
        for at, moment in enumerate(moments):
            state, belief = states[at], sets[at]
            for view, shown in zip(VIEWS, views[at], strict=True):
                assert shown["moment"] == at
                want = expected(rules, state, belief, view)
                hands = want.pop("hands")
                assert {name: shown[name] for name in want} == want, (at, view)
                assert {name: shown["hands"][name] for name in hands} == hands, (at, view)
                for ply in moment.plies:
                    to = names.get(ply.get("to") or ply.get("city") or 0, "")
                    own = ply.get("figure") == "x" or ply["do"] in {"lay", "start"}
                    entry = len(state.path) - 1
                    hidden = own and view == "detectives" and entry not in state.known
                    if not (hidden and state.ended is None):
                        assert to in shown["told"], (at, view)
                    elif to != names[state.path[max(0, entry - 1)]]:
                        assert to not in shown["told"].replace("Mister X", ""), (at, view)
        assert len(plies) == sum(len(moment.plies) for moment in moments)
        assert "won" in page.locator(".turn .ending").inner_text()


def test_map_is_the_board(browser: Browser, record: GameRecord, page_file: Path) -> None:
    rules, _ = states_of(record)
    board = rules.board
    with open_page(browser, page_file) as opened:
        drawn = opened.page.evaluate(
            """() => ({
              cities: [...document.querySelectorAll(".cities .city")].map(
                (one) => [Number(one.dataset.station), one.classList[1], one.querySelector("text").textContent]),
              links: Object.fromEntries([...document.querySelectorAll(".links [data-links]")].map(
                (one) => [one.classList[1], one.getAttribute("d").split("M").length - 1])),
              goals: [...document.querySelectorAll(".goals .goal")].map((one) => [one.dataset.mission, one.classList[1]].join()),
              origin: document.querySelector(".origin").textContent,
            })"""  # noqa: E501 - JavaScript
        )
        labels = opened.page.evaluate(
            """() => [...document.querySelectorAll(".cities text")].map((one) => {
              const box = one.getBoundingClientRect();
              return [box.left, box.right, box.top + 2, box.bottom - 2];
            })"""
        )
        frame = opened.page.locator("svg.map").bounding_box()
    assert drawn["cities"] == [[city.id, city.kind, city.name] for city in board.cities]
    assert drawn["links"] == {
        "car": len(board.links.car),
        "rail": len(board.links.rail),
        "air": len(board.links.air),
    }
    assert Counter(drawn["goals"]) == {
        f"{colour},{what}": 6 for colour in board.missions for what in ("start", "target")
    }
    assert drawn["origin"] == f"The board: {board.origin}"
    assert frame is not None
    over = [
        1
        for place, (left, right, top, bottom) in enumerate(labels)
        for other in labels[:place]
        if left < other[1] and other[0] < right and top < other[3] and other[2] < bottom
    ]
    assert len(over) <= 3  # pairs of names that touch
    assert all(frame["x"] <= one[0] for one in labels)
    assert all(one[1] <= frame["x"] + frame["width"] for one in labels)


def test_time_line_has_a_mark_for_what_lies_open(
    browser: Browser, record: GameRecord, page_file: Path
) -> None:
    facts = record.core.facts
    with open_page(browser, page_file) as opened:
        page = opened.page
        page.wait_for_selector(".line .mark")
        for kind, fact in (
            ("double", "doubles_used"),
            ("black", "hiddens_used"),
            ("special", "specials"),
            ("stuck", "stuck"),
        ):
            assert page.locator(f".line .mark.{kind}").count() == facts[fact]
        assert facts["doubles_used"]
        assert facts["specials"]
        assert page.locator(".line .mark.declared").count() >= 1


def test_cities_without_places_are_drawn_in_a_ring(
    browser: Browser, record: GameRecord, tmp_path: Path
) -> None:
    data = replay_data(record)
    cities = [{**city, "x": 0, "y": 0} for city in data.board["cities"]]
    data = msgspec.structs.replace(data, board={**data.board, "cities": cities})
    write_replay(data, tmp_path / "game.html")
    with open_page(browser, tmp_path / "game.html") as opened:
        places = opened.page.evaluate(
            """() => [...document.querySelectorAll(".cities .city")].map((one) => {
              const box = one.getBoundingClientRect();
              return [Math.round(box.left), Math.round(box.top)].join();
            })"""
        )
        page = opened.page.content()
    assert len(set(places)) == len(cities)
    assert "NaN" not in page.partition("<svg")[2].partition("</svg>")[0]


def test_long_name_is_cut_on_the_map_and_whole_where_a_pointer_rests(
    browser: Browser, record: GameRecord, tmp_path: Path
) -> None:
    data = replay_data(record)
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
    cities = [{**city, "name": f"{city['id']} {long}"} for city in data.board["cities"]]
    data = msgspec.structs.replace(data, board={**data.board, "cities": cities})
    write_replay(data, tmp_path / "game.html")
    with open_page(browser, tmp_path / "game.html") as opened:
        names = opened.page.evaluate(
            """() => [...document.querySelectorAll(".cities .city")].map(
              (one) => [one.querySelector("text").textContent, one.querySelector("title").textContent])"""  # noqa: E501 - JavaScript
        )
    for city, (shown, whole) in zip(cities, names, strict=True):
        assert shown == f"{city['name'][:19]}…"
        assert whole.startswith(f"{city['name']} ({city['id']}): ")


def test_long_game_is_packed_and_unpacks_itself(browser: Browser, tmp_path: Path) -> None:
    record = long_game()
    file = tmp_path / "game.html"
    assert record.core.rounds == 50
    assert write_replay(replay_data(record), file) <= MAX_BYTES / 2
    assert "packed" in file.read_text("utf-8")
    _, states = states_of(record)
    with open_page(browser, file) as opened:
        opened.page.wait_for_selector(".pawn")
        opened.page.keyboard.press("End")
        shown = opened.page.evaluate(SHOWN)
    assert shown["moment"] == len(replay_data(record).moments) - 1
    assert shown["pawns"]["x"] == states[-1].path[-1]
    assert len(shown["board"]) == len(states[-1].path) - 1 > 24
    assert shown["board"][-1][0] == "open"


@pytest.mark.parametrize("width", [320, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_and_there_are_no_barriers(
    browser: Browser, page_file: Path, width: int, scheme: Any
) -> None:
    with open_page(browser, page_file, "#ply-90", width=width, scheme=scheme) as opened:
        overflowing = opened.page.evaluate(
            """() => [...document.querySelectorAll("html, h1, .panel, table, button, .slot, .legend, .key")]
              .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
              .map((one) => one.className || one.tagName)"""  # noqa: E501 - JavaScript
        )
        assert overflowing == []
        assert opened.barriers() == []
