"""Batches for the workers of a crowd platform, who are not known until their results come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict
from venire.server.judging.draw import DrawnDocument, draw_gold_by_topic
from venire.server.judging.gold import read_gold
from venire.server.judging.leases import take_places
from venire.server.judging.next_batch import mix
from venire.server.judging.rules import JudgingRules
from venire.server.store.base import new_id, open_random
from venire.server.store.judging import Batch, Lease, Task
from venire.server.store.people import User


@dataclass(frozen=True)
class PlatformBatch:
    """The documents of a HIT, in order, and the number of workers that it is for."""

    id: str
    workers: int
    documents: list[DrawnDocument]


def draw_platform_batches(
    session: Session, rules: JudgingRules, most: int
) -> Iterator[PlatformBatch]:
    """Draw batches that hold every free place of a campaign, up to ``most`` batches.

    A batch holds documents with the same number of free places, and is for as many workers: a
    platform that gives a HIT to a worker once then never lets a worker judge a document twice.
    Places are not taken yet; see :func:`lease_platform_batch`.
    """
    settings, campaign = rules.settings, rules.campaign
    free = session.execute(
        select(Task.id, Task.pair_id, Task.topic_id, Task.overlap - Task.taken)
        .where(Task.campaign_id == campaign.id, Task.taken < Task.overlap)
        .order_by(Task.topic_id, Task.ring)
    ).all()
    # The workers are unknown, so no gold has been seen.
    every = read_gold(session, campaign.study_id, "")
    gold_pairs = [pair for pair in every if not pair.practice]
    drawn = 0
    for places in sorted({row[3] for row in free}, reverse=True):
        tasks = [row for row in free if row[3] == places]
        for start in range(0, len(tasks), settings.batch_size):
            if drawn == most:
                return
            drawn += 1
            documents = [
                DrawnDocument(pair_id=pair, topic_id=topic, task_id=task)
                for task, pair, topic, _ in tasks[start : start + settings.batch_size]
            ]
            batch_id = new_id()
            rng = open_random()
            # Gold of the batch's own topics does not stand out; other gold only where it must.
            topics = list(dict.fromkeys(document.topic_id for document in documents))
            rng.shuffle(topics)
            documents += draw_gold_by_topic(
                gold_pairs, settings.gold_size, rules.study.relevant_from, rng, [*topics, None]
            )
            yield PlatformBatch(batch_id, places, mix(documents, rng))


def lease_platform_batch(
    session: Session,
    batch: PlatformBatch,
    campaign_id: str,
    platform: str,
    now: datetime,
    expires_at: datetime,
) -> None:
    """Take the places of a batch, and open a batch for each worker who is still to come.

    Raises
    ------
    Conflict
        Somebody else has taken a place since the batch was drawn (code ``places-taken``).
    """
    tasks = {document.task_id for document in batch.documents if document.task_id is not None}
    for _ in range(batch.workers):
        if take_places(session, tasks) != tasks:
            raise Conflict(
                "Other annotators took some of these places meanwhile. Export again.",
                code="places-taken",
            )
        # A placeholder until the result names the worker.
        user = User(name="a worker to come", campaign_id=campaign_id)
        session.add(user)
        session.flush()
        row = Batch(
            id=new_id(),
            campaign_id=campaign_id,
            annotator_id=user.id,
            kind="work",
            outside={"platform": platform, "hit": batch.id},
            opened_at=now,
            expires_at=expires_at,
        )
        session.add(row)
        session.flush()
        session.add_all(
            Lease(
                batch_id=row.id,
                annotator_id=user.id,
                task_id=document.task_id,
                pair_id=document.pair_id,
                gold_grade=document.gold_grade,
                position=position,
            )
            for position, document in enumerate(batch.documents)
        )
