"""Export the open places of a campaign as task files of a crowd platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from venire.errors import BadSetting, Conflict
from venire.formats.study_settings import StudySettings
from venire.server.content.instructions import show_instructions
from venire.server.judging.next_batch import expire
from venire.server.judging.payload import add_keys, view_content
from venire.server.judging.platform_batches import (
    PlatformBatch,
    draw_platform_batches,
    lease_platform_batch,
)
from venire.server.judging.rules import read_rules
from venire.server.platforms.base import Hit, Platform, Question, StudyTexts
from venire.server.platforms.registry import load_platform
from venire.server.platforms.task_html import render_document
from venire.server.store.studies import Document, Pair, Study, Topic
from venire.server.studies.campaigns import get_campaign

MOST_HITS = 5_000
"""HITs of one export."""


@dataclass(frozen=True)
class TaskExport:
    """What an export wrote.

    Attributes
    ----------
    files : dict
        Name -> content. The name of a task file has the number of workers that each of its HITs is
        for.
    rows : list of dict
        One per task file: ``file, hits, assignments`` (workers per HIT), ``documents, gold``.
    notes : list of str
    """

    files: dict[str, bytes]
    rows: list[dict[str, object]]
    notes: list[str]


def export_tasks(
    session: Session,
    campaign_id: str,
    platform_name: str,
    now: datetime,
    *,
    days: int = 14,
    most: int | None = None,
) -> TaskExport:
    """Take all free places of an open campaign in batches, and write them for a platform.

    A HIT holds the same documents and gold for as many workers as its documents have free places.
    The part of each worker is a batch. Documents that are not answered after ``days`` are free
    again.

    Parameters
    ----------
    session : Session
    campaign_id : str
    platform_name : str
        A name of :func:`venire.server.platforms.registry.list_platforms`.
    now : datetime
    days : int
        Days until the places are free again.
    most : int, optional
        Most HITs; :data:`MOST_HITS` by default.

    Raises
    ------
    UnknownName
        No such platform.
    Conflict
        The campaign is not open (code ``campaign-not-open``), or nothing is left to judge
        (``nothing-left``).
    BadSetting
        The study has images or is judged in groups (code ``needs-pages``).
    """
    platform = load_platform(platform_name)
    if not 1 <= days <= 365:
        raise BadSetting(f"must be between 1 and 365 (got {days})", argument="days", value=days)
    campaign = get_campaign(session, campaign_id)
    if campaign.state != "open":
        raise Conflict(f"The campaign {campaign.name!r} is not open.", code="campaign-not-open")
    rules = read_rules(session, campaign_id)
    if rules.study.grouping:
        raise BadSetting(
            "Documents that are judged in groups cannot be exported. Let workers judge them on the "
            "pages of this server.",
            code="needs-pages",
        )
    while expire(session, campaign_id, now):
        pass
    batches = list(draw_platform_batches(session, rules, most or MOST_HITS))
    if not batches:
        raise Conflict(
            "Nothing is left to judge: every place is judged or given out.", code="nothing-left"
        )
    until = now + timedelta(days=days)
    for batch in batches:
        lease_platform_batch(session, batch, campaign_id, platform.name, now, until)
    session.flush()
    return _write_files(session, session.get_one(Study, campaign.study_id), platform, batches)


def _write_files(
    session: Session, study: Study, platform: Platform, batches: list[PlatformBatch]
) -> TaskExport:
    settings = StudySettings.of(study.settings)
    texts = StudyTexts(
        study.name,
        show_instructions(study.instructions),
        add_keys(settings),
        settings.cannot_judge,
    )
    questions, cut = _read_questions(session, batches, settings)
    files: dict[str, bytes] = {}
    rows: list[dict[str, object]] = []
    too_large = 0
    for workers in sorted({batch.workers for batch in batches}, reverse=True):
        group = [batch for batch in batches if batch.workers == workers]
        name = f"{platform.name}-{workers}{platform.task_suffix}"
        tasks = platform.write_tasks(_list_hits(group, questions), texts)
        files[name] = tasks.content
        too_large += tasks.too_large
        documents = [document for batch in group for document in batch.documents]
        rows.append(
            {
                "file": name,
                "hits": len(group),
                "assignments": workers,
                "documents": sum(document.task_id is not None for document in documents),
                "gold": sum(document.task_id is None for document in documents),
            }
        )
    files[f"{platform.name}-layout.html"] = platform.write_layout(texts)
    notes = []
    if cut:
        notes.append(f"{cut:,} long documents are cut; they end with […].")
    if too_large:
        notes.append(
            f"{too_large:,} HITs exceed the {platform.size_limit:,} bytes that {platform.label} "
            "accepts. Use smaller batches."
        )
    return TaskExport(files, rows, notes)


def _list_hits(batches: Sequence[PlatformBatch], questions: Mapping[int, Question]) -> list[Hit]:
    return [
        Hit(batch.id, [questions[document.pair_id] for document in batch.documents])
        for batch in batches
    ]


def _read_questions(
    session: Session, batches: Sequence[PlatformBatch], settings: StudySettings
) -> tuple[dict[int, Question], int]:
    """Return the question of each pair, and how many documents were cut."""
    pairs = sorted({document.pair_id for batch in batches for document in batch.documents})
    questions: dict[int, Question] = {}
    cut = 0
    for start in range(0, len(pairs), 500):
        rows = session.execute(
            select(Pair.id, Topic, Document)
            .join(Topic, Topic.id == Pair.topic_id)
            .join(Document, Document.id == Pair.document_id)
            .where(Pair.id.in_(pairs[start : start + 500]))
            .options(undefer(Document.body))
        )
        for pair_id, topic, document in rows:
            if document.kind == "image":
                raise BadSetting(
                    "Images cannot be exported. Let workers judge them on the pages of this "
                    "server.",
                    code="needs-pages",
                )
            need = {
                "title": topic.title or topic.query_id,
                "description": topic.description,
                "narrative": topic.narrative,
            }
            html, is_cut = render_document(view_content(document, topic.title, settings))
            questions[pair_id] = Question(need, html)
            cut += is_cut
    return questions, cut
