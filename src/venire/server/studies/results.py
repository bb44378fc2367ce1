"""What was judged: the judgments that count, the raw record of all, settled grades."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from venire.aggregation.majority import Majority
from venire.errors import BadSetting, DataError, NotFound
from venire.formats.parquet import read_parquet
from venire.formats.study_settings import StudySettings
from venire.server.store.base import ROWS_PER_STATEMENT, split_rows
from venire.server.store.judging import Batch, Campaign, Event, Judgment, Lease, NoLabel
from venire.server.store.studies import Document, Gold, Pair, Topic
from venire.server.store.work import Decision, Job, JobPart
from venire.server.studies.studies import get_study, read_qrels
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale

GRADES = ("majority", "adjudicated", "settled", "job:ID", "qrels:NAME")
CURRENT: dict[str, Any] = {
    "query_id": pl.String,
    "doc_id": pl.String,
    "annotator_id": pl.String,
    "label": pl.Int64,
    "seconds": pl.Float64,
    "judged_at": pl.Datetime("us", "UTC"),
    "batch_id": pl.String,
}
RAW: dict[str, Any] = {
    "query_id": pl.String,
    "doc_id": pl.String,
    "annotator_id": pl.String,
    "label": pl.Int64,
    "reason": pl.String,
    "state": pl.String,
    "counts": pl.Boolean,
    "seconds": pl.Float64,
    "idle_seconds": pl.Float64,
    "judged_at": pl.Datetime("us", "UTC"),
    "gold": pl.Boolean,
    "gold_grade": pl.Int64,
    "campaign": pl.String,
    "wave": pl.Int64,
    "batch_id": pl.String,
    "batch_kind": pl.String,
    "batch_state": pl.String,
    "batch_valid": pl.Boolean,
    "batch_reason": pl.String,
    "payment": pl.String,
    "comment": pl.String,
}


def scale_of(session: Session, study_id: str) -> Scale:
    """The scale of a study; grades of one name are told apart by their values."""
    settings = StudySettings.of(get_study(session, study_id).settings)
    names = tuple(str(grade["name"]) for grade in settings.grades)
    return Scale(
        tuple(float(value) for value in settings.values),
        names if len(set(names)) == len(names) else (),
        float(settings.relevant_from),
    )


def judgments(
    session: Session, study_id: str, campaign_id: str | None = None, *, gold: bool = False
) -> Judgments:
    """The judgments that count: the last label of each document of an accepted batch.

    Ids of annotators tell nothing of the person. Who judged a document in two campaigns counts
    once, by the later one; the notes say how often. With ``gold``, judgments of gold are there
    too, as the column ``gold``.
    """
    scale = scale_of(session, study_id)
    query = (
        select(
            Topic.query_id,
            Document.doc_id,
            Judgment.annotator_id,
            Judgment.label,
            Judgment.active_ms / 1000.0,
            Judgment.judged_at,
            Lease.batch_id,
            Lease.gold_grade,
        )
        .select_from(Lease)
        .join(Judgment, Judgment.seq == Lease.judgment_seq)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Judgment.campaign_id)
        .join(Pair, Pair.id == Lease.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Campaign.study_id == study_id, Batch.valid.is_(True), Lease.state == "judged")
        .order_by(Judgment.seq)
    )
    if campaign_id is not None:
        query = query.where(Campaign.id == campaign_id)
    if not gold:
        query = query.where(Lease.gold_grade.is_(None))
    schema = {**CURRENT, "gold": pl.Int64}
    frames = list(_frames(session, query, schema))
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
    frame = frame.with_columns(pl.col("gold").is_not_null())
    return Judgments.of(frame if gold else frame.drop("gold"), scale=scale, repeats="last")


def _frames(
    session: Session, query: Select[*tuple[Any, ...]], schema: dict[str, Any]
) -> Iterator[pl.DataFrame]:
    """The rows of a query, some at a time; memory does not grow with their number."""
    rows = session.execute(query, execution_options={"yield_per": ROWS_PER_STATEMENT})
    for part in rows.partitions():
        columns = zip(*part, strict=True)
        yield pl.DataFrame(
            [
                pl.Series(name, column, dtype=kind)
                for (name, kind), column in zip(schema.items(), columns, strict=True)
            ]
        )


def raw(session: Session, study_id: str, campaign_id: str | None = None) -> Iterator[pl.DataFrame]:
    """Every judgment that was ever given, in the order in which they came, some at a time.

    ``state`` says what became of it: ``judged`` or ``cannot`` (stands), ``replaced`` by a later
    one, ``withdrawn``, ``skipped``, ``rejected`` with its batch, ``surplus``. ``counts`` is true
    where it is among :func:`judgments`. ``reason`` says why a document could not be judged;
    ``comment`` is the annotator's last on that document.
    """
    last = Lease.judgment_seq == Judgment.seq
    state = case(
        (Judgment.reason.in_(NoLabel) & Judgment.label.is_(None), Judgment.reason),
        (last, Lease.state),
        else_="replaced",
    )
    comment = (
        select(Event.payload)
        .where(Event.lease_id == Judgment.lease_id, Event.kind == "comment")
        .order_by(Event.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = (
        select(
            Topic.query_id,
            Document.doc_id,
            Judgment.annotator_id,
            Judgment.label,
            Judgment.reason,
            state,
            func.coalesce(Batch.valid, False) & last & (Lease.state == "judged")
            & Lease.gold_grade.is_(None),
            Judgment.active_ms / 1000.0,
            Judgment.idle_ms / 1000.0,
            Judgment.judged_at,
            Lease.gold_grade.is_not(None),
            Lease.gold_grade,
            Campaign.name,
            Campaign.wave,
            Lease.batch_id,
            Batch.kind,
            Batch.state,
            Batch.valid,
            Batch.reason,
            Batch.payment,
            comment,
        )
        .select_from(Judgment)
        .join(Lease, Lease.id == Judgment.lease_id)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Judgment.campaign_id)
        .join(Pair, Pair.id == Judgment.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Campaign.study_id == study_id)
        .order_by(Judgment.seq)
    )  # fmt: skip
    if campaign_id is not None:
        query = query.where(Campaign.id == campaign_id)
    for frame in _frames(session, query, {**RAW, "comment": pl.Object}):
        texts = [_text(payload) for payload in frame["comment"]]
        yield frame.with_columns(pl.Series("comment", texts, dtype=pl.String))


def _text(payload: Any) -> str | None:
    if payload is None:
        return None
    found = json.loads(payload) if isinstance(payload, str) else payload
    return found.get("text") if isinstance(found, dict) else None


def write_raw(session: Session, study_id: str, path: Path, campaign_id: str | None = None) -> int:
    """Write the raw record as .csv, .jsonl or .parquet by the ending; how many rows.

    Memory does not grow with the number of judgments.
    """
    if path.suffix not in (".csv", ".jsonl", ".parquet"):
        raise BadSetting(f"{path}: the ending says the format: .csv .jsonl .parquet")
    if path.suffix == ".parquet":
        return _write_parquet(raw(session, study_id, campaign_id), path)
    rows = 0
    with path.open("wb") as out:
        if path.suffix == ".csv":
            out.write((",".join(RAW) + "\n").encode())
        for frame in raw(session, study_id, campaign_id):
            rows += frame.height
            out.write(_lines(frame, path.suffix))
    return rows


def _lines(frame: pl.DataFrame, ending: str) -> bytes:
    when = pl.col("judged_at").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    buffer = io.BytesIO()
    if ending == ".csv":
        frame.with_columns(when).write_csv(buffer, include_header=False)
    else:
        frame.with_columns(when).write_ndjson(buffer)
    return buffer.getvalue()


def _write_parquet(frames: Iterator[pl.DataFrame], path: Path) -> int:
    from polars.io.plugins import register_io_source

    rows = 0

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal rows
        for frame in frames:
            rows += frame.height
            yield frame

    lazy = register_io_source(source, schema=RAW)
    lazy.sink_parquet(path, row_group_size=50_000, compression="zstd", maintain_order=True)
    return rows


def grades(session: Session, study_id: str, source: str = "adjudicated") -> Qrels:
    """Settled grades of a study.

    Parameters
    ----------
    session : Session
    study_id : str
    source : str
        ``majority`` of the judgments that count; ``settled``, only what was adjudicated;
        ``adjudicated``, the majority with what was adjudicated in its place; ``job:ID``, the
        grades of an aggregate job; ``qrels:NAME``, qrels of the study.

    Raises
    ------
    NotFound
        No such job or qrels.
    DataError
        There is nothing to make grades of.
    """
    kind, _, name = source.partition(":")
    if kind == "job" and name:
        return job_grades(session, study_id, name)
    if kind == "qrels" and name:
        return read_qrels(session, study_id, name)
    if source not in GRADES[:3]:
        raise BadSetting(f"grades come from {', '.join(GRADES)}, not {source!r}")
    settled = settled_grades(session, study_id)
    if source == "settled":
        if not len(settled):
            raise DataError("nothing was adjudicated yet")
        return settled
    table = judgments(session, study_id)
    votes = None if not len(table) else Majority().fit(table).qrels()
    if source == "majority" or not len(settled):
        if votes is None:
            raise DataError("there are no judgments that count yet")
        return votes
    if votes is None:
        return settled
    rest = votes.frame.join(settled.frame, on=["query_id", "doc_id"], how="anti")
    changed = votes.frame.height - rest.height
    note = f"{settled.frame.height:,} adjudicated grades, {changed:,} of them over a majority"
    return Qrels(pl.concat([rest, settled.frame]), (*votes.notes, note))


def job_grades(session: Session, study_id: str, job_id: str) -> Qrels:
    """The grades that an aggregate job found: the most probable one of each pair."""
    job = session.get(Job, job_id)
    if job is None or job.study_id != study_id or job.kind != "aggregate":
        raise NotFound("aggregate job", job_id)
    part = session.get(JobPart, (job_id, "items.parquet"))
    if part is None:
        raise DataError(f"the job {job_id} has no grades: it is {job.state}")
    items = read_parquet(part.content)
    return Qrels.of(items.select("query_id", "doc_id", pl.col("mode").alias("relevance")))


def settled_grades(session: Session, study_id: str) -> Qrels:
    """What was adjudicated: the last decision about each pair, unless it was withdrawn."""
    last = (
        select(func.max(Decision.seq).label("seq"))
        .where(Decision.study_id == study_id, Decision.kind == "grade")
        .group_by(Decision.subject)
        .subquery()
    )
    rows = session.execute(
        select(Decision.subject, Decision.facts)
        .join(last, last.c.seq == Decision.seq)
        .where(Decision.verdict != "withdrawn")
        .order_by(Decision.seq)
    ).all()
    ids = {int(subject): int(facts["grade"]) for subject, facts in rows}
    names = pair_names(session, study_id, list(ids))
    return Qrels(
        pl.DataFrame(
            [(*names[pair], grade) for pair, grade in ids.items() if pair in names],
            schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64},
            orient="row",
        )
    )


def pair_names(session: Session, study_id: str, pairs: list[int]) -> dict[int, tuple[str, str]]:
    """Topic and document of pairs, by id."""
    found: dict[int, tuple[str, str]] = {}
    for part in split_rows(pairs):
        rows = session.execute(
            select(Pair.id, Topic.query_id, Document.doc_id)
            .join(Topic, Topic.id == Pair.topic_id)
            .join(Document, Document.id == Pair.document_id)
            .where(Pair.study_id == study_id, Pair.id.in_(part))
        )
        found |= {pair: (query_id, doc_id) for pair, query_id, doc_id in rows}
    return found


def gold_grades(session: Session, study_id: str) -> Qrels:
    """The gold of a study, as qrels."""
    rows = session.execute(
        select(Topic.query_id, Document.doc_id, Gold.grade)
        .join(Pair, Pair.id == Gold.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Gold.study_id == study_id, Gold.active)
        .order_by(Gold.id)
    ).all()
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    return Qrels(pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row"))
