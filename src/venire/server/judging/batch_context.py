"""Read what the next batch of an annotator depends on, in one statement."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select, text
from sqlalchemy.orm import Session

from venire.errors import NotAllowed, NotFound
from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.server.judging.pausing import PAUSED
from venire.server.store.judging import Batch, Campaign, Judgment, Lease
from venire.server.store.people import Membership, User
from venire.server.store.studies import Study


@dataclass(frozen=True)
class BatchContext:
    """A campaign, and what one of its annotators has done in it.

    Parameters
    ----------
    campaign_id, study_id, name, state : str
        Of the campaign.
    settings, study : CampaignSettings, StudySettings
    annotator_id : str
    open_batch : str or None
        The open batch of the annotator.
    late : bool
        Whether the time of any open batch of the campaign has run out.
    practised, qualified : bool
        Whether the annotator has done the practice, and passed the qualification.
    tries : int
        How often the annotator has tried the qualification.
    is_newcomer : bool
        Whether the annotator came by the link for platforms and has judged nothing yet.
    """

    campaign_id: str
    study_id: str
    name: str
    state: str
    settings: CampaignSettings
    study: StudySettings
    annotator_id: str
    open_batch: str | None
    late: bool
    practised: bool
    qualified: bool
    tries: int
    is_newcomer: bool


def read_batch_context(
    session: Session, campaign_id: str, annotator_id: str, now: datetime
) -> BatchContext:
    """Return the context of an annotator's next batch.

    Raises
    ------
    NotFound
        No such campaign.
    NotAllowed
        The annotator is not in the study (code ``not-annotator``), or is paused (``paused``).
    """
    values = {"campaign": campaign_id, "annotator": annotator_id, "now": now}
    row = session.connection().execute(_CONTEXT, values).first()
    if row is None:
        raise NotFound("campaign", campaign_id)
    if row.role is None or row.role == "viewer":
        raise NotAllowed("You are not an annotator of this study.", code="not-annotator")
    if row.paused_at is not None:
        raise NotAllowed(PAUSED, code="paused")
    return BatchContext(
        campaign_id,
        row.study_id,
        row.name,
        row.state,
        CampaignSettings.of(row.settings),
        StudySettings.of(row.study_settings),
        annotator_id,
        row.open_batch,
        bool(row.late),
        bool(row.practised),
        bool(row.qualified),
        row.tries,
        bool(row.is_newcomer),
    )


# Written as in the predicates of the partial indexes, so that both databases use these indexes.
_BEFORE_WORK = text("batch.kind <> 'work'")
_OPEN = text("batch.state = 'open'")
_TRIED = or_(Batch.state != "returned", Batch.valid.is_not(None))
_BY_ANNOTATOR: tuple[Any, ...] = (
    Batch.annotator_id == bindparam("annotator"),
    Batch.campaign_id == bindparam("campaign"),
)
_QUALIFICATION = (*_BY_ANNOTATOR, _BEFORE_WORK, Batch.kind == "qualification")

IS_EXPERIENCED = (
    select(Judgment.seq)
    .join(Lease, Lease.id == Judgment.lease_id)
    .where(
        Judgment.campaign_id == Campaign.id,
        Judgment.annotator_id == User.id,
        Judgment.label.is_not(None),
        Lease.task_id.is_not(None),
    )
    .correlate(Campaign, User)
    .exists()
)
"""Whether a user has judged a document of a campaign, besides gold."""

# Built once: building a statement takes longer than running it.
_CONTEXT = (
    select(
        Campaign.study_id,
        Campaign.name,
        Campaign.state,
        Campaign.settings,
        Study.settings.label("study_settings"),
        Membership.role,
        Membership.paused_at,
        select(Batch.id).where(*_BY_ANNOTATOR, _OPEN).scalar_subquery().label("open_batch"),
        select(Batch.id)
        .where(
            Batch.campaign_id == bindparam("campaign"),
            _OPEN,
            Batch.expires_at < bindparam("now"),
        )
        .exists()
        .label("late"),
        # A practice whose time ran out before anything was answered is repeated.
        select(Batch.id)
        .where(*_BY_ANNOTATOR, _BEFORE_WORK, Batch.kind == "practice", Batch.state != "returned")
        .where(or_(Batch.state != "expired", Batch.gold_asked > 0))
        .exists()
        .label("practised"),
        # Leaving a qualification after judging a part of it counts as a try.
        select(Batch.id).where(*_QUALIFICATION, Batch.valid.is_(True)).exists().label("qualified"),
        select(func.count())
        .select_from(Batch)
        .where(*_QUALIFICATION, _TRIED)
        .scalar_subquery()
        .label("tries"),
        and_(User.worker.is_not(None), ~IS_EXPERIENCED).label("is_newcomer"),
    )
    .join(Study, Study.id == Campaign.study_id)
    .outerjoin(
        Membership,
        and_(
            Membership.study_id == Campaign.study_id,
            Membership.user_id == bindparam("annotator"),
        ),
    )
    .outerjoin(User, User.id == bindparam("annotator"))
    .where(Campaign.id == bindparam("campaign"))
)
