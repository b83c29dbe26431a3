"""The report folder and its page."""

from __future__ import annotations

import base64
import hashlib
import html
import html.parser
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from arena.errors import ConfigError
from reports import site
from reports.frames import GameRow, Games
from reports.report import Meta, Report, build
from reports.site.markdown import markdown
from reports.site.markup import percent, plus_minus
from reports.site.places import pairing_slug
from reports.site.strengths import advantages
from reports.site.summary import Summary, ends_of, rounds_of
from tests.reports.rows import NAMES, small_run

VOID = {"meta", "br", "link", "img", "input", "hr", "path", "use", "rect"}


class Reader(html.parser.HTMLParser):
    """Collects tags, ids, links and attributes, and checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for key, value in attrs:
            self.attributes.add(key)
            if key == "id" and value:
                self.ids.append(value)
            if key in ("href", "src") and value and tag != "use":
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def made(rows: list[GameRow]) -> tuple[Report, Games]:
    games = Games.collect(rows)
    return build(games, Meta(title="Run ab12", facts=[("Clock", "1 s")], notes=["a note"])), games


@pytest.fixture(scope="module")
def report() -> Report:
    return made(small_run())[0]


@pytest.fixture(scope="module")
def games() -> Games:
    return Games.collect(small_run())


@pytest.fixture(scope="module")
def folder(report: Report, games: Games, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small run, written once for all tests that only read it."""
    found = tmp_path_factory.mktemp("report")
    site.write(report, games, found)
    return found


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def checked(folder: Path) -> dict[str, Reader]:
    """Every page of a folder, read; every link leads to something that is there."""
    pages = {
        str(file.relative_to(folder)): read(file.read_text("utf-8"))
        for file in sorted(folder.rglob("*.html"))
    }
    for page, reader in pages.items():
        assert len(reader.ids) == len(set(reader.ids)), page
        assert not any(name.startswith("on") for name in reader.attributes), page
        for link in reader.links:
            path, _, anchor = link.partition("#")
            assert ":" not in path, (page, link)
            target = ((folder / page).parent / unquote(path)).resolve() if path else folder / page
            assert target.is_file(), (page, link)
            assert target.is_relative_to(folder.resolve()) or not path, (page, link)
            own = str(target.relative_to(folder.resolve() if path else folder))
            if anchor and own in pages and own != "games.html":
                assert anchor in pages[own].ids, (page, link)
    return pages


def test_folder_holds_a_page_for_each_bot_and_each_pairing(tmp_path: Path) -> None:
    report, games = made(small_run())
    written = site.write(report, games, tmp_path / "a" / "b")
    folder = written.page.parent
    assert written.page == tmp_path / "a" / "b" / "index.html"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == set(written.files)
    assert {"index.html", "games.html", "manifest.json", *site.FILES} < found
    assert len([file for file in found if file.startswith("bots/")]) == 4
    assert len([file for file in found if file.startswith("pairings/")]) == 6
    assert "bots/greedy.html" in found
    assert "pairings/belief--greedy.html" in found
    assert written.bytes == sum((folder / file).stat().st_size for file in found)


def test_every_link_of_a_folder_leads_to_something_in_it(folder: Path) -> None:
    pages = checked(folder)
    reached = {"index.html"}
    todo = ["index.html"]
    while todo:
        page = todo.pop()
        for link in pages[page].links:
            path = link.partition("#")[0]
            if path.endswith(".html"):
                target = ((folder / page).parent / path).resolve().relative_to(folder.resolve())
                if str(target) not in reached:
                    reached.add(str(target))
                    todo.append(str(target))
    assert reached == set(pages)


def test_equal_reports_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        report, games = made(small_run(3, NAMES[:3]))
        site.write(report, games, tmp_path / name)
        site.write_single(report, games, tmp_path / f"{name}.html")
    for file in (tmp_path / "one").rglob("*.*"):
        twin = tmp_path / "two" / file.relative_to(tmp_path / "one")
        assert file.read_bytes() == twin.read_bytes()
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    report, games = made(small_run(1))
    with pytest.raises(ConfigError, match="name another place"):
        site.write(report, games, tmp_path / "file" / "report")
    with pytest.raises(ConfigError, match="name another place"):
        site.write_single(report, games, tmp_path / "file" / "report.html")


