"""Qrels: the settled grade of each (query, document) pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import DataError, DuplicateRows
from venire.tables import boundary
from venire.tables.schema import (
    PAIR,
    ROW,
    Schema,
    Source,
    are_whole,
    convert_types,
    find_repeats,
    frame_of_mapping,
    note_blanks,
    rename,
)

UNSAMPLED, AWAITING = -1, -2
"""Grades of pairs of a stratified pool that were not sampled, and that were but have no grade."""
SCHEMA = Schema(
    "qrels", ids=("query_id", "doc_id"), numbers=("relevance",), optional_ids=("stratum",)
)


BEIR = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
"""Column names of qrels in BEIR (Thakur et al., NeurIPS 2021), which are read without options."""


@dataclass(frozen=True, eq=False)
class Qrels:
    """A table of settled grades.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id`` (text) and ``relevance`` (whole numbers, or decimals where an
        aggregation was written with its real-valued grades). Qrels of a stratified sample also
        have ``stratum`` (text), relevance -1 where a pair was not sampled, and -2 where it was
        sampled and has no grade yet.
    notes : tuple of str
    adaptive : str
        Strategy of the adaptive pool that was judged, such as ``bandit-max-mean``; empty where
        there is none. Estimates from a random sample are refused for such qrels.

    Examples
    --------
    >>> Qrels.from_dict({"q1": {"d1": 2, "d2": 0}}).frame.height
    2
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = field(default=())
    adaptive: str = ""

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        columns: Mapping[str, str] | None = None,
        source: Source | None = None,
    ) -> Qrels:
        """Return qrels from any dataframe; ``columns`` map Venire's column names to its own.

        Raises
        ------
        MissingColumns
        DataError
            For a grade that is not a number, and a pair with two different grades.
        """
        source = source or Source()
        frame = boundary.to_polars(table)
        if not columns and set(BEIR.values()) <= set(frame.columns):
            columns = BEIR
        frame = rename(frame, columns, SCHEMA, source)
        frame = frame.select(name for name in SCHEMA.known if name in frame.columns)
        frame = convert_types(frame, SCHEMA, source)
        repeated = find_repeats(frame, PAIR)
        notes: tuple[str, ...] = ()
        if repeated.height:
            conflicts = repeated.filter(
                pl.col("relevance") != pl.col("relevance").first().over(PAIR)
            )
            if conflicts.height:
                row = conflicts.row(0, named=True)
                raise DuplicateRows(
                    (row["query_id"], row["doc_id"]),
                    *source.place(row[ROW]),
                    "is judged a second time with another grade",
                )
            distinct = frame.unique(PAIR, keep="first", maintain_order=True)
            notes = (f"{frame.height - distinct.height:,} rows repeat a pair with the same grade",)
            frame = distinct
        relevance = frame["relevance"]
        if are_whole(relevance):
            frame = frame.with_columns(pl.col("relevance").cast(pl.Int64))
        return cls(frame.drop(ROW), (*notes, *note_blanks(frame, SCHEMA, source)))

    @property
    def has_whole_grades(self) -> bool:
        """Whether all grades are whole numbers."""
        return self.frame["relevance"].dtype.is_integer()

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Return qrels from ``{query_id: {doc_id: relevance}}``."""
        return cls.of(frame_of_mapping(data, "relevance"))

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> Qrels:
        """Read TREC qrels, CSV, TSV, JSON Lines or Parquet (gz, xz, zst too)."""
        from venire.formats import read_qrels

        return read_qrels(path, **options)

    def write(self, path: str | Path) -> None:
        """Write the table; .csv .tsv .jsonl .parquet by ending, TREC qrels otherwise."""
        from venire.formats import write_qrels

        write_qrels(self, path)

    def __len__(self) -> int:
        return self.frame.height

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: relevance}}``, as pytrec_eval takes it."""
        out: dict[str, dict[str, float]] = {}
        for query, doc, grade in self.frame.iter_rows():
            out.setdefault(query, {})[doc] = grade
        return out

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return boundary.to_pandas(self.frame)

    def to_arrow(self) -> Any:
        """Return a pyarrow table."""
        return self.frame.to_arrow()

    def require_rows(self, name: str) -> Qrels:
        """Return self; qrels without any row are an error."""
        if self.frame.is_empty():
            raise DataError(f"{name}: has no judged pair")
        return self
