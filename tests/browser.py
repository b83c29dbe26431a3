"""Pages in Debian's Chromium, opened from disk with the network off, and their complaints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.tools import need

__all__ = ["Opened", "open_page", "started_browser"]

ARGUMENTS = (
    "--no-sandbox",  # tests may run as root
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
expect.set_options(timeout=60_000)  # in milliseconds: hosts are busy


@contextmanager
def started_browser() -> Iterator[Browser]:
    """A browser, or the test is skipped where there is none."""
    program = need("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """A page with everything that it asked for and complained of."""

    def __init__(self, page: Page, file: Path, folder: Path | None = None) -> None:
        self.page = page
        self.file = file
        self.folder = folder
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def go(self, fragment: str = "") -> None:
        """Open the file anew."""
        self.page.goto("about:blank")
        self.page.goto(self.file.as_uri() + fragment)

    def check_quiet(self) -> None:
        """Nothing was complained of, and nothing but the file or its folder asked for."""
        assert self.complaints == []
        own = {self.file.as_uri(), "about:blank"}
        asked = {url.partition("#")[0] for url in self.requests} - own
        inside = None if self.folder is None else f"{self.folder.as_uri()}/"
        assert [url for url in asked if inside is None or not url.startswith(inside)] == []

    def overflowing(self) -> list[str]:
        """What is cut off: a page that is wider than the window, text wider than its box."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll("html, h1, h2, p, dd, dt, button, label, summary, li")]
              .filter((one) => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)
              .map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`)"""  # noqa: E501 - JavaScript
        )
        return found

    def barriers(self) -> list[str]:
        """What axe-core finds wrong for people who see little or use no mouse, one line each."""
        found = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {node['html'][:200]}: {node.get('failureSummary', '')}"
            for one in found
            for node in one["nodes"]
        ]


@contextmanager
def open_page(
    browser: Browser,
    file: Path,
    fragment: str = "",
    *,
    width: int = 1200,
    height: int = 860,
    scheme: Literal["light", "dark"] = "light",
    folder: Path | None = None,
) -> Iterator[Opened]:
    """Open a file without any network; at the end it must have been quiet.

    Args:
        browser: from `started_browser`.
        file: the page.
        fragment: of its address, with `#`.
        width: of the window, in CSS pixels.
        height: the same.
        scheme: the colours that a person prefers.
        folder: where pages may be gone to and files be read; left out, only `file`.
    """
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        offline=True,
    )
    try:
        opened = Opened(context.new_page(), file, folder)
        opened.go(fragment)
        yield opened
        opened.check_quiet()
    finally:
        context.close()
