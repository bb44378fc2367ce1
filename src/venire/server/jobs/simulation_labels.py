"""Labels that a simulation of grouped judging is compared with: qrels, or the pilot's majority."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import DataError, UnknownName
from venire.formats.study_settings import StudySettings
from venire.server.store.judging import Campaign, Judgment
from venire.server.studies import files
from venire.server.studies.files import read_qrels
from venire.server.studies.judgments import read_judgments
from venire.server.studies.studies import get_study
from venire.simulation.grouping.pilot import majority_truth
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import express

PILOT = "pilot"
QRELS = "qrels:"


def read_truth(
    session: Session, study_id: str, truth: str, campaign: str | None = None
) -> tuple[Qrels, Judgments | None]:
    """Return the labels to compare with, and the judgments of the pilot if there are any.

    ``truth`` is ``pilot`` (the majority of the judgments that count) or ``qrels:NAME``.

    Raises
    ------
    UnknownName
        Another source.
    DataError
        No judgment counts yet.
    """
    least = read_relevant_from(session, study_id)
    table = read_judgments(session, study_id, campaign)
    pilot = table if len(table) else None
    if truth.startswith(QRELS):
        return read_qrels(session, study_id, truth.removeprefix(QRELS)), pilot
    if truth != PILOT:
        raise UnknownName("truth", truth, (PILOT, "qrels:NAME"))
    if pilot is None:
        raise DataError("There is no pilot: no judgment counts yet. Choose qrels.")
    return majority_truth(pilot, relevant_from=least), pilot


def read_relevant_from(session: Session, study_id: str) -> int:
    """Return the smallest relevant grade of a study."""
    return StudySettings.of(get_study(session, study_id).settings).relevant_from


def list_truths(session: Session, study_id: str) -> list[dict[str, Any]]:
    """Return the sources of labels of a study, qrels first: ``value, words, labels``."""
    truths: list[dict[str, Any]] = [
        {"value": QRELS + row["name"], "words": f"Qrels {row['name']}", "labels": row["rows"]}
        for row in files.list_files(session, study_id)
        if row["kind"] == "qrels"
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
        words = f"Majority vote of the pilot ({express(people, 'annotator')}); ties are relevant"
        truths.append({"value": PILOT, "words": words, "labels": labels})
    return truths
