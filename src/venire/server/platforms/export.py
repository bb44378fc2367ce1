"""Batches for a platform: places taken, gold among them, written as the platform reads them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from venire.errors import BadSetting, Conflict, UnknownName
from venire.server.content.instructions import show_instructions
from venire.server.judging.draw import DrawnDocument, draw_gold
from venire.server.judging.gold import GoldPair, read_gold
from venire.server.judging.leases import take_places
from venire.server.judging.next_batch import expire, mix
from venire.server.judging.payload import add_keys, view_content
from venire.server.judging.settings import CampaignSettings, StudySettings
from venire.server.platforms import mturk, toloka
from venire.server.platforms.layout import (
    MTURK_LIMIT,
    document_html,
    mturk_layout,
    question_html,
    toloka_layout,
)
from venire.server.store.base import new_id
from venire.server.store.judging import Batch, Campaign, Lease, Task
from venire.server.store.people import User
from venire.server.store.studies import Document, Pair, Study, Topic
from venire.server.studies.campaigns import get_campaign

PLATFORMS = ("mturk", "toloka")
AT_MOST = 5_000
"""HITs of one export."""


@dataclass(frozen=True)
class Exported:
    """What an export wrote.

    Attributes
    ----------
    files : dict
        Name to content. Input files are named by how many workers each of their batches is for.
    rows : list of dict
        ``file, hits, assignments`` (workers a HIT), ``documents, gold``.
    notes : list of str
    """

    files: dict[str, bytes]
    rows: list[dict[str, object]]
    notes: list[str]


@dataclass(frozen=True)
class _Hit:
    id: str
    assignments: int
    drawn: list[DrawnDocument]


def export_batches(
    session: Session,
    campaign_id: str,
    platform: str,
    at: datetime,
    *,
    days: int = 14,
    most: int | None = None,
) -> Exported:
    """Take all free places of an open campaign in batches, and write them for a platform.

    A HIT holds the same documents and gold for as many workers as its documents have places free,
    so that a platform, which gives a HIT to a worker once, never lets one judge a document twice.
    Each worker's part is a batch whose places are kept for ``days``; what is not answered by then
    is free again.

    Parameters
    ----------
    session : Session
    campaign_id : str
    platform : "mturk" or "toloka"
    at : datetime
    days : int
    most : int, optional
        HITs at most.

    Raises
    ------
    Conflict
        The campaign is not open, or nothing is left to judge.
    BadSetting
        Documents of the study are images, or are judged in groups.
    """
    if platform not in PLATFORMS:
        raise UnknownName("platform", platform, PLATFORMS)
    if not 1 <= days <= 365:
        raise BadSetting(f"days is a whole number from 1 to 365, not {days}")
    campaign = get_campaign(session, campaign_id)
    if campaign.state != "open":
        raise Conflict(f"the campaign {campaign.name!r} is not open")
    study = session.get_one(Study, campaign.study_id)
    if StudySettings.of(study.settings).grouping:
        raise BadSetting("documents judged in groups need the pages; they cannot be exported")
    while expire(session, campaign_id, at):
        pass
    hits = list(_hits(session, campaign, study, most or AT_MOST))
    if not hits:
        raise Conflict("nothing is left to judge: every place is filled or given out")
    for hit in hits:
        _lease(session, campaign, hit, platform, at, at + timedelta(days=days))
    session.flush()
    return _write(session, study, platform, hits)


def _hits(session: Session, campaign: Campaign, study: Study, most: int) -> Iterator[_Hit]:
    settings = CampaignSettings.of(campaign.settings)
    grades = StudySettings.of(study.settings)
    free = session.execute(
        select(Task.id, Task.pair_id, Task.topic_id, Task.overlap - Task.taken)
        .where(Task.campaign_id == campaign.id, Task.taken < Task.overlap)
        .order_by(Task.topic_id, Task.ring)
    ).all()
    # Whoever takes a HIT is not known yet: nobody has met any of the gold.
    there = read_gold(session, campaign.study_id, "")
    made = 0
    for places in sorted({row[3] for row in free}, reverse=True):
        mine = [row for row in free if row[3] == places]
        for start in range(0, len(mine), settings.batch_size):
            if made == most:
                return
            made += 1
            real = [
                DrawnDocument(pair_id=pair, topic_id=topic, task_id=task)
                for task, pair, topic, _ in mine[start : start + settings.batch_size]
            ]
            name = new_id()
            rng = random.Random(name)
            gold = _gold(there, settings.gold_size, grades.relevant_from, rng, real)
            yield _Hit(name, places, mix(real + gold, rng))


def _gold(
    there: Sequence[GoldPair],
    size: int,
    relevant_from: int,
    rng: random.Random,
    real: list[DrawnDocument],
) -> list[DrawnDocument]:
    """Gold of the batch's own topics, so that it does not stand out; of others where it must."""
    topics = list(dict.fromkeys(one.topic_id for one in real))
    rng.shuffle(topics)
    found: list[DrawnDocument] = []
    for topic in [*topics, None]:
        if len(found) >= size:
            break
        pairs = {one.pair_id for one in found}
        more = draw_gold(there, size, relevant_from, rng, topic)
        found += [one for one in more if one.pair_id not in pairs][: size - len(found)]
    return found