def test_pages_have_no_script_and_a_policy_that_lets_none_run(folder: Path) -> None:
    for file in (folder / "index.html", *folder.glob("bots/*"), *folder.glob("pairings/*")):
        text = file.read_text("utf-8")
        assert "script" not in read(text).tags
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
        assert policy is not None
        assert "default-src 'none'" in policy[1]
        assert "script" not in policy[1]


def test_one_page_lets_its_one_module_run_by_its_hash(tmp_path: Path) -> None:
    report, games = made(small_run())
    written = site.write_single(report, games, tmp_path / "one.html")
    assert written.files == ("one.html",)
    text = written.page.read_text("utf-8")
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
    kinds = [re.findall(r'type="([^"]+)"', attributes)[0] for attributes, _ in scripts]
    assert sorted(kinds) == ["application/json", "module"]
    digest = hashlib.sha256(scripts[kinds.index("module")][1].encode()).digest()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy[1]).split("; "))
    assert rules["script-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert rules["default-src"] == "'none'"


def test_one_page_holds_every_bot_every_pairing_the_games_and_the_files(tmp_path: Path) -> None:
    report, games = made(small_run())
    text = site.write_single(report, games, tmp_path / "one.html").page.read_text("utf-8")
    reader = read(text)
    assert len(reader.ids) == len(set(reader.ids))
    assert {"bot-greedy", "pairing-belief--greedy", "games", "standings"} < set(reader.ids)
    for link in reader.links:
        assert link.startswith(("#", "data:"))
        filters = re.fullmatch(r"#\w+=.*", link)  # of the table of games
        assert link[1:] in reader.ids or link == "#" or link.startswith("data:") or filters
    saved = re.findall(r'download="([^"]+)" href="data:[^,]+,([^"]+)"', text)
    kept = {file: base64.b64decode(packed).decode() for file, packed in saved}
    assert set(kept) == {"ratings.csv", "matrix.csv", "games.csv", "report.json", "report.md"}
    assert kept["games.csv"] == games.csv()
    assert f"arena replay {games.frame['game'].iloc[0][:10]}" in text


def test_page_tells_what_the_report_holds(folder: Path) -> None:
    said = " ".join(read((folder / "index.html").read_text("utf-8")).said)
    for word in ("belief", "greedy", "a note", "both bots failed", "void: our own fault"):
        assert word in said
    for word in ("crash", "exit status 1", "Wilson", "Time use", "without forfeits"):
        assert word in said
    for word in ("Start stations", "Likelihood of superiority", "likelihood ratio", "History"):
        assert word in said


def test_page_of_a_bot_tells_its_opponents_ends_faults_and_closest_games(
    report: Report, games: Games, folder: Path
) -> None:
    page = next((folder / "bots").glob("b-bold*"))
    said = " ".join(read(page.read_text("utf-8")).said)
    assert "<b>bold</b>" in said
    for word in ("Closest lost games", "Opponents", "As the detectives", "crash", "Its time use"):
        assert word in said
    told = Summary.of(report, games.lines())
    for line in told.lost["<b>bold</b>", "mister_x"]:
        assert f"arena replay {line.game[:10]}" in said


def test_page_of_a_pairing_counts_its_pairs_and_lists_its_games(
    report: Report, folder: Path
) -> None:
    said = read((folder / "pairings" / "belief--greedy.html").read_text("utf-8")).said
    pairs = next(
        row for row in report.pairings or [] if {row.one, row.other} == {"belief", "greedy"}
    )
    rows = " ".join(said)
    assert f"Mister X escaped twice {pairs.both_escaped}" in re.sub(r"\s+", " ", rows)
    assert sum("arena replay" in text for text in said) == 24


def test_ends_of_games_add_up_to_the_games(report: Report, games: Games, folder: Path) -> None:
    played = sum(row.mister_x + row.detectives for row in report.rounds)
    assert sum(end.games for end in report.ends) == report.counts.counted
    assert played == report.counts.counted - report.counts.forfeits
    assert sum(row.escaped.games for row in report.starts) == played
    assert report.counts.counted + report.counts.excluded == len(games)
    text = " ".join(read((folder / "index.html").read_text("utf-8")).said)
    assert re.search(rf"all that count\s+{report.counts.counted}", text)
    assert re.search(rf"all games\s+{len(games)}", text)


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "${title}$$ $facts",
    "</style></title><b>",
    "&amp;",
    "javascript:alert(1)",
    "../../../etc/passwd",
    "\u202egnp.exe",
    "\u200b\u200d",
    "\u05e9\u05dc\u05d5\u05dd",
    "x" * 5_000,
    "-rf *",
    "%s%n{0.__class__}",
)


