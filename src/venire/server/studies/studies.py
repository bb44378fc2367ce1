"""Create, change, find and list studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotFound
from venire.formats.study_settings import StudySettings
from venire.server.store.judging import Campaign, Judgment, Task
from venire.server.store.people import Membership
from venire.server.store.studies import Document, Gold, Pair, Study, StudyFile, Topic
from venire.server.store.work import Decision
from venire.server.studies.listing import Row
from venire.tables.schema import express


def create_study(
    session: Session,
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    instructions: str = "",
    owner_id: str | None = None,
) -> Study:
    """Create a study; the account that creates it is its owner."""
    if not name.strip():
        raise BadSetting("is empty. Enter a name for the study.", argument="name")
    checked = StudySettings.of(settings or {})
    study = Study(
        name=name.strip()[:200],
        settings=checked.to_dict(),
        instructions=instructions,
        created_by=owner_id,
    )
    session.add(study)
    session.flush()
    if owner_id is not None:
        session.add(Membership(study_id=study.id, user_id=owner_id, role="owner"))
        session.flush()
    return study


def get_study(session: Session, study_id: str) -> Study:
    """Return the study with that ID."""
    study = session.get(Study, study_id)
    if study is None:
        raise NotFound("study", study_id)
    return study


def find_study(session: Session, name: str) -> Study:
    """Return the study with that ID or name; refuse a name that several studies have."""
    studies = session.scalars(select(Study).where((Study.id == name) | (Study.name == name))).all()
    if not studies:
        raise NotFound("study", name)
    if len(studies) > 1:
        ids = ", ".join(study.id for study in studies)
        raise Conflict(f"{len(studies)} studies are named {name!r}. Choose one by its ID: {ids}.")
    return studies[0]


def list_studies(session: Session) -> list[dict[str, Any]]:
    """Return all studies of a database: ``study, id, created_at``, newest first."""
    studies = session.scalars(select(Study).order_by(Study.created_at.desc(), Study.id))
    return [
        {"study": study.name, "id": study.id, "created_at": study.created_at} for study in studies
    ]


def list_user_studies(session: Session, user_id: str) -> list[Row]:
    """Return the studies of an owner or viewer, newest first, with their progress."""
    places = (
        select(Campaign.study_id, func.sum(Task.overlap), func.sum(Task.taken))
        .join(Task, Task.campaign_id == Campaign.id)
        .group_by(Campaign.study_id)
    )
    asked = {study: (int(a or 0), int(t or 0)) for study, a, t in session.execute(places)}
    open_ones = select(Campaign.study_id, func.count()).where(Campaign.state == "open")
    opened = dict(session.execute(open_ones.group_by(Campaign.study_id)).all())
    rows = session.execute(
        select(Study.id, Study.name, Study.created_at, Membership.role)
        .join(Membership, Membership.study_id == Study.id)
        .where(Membership.user_id == user_id, Membership.role != "annotator")
        .order_by(Study.created_at.desc(), Study.name)
    )
    return [
        {
            "study_id": study_id,
            "name": name,
            "role": role,
            "created_at": created,
            "open_campaigns": opened.get(study_id, 0),
            "asked": asked.get(study_id, (0, 0))[0],
            "taken": asked.get(study_id, (0, 0))[1],
        }
        for study_id, name, created, role in rows
    ]


def change_study(
    session: Session,
    study_id: str,
    by: str | None,
    *,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    instructions: str | None = None,
) -> Study:
    """Change a study; the grades of a study with judgments cannot change.

    Raises
    ------
    Conflict
        The values of the grades would change under judgments that were given on them, or gold
        would have a grade that is no longer on the scale.
    """
    study = get_study(session, study_id)
    if settings is not None:
        before = StudySettings.of(study.settings)
        after = StudySettings.of({**before.to_dict(), **settings})
        if after.values != before.values and _has_judgments(session, study_id):
            raise Conflict(
                "The study has judgments, so the values of its grades cannot change. Keep the "
                f"values {', '.join(map(str, before.values))}."
            )
        _check_gold(session, study_id, after)
        study.settings = after.to_dict()
    if name is not None and name.strip():
        study.name = name.strip()[:200]
    if instructions is not None:
        study.instructions = instructions[:200_000]
    session.add(
        Decision(
            study_id=study_id,
            kind="settings",
            subject=study_id,
            verdict="changed",
            facts={"settings": study.settings},
            decided_by=by,
        )
    )
    session.flush()
    return study


def _check_gold(session: Session, study_id: str, after: StudySettings) -> None:
    grades = session.scalars(
        select(Gold.grade)
        .where(Gold.study_id == study_id, Gold.grade.not_in(after.values))
        .order_by(Gold.grade)
    ).all()
    if grades:
        raise Conflict(
            f"{express(len(grades), 'gold document')} with a grade that is not on the scale "
            f"{', '.join(map(str, after.values))}: {', '.join(map(str, dict.fromkeys(grades)))}. "
            "Keep these grades, or upload the gold again with other grades first."
        )


def _has_judgments(session: Session, study_id: str) -> bool:
    query = select(Judgment.seq).join(Pair, Pair.id == Judgment.pair_id)
    return session.scalar(query.where(Pair.study_id == study_id).limit(1)) is not None


def count_contents(session: Session, study_id: str) -> dict[str, int]:
    """Return the number of topics, documents, pooled pairs, gold documents and files."""

    def count(table: Any, *where: Any) -> int:
        query = select(func.count()).select_from(table).where(table.study_id == study_id, *where)
        return session.scalar(query) or 0

    return {
        "topics": count(Topic),
        "documents": count(Document),
        "pool": count(Pair, Pair.pooled),
        "gold": count(Gold, Gold.active),
        "runs": count(StudyFile, StudyFile.kind == "run"),
        "qrels": count(StudyFile, StudyFile.kind == "qrels"),
    }
