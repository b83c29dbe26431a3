"""RESULTS.csv: read, or refused with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.cli import results_csv
from arena.errors import ConfigError

HEAD = "deal,mister_x,detectives,winner\n"


def test_read_takes_columns_by_name_and_drops_games_without_a_winner(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text(
        "\ufeffwinner,rounds,deal,mister_x,detectives\r\n"
        "mister_x,24,1,a,b\r\n"
        "detectives,3,,b,a\r\n"
        "\r\n"
        ",0,1,a,b\r\n",
        encoding="utf-8",
    )
    assert results_csv.read(file) == results_csv.Results(
        deals=("1", None),
        mister_x=("a", "b"),
        detectives=("b", "a"),
        escaped=(True, False),
        forfeit=(False, False),
        nobody=1,
    )


def test_read_tells_games_that_a_fault_decided(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text(
        "deal,mister_x,detectives,winner,reason\n"
        "1,a,b,mister_x,fault\n1,b,a,mister_x,last round\n2,a,b,,fault\n"
    )
    read = results_csv.read(file)
    assert read.forfeit == (True, False)
    assert read.nobody == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "r.csv: empty; the first line must be deal,mister_x,detectives,winner."),
        (
            "deal,misterx,detectives,winner\n",
            (
                "r.csv:1: no column `mister_x` (is it `misterx`?); the first line must name deal, "
                "mister_x, detectives, winner."
            ),
        ),
        (
            "deal,deal,mister_x,detectives,winner\n",
            "r.csv:1: the column `deal` stands there twice.",
        ),
        (
            HEAD.replace(",", ";") + "1;a;b;mister_x\n",
            (
                "r.csv:1: the columns are parted by `;`; this reads commas, so write the file "
                "again with `,` between the columns."
            ),
        ),
        (
            HEAD.replace(",", '"\t"') + "1\ta\tb\tmister_x\n",
            (
                "r.csv:1: the columns are parted by tabs; this reads commas, so write the file "
                "again with `,` between the columns."
            ),
        ),
        (
            "deal;winner\n",
            (
                "r.csv:1: no column `deal`; the first line must name deal, mister_x, detectives, "
                "winner."
            ),
        ),
        (HEAD + "1,a,b\n", "r.csv:2: 3 fields where the first line names 4 columns."),
        (HEAD + "1,a,,mister_x\n", "r.csv:2: `detectives` is empty; write the bot's name."),
        (
            HEAD + "1,a,b,mister_x\n1,a,b,a\n",
            (
                "r.csv:3: `winner` is 'a' (write the side, not the bot); it must be mister_x, "
                "detectives or empty."
            ),
        ),
        (HEAD + '1,a,"b,mister_x\n', "r.csv:2: not CSV: unexpected end of data."),
    ],
)
def test_read_refuses_with_file_line_and_cure(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        results_csv.read(file)
    assert str(caught.value) == f"{tmp_path}/{says}"


def test_read_says_what_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        results_csv.read(tmp_path / "none.csv")
