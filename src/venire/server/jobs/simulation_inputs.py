"""What a simulation of grouped judging starts from: vectors, truth, pilot, cosines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire import plugins
from venire.errors import DataError, NoOverlap
from venire.formats.source import stem
from venire.formats.study_settings import StudySettings
from venire.grouping.distribution import cosine_distribution
from venire.grouping.vectors import Vectors, read_vectors
from venire.server.jobs.encode import HASH
from venire.server.jobs.simulate import QRELS, read_truth
from venire.server.store.judging import Campaign, Judgment
from venire.server.store.studies import Document
from venire.server.studies import lists
from venire.server.studies.pools import pooled, put_vectors
from venire.server.studies.pools import read_vectors as study_vectors
from venire.server.studies.studies import get_study
from venire.simulation.grouping.pilot import Pilot, Share, measure_pilot
from venire.tables.schema import counted

POOLS = 50
"""Pools whose cosines are counted: the shape of the distribution asks for no more."""
Row = dict[str, Any]


def put_vectors_file(session: Session, study_id: str, path: Path, name: str) -> Row:
    """Put precomputed vectors (.npy or .parquet) into a study; they are named by their encoder.

    Rows of a ``.npy`` file are the documents in the order of the study. Vectors of documents
    that the study has not are left out and counted.
    """
    query = select(Document.doc_id).where(Document.study_id == study_id).order_by(Document.id)
    ids = list(session.scalars(query))
    try:
        found = read_vectors(path, ids)
    except DataError as error:
        raise DataError(str(error).replace(str(path), name)) from None
    at = found.rows(ids)
    kept = at[at >= 0]
    encoder = stem(name) if found.encoder == "precomputed" else found.encoder
    notes = [note.replace(str(path), name) for note in found.notes]
    if (at < 0).any():
        notes.append(f"{counted(int((at < 0).sum()), 'document')} of the study without a vector")
    names = tuple(found.ids[one] for one in kept)
    made = Vectors(names, found.array[kept], encoder, tuple(notes))
    state = put_vectors(session, study_id, made)
    counts = dict.fromkeys(("added", "changed", "unchanged"), 0) | {state: 1}
    return {
        "kind": "vectors",
        "name": encoder,
        "rows": len(made),
        **counts,
        "left_out": len(found) - len(made),
        "notes": notes,
    }


def encoders(session: Session, study_id: str) -> dict[str, Any]:
    """The vectors that there are, and the encoders that read documents of the study."""
    there = [row for row in lists.files(session, study_id) if row["kind"] == "vectors"]
    query = select(
        func.count(Document.media), func.count(Document.body), func.count(Document.id)
    ).where(Document.study_id == study_id)
    images, texts, documents = session.execute(query).one()
    reads = {"image": images, "text": texts}
    choices = [
        {"name": name, "reads": kind}
        for name in plugins.names("encoder")
        if reads[kind := str(plugins.load("encoder", name).reads)]
    ]
    choices.sort(key=lambda row: (reads[row["reads"]] < max(images, texts), row["name"] == HASH))
    return {
        "vectors": there,
        "choices": choices,
        "documents": documents,
        "hashes": any(row["name"] == HASH for row in there),
    }


def truths(session: Session, study_id: str) -> list[Row]:
    """The labels that a simulation can compare against, the surer ones first."""
    qrels = [row for row in lists.files(session, study_id) if row["kind"] == "qrels"]
    found: list[Row] = [
        {"value": QRELS + row["name"], "words": f"Qrels {row['name']}", "labels": row["rows"]}
        for row in qrels
    ]
    query = (
        select(
            func.count(func.distinct(Judgment.pair_id)),
            func.count(func.distinct(Judgment.annotator_id)),
        )
        .join(Campaign, Campaign.id == Judgment.campaign_id)
        .where(Campaign.study_id == study_id, Judgment.label.is_not(None))
        .where(Judgment.lease_id.is_not(None))
    )
    labels, people = session.execute(query).one()
    if labels:
        who = counted(people, "annotator")
        words = f"The majority of the pilot's {who}; a tie is relevant"
        found.append({"value": "pilot", "words": words, "labels": labels})
    return found


def start(session: Session, study_id: str, truth: str, encoder: str) -> Row:
    """The pilot measured against the truth, how many queries can be replayed, the cosines."""
    notes: list[str] = []
    pool = pooled(session, study_id)
    labels, judged = read_truth(session, study_id, truth)
    pairs = pool.join(labels.frame, on=["query_id", "doc_id"], how="inner")
    queries = pairs["query_id"].n_unique()
    least = StudySettings.of(get_study(session, study_id).settings).relevant_from
    pilots: list[Pilot] = []
    if judged is not None:
        try:
            pilots = measure_pilot(judged, labels, relevant_from=least)
        except NoOverlap as error:
            notes.append(str(error))
    names = {row["user_id"]: row["name"] for row in lists.members(session, study_id)}
    cosines: list[Row] = []
    if encoder and not pool.is_empty():
        cosines = _cosines(session, study_id, encoder)
    return {
        "queries": queries,
        "labels": pairs.height,
        "relevant": pairs.filter(pairs["relevance"] >= least).height,
        "pilots": _pilots(pilots, names),
        "cosines": cosines,
        "notes": notes,
    }


def _pilots(pilots: Sequence[Pilot], names: dict[str, str]) -> list[Row]:
    """Each annotator as a type by the name of the person; two of one name are told apart."""
    out: list[Row] = []
    used: dict[str, int] = {}
    for one in sorted(pilots, key=lambda one: names.get(one.annotator_id, "")):
        name = names.get(one.annotator_id) or one.annotator_id
        used[name] = used.get(name, 0) + 1
        said = name if used[name] == 1 else f"{name} ({used[name]})"
        out.append(
            {
                "values": {**one.type.settings, "name": f"pilot {said}"},
                "relevant": _share(one.relevant),
                "not_relevant": _share(one.not_relevant),
                "seconds": one.seconds,
                "notes": [note.replace(one.annotator_id, said) for note in one.notes],
            }
        )
    return out


def _share(share: Share) -> Row:
    """A measured accuracy with its interval."""
    ends = {"low": share.low, "high": share.high} if share.total else {"low": None, "high": None}
    return {**asdict(share), "value": share.value, **ends}


def _cosines(session: Session, study_id: str, encoder: str) -> list[Row]:
    vectors, _ = study_vectors(session, study_id, encoder)
    pool = pooled(session, study_id)
    rows = []
    for part in pool.partition_by("query_id", maintain_order=True)[:POOLS]:
        at = vectors.rows(part["doc_id"].to_list())
        rows.append(vectors.array[at[at >= 0]].astype(np.float32))
    return cosine_distribution(rows).to_dicts()
