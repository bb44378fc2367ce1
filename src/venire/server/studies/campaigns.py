"""Campaigns: made, opened, closed; their tasks follow the pool."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, insert, select, update
from sqlalchemy.orm import Session

from venire.errors import Conflict, DataError, NotFound
from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.server.store.base import now, split_rows
from venire.server.store.judging import Batch, Campaign, Judgment, Task
from venire.server.store.studies import Document, Gold, Pair, Topic
from venire.server.store.work import Decision
from venire.server.studies.studies import get_study


def create_campaign(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any] | None = None
) -> Campaign:
    """Make a campaign, not open yet, with a task for every pair of the pool."""
    study = get_study(session, study_id)
    if not name.strip():
        raise DataError("a campaign needs a name")
    _check_name(session, study_id, name)
    defaults = StudySettings.of(study.settings).campaign
    checked = CampaignSettings.of({**defaults, **(settings or {})})
    waves = session.scalar(select(func.max(Campaign.wave)).where(Campaign.study_id == study_id))
    campaign = Campaign(
        study_id=study_id,
        name=name.strip()[:200],
        wave=(waves or 0) + 1,
        settings=checked.to_dict(),
    )
    session.add(campaign)
    session.flush()
    sync_tasks(session, campaign)
    return campaign


def _check_name(session: Session, study_id: str, name: str) -> None:
    there = select(Campaign.id).where(
        Campaign.study_id == study_id, Campaign.name == name.strip()[:200]
    )
    if session.scalar(there) is not None:
        raise Conflict(f"the study has a campaign {name.strip()!r} already")


def get_campaign(session: Session, campaign_id: str, study_id: str | None = None) -> Campaign:
    """The campaign of that id (of that study)."""
    campaign = session.get(Campaign, campaign_id)
    if campaign is None or (study_id is not None and campaign.study_id != study_id):
        raise NotFound("campaign", campaign_id)
    return campaign


def find_campaign(session: Session, study_id: str, name: str) -> Campaign:
    """The campaign of a study by its name or id."""
    found = session.scalar(
        select(Campaign).where(
            Campaign.study_id == study_id, (Campaign.name == name) | (Campaign.id == name)
        )
    )
    if found is None:
        raise NotFound("campaign", name)
    return found


def open_campaign(session: Session, campaign_id: str) -> Campaign:
    """Let annotators in.

    Raises
    ------
    Conflict
        The pool is empty, or the batches are to hold gold and the study has none.
    """
    campaign = get_campaign(session, campaign_id)
    settings = CampaignSettings.of(campaign.settings)
    sync_tasks(session, campaign)
    if not session.scalar(select(Task.id).where(Task.campaign_id == campaign_id).limit(1)):
        raise Conflict("the pool is empty: build it on the Pool page first")
    gold = session.scalar(
        select(func.count()).where(Gold.study_id == campaign.study_id, Gold.active)
    )
    for what, asked in (
        ("each batch", settings.gold_size),
        ("the qualification", settings.qualification_size),
    ):
        if (gold or 0) < asked:
            raise Conflict(
                f"{what} is to hold {asked} gold documents and the study has {gold or 0}: "
                f"add gold on the Data page, or set the gold of {what.split()[-1]} to 0"
            )
    campaign.state = "open"
    campaign.opened_at = campaign.opened_at or now()
    campaign.closed_at = None
    return campaign


def close_campaign(session: Session, campaign_id: str) -> Campaign:
    """Give out no more batches; those that are open can be finished."""
    campaign = get_campaign(session, campaign_id)
    campaign.state = "closed"
    campaign.closed_at = now()
    return campaign


def change_campaign(
    session: Session, campaign_id: str, settings: Mapping[str, Any], name: str | None = None
) -> Campaign:
    """Change rules and overlap; what was decided before stays decided."""
    campaign = get_campaign(session, campaign_id)
    checked = CampaignSettings.of({**campaign.settings, **settings})
    campaign.settings = checked.to_dict()
    if name is not None and name.strip() and name.strip()[:200] != campaign.name:
        _check_name(session, campaign.study_id, name)
        campaign.name = name.strip()[:200]
    session.flush()
    sync_tasks(session, campaign)
    return campaign


def sync_tasks(session: Session, campaign: Campaign) -> None:
    """Give every pair of the pool that is no gold a task; close the tasks of all others.

    A task that people have begun never loses their places: its overlap falls to what is taken.
    """
    overlap = CampaignSettings.of(campaign.settings).overlap
    gold = select(Gold.pair_id).where(Gold.study_id == campaign.study_id, Gold.active)
    wanted = select(Pair.id).where(
        Pair.study_id == campaign.study_id, Pair.pooled, Pair.id.not_in(gold)
    )
    there = select(Task.pair_id).where(Task.campaign_id == campaign.id)
    new = session.execute(
        select(Pair.id, Pair.topic_id).where(Pair.id.in_(wanted), Pair.id.not_in(there))
    ).all()
    rng = random.Random(f"{campaign.id} {len(new)}")
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
    _more_places(session, campaign)


def raise_overlap(
    session: Session,
    campaign_id: str,
    pairs: Sequence[tuple[str, str]],
    *,
    by: str | None = None,
    reason: str = "",
    job: str | None = None,
) -> int:
    """Ask for one more judgment of each of these (query_id, doc_id); how many tasks got a place.

    What was asked is kept as a decision, so that the places stay when the pool changes. Pairs that
    are no task of the campaign (gold, or not in the pool) are passed over. What a job chose is
    asked for once: a second time is a :class:`venire.errors.Conflict`.
    """
    campaign = get_campaign(session, campaign_id)
    if job is not None and asked_for(session, campaign.study_id, job) is not None:
        raise Conflict("these judgments were asked for already; choose anew")
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


def asked_for(session: Session, study_id: str, job: str) -> int | None:
    """How many of the judgments that a job chose were asked for; None where none were yet."""
    for facts in session.scalars(
        select(Decision.facts).where(Decision.kind == "overlap", Decision.study_id == study_id)
    ):
        if facts.get("job") == job:
            return len(facts["pairs"])
    return None


def _more_places(session: Session, campaign: Campaign) -> None:
    """Give tasks the places that were asked for beyond the campaign's overlap."""
    more: Counter[int] = Counter()
    for facts in session.scalars(
        select(Decision.facts).where(Decision.kind == "overlap", Decision.subject == campaign.id)
    ):
        more.update(facts["pairs"])
    base = CampaignSettings.of(campaign.settings).overlap
    for extra in sorted(set(more.values())):
        pairs = [pair for pair, n in more.items() if n == extra]
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


