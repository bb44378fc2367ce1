"""What a simulation of grouped judging starts from: encoders, labels, the pilot, cosines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire import plugins
from venire.errors import NoOverlap
from venire.grouping.distribution import cosine_distribution
from venire.server.jobs.encode import HASH
from venire.server.jobs.simulation_labels import read_relevant_from, read_truth
from venire.server.store.studies import Document
from venire.server.studies import files, members
from venire.server.studies.files import read_vectors
from venire.server.studies.pools import read_pools
from venire.simulation.grouping.pilot import Pilot, Share, measure_pilot
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

MAX_POOLS = 50
"""Pools whose cosines are counted; more would not change the shape of the distribution."""
Row = dict[str, Any]


def list_encoders(session: Session, study_id: str) -> dict[str, Any]:
    """Return the vectors that the study has, and the encoders that read its documents."""
    vectors = [row for row in files.list_files(session, study_id) if row["kind"] == "vectors"]
    query = select(
        func.count(Document.media), func.count(Document.body), func.count(Document.id)
    ).where(Document.study_id == study_id)
    images, texts, documents = session.execute(query).one()
    readable = {"image": images, "text": texts}
    choices = [
        {"name": name, "reads": kind}
        for name in plugins.names("encoder")
        if readable[kind := str(plugins.load("encoder", name).reads)]
    ]
    # First the encoders that read most documents; hashes last.
    choices.sort(key=lambda row: (readable[row["reads"]] < max(images, texts), row["name"] == HASH))
    return {
        "vectors": vectors,
        "choices": choices,
        "documents": documents,
        "hashes": any(row["name"] == HASH for row in vectors),
    }


def describe_start(session: Session, study_id: str, truth: str, encoder: str) -> Row:
    """Return the measured pilot, the numbers of queries and labels, and the cosines."""
    pool = read_pools(session, study_id)
    labels, pilot = read_truth(session, study_id, truth)
    pairs = pool.join(labels.frame, on=["query_id", "doc_id"], how="inner")
    least = read_relevant_from(session, study_id)
    names = {row["user_id"]: row["name"] for row in members.list_members(session, study_id)}
    pilots, notes = _measure_annotators(pilot, labels, least, names)
    cosines: list[Row] = []
    if encoder and not pool.is_empty():
        cosines = _count_cosines(session, study_id, encoder, pool)
    return {
        "queries": pairs["query_id"].n_unique(),
        "labels": pairs.height,
        "relevant": pairs.filter(pairs["relevance"] >= least).height,
        "pilots": [_describe_annotator(pilot) for pilot in pilots],
        "cosines": cosines,
        "notes": notes,
    }


def _measure_annotators(
    pilot: Judgments | None, labels: Qrels, least: int, names: dict[str, str]
) -> tuple[list[Pilot], list[str]]:
    """Measure each annotator of the pilot, under the name of the person, in order of names."""
    if pilot is None:
        return [], []
    try:
        pilots = measure_pilot(
            _rename_annotators(pilot, labels, names), labels, relevant_from=least
        )
    except NoOverlap as error:
        return [], [str(error)]
    return sorted(pilots, key=lambda pilot: pilot.annotator_id), []


def _rename_annotators(pilot: Judgments, labels: Qrels, names: dict[str, str]) -> Judgments:
    """Put the names of people in place of their ids; a second Ann becomes "Ann (2)"."""
    judged = pilot.frame.join(labels.frame, on=["query_id", "doc_id"], how="semi")
    display: dict[str, str] = {}
    used: dict[str, int] = {}
    for annotator_id in judged["annotator_id"].unique().sort():
        name = names.get(annotator_id) or annotator_id
        used[name] = used.get(name, 0) + 1
        display[annotator_id] = name if used[name] == 1 else f"{name} ({used[name]})"
    renamed = judged.with_columns(pl.col("annotator_id").replace(display))
    return Judgments(renamed, pilot.scale, pilot.notes)


def _describe_annotator(pilot: Pilot) -> Row:
    """Return a measured annotator as an annotator type."""
    return {
        "values": {**pilot.type.settings, "name": f"pilot {pilot.annotator_id}"},
        "relevant": _describe_share(pilot.relevant),
        "not_relevant": _describe_share(pilot.not_relevant),
        "seconds": pilot.seconds,
        "notes": list(pilot.notes),
    }


def _describe_share(share: Share) -> Row:
    """Return a measured accuracy with its interval."""
    ends = {"low": share.low, "high": share.high} if share.total else {"low": None, "high": None}
    return {**asdict(share), "value": share.value, **ends}


def _count_cosines(session: Session, study_id: str, encoder: str, pool: pl.DataFrame) -> list[Row]:
    """Return the distribution of cosines between two documents of one pool."""
    vectors, _ = read_vectors(session, study_id, encoder)
    arrays = []
    for topic in pool.partition_by("query_id", maintain_order=True)[:MAX_POOLS]:
        rows = vectors.rows(topic["doc_id"].to_list())
        arrays.append(vectors.array[rows[rows >= 0]].astype(np.float32))
    return cosine_distribution(arrays).to_dicts()
