"""The job ``encode``: compute the vector of every document, saved while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import polars as pl
from sqlalchemy.orm import Session

from venire.errors import BadSetting, DataError
from venire.formats.parquet import read_parquet
from venire.grouping.encoders import Encoder, load_encoder, parts
from venire.grouping.vectors import Vectors, join_vectors
from venire.progress import Progress
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.part_writer import PartWriter
from venire.server.jobs.work import Work, to_parquet
from venire.server.studies.documents import list_encodable
from venire.server.studies.files import put_vectors, read_vectors
from venire.settings import setting
from venire.tables.schema import express

HASH = "perceptual-hash"
SAVE_SECONDS = 2.0
MAX_NOTES = 20


class EncodeResult(TypedDict):
    """One row per encoder."""

    rows: list[dict[str, Any]]
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class EncodeJob(JobKind):
    """Compute the vectors of the study's documents."""

    encoder: str = setting("efficientnet-lite0", words="Name of the encoder.", label="Encoder")
    hashes: bool = setting(
        True,
        words="Also compute perceptual hashes of images, which near-duplicate needs.",
        label="Perceptual hashes",
    )

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown encoder, and one that reads no document of the study."""
        encoder = load_encoder(self.encoder)
        if list_encodable(session, study_id, encoder.reads).is_empty():
            raise BadSetting(
                f"must read documents of the study: {self.encoder} reads {encoder.reads}s, and no "
                "document has one",
                argument="encoder",
                value=self.encoder,
            )

    def run(self, work: Work, progress: Progress) -> EncodeResult:
        """Encode the documents; documents that have a vector are not encoded again."""
        names = [self.encoder]
        if self.hashes and load_encoder(self.encoder).reads == "image" and HASH not in names:
            names.append(HASH)
        rows: list[dict[str, Any]] = []
        notes: list[str] = []
        for name in names:
            vectors, state = _encode_study(work, name, progress)
            rows.append(
                {
                    "encoder": name,
                    "documents": len(vectors),
                    "numbers": vectors.dimension,
                    "state": state,
                }
            )
            notes += [note for note in vectors.notes if note not in notes]
        return {"rows": rows, "notes": notes}


def _encode_study(work: Work, name: str, progress: Progress) -> tuple[Vectors, str]:
    """Compute and store the vectors of one encoder; return them and added, changed or unchanged."""
    encoder = load_encoder(name)
    with work.store.reading() as session:
        documents = list_encodable(session, work.study_id, encoder.reads)
        earlier = _read_stored(session, work.study_id, name, documents)
    saved = work.list_parts(f"{name}-")
    earlier += [_decode(work.read_part(part), name) for part in saved]
    if encoder.reads == "image" and work.store.media is None:
        raise DataError("This server has no media folder, so it cannot read the images.")
    fresh = _encode_rest(work, name, encoder, documents, earlier, progress)
    vectors = _sort_vectors(join_vectors([*earlier, *fresh], name), documents)
    sources = dict(zip(documents["doc_id"], documents["source"], strict=True))
    state = work.store.write(lambda session: put_vectors(session, work.study_id, vectors, sources))
    work.delete_parts(work.list_parts(f"{name}-"))
    return vectors, state


def _read_stored(
    session: Session, study_id: str, name: str, documents: pl.DataFrame
) -> list[Vectors]:
    """Return the study's vectors of documents that have not changed since."""
    sources = dict(zip(documents["doc_id"], documents["source"], strict=True))
    try:
        vectors, encoded = read_vectors(session, study_id, name)
    except DataError:
        return []
    rows = [row for row, doc_id in enumerate(vectors.ids) if sources.get(doc_id) == encoded[doc_id]]
    return [Vectors(tuple(vectors.ids[row] for row in rows), vectors.array[rows], name)]


def _encode_rest(
    work: Work,
    name: str,
    encoder: Encoder,
    documents: pl.DataFrame,
    earlier: list[Vectors],
    progress: Progress,
) -> list[Vectors]:
    """Encode the documents without a vector, batch by batch."""
    encoded = {doc_id for vectors in earlier for doc_id in vectors.ids}
    rest = documents.filter(~pl.col("doc_id").is_in(encoded)) if encoded else documents
    root = work.store.media or "."
    fresh: list[Vectors] = []
    with PartWriter[Vectors](
        work, f"{name}-", lambda pieces: _encode_part(join_vectors(pieces, name)), SAVE_SECONDS
    ) as writer:
        for vectors in parts(encoder, rest, name=name, root=root, progress=progress):
            fresh.append(vectors)
            writer.add(vectors)
    return fresh


def _sort_vectors(vectors: Vectors, documents: pl.DataFrame) -> Vectors:
    """Return the vectors in the order of the documents, with at most 20 notes."""
    rows = vectors.rows(documents["doc_id"].to_list())
    rows = rows[rows >= 0]
    ids = tuple(vectors.ids[row] for row in rows)
    notes = vectors.notes[:MAX_NOTES]
    if len(vectors.notes) > MAX_NOTES:
        rest = len(vectors.notes) - MAX_NOTES
        notes = (*notes, express(rest, "more note") + " on documents")
    return Vectors(ids, vectors.array[rows], vectors.encoder, notes)


def _encode_part(vectors: Vectors) -> bytes:
    """Return vectors and their notes as Parquet, so that a resumed job has the notes too."""
    ids, notes = list(vectors.ids), list(vectors.notes)
    frame = pl.DataFrame(
        {
            "doc_id": ids + [None] * len(notes),
            "vector": [*vectors.array.tolist(), *([None] * len(notes))],
            "note": [None] * len(ids) + notes,
        },
        schema={"doc_id": pl.String, "vector": pl.List(pl.Float32), "note": pl.String},
    )
    return to_parquet(frame)


def _decode(content: bytes, name: str) -> Vectors:
    frame = read_parquet(content)
    notes = tuple(frame["note"].drop_nulls())
    rows = frame.filter(pl.col("doc_id").is_not_null())
    if rows.is_empty():
        return join_vectors(
            [Vectors.of([], rows["vector"].to_numpy().reshape(0, 0), notes=notes)], name
        )
    width = len(rows["vector"][0])
    array = rows["vector"].explode().to_numpy().reshape(-1, width)
    return Vectors(tuple(rows["doc_id"]), array, name, notes)
