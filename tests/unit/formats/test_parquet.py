import datetime as dt

import pandas as pd
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadLine, DataError, MissingColumns

TABLE = {
    "query_id": ["q", "q"],
    "doc_id": ["a", "b"],
    "annotator_id": ["x", "y"],
    "label": [0, 2],
}


@pytest.mark.parametrize("name", ["a.parquet", "a.bin", "a"])
def test_found_by_content(tmp_path, name):
    pl.DataFrame(TABLE).write_parquet(tmp_path / name)
    assert Judgments.read(tmp_path / name).frame.equals(pl.DataFrame(TABLE))


def test_written_by_pandas(tmp_path):
    frame = pd.DataFrame(TABLE).astype({"annotator_id": "category"})
    frame.to_parquet(tmp_path / "a.parquet")
    read = Judgments.read(tmp_path / "a.parquet").frame
    assert read.select(list(TABLE)).equals(pl.DataFrame(TABLE))


def test_types_of_other_columns_are_kept(tmp_path):
    times = [dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC), None]
    judgments = Judgments.of({**TABLE, "judged_at": times, "tags": [["a"], []]})
    judgments.write(tmp_path / "a.parquet")
    assert Judgments.read(tmp_path / "a.parquet").frame.equals(judgments.frame)


def test_qrels_and_runs(tmp_path):
    qrels = Qrels.from_dict({"q": {"a": 1}})
    qrels.write(tmp_path / "q.parquet")
    assert Qrels.read(tmp_path / "q.parquet").frame.equals(qrels.frame)
    runs = Runs.from_dict({"q": {"b": 1.0, "a": 2.0}})
    runs.write(tmp_path / "r.parquet")
    assert Runs.read(tmp_path / "r.parquet").frame.equals(runs.frame)


@pytest.mark.parametrize("cut", [4, 20, -1, -8])
def test_a_cut_file_is_refused(tmp_path, cut):
    pl.DataFrame(TABLE).write_parquet(tmp_path / "whole")
    path = tmp_path / "a.parquet"
    path.write_bytes((tmp_path / "whole").read_bytes()[:cut])
    with pytest.raises(BadLine, match="Parquet"):
        Judgments.read(path)


def test_a_broken_file_is_refused(tmp_path):
    pl.DataFrame(TABLE).write_parquet(tmp_path / "whole")
    content = bytearray((tmp_path / "whole").read_bytes())
    content[-60:-10] = b"\xff" * 50
    path = tmp_path / "a.parquet"
    path.write_bytes(bytes(content))
    with pytest.raises(DataError):
        Judgments.read(path)


def test_a_bad_row_is_named_by_file(tmp_path):
    pl.DataFrame({**TABLE, "label": ["0", "z"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet.*row 1.*'z'"):
        Judgments.read(tmp_path / "a.parquet")


def test_missing_columns_name_file_and_columns(tmp_path):
    pl.DataFrame({"topic": ["q"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(MissingColumns, match=r"a\.parquet.*topic"):
        Qrels.read(tmp_path / "a.parquet")


def test_no_rows(tmp_path):
    pl.DataFrame(TABLE).head(0).write_parquet(tmp_path / "a.parquet")
    assert len(Judgments.read(tmp_path / "a.parquet")) == 0
