"""Open the next batch of an annotator, and end batches whose time has run out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import bindparam, func, insert, select, text
from sqlalchemy.orm import Session, aliased

from venire.errors import Conflict, NotAllowed
from venire.server.judging.batch_context import BatchContext, read_batch_context
from venire.server.judging.draw import (
    DrawnDocument,
    choose_topic,
    draw_gold,
    draw_gold_by_topic,
    draw_real,
    draw_whole_pool,
)
from venire.server.judging.gold import GoldPair, count_unseen, read_gold, reserve_practice
from venire.server.judging.leases import free_places
from venire.server.judging.newcomers import RETRY, find_batch_end, have_newcomers_enough
from venire.server.judging.review import review
from venire.server.judging.rules import JudgingRules, read_rules
from venire.server.store.base import new_id, open_random
from venire.server.store.judging import AGAIN, Batch, Lease, Task

_MOST_EXPIRED = 20
"""Most batches that one transaction ends, so that it stays short."""


class NextState(StrEnum):
    """What an annotator does next."""

    BATCH = "batch"
    """Judge the batch."""
    WAIT = "wait"
    """Other annotators have all documents that are left. Ask again later."""
    DONE = "done"
    """Nothing is left for this annotator."""


@dataclass(frozen=True)
class NextStep:
    """What an annotator does next: judge ``batch_id``, ask again at ``retry_at``, or stop."""

    state: NextState
    batch_id: str | None = None
    retry_at: datetime | None = None


def open_next_batch(
    session: Session, campaign_id: str, annotator_id: str, now: datetime
) -> NextStep:
    """Return the annotator's open batch, or open a new one.

    First, batches whose time has run out are ended, so that their documents are free. A new batch
    takes a place in each of its tasks in the same transaction. Practice and qualification come
    before work.

    Raises
    ------
    NotFound
        No such campaign.
    NotAllowed
        The annotator is not in the study (code ``not-annotator``), is paused (``paused``), or has
        failed the qualification (``qualification-failed``).
    Conflict
        The campaign is not open yet (code ``campaign-draft``) or is closed (``campaign-closed``),
        or has too little gold for its qualification (``qualification-not-ready``).
    """
    context = read_batch_context(session, campaign_id, annotator_id, now)
    if context.late and expire(session, campaign_id, now):
        context = read_batch_context(session, campaign_id, annotator_id, now)
    if context.open_batch is not None:
        return NextStep(NextState.BATCH, context.open_batch)
    if context.state != "open":
        state = {"draft": "not open yet", "closed": "closed"}[context.state]
        raise Conflict(
            f"The campaign {context.name!r} is {state}.", code=f"campaign-{context.state}"
        )
    if context.is_newcomer and have_newcomers_enough(session, context):
        return NextStep(NextState.WAIT, retry_at=now + RETRY)
    batch_id = new_id()
    rng = open_random()
    documents, kind = _draw_documents(session, context, rng)
    if not documents:
        return _wait_or_done(session, campaign_id, annotator_id, now)
    grouped = kind == "work" and bool(context.study.grouping)
    batch = {
        "id": batch_id,
        "campaign_id": campaign_id,
        "annotator_id": annotator_id,
        "kind": kind,
        "opened_at": now,
        "expires_at": find_batch_end(context, now),
    }
    leases = [
        {
            "id": new_id(),
            "batch_id": batch_id,
            "annotator_id": annotator_id,
            "task_id": document.task_id,
            "pair_id": document.pair_id,
            "gold_grade": document.gold_grade,
            "cluster": document.cluster,
            "position": position,
        }
        for position, document in enumerate(documents if grouped else mix(documents, rng))
    ]
    execute = session.connection().execute
    execute(_NEW_BATCH, batch)
    execute(_NEW_LEASES, leases)
    return NextStep(NextState.BATCH, batch_id)


def has_open_batch(session: Session, campaign_id: str, annotator_id: str) -> bool:
    """Return whether the annotator has an open batch."""
    query = select(Batch.id).where(
        Batch.campaign_id == campaign_id,
        Batch.annotator_id == annotator_id,
        Batch.state == "open",
    )
    return session.scalar(query.limit(1)) is not None


# Statements are built once: building one takes longer than running it.
_NEW_BATCH, _NEW_LEASES = insert(Batch), insert(Lease)


def _list_before_work(context: BatchContext) -> list[tuple[str, int]]:
    """Return kind and size of batches before work: practice once, qualification until passed."""
    settings = context.settings
    kinds = []
    if settings.practice_size and not context.practised:
        kinds.append(("practice", settings.practice_size))
    if settings.qualification_size and not context.qualified:
        kinds.append(("qualification", settings.qualification_size))
    return kinds


def _draw_documents(
    session: Session, context: BatchContext, rng: random.Random
) -> tuple[list[DrawnDocument], str]:
    """Draw the documents of a batch; return them with the kind of the batch."""
    settings = context.settings
    before_work = _list_before_work(context)
    gold_pairs: list[GoldPair] = []
    if before_work or settings.gold_size:
        gold_pairs = read_gold(session, context.study_id, context.annotator_id)
    for kind, size in before_work:
        if kind == "qualification" and context.tries >= settings.qualification_tries:
            raise NotAllowed(
                "You did not pass the qualification. Thank you for trying.",
                code="qualification-failed",
            )
        allowed = [pair for pair in gold_pairs if not pair.practice]
        relevant_from = context.study.relevant_from
        if kind == "practice":
            allowed = reserve_practice(
                session, context.study_id, gold_pairs, size, settings.gold_size, relevant_from, rng
            )
        documents = draw_gold(allowed, size, relevant_from, rng)
        if len(documents) == size:
            return documents, kind
        if kind == "qualification":
            raise Conflict(
                "The qualification is not ready. Tell the owner of the study.",
                code="qualification-not-ready",
            )
    hidden = [pair for pair in gold_pairs if not pair.practice]
    return _draw_work(session, context, hidden, rng), "work"


def _draw_work(
    session: Session, context: BatchContext, gold_pairs: Sequence[GoldPair], rng: random.Random
) -> list[DrawnDocument]:
    """Draw real documents and gold, of one topic where gold does not stand out by its topic."""
    settings, study = context.settings, context.study
    batch_topic = None
    if settings.topics != "mixed" or study.grouping:
        topic = choose_topic(session, context, rng)
        if topic is None:
            return []
        if study.grouping:
            return draw_whole_pool(session, context, gold_pairs, topic, rng)
        if settings.topics == "one" or count_unseen(gold_pairs, topic) >= settings.gold_size:
            batch_topic = topic
    real = draw_real(session, context, settings.batch_size, rng, batch_topic)
    left = settings.batch_size - len(real)
    if batch_topic is not None and left:
        real += draw_real(session, context, left, rng, besides=real)
    if not real:
        return []
    topics = (batch_topic, None)
    return real + draw_gold_by_topic(
        gold_pairs, settings.gold_size, study.relevant_from, rng, topics
    )


def mix(documents: list[DrawnDocument], rng: random.Random) -> list[DrawnDocument]:
    """Return topics in random order, and the documents of each, gold included, in random order."""
    topics = list({document.topic_id for document in documents})
    rng.shuffle(topics)
    order = {topic: position for position, topic in enumerate(topics)}
    rng.shuffle(documents)
    return sorted(documents, key=lambda document: order[document.topic_id])


def _wait_or_done(session: Session, campaign_id: str, annotator_id: str, now: datetime) -> NextStep:
    """Return whether documents that are new to the annotator may become free, and when."""
    own_lease = aliased(Lease)
    seen = select(own_lease.id).where(
        own_lease.task_id == Task.id,
        own_lease.annotator_id == annotator_id,
        own_lease.state.not_in(AGAIN),
    )
    soonest = session.scalar(
        select(func.min(Batch.expires_at))
        .join(Lease, Lease.batch_id == Batch.id)
        .join(Task, Task.id == Lease.task_id)
        .where(Batch.campaign_id == campaign_id, Batch.state == "open", Lease.state == "live")
        .where(Batch.annotator_id != annotator_id, ~seen.exists())
    )
    if soonest is None:
        return NextStep(NextState.DONE)
    return NextStep(NextState.WAIT, retry_at=max(soonest, now + timedelta(seconds=1)))


_LATE = (
    select(Batch)
    .where(
        Batch.campaign_id == bindparam("campaign"),
        text("batch.state = 'open'"),
        Batch.expires_at < bindparam("now"),
    )
    .order_by(Batch.expires_at)
    .limit(_MOST_EXPIRED)
    .with_for_update(skip_locked=True)
)


def expire(session: Session, campaign_id: str, now: datetime) -> int:
    """End batches whose time has run out; return how many were ended.

    What was judged is kept, and the other documents are free again.
    """
    late = session.scalars(_LATE, {"campaign": campaign_id, "now": now}).all()
    if late:
        rules = read_rules(session, campaign_id)
        for batch in late:
            end(session, batch, "expired", rules, now)
    return len(late)


def end(session: Session, batch: Batch, state: str, rules: JudgingRules, now: datetime) -> None:
    """End a batch that is not finished, as ``expired`` or ``returned``.

    Leases that are still live end with it and free their places; the judged part is reviewed.
    A batch in which everything was judged becomes ``finished``.
    """
    leases = session.scalars(select(Lease).where(Lease.batch_id == batch.id)).all()
    live = [lease for lease in leases if lease.state == "live"]
    for lease in live:
        lease.state = state
        lease.ended_at = now
    session.flush()
    free_places(session, [lease.task_id for lease in live if lease.task_id is not None])
    batch.state = state if live else "finished"
    batch.finished_at = now
    if any(lease.state in ("judged", "cannot") for lease in leases):
        review(session, batch, list(leases), rules, now)
    session.flush()
