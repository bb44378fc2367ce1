"""Formulas in CSV cells are neutralised, and come back as they were."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.formats.delimited import read, write
from venire.formats.formulas import escape_formulas, unescape_formulas


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("http://evil","x")', '\'=HYPERLINK("http://evil","x")'),
        ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
        ("+1+2", "'+1+2"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("'=1", "''=1"),
        ("-5", "-5"),
        ("+1.5e-3", "+1.5e-3"),
        ("plain", "plain"),
        ("it's", "it's"),
        ("'quoted'", "'quoted'"),
    ],
)
def test_a_spreadsheet_runs_nothing(cell, written):
    assert escape_formulas(pl.DataFrame({"a": [cell]}))["a"].to_list() == [written]


@given(st.lists(st.one_of(st.none(), st.text(alphabet="'=+-@ab1\t .e")), min_size=1))
def test_every_text_comes_back(cells):
    frame = pl.DataFrame(
        {"a": cells, "b": range(len(cells))}, schema={"a": pl.String, "b": pl.Int64}
    )
    assert unescape_formulas(escape_formulas(frame)).equals(frame)


def test_the_reader_of_csv_reads_what_was_written():
    frame = pl.DataFrame({"query_id": ["q"], "comment": ["=1+2"]})
    text = escape_formulas(frame).write_csv()
    assert "'=1+2" in text
    assert read(text.encode(), "x.csv")[0].equals(frame)


@pytest.mark.parametrize("cell", ["'=1", "''-x", "'\r", "=1", "'plain", "-5"])
def test_what_the_writer_of_csv_writes_is_read_as_it_was(cell):
    frame = pl.DataFrame({"query_id": ["q"], "comment": [cell]})
    assert read(write(frame, ",", "x.csv"), "x.csv")[0].equals(frame)
