"""Extra judgments: ask for one more judgment of some pairs of a campaign."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict
from venire.server.store.judging import Task
from venire.server.store.studies import Document, Pair, Topic
from venire.server.store.work import Decision
from venire.server.studies.campaigns import get_campaign
from venire.server.studies.tasks import sync_tasks


def raise_overlap(
    session: Session,
    campaign_id: str,
    pairs: Sequence[tuple[str, str]],
    *,
    by: str | None = None,
    reason: str = "",
    job: str | None = None,
) -> int:
    """Request one more judgment of each (query_id, doc_id); return the number of tasks.

    What was asked is kept as a decision, so that the places stay when the pool changes. Pairs that
    are no task of the campaign (gold, or not in the pool) are passed over. What a job chose is
    asked for once: a second time is a :class:`venire.errors.Conflict`.
    """
    campaign = get_campaign(session, campaign_id)
    if job is not None and count_requested(session, campaign.study_id, job) is not None:
        raise Conflict("These judgments were already requested. Choose pairs again.")
    wanted = set(pairs)
    rows = session.execute(
        select(Task.pair_id, Topic.query_id, Document.doc_id)
        .join(Pair, Pair.id == Task.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Task.campaign_id == campaign_id, Task.overlap > 0)
    )
    ids = [pair for pair, query, doc in rows if (query, doc) in wanted]
    if not ids:
        return 0
    session.add(
        Decision(
            study_id=campaign.study_id,
            kind="overlap",
            subject=campaign_id,
            verdict="raised",
            reason=reason,
            facts={"pairs": ids} if job is None else {"pairs": ids, "job": job},
            decided_by=by,
        )
    )
    session.flush()
    sync_tasks(session, campaign)
    return len(ids)


def count_requested(session: Session, study_id: str, job: str) -> int | None:
    """Return how many judgments chosen by a job were requested; None if none were."""
    for facts in session.scalars(
        select(Decision.facts).where(Decision.kind == "overlap", Decision.study_id == study_id)
    ):
        if facts.get("job") == job:
            return len(facts["pairs"])
    return None
