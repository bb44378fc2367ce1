"""Runs, qrels and vectors of a study: store, read, list and remove them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict, DataError, NotFound
from venire.formats.parquet import read_parquet
from venire.grouping.vectors import Vectors
from venire.server.store.base import now
from venire.server.store.studies import StudyFile
from venire.server.studies.listing import Row
from venire.server.studies.studies import get_study
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


def put_file(
    session: Session, study_id: str, kind: str, name: str, frame: pl.DataFrame, notes: Sequence[str]
) -> str:
    """Store a run, qrels or vectors as Parquet; return ``added``, ``changed`` or ``unchanged``."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    content = buffer.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    old = session.scalar(
        select(StudyFile).where(
            StudyFile.study_id == study_id, StudyFile.kind == kind, StudyFile.name == name
        )
    )
    if old is not None and old.sha256 == sha256:
        return "unchanged"
    if old is not None:
        old.content, old.sha256, old.rows = content, sha256, frame.height
        old.notes, old.added_at = list(notes), now()
        return "changed"
    session.add(
        StudyFile(
            study_id=study_id,
            kind=kind,
            name=name,
            content=content,
            rows=frame.height,
            sha256=sha256,
            notes=list(notes),
        )
    )
    session.flush()
    return "added"


def read_runs(session: Session, study_id: str, names: Iterable[str] | None = None) -> Runs:
    """Return all runs of a study as one table, or those with the given names.

    Raises
    ------
    NotFound
        A named run is not there.
    DataError
        The study has no runs.
    """
    files = _read_files(session, study_id, "run", names)
    if not files:
        raise DataError("The study has no runs yet. Upload runs on the Data page.")
    frames = [read_parquet(content) for _, content in files]
    return Runs(pl.concat(frames, how="diagonal_relaxed"))


def read_qrels(session: Session, study_id: str, name: str) -> Qrels:
    """Return qrels of a study by their name."""
    ((_, content),) = _read_files(session, study_id, "qrels", [name])
    return Qrels(read_parquet(content))


def _read_files(
    session: Session, study_id: str, kind: str, names: Iterable[str] | None
) -> list[tuple[str, bytes]]:
    query = select(StudyFile.name, StudyFile.content).where(
        StudyFile.study_id == study_id, StudyFile.kind == kind
    )
    wanted = None if names is None else set(names)
    if wanted is not None:
        query = query.where(StudyFile.name.in_(wanted))
    files = [(name, content) for name, content in session.execute(query.order_by(StudyFile.name))]
    missing = (wanted or set()) - {name for name, _ in files}
    if missing:
        raise NotFound(kind, min(missing))
    return files


def list_files(session: Session, study_id: str) -> list[Row]:
    """Return the runs, qrels and vectors of a study."""
    names = ("kind", "name", "rows", "sha256", "notes", "added_at")
    columns = [getattr(StudyFile, name) for name in names]
    query = select(*columns).where(StudyFile.study_id == study_id)
    rows = session.execute(query.order_by(StudyFile.kind.desc(), StudyFile.name))
    return [dict(zip(names, row, strict=True)) for row in rows]


def list_run_names(session: Session, study_id: str) -> list[str]:
    """Return the names of the runs of a study."""
    query = select(StudyFile.name).where(StudyFile.study_id == study_id, StudyFile.kind == "run")
    return list(session.scalars(query.order_by(StudyFile.name)))


def remove_file(session: Session, study_id: str, kind: str, name: str) -> None:
    """Remove a run, qrels or vectors from a study; pool, gold and judgments stay.

    Raises
    ------
    NotFound
        There is no such file.
    Conflict
        The pools are grouped by these vectors.
    """
    study = get_study(session, study_id)
    file = session.scalar(
        select(StudyFile).where(
            StudyFile.study_id == study_id, StudyFile.kind == kind, StudyFile.name == name
        )
    )
    if file is None:
        raise NotFound(kind, name)
    if kind == "vectors" and study.settings.get("grouping", {}).get("encoder") == name:
        raise Conflict(
            f"Vectors {name!r} are in use for grouping. Choose another grouping, then delete them."
        )
    session.delete(file)


def put_vectors(
    session: Session,
    study_id: str,
    vectors: Vectors,
    sources: Mapping[str, str] | None = None,
) -> str:
    """Store vectors by the name of their encoder; return added, changed or unchanged."""
    if not len(vectors):
        reasons = "; ".join(vectors.notes[:3])
        raise DataError(
            f"No document of the study has a vector{': ' + reasons if reasons else '.'}",
            hint="Check the document IDs in the file.",
        )
    frame = pl.DataFrame(
        {
            "doc_id": list(vectors.ids),
            "source": [(sources or {}).get(name, "") for name in vectors.ids],
            "vector": vectors.array,
        },
        schema={
            "doc_id": pl.String,
            "source": pl.String,
            "vector": pl.Array(pl.Float32, vectors.dimension),
        },
    )
    return put_file(session, study_id, "vectors", vectors.encoder, frame, vectors.notes)


def read_vectors(session: Session, study_id: str, name: str) -> tuple[Vectors, dict[str, str]]:
    """Return vectors of a study, and the hash of the content that each was computed from.

    Raises
    ------
    DataError
        There are none of that name.
    """
    row = session.execute(
        select(StudyFile.content, StudyFile.notes).where(
            StudyFile.study_id == study_id, StudyFile.kind == "vectors", StudyFile.name == name
        )
    ).first()
    if row is None:
        raise DataError(f"The study has no vectors {name!r}. Compute them on the Simulation page.")
    frame = read_parquet(row.content)
    ids = tuple(frame["doc_id"])
    vectors = Vectors(ids, frame["vector"].to_numpy(), name, tuple(map(str, row.notes)))
    return vectors, dict(zip(ids, frame["source"], strict=True))
