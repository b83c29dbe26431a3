"""The frame of a page: head, content policy, path, sections; pure."""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.resources import files
from string import Template

import msgspec

from reports.site.inlining import source_hash
from reports.site.markup import section, text

__all__ = ["Part", "facts_list", "notes_list", "page"]


class Part(msgspec.Struct, frozen=True):
    """A section of a page; heading and body are markup."""

    anchor: str
    heading: str
    body: str


def page(
    title: str,
    parts: Sequence[Part],
    *,
    heading: str = "",
    lead: str = "",
    path: Sequence[tuple[str, str]] = (),
    here: str = "",
    more: Sequence[tuple[str, str]] = (),
    foot: str = "",
    script: str = "",
    style: str = "",
    beyond: str = "",
) -> str:
    """A whole page.

    Its policy lets no script run but the one given, by its SHA-256, and no handler. Styles of the
    plots stand in attributes, so styles are let alone; nothing can be loaded with them.

    Args:
        title: plain text.
        parts: sections, in order.
        heading: markup of the heading; the title if empty.
        lead: markup below it.
        path: pages above this one: text, link.
        here: this page in the path, plain text; the title if empty.
        more: further links beside those to the sections: text, link.
        foot: markup of the footer.
        script: text of the page's one module, if it has one.
        style: what the page needs besides `style.css`.
        beyond: markup behind the sections that the list of links does not name.
    """
    beside = files("reports.site")
    links = [(part.heading, f"#{part.anchor}") for part in parts]
    links += [(text(label), html.escape(to)) for label, to in more]
    inline = f"\n{script.strip()}\n" if script else ""
    allowed = f"script-src '{source_hash(inline)}'; " if script else ""
    return Template(beside.joinpath("page.html").read_text("utf-8")).substitute(
        policy=(
            f"default-src 'none'; {allowed}style-src 'unsafe-inline'; "
            "base-uri 'none'; form-action 'none'"
        ),
        title=text(title),
        style=f"{beside.joinpath('style.css').read_text('utf-8').strip()}\n{style}".rstrip(),
        first=parts[0].anchor if parts else "",
        path=_path(path, here or title),
        heading=heading or text(title),
        lead=lead,
        links="\n".join(f'<li><a href="{to}">{label}</a></li>' for label, to in links),
        sections="\n".join(section(part.anchor, part.heading, part.body) for part in parts)
        + beyond,
        foot=foot,
        script=f'<script type="module">{inline}</script>\n' if script else "",
    )


def _path(above: Sequence[tuple[str, str]], title: str) -> str:
    if not above:
        return ""
    steps = "".join(
        f'<li><a href="{html.escape(to)}">{text(label)}</a></li>' for label, to in above
    )
    here = f'<li aria-current="page">{text(title)}</li>'
    return f'<nav class="path" aria-label="Path"><ol>{steps}{here}</ol></nav>'


def facts_list(shown: Sequence[tuple[str, str, str]]) -> str:
    """Facts for the head of a page: label, value (both plain text), class (`big` or empty)."""
    lines = []
    for label, value, kind in shown:
        wide = ' class="wide"' if len(value) > 24 else ""
        big = f' class="{kind}"' if kind else ""
        head = label[:1].upper() + label[1:]
        lines.append(f"<div{wide}><dt>{text(head)}</dt><dd{big}>{text(value)}</dd></div>")
    return f'<dl class="facts">\n{"".join(lines)}\n</dl>'


def notes_list(sentences: Sequence[str]) -> str:
    """Sentences that a reader must know, plain text."""
    if not sentences:
        return ""
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="notes">{items}</ul>'