def keep_forecast(
    session: Session, campaign_id: str, row: Mapping[str, Any], by: str | None = None
) -> Decision:
    """Keep what a design of a campaign is expected to cost and give; the last one counts."""
    campaign = get_campaign(session, campaign_id)
    kept = Decision(
        study_id=campaign.study_id,
        kind="forecast",
        subject=campaign_id,
        verdict="kept",
        facts=dict(row),
        decided_by=by,
    )
    session.add(kept)
    session.flush()
    return kept


def kept_forecast(session: Session, campaign_id: str) -> tuple[dict[str, Any], datetime] | None:
    """The forecast that was kept last with a campaign, and when."""
    found = session.scalar(
        select(Decision)
        .where(Decision.kind == "forecast", Decision.subject == campaign_id)
        .order_by(Decision.seq.desc())
        .limit(1)
    )
    return None if found is None else (found.facts, found.decided_at)


def forecast_of(session: Session, campaign_id: str) -> dict[str, Any] | None:
    """The forecast that was kept last with a campaign."""
    found = kept_forecast(session, campaign_id)
    return None if found is None else found[0]


def beside_forecast(session: Session, campaign_id: str) -> list[dict[str, Any]]:
    """What was expected of a campaign beside what happened so far: ``what, expected, so_far``.

    Judgments are all that were given, gold and rejected ones too; hours are of active work, None
    where no time is known.
    """
    get_campaign(session, campaign_id)
    kept = forecast_of(session, campaign_id)
    if kept is None:
        raise NotFound("forecast of the campaign", campaign_id)
    given, ms = session.execute(
        select(func.count(), func.sum(Judgment.active_ms)).where(
            Judgment.campaign_id == campaign_id, Judgment.label.is_not(None)
        )
    ).one()
    decided, bad = session.execute(
        select(func.count(), func.sum(case((Batch.valid.is_(True), 0), else_=1))).where(
            Batch.campaign_id == campaign_id, Batch.kind == "work", Batch.valid.is_not(None)
        )
    ).one()
    so_far = {
        "judgments": given,
        "hours": None if ms is None else int(ms) / 3_600_000,
        "rejected": int(bad) / decided if decided else None,
    }
    return [
        {"what": what, "expected": kept.get(what), "so_far": value}
        for what, value in so_far.items()
    ]


def sync_study(session: Session, study_id: str) -> None:
    """Bring the tasks of all campaigns that are not closed in line with the pool."""
    for campaign in session.scalars(
        select(Campaign).where(Campaign.study_id == study_id, Campaign.state != "closed")
    ):
        sync_tasks(session, campaign)
