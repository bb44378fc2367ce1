"""Runs: ranked documents of one system or of many."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.errors import DuplicateRows, UnknownName
from venire.tables import boundary
from venire.tables.schema import (
    ROW,
    Schema,
    Source,
    convert_types,
    find_first_repeat,
    frame_of_mapping,
    note_blanks,
    rename,
)

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
    >>> runs.with_ranks()["doc_id"].to_list()
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
        frame = convert_types(frame.select(SCHEMA.known), SCHEMA, source)
        frame = frame.with_columns(pl.col("run_id").fill_null(run_id))
        repeat = find_first_repeat(frame, KEY)
        if repeat is not None:
            raise DuplicateRows(
                (repeat["query_id"], repeat["doc_id"]),
                *source.place(repeat[ROW]),
                f"is ranked a second time in run {repeat['run_id']!r}",
            )
        return cls(frame.drop(ROW), note_blanks(frame, SCHEMA, source))

    @classmethod
    def empty(cls) -> Runs:
        """Return runs without any rows."""
        types = dict.fromkeys(SCHEMA.known, pl.String) | {"score": pl.Float64}
        return cls(pl.DataFrame(schema=types))

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, float]], *, run_id: str = "run") -> Runs:
        """Return one run from ``{query_id: {doc_id: score}}``."""
        return cls.of(frame_of_mapping(data, "score"), run_id=run_id)

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

    def with_ranks(self, *, ties: str = "trec") -> pl.DataFrame:
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

        The tie rule lives here and nowhere else. The rows of a run and query stand together. Where
        scores fall already, as in most run files, rows stay where they are.
        """
        check_tie_rule(ties)
        starts = block_starts(self.frame)
        if _falling(self.frame, starts):
            return _add_ranks(self.frame, starts, ties)
        frame = self.frame.sort(
            ["run_id", "query_id", "score"], descending=[False, False, True], maintain_order=True
        )
        return _add_ranks(frame, block_starts(frame), ties)

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return boundary.to_pandas(self.frame)

    def to_arrow(self) -> Any:
        """Return a pyarrow table."""
        return self.frame.to_arrow()


def check_tie_rule(ties: str) -> None:
    """Refuse an unknown rule for documents with equal scores."""
    if ties not in TIES:
        raise UnknownName("tie rule", ties, TIES)


def block_starts(frame: pl.DataFrame) -> Longs:
    """Return the first row of each block of rows of one run and query."""
    if frame.is_empty():
        return np.empty(0, np.int64)
    # Slices share memory; a shifted column of text would be a copy.
    changes = (frame[name].slice(1) != frame[name].head(-1) for name in ("run_id", "query_id"))
    later = functools.reduce(operator.or_, changes).arg_true().to_numpy()
    return np.concatenate([[0], later.astype(np.int64) + 1])


def _falling(frame: pl.DataFrame, starts: Longs) -> bool:
    """Tell whether each run and query is one block of rows, whose scores do not rise."""
    blocks = frame.select("run_id", "query_id")[starts]
    if blocks.n_unique() != blocks.height:
        return False
    score = frame["score"].to_numpy()
    # Compared, not subtracted: the difference of two large scores has no number.
    rises = score[1:] > score[:-1]
    rises[starts[1:] - 1] = False
    return not rises.any()


def _add_ranks(frame: pl.DataFrame, starts: Longs, ties: str) -> pl.DataFrame:
    """Add the rank within each block to rows sorted by descending score; IDs break ties."""
    length = np.diff(starts, append=frame.height)
    rank = np.arange(1, frame.height + 1, dtype=np.int64) - np.repeat(starts, length)
    is_tie = np.zeros(frame.height, bool)
    score = frame["score"].to_numpy()
    is_tie[1:] = score[1:] == score[:-1]
    is_tie[starts] = False
    if ties != "file-order" and is_tie.any():
        tied = np.flatnonzero(is_tie | np.append(is_tie[1:], False))
        group = np.cumsum(~is_tie[tied])
        equals = pl.DataFrame({"group": group, "doc_id": frame["doc_id"][tied], "row": tied})
        order = equals.sort("group", "doc_id", descending=[False, ties == "trec"])["row"]
        rank[order.to_numpy()] = rank[tied]
    return frame.with_columns(pl.Series("rank", rank, dtype=pl.Int64))