def _lease(
    session: Session, campaign: Campaign, hit: _Hit, platform: str, at: datetime, until: datetime
) -> None:
    """Take the places of a HIT, a batch for each worker who is still to come."""
    tasks = [one.task_id for one in hit.drawn if one.task_id is not None]
    for _ in range(hit.assignments):
        if take_places(session, tasks) != set(tasks):
            raise Conflict("places were taken by somebody else meanwhile; export again")
        # Nobody yet: the worker is known when the result comes in.
        user = User(name="a worker to come", campaign_id=campaign.id)
        session.add(user)
        session.flush()
        batch = Batch(
            id=new_id(),
            campaign_id=campaign.id,
            annotator_id=user.id,
            kind="work",
            outside={"platform": platform, "hit": hit.id},
            opened_at=at,
            expires_at=until,
        )
        session.add(batch)
        session.flush()
        session.add_all(
            Lease(
                batch_id=batch.id,
                annotator_id=user.id,
                task_id=one.task_id,
                pair_id=one.pair_id,
                gold_grade=one.gold_grade,
                position=position,
            )
            for position, one in enumerate(hit.drawn)
        )


def _write(session: Session, study: Study, platform: str, hits: list[_Hit]) -> Exported:
    settings = StudySettings.of(study.settings)
    grades, reasons = add_keys(settings), settings.cannot_judge
    cut: list[str] = []
    shown = _documents(session, hits, settings, cut)
    files: dict[str, bytes] = {}
    rows: list[dict[str, object]] = []
    notes: list[str] = []
    large = 0
    layout = mturk_layout(study.name, show_instructions(study.instructions))
    for places in sorted({hit.assignments for hit in hits}, reverse=True):
        mine = [hit for hit in hits if hit.assignments == places]
        if platform == "mturk":
            name = f"mturk-{places}.csv"
            lines = []
            for hit in mine:
                total = len(hit.drawn)
                html = "".join(
                    question_html(at, total, *shown[one.pair_id], grades, reasons)
                    for at, one in enumerate(hit.drawn, 1)
                )
                large += len((layout + html).encode()) > MTURK_LIMIT
                lines.append((hit.id, html))
            files[name] = mturk.write_hits(lines)
        else:
            name = f"toloka-{places}.tsv"
            files[name] = toloka.write_tasks(
                [
                    [
                        (hit.id, at, _title(shown[one.pair_id][0]), shown[one.pair_id][1])
                        for at, one in enumerate(hit.drawn, 1)
                    ]
                    for hit in mine
                ]
            )
        rows.append(
            {
                "file": name,
                "hits": len(mine),
                "assignments": places,
                "documents": sum(one.task_id is not None for hit in mine for one in hit.drawn),
                "gold": sum(one.task_id is None for hit in mine for one in hit.drawn),
            }
        )
    if platform == "mturk":
        files["mturk-layout.html"] = layout.encode()
    else:
        files["toloka-layout.html"] = toloka_layout(grades, reasons).encode()
    if cut:
        notes.append(f"{len(cut):,} long documents are cut, with […] at the end")
    if large:
        notes.append(
            f"{large:,} HITs are larger than the {MTURK_LIMIT:,} bytes MTurk takes; make "
            "the batches smaller"
        )
    return Exported(files, rows, notes)


def _title(topic: dict[str, str]) -> str:
    from html import escape

    parts = [topic["title"], topic["description"], topic["narrative"]]
    return "<br>".join(escape(" ".join(part.split())) for part in parts if part)


def _documents(
    session: Session, hits: list[_Hit], settings: StudySettings, cut: list[str]
) -> dict[int, tuple[dict[str, str], str]]:
    """Topic and document, as HTML, of each pair."""
    pairs = sorted({one.pair_id for hit in hits for one in hit.drawn})
    out: dict[int, tuple[dict[str, str], str]] = {}
    for start in range(0, len(pairs), 500):
        rows = session.execute(
            select(Pair.id, Topic, Document)
            .join(Topic, Topic.id == Pair.topic_id)
            .join(Document, Document.id == Pair.document_id)
            .where(Pair.id.in_(pairs[start : start + 500]))
            .options(undefer(Document.body))
        )
        for pair, topic, document in rows:
            if document.kind == "image":
                raise BadSetting("images need the pages; a study of images cannot be exported")
            need = {
                "title": topic.title or topic.query_id,
                "description": topic.description,
                "narrative": topic.narrative,
            }
            out[pair] = need, document_html(view_content(document, topic.title, settings), cut)
    return out
