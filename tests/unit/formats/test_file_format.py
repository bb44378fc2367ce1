"""File formats: declared once, and open to packages."""

import pytest

from plugin_for_tests import installed
from venire import Qrels, Runs
from venire.errors import BadSetting
from venire.formats import write_frame
from venire.formats.file_format import TABLES, list_formats, list_table_endings

CODE = """
import polars as pl

from venire.formats.file_format import FileFormat
from venire.tables.schema import Source


def read(content, name):
    rows = [line.split("|") for line in content.decode().splitlines()]
    columns = ["query_id", "doc_id", "relevance"]
    return pl.DataFrame(rows, schema=columns, orient="row"), Source(name)


def write(frame, name):
    rows = frame.select("query_id", "doc_id", "relevance").iter_rows()
    return "".join("|".join(map(str, row)) + "\\n" for row in rows).encode()


BARS = FileFormat(name="bars", endings=(".bars",), tables=("qrels",), read=read, write=write,
                  matches=lambda content, ending: ending == ".bars", has_columns=False)
"""


def test_a_package_adds_a_format(tmp_path):
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    with installed(tmp_path, "venire.formats", {"bars": "BARS"}, CODE):
        qrels.write(tmp_path / "grades.bars.gz")
        assert Qrels.read(tmp_path / "grades.bars.gz").to_dict() == qrels.to_dict()
        assert ".bars" not in list_table_endings()
        qrels.write(tmp_path / "grades.qrels")
        assert Qrels.read(tmp_path / "grades.qrels").to_dict() == qrels.to_dict()
    qrels.write(tmp_path / "grades.bars")
    assert (tmp_path / "grades.bars").read_text() == "q 0 a 1\nq 0 b 0\n"


def test_formats_are_asked_in_order():
    assert [known.name for known in list_formats("runs")] == [
        "trec-run",
        "parquet",
        "jsonl",
        "delimited",
    ]
    assert set(list_table_endings()) == {".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"}
    assert all(set(known.tables) <= set(TABLES) for known in list_formats("other"))


def test_an_unknown_ending_of_a_table_is_refused(tmp_path):
    frame = Runs.from_dict({"q": {"a": 1.0}}).frame
    with pytest.raises(BadSetting, match=r"ending.* Choose from \.parquet \.jsonl"):
        write_frame(frame, tmp_path / "table.xls")
