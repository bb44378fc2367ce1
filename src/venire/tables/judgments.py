"""Judgments: each one is a label by an annotator for a (query, document) pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from venire.errors import (
    DataError,
    DuplicateRows,
    UnknownLabel,
    UnknownName,
)
from venire.tables import boundary
from venire.tables.codes import JudgmentCodes, code_judgments
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale, WordLabel, infer
from venire.tables.schema import (
    ROW,
    Schema,
    Source,
    are_whole,
    cast_to_number,
    convert_types,
    find_repeats,
    note_blanks,
    number_text,
    rename,
)

SCHEMA = Schema(
    "judgments",
    ids=("query_id", "doc_id", "annotator_id"),
    text=("label",),
    optional_ids=("batch_id",),
    optional_numbers=("seconds",),
    other=("judged_at",),
)
REPEATS = ("last", "all", "first", "error")
KEY = ["query_id", "doc_id", "annotator_id"]
LARGEST_LABEL = 1_000_000
"""Largest absolute label that is taken for a grade where no scale is passed."""


@dataclass(frozen=True, eq=False)
class Judgments:
    """A table of judgments on one scale.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id, annotator_id`` (text), ``label`` (a grade of the scale), and
        other columns of the source: ``seconds, judged_at, batch_id`` or your own.
    scale : Scale
    notes : tuple of str
        What was left out or replaced when the table was made, with counts.

    Examples
    --------
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q", "q"], "doc_id": ["a", "a"], "annotator_id": ["x", "y"],
    ...      "label": [0, 2]}, scale="0,1,2")
    >>> len(judgments), judgments.scale.names
    (2, ('0', '1', '2'))
    """

    frame: pl.DataFrame
    scale: Scale
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        columns: Mapping[str, str] | None = None,
        scale: Scale | str | None = None,
        drop_labels: Iterable[object] = (),
        repeats: str | None = None,
        source: Source | None = None,
    ) -> Judgments:
        """Return judgments from any dataframe.

        Parameters
        ----------
        table : dataframe
            pandas, polars, pyarrow, DuckDB, or a mapping of columns.
        columns : mapping, optional
            Venire's column name -> the name in the table.
        scale : Scale or str, optional
            The whole scale (``"0,1,2"`` or ``"bad,fair,good"``); by default the labels
            that occur.
        drop_labels : iterable
            Labels that mean "cannot judge"; their rows are left out and counted.
        repeats : "last", "all", "first" or "error", optional
            Which judgment counts if an annotator judged a pair more than once. By default
            the last if the table has ``judged_at``; without times, the order is unknown and
            all count. The notes give the number of repeats and of conflicts. ``last`` and
            ``first``, if passed, use the order of the rows when there are no times.

        Raises
        ------
        MissingColumns, UnknownLabel, DataError, BadSetting
        """
        source = source or Source()
        if repeats is not None and repeats not in REPEATS:
            raise UnknownName("rule for repeats", repeats, REPEATS)
        scale = Scale.parse(scale) if isinstance(scale, str) else scale
        frame = rename(boundary.to_polars(table), columns, SCHEMA, source)
        frame = convert_types(frame, SCHEMA, source)
        frame, notes = _drop(frame, drop_labels, scale)
        frame, scale = _grades(frame, scale, source)
        if "judged_at" in frame.columns:
            frame = _times(frame, source)
        notes += note_blanks(frame, SCHEMA, source)
        frame, repeat_notes = _repeats(frame, repeats, source)
        return cls(frame.drop(ROW), scale, (*notes, *repeat_notes))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **options: Any) -> Judgments:
        """Return judgments from a mapping of columns; options as for :meth:`of`."""
        return cls.of(data, **options)

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> Judgments:
        """Read CSV, TSV, JSON Lines or Parquet, also compressed; options as for :meth:`of`."""
        from venire.formats import read_judgments

        return read_judgments(path, **options)

    def write(self, path: str | Path) -> None:
        """Write .csv, .tsv, .jsonl or .parquet by the ending; .gz, .xz and .zst compress."""
        from venire.formats import write_frame

        write_frame(self.frame, path)

    def __len__(self) -> int:
        return self.frame.height

    @cached_property
    def codes(self) -> JudgmentCodes:
        """The integer arrays that kernels take, sorted by item; computed once."""
        label = self.scale.index(self.frame["label"].to_numpy().astype(np.float64))
        return code_judgments(self.frame, label.astype(np.int16))

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return boundary.to_pandas(self.frame)

    def to_arrow(self) -> Any:
        """Return a pyarrow table."""
        return self.frame.to_arrow()

    def gold(self, column: str) -> Qrels:
        """Return the known grades in a column of the judgments.

        An empty or negative value means that the grade is unknown; the notes of the qrels
        count these. A grade above 0 that is not on the scale is an error, and so is a pair
        with two different grades.

        Parameters
        ----------
        column : str
        """
        if column not in self.frame.columns:
            raise UnknownName("gold column", column, self.frame.columns)
        pairs = self.frame.select("query_id", "doc_id", pl.col(column).alias("relevance")).unique(
            maintain_order=True
        )
        numbers = pairs["relevance"]
        if numbers.dtype in (pl.Categorical, pl.Enum):
            numbers = numbers.cast(pl.String)
        if numbers.dtype == pl.String:
            numbers = numbers.str.strip_chars()
            numbers = numbers.set(numbers == "", None)
        cast = numbers.cast(pl.Float64, strict=False).fill_nan(None)
        wrong = cast.is_null() & numbers.is_not_null() & ~_nan(numbers)
        if wrong.any():
            raise DataError(f"gold column {column}: {numbers.filter(wrong)[0]!r} is not a number")
        is_known = cast.is_not_null() & (cast >= 0).fill_null(value=False)
        notes = [
            f"gold column {column}: {count:,} pairs with {_write_value(value)} have no known grade"
            for value, count in cast.filter(~is_known).value_counts().sort(cast.name).iter_rows()
        ]
        pairs = pairs.with_columns(cast.alias("relevance")).filter(is_known)
        self.scale.index(pairs["relevance"].to_numpy())
        return replace(Qrels.of(pairs), notes=tuple(notes))


def _write_value(value: float | None) -> str:
    return "no value" if value is None else number_text(value)


def _drop(
    frame: pl.DataFrame, labels: Iterable[object], scale: Scale | None
) -> tuple[pl.DataFrame, list[str]]:
    """Leave out labels that are not grades; return notes with counts."""
    labels = [labels] if isinstance(labels, (str, int, float)) else labels
    wanted = [_label_text(label) for label in labels]
    wanted += list(scale.cannot_judge if scale else ())
    if not wanted:
        return frame, []
    dtype = frame["label"].dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return frame, []  # refused when labels are read as grades
    text = frame["label"].cast(pl.String).fill_null("").str.strip_chars()
    # "-2" also stands for the label -2.0: numbers are compared as numbers.
    numbers = [float(label) for label in wanted if _is_number(label)]
    is_dropped = text.is_in(wanted) | text.cast(pl.Float64, strict=False).is_in(numbers)
    is_dropped = is_dropped.fill_null(value=False)
    notes = []
    remaining = frame.filter(~is_dropped)
    for label in wanted:
        has_label = (text == label) | (
            text.cast(pl.Float64, strict=False) == float(label) if _is_number(label) else False
        )
        notes.append(f"{int(has_label.sum()):,} judgments with label {label} left out")
    pairs = frame.filter(is_dropped).select("query_id", "doc_id").unique()
    lost = pairs.join(remaining, on=["query_id", "doc_id"], how="anti").height
    if lost:
        notes.append(f"{lost:,} items have no other judgment and get no grade")
    people = frame.filter(is_dropped).select("annotator_id").unique()
    lost = people.join(remaining, on="annotator_id", how="anti").height
    if lost:
        notes.append(f"{lost:,} annotators gave no other label")
    return remaining, notes


def _nan(column: pl.Series) -> pl.Series:
    if column.dtype.is_float():
        return column.is_nan().fill_null(value=False)
    return pl.Series([False] * len(column), dtype=pl.Boolean)


def _label_text(label: object) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label).strip()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _grades(frame: pl.DataFrame, scale: Scale | None, source: Source) -> tuple[pl.DataFrame, Scale]:
    """Convert labels to grades of the scale; the first label that is not on it is an error."""
    text = frame["label"]
    if text.dtype in (pl.Categorical, pl.Enum):
        text = text.cast(pl.String)
    _refuse_missing(text, frame, source)
    if scale is not None and text.dtype == pl.String and not all(map(_is_number, scale.names)):
        stripped = text.str.strip_chars()
        names = stripped.replace_strict(
            list(scale.names), list(scale.values), default=None, return_dtype=pl.Float64
        )
        # A table we wrote holds the grades themselves.
        number = stripped.cast(pl.Float64, strict=False)
        names = names.fill_null(number.set(~number.is_in(list(scale.values)), None))
        if names.is_null().any():
            row = int(names.is_null().arg_true()[0])
            raise UnknownLabel(str(text[row]), scale.names, *source.place(int(frame[ROW][row])))
        frame = frame.with_columns(names.alias("label"))
    _refuse_words(frame["label"], frame[ROW], source)
    frame = cast_to_number(frame, "label", source)
    if scale is None:
        _refuse_large(frame, source)
        scale = infer(frame["label"].unique()) if frame.height else Scale((0.0, 1.0))
    off = ~frame["label"].is_in(list(scale.values))
    if off.any():
        row = int(off.arg_true()[0])
        place = source.place(int(frame[ROW][row]))
        raise UnknownLabel(number_text(frame["label"][row]), scale.names, *place)
    if are_whole(pl.Series(scale.values)):
        frame = frame.with_columns(pl.col("label").cast(pl.Int64))
    return frame, scale


def _refuse_words(labels: pl.Series, rows: pl.Series, source: Source) -> None:
    """Raise WordLabel where labels are words: they have no order that could be inferred."""
    if labels.dtype in (pl.Categorical, pl.Enum):
        labels = labels.cast(pl.String)
    if labels.dtype != pl.String:
        return
    texts = labels.str.strip_chars()
    is_word = texts.cast(pl.Float64, strict=False).is_null() & (texts != "")
    is_word &= ~texts.str.to_lowercase().is_in(["true", "false"])
    if not is_word.any():
        return
    words = texts.filter(is_word).unique(maintain_order=True).head(10).to_list()
    place = source.place(int(rows[int(is_word.arg_true()[0])]))
    raise WordLabel(words, *place, has_numbers=not is_word.all())


def _refuse_missing(labels: pl.Series, frame: pl.DataFrame, source: Source) -> None:
    """Raise for the first row without a label."""
    missing = labels.is_null()
    if labels.dtype == pl.String:
        missing |= (labels.str.strip_chars() == "").fill_null(value=False)
    elif labels.dtype.is_float():
        missing |= labels.is_nan().fill_null(value=False)
    if missing.any():
        row = int(frame[ROW][int(missing.arg_true()[0])])
        others = f" ({missing.sum():,} rows have none)" if missing.sum() > 1 else ""
        raise source.error(
            row,
            f"label is empty{others}",
            hint="Leave such rows out with `drop_labels=['']`.",
            code="missing-label",
        )


def _refuse_large(frame: pl.DataFrame, source: Source) -> None:
    """Raise for the first label that no scale of grades has, where no scale vouches for it."""
    large = frame["label"].abs() > LARGEST_LABEL
    if large.any():
        row = int(large.arg_true()[0])
        raise source.error(
            int(frame[ROW][row]),
            f"label is {frame['label'][row]:g}; without a scale, labels must be from "
            f"-{LARGEST_LABEL:,} to {LARGEST_LABEL:,}",
            hint='Check the label column, or pass the scale, for example `scale="0,1,2"`.',
            code="large-label",
        )


def _times(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Read judged_at as UTC; a number stays a number and only decides the order."""
    times = frame["judged_at"]
    if times.dtype == pl.String:
        number = times.cast(pl.Float64, strict=False)
        blank = (times == "").fill_null(value=True)
        if (number.is_not_null() | blank).all():
            return frame.with_columns(number.alias("judged_at"))
        read = times.str.to_datetime(time_zone="UTC", strict=False, time_unit="us")
        bad = read.is_null() & times.is_not_null() & (times != "")
        if bad.any():
            row = int(bad.arg_true()[0])
            raise source.error(
                int(frame[ROW][row]),
                f"judged_at must be a time or a number (got {times[row]!r})",
                hint="Write times as 2026-01-31T12:00:00Z.",
            )
        return frame.with_columns(read.alias("judged_at"))
    return frame


