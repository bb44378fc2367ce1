"""Runs: ranked documents of one system or of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from venire.errors import BadSetting, DuplicateRows
from venire.tables import boundary
from venire.tables.schema import ROW, Schema, Source, first_repeat, nested, rename, typed

SCHEMA = Schema("runs", ids=("query_id", "doc_id"), numbers=("score",), optional_ids=("run_id",))
KEY = ["run_id", "query_id", "doc_id"]
TIES = ("trec", "docid-ascending", "file-order")


@dataclass(frozen=True, eq=False)
class Runs:
    """A table of scored documents; a single run is runs of one.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id, score, run_id``; scores are doubles.
    notes : tuple of str

    Examples
    --------
    >>> runs = Runs.from_dict({"q1": {"d1": 2.0, "d2": 1.0}}, run_id="mine")
    >>> runs.ranked()["doc_id"].to_list()
    ['d1', 'd2']
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        columns: Mapping[str, str] | None = None,
        run_id: str = "run",
        source: Source | None = None,
    ) -> Runs:
        """Return runs from any dataframe; ``run_id`` names rows that have no such column.

        Raises
        ------
        MissingColumns
        DataError
            A score that is no finite number, or a document twice for a query in a run.
        """
        source = source or Source()
        frame = rename(boundary.to_polars(table), columns, SCHEMA, source)
        if "run_id" not in frame.columns:
            frame = frame.with_columns(pl.lit(run_id).alias("run_id"))
        frame = typed(frame.select(SCHEMA.known), SCHEMA, source)
        frame = frame.with_columns(pl.col("run_id").fill_null(run_id))
        again = first_repeat(frame, KEY)
        if again is not None:
            raise DuplicateRows(
                (again["query_id"], again["doc_id"]),
                *source.place(again[ROW]),
                f"is ranked a second time in run {again['run_id']}",
            )
        return cls(frame.drop(ROW))

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, float]], *, run_id: str = "run") -> Runs:
        """Return one run from ``{query_id: {doc_id: score}}``."""
        return cls.of(nested(data, "score"), run_id=run_id)

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> Runs:
        """Read a TREC run, CSV, TSV, JSON Lines or Parquet (gz, xz, zst too)."""
        from venire.formats import read_runs

        return read_runs(path, **options)

    def write(self, path: str | Path) -> None:
        """Write the table; .csv .tsv .jsonl .parquet by ending, TREC otherwise."""
        from venire.formats import write_runs

        write_runs(self, path)

    def __len__(self) -> int:
        return self.frame.height

    def ranked(self, *, ties: str = "trec") -> pl.DataFrame:
        """Return the rows in rank order with ``rank`` from 1, per run and query.

        Parameters
        ----------
        ties : "trec", "docid-ascending" or "file-order"
            Among equal scores: document ids descending by bytes (trec_eval), ascending,
            or the order of the rows.
        """
        return self.ranks(ties=ties).sort("run_id", "query_id", "rank", maintain_order=True)

    def ranks(self, *, ties: str = "trec") -> pl.DataFrame:
        """Return the rows with ``rank`` from 1, per run and query, in any order.

        The tie rule lives here and nowhere else. Rows that are in rank order already, as
        most run files are, are not sorted again.
        """
        if ties not in TIES:
            raise BadSetting(f"ties is one of {', '.join(TIES)}, not {ties!r}")
        if _in_order(self.frame, ties):
            return _numbered(self.frame)
        by = ["run_id", "query_id", "score"]
        down = [False, False, True]
        if ties != "file-order":
            by.append("doc_id")
            down.append(ties == "trec")
        frame = self.frame.sort(by, descending=down, maintain_order=True)
        return _numbered(frame)

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return boundary.to_pandas(self.frame)

    def to_arrow(self) -> Any:
        """Return a pyarrow table."""
        return self.frame.to_arrow()


def _blocks(frame: pl.DataFrame) -> pl.Series:
    """Number the blocks of rows of one run and query."""
    return frame.select(pl.struct("run_id", "query_id").rle_id()).to_series()


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the rank in its block to rows in rank order."""
    block = _blocks(frame).to_numpy().astype(np.int64)
    row = np.arange(block.size, dtype=np.int64)
    first = row[np.diff(block, prepend=-1) != 0]
    return frame.with_columns(pl.Series("rank", row - first[block] + 1, dtype=pl.Int64))


def _in_order(frame: pl.DataFrame, ties: str) -> bool:
    """Tell whether each run and query is one block of rows in rank order."""
    if frame.is_empty():
        return True
    block = _blocks(frame)
    starts = frame.filter(block.is_first_distinct()).select("run_id", "query_id")
    if starts.n_unique() != starts.height:
        return False
    inside = block == block.shift(1)
    score = frame["score"]
    if (inside & (score > score.shift(1))).any():
        return False
    if ties == "file-order":
        return True
    # Only where scores tie do ids decide.
    tied = (inside & (score == score.shift(1))).arg_true()
    this, before = frame["doc_id"][tied], frame["doc_id"][tied - 1]
    wrong = this > before if ties == "trec" else this < before
    return not wrong.any()
