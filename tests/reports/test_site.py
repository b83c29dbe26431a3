"""The report folder and its page."""

from __future__ import annotations

import html.parser
import re
import subprocess
from pathlib import Path

import pytest

from arena.errors import ConfigError
from reports import site
from reports.frames import GameRow, Games
from reports.report import Meta, Report, build
from reports.site.markdown import markdown
from reports.site.markup import percent
from tests.reports.rows import small_run
from tests.tools import need

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


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_folder_holds_the_page_and_every_file(tmp_path: Path) -> None:
    report, games = made(small_run())
    page = site.write(report, games, tmp_path / "a" / "b")
    assert page == tmp_path / "a" / "b" / "index.html"
    assert {path.name for path in page.parent.iterdir()} == {"index.html", *site.FILES}


def test_equal_reports_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        report, games = made(small_run())
        site.write(report, games, tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_a_report_is_written_over_an_older_one(tmp_path: Path) -> None:
    report, games = made(small_run(2))
    site.write(report, games, tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    report, games = made(small_run(3))
    site.write(report, games, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert len((tmp_path / "games.csv").read_text().splitlines()) == 1 + 36


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    report, games = made(small_run(1))
    with pytest.raises(ConfigError, match="name another place"):
        site.write(report, games, tmp_path / "file" / "report")


def test_page_is_whole_without_script_or_foreign_link() -> None:
    report, _ = made(small_run())
    text = site.page(report, files_beside=site.FILES)
    reader = read(text)
    assert "script" not in reader.tags
    assert not any(name.startswith("on") for name in reader.attributes)
    assert all(link.startswith("#") or link in site.FILES for link in reader.links)
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "script" not in policy[1]


def test_page_tells_what_the_report_holds() -> None:
    report, _ = made(small_run())
    said = " ".join(read(site.page(report)).said)
    for word in ("belief", "greedy", "a note", "both bots failed", "void: our own fault"):
        assert word in said
    for word in ("crash", "exit status 1", "Wilson", "Time use", "without forfeits"):
        assert word in said


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "${title}$$ $facts",
        "</style></title><b>",
        "&amp;",
        "\u202egnp.exe",
        "x" * 500,
    ],
)
def test_names_that_are_markup_are_shown_as_text(name: str, tmp_path: Path) -> None:
    report, games = made(small_run(3, (name, "other", "third")))
    text = site.write(report, games, tmp_path).read_text("utf-8")
    reader = read(text)
    assert reader.tags.isdisjoint({"script", "img", "b"})
    assert not any(attribute.startswith("on") for attribute in reader.attributes)
    assert "\u202e" not in text
    if len(name) < 80 and name.isascii():
        assert name in " ".join(reader.said)


@pytest.mark.parametrize("deals", [0, 1])
def test_small_and_empty_runs_have_a_page(deals: int) -> None:
    report, _ = made(small_run(deals))
    said = " ".join(read(site.page(report)).said)
    assert "nan" not in said.lower().split()
    assert "None" not in said.split()
    assert "±0" not in said


def test_many_bots_are_cut_on_the_page_and_whole_in_the_files(tmp_path: Path) -> None:
    report, games = made(small_run(1, tuple(f"bot{k:02}" for k in range(40))))
    page = site.write(report, games, tmp_path)
    assert page.stat().st_size < 500_000
    assert "The first 24 bots" in page.read_text()
    assert len((tmp_path / "matrix.csv").read_text().splitlines()) > 1500


def test_parts_have_tables_of_their_own() -> None:
    rows = small_run(2, ("a", "b"))
    later = [
        type(row)(
            **{name: getattr(row, name) for name in row.__struct_fields__}
            | {"index": row.index + 100, "game": f"z{row.index}"}
        )
        for row in small_run(2, ("c", "d"), seed=9)
    ]
    report, _ = made(rows + later)
    text = site.page(report)
    assert "List 1 of 2" in text
    assert "List 2 of 2" in text
    assert "Part 2:" in text


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


@pytest.mark.slow
def test_page_opens_in_a_browser_from_disk(tmp_path: Path) -> None:
    report, games = made(small_run())
    page = site.write(report, games, tmp_path)
    done = subprocess.run(
        [
            need("chromium"),
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    seen = done.stdout.decode()
    assert "<h1>Run ab12</h1>" in seen
    assert seen.count("<svg") == 2
    assert b"Refused to" not in done.stderr  # the content policy blocks nothing that is ours
    assert b"CONSOLE" not in done.stderr


def test_every_count_of_the_rounds_stands_below_its_own_head() -> None:
    report, _ = made(small_run())
    text = site.page(report)
    table = text[text.index("Round in which games ended") :].split("</table>", 1)[0]
    heads = re.findall(r"<th[^>]*>([^<]+)</th>", table.split("</thead>", 1)[0])
    row = next(row for row in report.rounds if row.mister_x != row.detectives)
    line = next(
        line
        for line in re.findall(r"<tr>.*?</tr>", table, flags=re.DOTALL)
        if re.search(rf'<th scope="row"[^>]*>{row.round}</th>', line)
    )
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", line)]
    said = dict(zip(heads, cells, strict=True))
    assert said["Mister X"] == f"{row.mister_x:,}"
    assert said["detectives"] == f"{row.detectives:,}"
