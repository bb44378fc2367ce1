"""The job ``encode``: the vector of every document, kept some at a time."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from venire.errors import BadSetting, DataError
from venire.grouping.encoders import Encoder, named, parts
from venire.grouping.vectors import Vectors, joined
from venire.progress import Progress
from venire.server.jobs import queue as jobs
from venire.server.jobs.inputs import checked, parquet
from venire.server.jobs.queue import Work, forget, keep
from venire.server.store.session import Store
from venire.server.studies.pools import put_vectors, read_vectors, to_encode
from venire.tables.schema import counted

SETTINGS: dict[str, Any] = {"encoder": "efficientnet-lite0", "hashes": True}
HASH = "perceptual-hash"
KEEP_SECONDS = 2.0
"""What is encoded is kept at least so often: this much a server that is killed computes again."""


def check(session: Any, study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown encoder, and one that reads no document of the study."""
    given = checked(settings, SETTINGS)
    encoder = named(given["encoder"])
    if to_encode(session, study_id, encoder.reads).is_empty():
        raise BadSetting(
            f"{given['encoder']} reads {encoder.reads}s, and the study has no document with one"
        )


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Encode with ``encoder``; ``hashes`` also makes what near-duplicate compares, of images."""
    given = checked(job.settings, SETTINGS)
    names = [given["encoder"]]
    if given["hashes"] and named(names[0]).reads == "image" and HASH not in names:
        names.append(HASH)
    rows, notes = [], []
    for name in names:
        made, state = _one(store, job, name, progress)
        rows.append(
            {"encoder": name, "documents": len(made), "numbers": made.dimension, "state": state}
        )
        notes += [note for note in made.notes if note not in notes]
    return {"rows": rows, "notes": notes}


def _one(store: Store, job: Work, name: str, progress: Progress) -> tuple[Vectors, str]:
    """Make and keep the vectors of one encoder; those there are already are not made again."""
    encoder = named(name)
    with store.reading() as session:
        documents = to_encode(session, job.study_id, encoder.reads)
        known = _known(session, job, name, documents)
    if encoder.reads == "image" and store.media is None:
        raise DataError("the images of this server's studies are in no folder it knows of")
    parts_made = [*known, *_make(store, job, name, encoder, documents, known, progress)]
    made = _ordered(joined(parts_made, name), documents)
    sources = dict(zip(documents["doc_id"], documents["source"], strict=True))
    state = store.write(lambda session: put_vectors(session, job.study_id, made, sources))
    with store.reading() as session:
        done = [one for one in jobs.parts(session, job.id) if one.startswith(f"{name}-")]
    forget(store, job, done)
    return made, state


def _known(session: Any, job: Work, name: str, documents: pl.DataFrame) -> list[Vectors]:
    """What was made earlier of what the documents are now: in the study, and by this job."""
    now = dict(zip(documents["doc_id"], documents["source"], strict=True))
    out = []
    try:
        vectors, sources = read_vectors(session, job.study_id, name)
    except DataError:
        pass
    else:
        same = [at for at, one in enumerate(vectors.ids) if now.get(one, "-") == sources[one]]
        ids = tuple(vectors.ids[at] for at in same)
        out.append(Vectors(ids, vectors.array[same], name))
    mine = [one for one in jobs.parts(session, job.id) if one.startswith(f"{name}-")]
    return out + [_read(jobs.part(session, job.id, one), name) for one in mine]


def _make(
    store: Store,
    job: Work,
    name: str,
    encoder: Encoder,
    documents: pl.DataFrame,
    known: list[Vectors],
    progress: Progress,
) -> list[Vectors]:
    """Encode what is left; a part is kept every few seconds, and when the job is stopped."""
    seen = {one for part in known for one in part.ids}
    todo = documents.filter(~pl.col("doc_id").is_in(seen)) if seen else documents
    made: list[Vectors] = []
    waiting: list[Vectors] = []
    kept = time.monotonic()
    with store.reading() as session:
        number = sum(one.startswith(f"{name}-") for one in jobs.parts(session, job.id))

    def put_away() -> None:
        nonlocal number, waiting, kept
        if waiting:
            keep(store, job, f"{name}-{number:06d}", _bytes(joined(waiting, name)))
            number, waiting, kept = number + 1, [], time.monotonic()

    try:
        for part in parts(
            encoder, todo, name=name, root=store.media or ".", progress=progress
        ):  # fmt: skip
            made.append(part)
            waiting.append(part)
            if time.monotonic() - kept > KEEP_SECONDS:
                put_away()
    except jobs.Stopped:
        put_away()
        raise
    return made


def _ordered(vectors: Vectors, documents: pl.DataFrame) -> Vectors:
    """The vectors in the order of the documents."""
    at = vectors.rows(documents["doc_id"].to_list())
    at = at[at >= 0]
    ids = tuple(vectors.ids[one] for one in at)
    notes = vectors.notes[:20]
    if len(vectors.notes) > 20:
        notes = (*notes, counted(len(vectors.notes) - 20, "more note") + " on documents")
    return Vectors(ids, vectors.array[at], vectors.encoder, notes)


def _bytes(vectors: Vectors) -> bytes:
    """A part as Parquet; notes go with it, so that a job that is resumed still says them."""
    ids, notes = list(vectors.ids), list(vectors.notes)
    frame = pl.DataFrame(
        {
            "doc_id": ids + [None] * len(notes),
            "vector": [*vectors.array.tolist(), *([None] * len(notes))],
            "note": [None] * len(ids) + notes,
        },
        schema={"doc_id": pl.String, "vector": pl.List(pl.Float32), "note": pl.String},
    )
    return parquet(frame)


def _read(content: bytes, name: str) -> Vectors:
    frame = pl.read_parquet(io.BytesIO(content))
    notes = tuple(frame["note"].drop_nulls())
    rows = frame.filter(pl.col("doc_id").is_not_null())
    if rows.is_empty():
        return joined([Vectors.of([], rows["vector"].to_numpy().reshape(0, 0), notes=notes)], name)
    width = len(rows["vector"][0])
    array = rows["vector"].explode().to_numpy().reshape(-1, width)
    return Vectors(tuple(rows["doc_id"]), array, name, notes)


run.check = check  # type: ignore[attr-defined]
