"""Vectors of documents: one row each, in memory and in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from venire.arrays import Float32s, Longs
from venire.errors import BadLine, DataError, DuplicateRows, MissingColumns
from venire.formats import read_frame, write_frame
from venire.tables.schema import express

LISTED_IDS = 3
"""Ids that a note names before it counts."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Unit vectors of documents.

    Attributes
    ----------
    ids : tuple of str
        Document ids.
    array : float32 [n, d]
        Each row has length 1; an all-zero row, which has no direction, stays zero.
    encoder : str
        What made them.
    notes : tuple of str
    """

    ids: tuple[str, ...]
    array: Float32s
    encoder: str = "precomputed"
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        array: NDArray[np.floating],
        *,
        encoder: str = "precomputed",
        notes: Sequence[str] = (),
        name: str = "vectors",
    ) -> Vectors:
        """Return unit vectors; rows that are no numbers are left out and counted.

        Raises
        ------
        DataError
            Another number of rows than ids; a table that is not two-dimensional; an id twice.
        """
        array = np.asarray(array)
        if array.ndim != 2:
            raise DataError(
                f"{name}: vectors must be a 2-dimensional table with one row per document "
                f"(got {array.ndim} dimensions)"
            )
        if array.shape[0] != len(ids):
            raise DataError(
                f"{name}: must have one vector per document (got "
                f"{express(array.shape[0], 'vector')} for {express(len(ids), 'document')})"
            )
        names = np.asarray(list(ids), dtype=object)
        twice = pl.Series(list(ids), dtype=pl.String).is_duplicated()
        if twice.any():
            raise DuplicateRows(
                (str(names[int(twice.arg_true()[0])]),), name, None, "is a repeated ID"
            )
        all_notes = list(notes)
        good = np.isfinite(array).all(axis=1)
        if not good.all():
            all_notes.append(_left_out(names[~good], "vectors hold NaN or infinity", name))
            array, names = array[good], names[good]
        length = np.linalg.norm(array.astype(np.float64), axis=1)
        if (length == 0).any():
            all_notes.append(
                f"{name}: {express(int((length == 0).sum()), 'vector')} of zeros; "
                "such a document is like no other"
            )
        unit = array / np.where(length == 0, 1.0, length)[:, None]
        return cls(tuple(map(str, names)), unit.astype(np.float32), encoder, tuple(all_notes))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.array.shape[1])

    def rows(self, ids: Sequence[str]) -> Longs:
        """Return the row of each id, -1 where it has no vector."""
        table = pl.DataFrame({"id": self.ids}, schema={"id": pl.String}).with_row_index("row")
        asked = pl.DataFrame({"id": list(ids)}, schema={"id": pl.String})
        rows = asked.join(table, on="id", how="left", maintain_order="left")
        return rows["row"].cast(pl.Int64).fill_null(-1).to_numpy()

    def write(self, path: str | Path) -> None:
        """Write ``doc_id, encoder, vector`` as Parquet.

        Raises
        ------
        BadLine
            For another ending.
        """
        if not str(path).endswith(".parquet"):
            raise BadLine(str(path), None, "the file must end in .parquet")
        frame = pl.DataFrame(
            {"doc_id": list(self.ids), "vector": self.array},
            schema={"doc_id": pl.String, "vector": pl.Array(pl.Float32, self.dimension)},
        )
        write_frame(frame.with_columns(pl.lit(self.encoder).alias("encoder")), path)


def join_vectors(parts: Sequence[Vectors], encoder: str) -> Vectors:
    """Return the vectors of all parts, as when some were computed later.

    Raises
    ------
    DataError
        Where the parts are of another encoder, or of different lengths.
    """
    some = [part for part in parts if len(part)]
    for part in some:
        if part.encoder != encoder or part.dimension != some[0].dimension:
            raise DataError(
                f"vectors of {encoder} with {some[0].dimension} numbers and of {part.encoder} "
                f"with {part.dimension} cannot be combined"
            )
    notes = tuple(note for part in parts for note in part.notes)
    if not some:
        return Vectors((), np.zeros((0, 0), np.float32), encoder, notes)
    ids = [name for part in some for name in part.ids]
    array = np.concatenate([part.array for part in some])
    return Vectors.of(ids, array, encoder=encoder, notes=notes, name=encoder)


def read_vectors(
    path: str | Path, ids: Sequence[str] | None = None, *, name: str | None = None
) -> Vectors:
    """Read precomputed vectors.

    Parquet has ``doc_id`` and ``vector`` (a list of numbers), and maybe ``encoder``. A ``.npy``
    file has a row a document: in the order of the file of the same name with the ending ``.txt``,
    one id a line; without one, in the order of ``ids``.

    Parameters
    ----------
    path : path
    ids : sequence of str, optional
        The documents of the collection, in its order.
    name : str, optional
        What messages and notes call the file; by default its path.

    Raises
    ------
    BadLine, DataError, MissingColumns, DuplicateRows
        A file that is no table of numbers, rows of different lengths, an id twice.
    """
    name = name or str(path)
    if str(path).endswith(".npy"):
        return _read_npy(Path(path), ids, name)
    frame, source = read_frame(path, name=name)
    missing = [column for column in ("doc_id", "vector") if column not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, source.name, renamed=False)
    column = frame["vector"]
    if not isinstance(column.dtype, (pl.List, pl.Array)) or not column.dtype.inner.is_numeric():
        raise DataError(f"{name}: the column vector must be lists of numbers (got {column.dtype})")
    frame = frame.with_columns(pl.col("vector").cast(pl.List(pl.Float64)))
    usual = frame["vector"].list.len().drop_nulls().mode()
    width = int(usual.max()) if len(usual) else 0  # type: ignore[arg-type]
    fits = (frame["vector"].list.len() == width).fill_null(value=False)
    notes = []
    if not fits.all():
        odd = frame.filter(~fits)["doc_id"].cast(pl.String).to_numpy()
        notes.append(_left_out(odd, f"vectors do not have {width} numbers", name))
    complete = frame.filter(fits)
    array = (
        complete["vector"].explode().to_numpy().reshape(-1, width) if width else np.zeros((0, 0))
    )
    encoder = "precomputed"
    if "encoder" in complete.columns and complete["encoder"].n_unique() == 1:
        encoder = str(complete["encoder"][0])
    return Vectors.of(
        complete["doc_id"].cast(pl.String).to_list(), array, encoder=encoder, notes=notes, name=name
    )


def _read_npy(path: Path, ids: Sequence[str] | None, name: str) -> Vectors:
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise BadLine(name, None, "no such file") from None
    except (OSError, ValueError, EOFError):
        raise BadLine(
            name, None, "cannot be read as .npy", hint="Save a numeric array with numpy.save."
        ) from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise DataError(f"{name}: is not an array of numbers")
    ids_path = path.with_suffix(".txt")
    if ids_path.exists():
        ids = ids_path.read_text(encoding="utf-8").split("\n")
        ids = [line.rstrip("\r") for line in (ids[:-1] if ids[-1] == "" else ids)]
    if ids is None:
        raise DataError(
            f"{name}: has no document IDs", hint=f"Write them to {ids_path.name}, one per line."
        )
    return Vectors.of(ids, array, name=name)


def _left_out(ids: NDArray[np.object_], why: str, name: str) -> str:
    first = ", ".join(map(str, ids[:LISTED_IDS])) + (", ..." if len(ids) > LISTED_IDS else "")
    return f"{name}: {express(len(ids), 'document')} left out, whose {why}: {first}"
