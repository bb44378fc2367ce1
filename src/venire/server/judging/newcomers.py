"""Workers who have judged nothing yet: what they may hold is little, and not for long.

Anybody with the link for a crowd platform can make up worker IDs. Without a limit a few of them
would hold all documents of a campaign.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from venire.server.judging.batch_context import IS_EXPERIENCED, BatchContext
from venire.server.store.judging import Batch, Campaign, Lease, Task
from venire.server.store.people import User

MINUTES = 10
"""Minutes after which the batch of a newcomer ends in which nothing was judged."""
SHARE = 0.2
"""Share of the places of a campaign that all newcomers together may hold."""
LEAST_BATCHES = 2
"""Number of batches that newcomers may hold in a campaign of any size."""
RETRY = timedelta(seconds=20)


def find_batch_end(context: BatchContext, now: datetime) -> datetime:
    """Return when a new batch of an annotator ends without activity."""
    minutes = context.settings.minutes
    return now + timedelta(minutes=min(minutes, MINUTES) if context.is_newcomer else minutes)


def have_newcomers_enough(session: Session, context: BatchContext) -> bool:
    """Return whether newcomers hold as many places of the campaign as they may."""
    values = {"campaign": context.campaign_id}
    places = session.scalar(_PLACES, values) or 0
    most = max(LEAST_BATCHES * context.settings.batch_size, int(SHARE * places))
    held = session.scalar(_HELD, values) or 0
    return held + context.settings.batch_size > most


_PLACES = select(func.sum(Task.overlap)).where(Task.campaign_id == bindparam("campaign"))
_HELD = (
    select(func.count())
    .select_from(Lease)
    .join(Batch, Batch.id == Lease.batch_id)
    .join(Campaign, Campaign.id == Batch.campaign_id)
    .join(User, User.id == Batch.annotator_id)
    .where(
        Batch.campaign_id == bindparam("campaign"),
        Batch.state == "open",
        Lease.state == "live",
        Lease.task_id.is_not(None),
        User.worker.is_not(None),
        ~IS_EXPERIENCED,
    )
)
