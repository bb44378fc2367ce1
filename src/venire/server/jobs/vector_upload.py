"""Vectors computed elsewhere, added to a study from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.formats.source import stem
from venire.grouping.vectors import Vectors, read_vectors
from venire.server.store.studies import Document
from venire.server.studies.files import put_vectors
from venire.tables.schema import express


def add_vectors_file(session: Session, study_id: str, path: Path, name: str) -> dict[str, Any]:
    """Add the vectors of a .npy or .parquet file to a study, under the name of their encoder.

    Rows of a ``.npy`` file are the documents in the order of the study. Vectors of documents that
    the study does not have are left out and counted.

    Parameters
    ----------
    name : str
        What the owner calls the file; errors and notes name it so.

    Raises
    ------
    DataError
        The file cannot be read.
    """
    query = select(Document.doc_id).where(Document.study_id == study_id).order_by(Document.id)
    ids = list(session.scalars(query))
    uploaded = read_vectors(path, ids, name=name)
    rows = uploaded.rows(ids)
    without = int((rows < 0).sum())
    rows = rows[rows >= 0]
    encoder = stem(name) if uploaded.encoder == "precomputed" else uploaded.encoder
    notes = list(uploaded.notes)
    if without:
        notes.append(f"{express(without, 'document')} of the study without a vector")
    doc_ids = tuple(uploaded.ids[row] for row in rows)
    vectors = Vectors(doc_ids, uploaded.array[rows], encoder, tuple(notes))
    state = put_vectors(session, study_id, vectors)
    counts = dict.fromkeys(("added", "changed", "unchanged"), 0) | {state: 1}
    return {
        "kind": "vectors",
        "name": encoder,
        "rows": len(vectors),
        **counts,
        "left_out": len(uploaded) - len(vectors),
        "notes": notes,
    }