def _repeats(
    frame: pl.DataFrame, rule: str | None, source: Source
) -> tuple[pl.DataFrame, list[str]]:
    """Apply the rule for pairs that an annotator judged more than once."""
    repeated = find_repeats(frame, KEY)
    if repeated.is_empty():
        return frame, []
    groups = repeated.group_by(KEY).agg(pl.col("label").n_unique().alias("labels"))
    conflicts = groups.filter(pl.col("labels") > 1).height
    note = (
        f"{groups.height:,} annotator-item pairs were judged more than once "
        f"({repeated.height - groups.height:,} judgments more; {conflicts:,} pairs with "
        "different labels)"
    )
    timed = "judged_at" in frame.columns and not repeated["judged_at"].is_null().any()
    if rule is None:
        rule = "last" if timed else "all"
        if not timed:
            have = "judged_at" in frame.columns
            note += "; not all have judged_at" if have else "; no judged_at says which is later"
    if rule == "all":
        return frame, [f"{note}: all count"]
    if rule == "error":
        row = repeated.filter(pl.struct(KEY).is_duplicated() & ~pl.struct(KEY).is_first_distinct())
        key = tuple(str(row[name][0]) for name in KEY)
        place = source.place(int(row[ROW][0]))
        raise DuplicateRows(
            key,
            *place,
            "is a repeated judgment",
            hint='Choose a judgment, for example with `repeats="last"`.',
            code="repeated-judgment",
        )
    order = ["judged_at", ROW] if timed else [ROW]
    counted = (
        frame.sort(order)
        .unique(KEY, keep="last" if rule == "last" else "first", maintain_order=True)
        .sort(ROW)
    )
    return counted, [
        f"{note}: the {rule} counts, by {'judged_at' if timed else 'order of the rows'}"
    ]
