"""Judgments of a study: those that count, and the raw record of all."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting
from venire.formats.formulas import escape_formulas
from venire.formats.study_settings import StudySettings
from venire.server.store.base import ROWS_PER_STATEMENT
from venire.server.store.judging import Batch, Campaign, Event, Judgment, Lease, NoLabel
from venire.server.store.studies import Document, Pair, Topic
from venire.server.studies.studies import get_study
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale

JUDGMENT_COLUMNS: dict[str, Any] = {
    "query_id": pl.String,
    "doc_id": pl.String,
    "annotator_id": pl.String,
    "label": pl.Int64,
    "seconds": pl.Float64,
    "judged_at": pl.Datetime("us", "UTC"),
    "batch_id": pl.String,
}
RAW_COLUMNS: dict[str, Any] = {
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


def read_scale(session: Session, study_id: str) -> Scale:
    """Return the scale of a study, with the names of its grades if they are unique."""
    settings = StudySettings.of(get_study(session, study_id).settings)
    names = tuple(str(grade["name"]) for grade in settings.grades)
    return Scale(
        tuple(float(value) for value in settings.values),
        names if len(set(names)) == len(names) else (),
        float(settings.relevant_from),
    )


def read_judgments(
    session: Session, study_id: str, campaign_id: str | None = None, *, gold: bool = False
) -> Judgments:
    """Return the judgments that count: the last label per document of accepted batches.

    Ids of annotators tell nothing of the person. Who judged a document in two campaigns counts
    once, by the later one; the notes say how often. With ``gold``, judgments of gold are there
    too, as the column ``gold``.
    """
    scale = read_scale(session, study_id)
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
    schema = {**JUDGMENT_COLUMNS, "gold": pl.Int64}
    frames = list(_read_frames(session, query, schema))
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
    frame = frame.with_columns(pl.col("gold").is_not_null())
    return Judgments.of(frame if gold else frame.drop("gold"), scale=scale, repeats="last")


def _read_frames(
    session: Session, query: Select[*tuple[Any, ...]], schema: dict[str, Any]
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a query in parts, so that memory does not grow with their number."""
    rows = session.execute(query, execution_options={"yield_per": ROWS_PER_STATEMENT})
    for part in rows.partitions():
        columns = zip(*part, strict=True)
        yield pl.DataFrame(
            [
                pl.Series(name, column, dtype=kind)
                for (name, kind), column in zip(schema.items(), columns, strict=True)
            ]
        )


def read_raw(
    session: Session, study_id: str, campaign_id: str | None = None
) -> Iterator[pl.DataFrame]:
    """Yield every judgment ever given, in order, in parts.

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
    for frame in _read_frames(session, query, {**RAW_COLUMNS, "comment": pl.Object}):
        texts = [_read_comment(payload) for payload in frame["comment"]]
        yield frame.with_columns(pl.Series("comment", texts, dtype=pl.String))


def _read_comment(payload: Any) -> str | None:
    if payload is None:
        return None
    event = json.loads(payload) if isinstance(payload, str) else payload
    return event.get("text") if isinstance(event, dict) else None


def write_raw(session: Session, study_id: str, path: Path, campaign_id: str | None = None) -> int:
    """Write the raw record as .csv, .jsonl or .parquet; return the number of rows.

    Memory does not grow with the number of judgments.
    """
    if path.suffix not in (".csv", ".jsonl", ".parquet"):
        raise BadSetting(f"{path}: unknown file extension. Choose .csv, .jsonl or .parquet.")
    if path.suffix == ".parquet":
        return _write_parquet(read_raw(session, study_id, campaign_id), path)
    rows = 0
    with path.open("wb") as out:
        if path.suffix == ".csv":
            out.write((",".join(RAW_COLUMNS) + "\n").encode())
        for frame in read_raw(session, study_id, campaign_id):
            rows += frame.height
            out.write(_encode_lines(frame, path.suffix))
    return rows


def _encode_lines(frame: pl.DataFrame, ending: str) -> bytes:
    when = pl.col("judged_at").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    buffer = io.BytesIO()
    if ending == ".csv":
        escape_formulas(frame.with_columns(when)).write_csv(buffer, include_header=False)
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

    lazy = register_io_source(source, schema=RAW_COLUMNS)
    lazy.sink_parquet(path, row_group_size=50_000, compression="zstd", maintain_order=True)
    return rows
