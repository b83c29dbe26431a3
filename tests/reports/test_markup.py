"""Small pieces of HTML: tables say why a number is missing where everybody can read it."""

from __future__ import annotations

from reports.site.markup import Column, elo, na, name, table

COLUMNS = [Column("bot"), Column("Elo"), Column("gap")]


def test_one_reason_stands_once_below_the_table() -> None:
    none = na("it met <nobody>")
    made = table("Ratings", COLUMNS, [["a", none, "1"], ["b", none, "2"]])
    assert made.count("<p ") == 1
    assert made.endswith('</div>\n<p class="why">n/a: it met &lt;nobody&gt;.</p>')
    assert "<sup>" not in made


def test_several_reasons_are_numbered_in_the_order_of_the_cells() -> None:
    one, other = na("no pairs"), na("one side only")
    made = table("Ratings", COLUMNS, [["a", other, one], ["b", one, other]])
    assert made.count("n/a</abbr><sup>1</sup>") == made.count("n/a</abbr><sup>2</sup>") == 2
    assert made.index("<sup>1</sup>") < made.index("<sup>2</sup>")
    assert made.endswith(
        '<p class="why">n/a<sup>1</sup>: one side only. n/a<sup>2</sup>: no pairs.</p>'
    )


def test_a_table_in_which_nothing_is_missing_has_no_line_below() -> None:
    assert table("Ratings", COLUMNS, [["a", elo(1.0), elo(-0.2)]]).endswith("</table></div>")


def test_only_names_too_long_for_a_word_are_broken() -> None:
    assert name("last.words") == '<bdi class="word short">last.words</bdi>'
    assert name("notes-in-markup") == '<bdi class="short">notes-in-markup</bdi>'
    assert name("w" * 30) == f"<bdi>{'w' * 30}</bdi>"
