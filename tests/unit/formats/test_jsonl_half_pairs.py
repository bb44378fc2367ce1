"""Half a surrogate pair, and a damaged Parquet file, are named in one line."""

import io

import polars as pl
import pytest

from venire import Qrels
from venire.errors import BadLine


@pytest.mark.parametrize("text", [r"a\ud83d", r"\uDC00 b", "\\ud83d"])
def test_half_a_surrogate_pair_is_refused_with_its_line(tmp_path, text):
    path = tmp_path / "q.jsonl"
    good = '{"query_id": "q", "doc_id": "\\ud83d\\ude00", "relevance": 1}\n'
    path.write_text(good)
    assert Qrels.read(path).frame["doc_id"].to_list() == ["\U0001f600"]
    path.write_text(f'{good}{{"query_id": "q", "doc_id": "{text}", "relevance": 1}}\n')
    with pytest.raises(BadLine, match="'doc_id' contains half a surrogate pair") as error:
        Qrels.read(path)
    assert error.value.line == 2


def test_a_panic_of_the_parquet_reader_is_a_line(tmp_path, monkeypatch):
    def read(source):
        raise pl.exceptions.PanicException("assertion failed")

    content = io.BytesIO()
    pl.DataFrame({"query_id": ["q"]}).write_parquet(content)
    path = tmp_path / "q.parquet"
    path.write_bytes(content.getvalue())
    monkeypatch.setattr(pl, "read_parquet", read)
    with pytest.raises(BadLine, match="not readable as Parquet: the file is damaged"):
        Qrels.read(path)
