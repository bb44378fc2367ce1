"""Tasks of a campaign: one per pair of the pool, with the number of judgments wanted."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from venire.formats.study_settings import CampaignSettings
from venire.server.store.base import open_random, split_rows
from venire.server.store.judging import Campaign, Task
from venire.server.store.studies import Gold, Pair
from venire.server.store.work import Decision


def sync_tasks(session: Session, campaign: Campaign) -> None:
    """Create a task for every pair of the pool that is not gold; close all other tasks.

    The overlap of a closed task falls to the number of places that are taken.
    """
    overlap = CampaignSettings.of(campaign.settings).overlap
    gold = select(Gold.pair_id).where(Gold.study_id == campaign.study_id, Gold.active)
    wanted = select(Pair.id).where(
        Pair.study_id == campaign.study_id, Pair.pooled, Pair.id.not_in(gold)
    )
    existing = select(Task.pair_id).where(Task.campaign_id == campaign.id)
    new = session.execute(
        select(Pair.id, Pair.topic_id).where(Pair.id.in_(wanted), Pair.id.not_in(existing))
    ).all()
    rng = open_random()
    rows = [
        {
            "campaign_id": campaign.id,
            "pair_id": pair,
            "topic_id": topic,
            "ring": rng.random(),
            "overlap": overlap,
            "taken": 0,
        }
        for pair, topic in new
    ]
    for part in split_rows(rows):
        session.execute(insert(Task), part)
    ours = Task.campaign_id == campaign.id
    # The rows are locked first, in the order of their ids, as every taker locks them.
    session.execute(select(Task.id).where(ours).order_by(Task.id).with_for_update())
    for rule, places in (
        (Task.pair_id.in_(wanted) & (Task.taken <= overlap), overlap),
        (Task.pair_id.in_(wanted) & (Task.taken > overlap), Task.taken),
        (Task.pair_id.not_in(wanted), Task.taken),
    ):
        session.execute(
            update(Task)
            .where(ours, rule)
            .values(overlap=places)
            .execution_options(synchronize_session=False)
        )
    session.flush()
    _add_requested_places(session, campaign)


def sync_study(session: Session, study_id: str) -> None:
    """Update the tasks of all campaigns that are not closed after a change of the pool."""
    for campaign in session.scalars(
        select(Campaign).where(Campaign.study_id == study_id, Campaign.state != "closed")
    ):
        sync_tasks(session, campaign)


def _add_requested_places(session: Session, campaign: Campaign) -> None:
    """Add the places that were requested beyond the overlap of the campaign."""
    requested: Counter[int] = Counter()
    for facts in session.scalars(
        select(Decision.facts).where(Decision.kind == "overlap", Decision.subject == campaign.id)
    ):
        requested.update(facts["pairs"])
    base = CampaignSettings.of(campaign.settings).overlap
    for extra in sorted(set(requested.values())):
        pairs = [pair for pair, n in requested.items() if n == extra]
        for part in split_rows(pairs):
            session.execute(
                update(Task)
                .where(
                    Task.campaign_id == campaign.id,
                    Task.pair_id.in_(part),
                    Task.overlap > 0,
                    Task.taken <= base + extra,
                    # A pair that left the pool has just the places that were taken.
                    Task.pair_id.in_(
                        select(Pair.id).where(Pair.study_id == campaign.study_id, Pair.pooled)
                    ),
                )
                .values(overlap=base + extra)
                .execution_options(synchronize_session=False)
            )