def test_names_that_are_markup_are_shown_as_text(tmp_path: Path) -> None:
    report, games = made(small_run(1, HOSTILE))
    site.write(report, games, tmp_path / "in")
    site.write_single(report, games, tmp_path / "in" / "one.html")
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    assert len(list((tmp_path / "in" / "bots").iterdir())) == len(HOSTILE)
    for file in (tmp_path / "in").rglob("*.html"):
        text = file.read_text("utf-8")
        reader = read(text)
        assert reader.tags.isdisjoint({"img", "b"})
        assert file.name in {"games.html", "one.html"} or "script" not in reader.tags
        assert not any(attribute.startswith("on") for attribute in reader.attributes)
        assert not any(link.lower().startswith("javascript") for link in reader.links)
        seen = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        assert not {"\u202e", "\u200b", "\u200d"} & set(seen)
    said = " ".join(read((tmp_path / "in" / "index.html").read_text("utf-8")).said)
    for name in HOSTILE:
        assert len(name) > 80 or not name.isprintable() or name in said


@pytest.mark.parametrize("deals", [0, 1])
def test_small_and_empty_runs_have_pages_without_numbers_that_are_none(
    deals: int, tmp_path: Path
) -> None:
    report, games = made(small_run(deals))
    site.write(report, games, tmp_path)
    site.write_single(report, games, tmp_path / "one.html")
    for file in tmp_path.rglob("*.html"):
        words = " ".join(read(file.read_text("utf-8")).said).split()
        if file.name == "one.html":
            words = words[: words.index("Games")]  # what follows holds data and a script
        assert {"nan", "NaN", "None", "inf", "±0"}.isdisjoint(words), file
        assert "± 0 " not in " ".join(words)


def test_many_bots_are_cut_on_the_page_and_whole_in_the_files(tmp_path: Path) -> None:
    report, games = made(small_run(1, tuple(f"bot{k:02}" for k in range(51))))
    page = site.write(report, games, tmp_path).page
    assert page.stat().st_size < 500_000
    text = page.read_text()
    assert "The first 24 bots" in text
    assert "1,275 pairings are too many" in text
    assert not (tmp_path / "pairings").exists()
    assert len(list((tmp_path / "bots").iterdir())) == 51
    assert len((tmp_path / "matrix.csv").read_text().splitlines()) > 2_500


def test_parts_have_tables_of_their_own(tmp_path: Path) -> None:
    rows = small_run(2, ("a", "b"))
    later = [
        type(row)(
            **{name: getattr(row, name) for name in row.__struct_fields__}
            | {"index": row.index + 100, "game": f"z{row.index}"}
        )
        for row in small_run(2, ("c", "d"), seed=9)
    ]
    report, games = made(rows + later)
    text = site.write(report, games, tmp_path).page.read_text("utf-8")
    assert "List 1 of 2" in text
    assert "List 2 of 2" in text
    assert "Part 2:" in text


