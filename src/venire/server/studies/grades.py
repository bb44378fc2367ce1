"""Grades of a study: of the majority, adjudicated, of a job, of qrels."""

from __future__ import annotations

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.aggregation.majority import Majority
from venire.errors import DataError, NotFound, UnknownName
from venire.formats.parquet import read_parquet
from venire.server.store.work import Decision, Job, JobPart
from venire.server.studies.files import read_qrels
from venire.server.studies.judgments import read_judgments
from venire.server.studies.pairs import read_pair_names
from venire.tables.qrels import Qrels

GRADE_SOURCES = ("majority", "adjudicated", "settled", "job:ID", "qrels:NAME")


def read_grades(session: Session, study_id: str, source: str = "adjudicated") -> Qrels:
    """Return grades of a study as qrels.

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
    UnknownName
        An unknown source.
    DataError
        The source has no grades.
    """
    kind, _, name = source.partition(":")
    if kind == "job" and name:
        return read_job_grades(session, study_id, name)
    if kind == "qrels" and name:
        return read_qrels(session, study_id, name)
    if source not in GRADE_SOURCES[:3]:
        raise UnknownName("source of grades", source, GRADE_SOURCES)
    settled = read_settled_qrels(session, study_id)
    if source == "settled":
        if not len(settled):
            raise DataError(
                "No grade is adjudicated yet. Adjudicate pairs, or choose another source."
            )
        return settled
    table = read_judgments(session, study_id)
    votes = None if not len(table) else Majority().fit(table).qrels()
    if source == "majority" or not len(settled):
        if votes is None:
            raise DataError("No judgment counts yet. Wait until a batch is accepted.")
        return votes
    if votes is None:
        return settled
    rest = votes.frame.join(settled.frame, on=["query_id", "doc_id"], how="anti")
    changed = votes.frame.height - rest.height
    note = f"{settled.frame.height:,} adjudicated grades; {changed:,} replace a majority vote"
    return Qrels(pl.concat([rest, settled.frame]), (*votes.notes, note))


def read_job_grades(session: Session, study_id: str, job_id: str) -> Qrels:
    """Return the most probable grade of each pair from an aggregate job."""
    job = session.get(Job, job_id)
    if job is None or job.study_id != study_id or job.kind != "aggregate":
        raise NotFound("aggregate job", job_id)
    part = session.get(JobPart, (job_id, "items.parquet"))
    if part is None:
        raise DataError(
            f"Job {job_id} has no grades yet (state: {job.state}). Wait until it is done, or "
            "choose another source."
        )
    items = read_parquet(part.content)
    return Qrels.of(items.select("query_id", "doc_id", pl.col("mode").alias("relevance")))


def read_settled_qrels(session: Session, study_id: str) -> Qrels:
    """Return the adjudicated grades: the last decision per pair, unless withdrawn."""
    grades = read_settled_grades(session, study_id)
    names = read_pair_names(session, study_id, list(grades))
    return Qrels(
        pl.DataFrame(
            [(*names[pair], grade) for pair, grade in grades.items() if pair in names],
            schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64},
            orient="row",
        )
    )


def read_settled_grades(
    session: Session, study_id: str, pair_id: int | None = None
) -> dict[int, int]:
    """Return the settled grade of each pair; the last decision per pair counts."""
    query = select(Decision.subject, Decision.verdict, Decision.facts).where(
        Decision.study_id == study_id, Decision.kind == "grade"
    )
    if pair_id is not None:
        query = query.where(Decision.subject == str(pair_id))
    grades: dict[int, int] = {}
    for subject, verdict, facts in session.execute(query.order_by(Decision.seq)):
        if verdict == "withdrawn":
            grades.pop(int(subject), None)
        else:
            grades.pop(int(subject), None)  # so that pairs are in the order of their last decision
            grades[int(subject)] = int(facts["grade"])
    return grades