def test_first_page_of_several_rulesets_tells_of_the_run_and_what_must_be_known(
    tmp_path: Path,
) -> None:
    rows = small_run(3)
    meta = Meta(
        title="Run ab12",
        run="ab12",
        created="2026-01-01T10:00:00Z",
        facts=[("clock", "5 ms a turn"), ("secret", "s" * 64)],
    )
    metas = {
        "one": replace(meta, ruleset="first", notes=["This run is not over: 3 of 9 games."]),
        "other": replace(
            meta, ruleset="second", facts=[("clock", "5 ms a turn"), ("secret", "t" * 64)]
        ),
    }
    games = Games.collect(rows)
    reports = {name: build(games, meta) for name, meta in metas.items()}
    written = {name: site.write(told, games, tmp_path / name) for name, told in reports.items()}
    page = site.write_several("Run ab12", reports, written, tmp_path).page.read_text("utf-8")
    assert page.count("This run is not over: 3 of 9 games.") == 1
    assert page.count("2026-01-01 10:00 UTC") == 1
    assert page.count("5 ms a turn") == 1
    assert "ssss" not in page  # what differs stands in each one's report
    assert "the games and their replays" not in page
    assert page.count("and the games.</p>") == 2


def test_history_has_every_run_of_the_ruleset(tmp_path: Path) -> None:
    games = Games.collect(small_run())
    past = build(Games.collect(small_run(seed=5)), Meta(run="aa", created="2026-01-02T03:04:05Z"))
    report = build(games, Meta(run="bb", created="2026-02-02T03:04:05Z"), past=past.history)
    assert [run.run for run in report.history] == ["aa", "bb"]
    text = site.write(report, games, tmp_path).page.read_text("utf-8")
    said = " ".join(read(text).said)
    assert "2026-01-02" in said
    assert "Ratings over runs" in said


def test_shares_that_are_not_sure_are_neither_0_nor_100() -> None:
    assert percent(0.0001) == "&lt;&nbsp;1&nbsp;%"
    assert percent(0.9999) == "&gt;&nbsp;99&nbsp;%"
    assert percent(0.0) == "0&nbsp;%"
    assert percent(1.0) == "100&nbsp;%"
    assert percent(0.123, 1) == "12.3&nbsp;%"


def test_markdown_shows_names_as_text() -> None:
    report, _ = made(small_run(3, ("<b>|*x*", "other")))
    text = markdown(report)
    assert "&lt;b&gt;\\|\\*x\\*" in text
    assert "<b>" not in text


def test_errors_are_never_0() -> None:
    assert plus_minus(30.0) == "± 59"
    assert plus_minus(0.2) == "± 0.39"
    assert plus_minus(1e-9) == "± 0.01"


def test_markdown_tells_the_advantage_of_a_side_as_the_page_does(report: Report) -> None:
    (sentence,) = advantages(report.ratings)
    assert "(95 %: " in sentence
    assert f"\n{sentence}\n" in markdown(report)


def test_markdown_counts_one_game_as_one() -> None:
    report, _ = made(small_run(1, ("a", "b"))[:1])
    text = markdown(report)
    assert "1 game counts, 0 of them forfeits. 0 games count for nobody. 1 deal." in text.replace(
        "\n", " "
    )


def test_markdown_tells_how_games_ended(report: Report) -> None:
    text = markdown(report)
    assert "## How games ended" in text
    assert "| fault: crash | detectives | 19 | 3.0 |" in text


def test_pages_count_games_as_the_report_does(report: Report, games: Games) -> None:
    told = Summary.of(report, games.lines())
    assert ends_of(told.lines) == report.ends
    assert rounds_of(told.lines) == report.rounds
    assert sum(map(len, told.of_bot.values())) == 2 * len(games)
    assert sum(map(len, told.of_two.values())) == len(games)
    for x, row in zip(report.matrix.mister_x, report.matrix.cells, strict=True):
        for d, cell in zip(report.matrix.detectives, row, strict=True):
            if x != d:
                two = told.of_two[pairing_slug(x, d)]
                won = [line.winner for line in two if line.mister_x == x and line.winner]
                assert (cell.wins, cell.games) == (won.count("mister_x"), len(won))
                assert told.escapes(x, d) == cell
    assert told.escapes("nobody", "nobody").games == 0
