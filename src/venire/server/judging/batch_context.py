"""All that the next batch depends on, of a campaign and of its annotator, read in one statement."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select, text
from sqlalchemy.orm import Session

from venire.errors import NotAllowed, NotFound
from venire.server.judging.settings import CampaignSettings, StudySettings
from venire.server.store.judging import Batch, Campaign
from venire.server.store.people import Membership
from venire.server.store.studies import Study


@dataclass(frozen=True)
class Entry:
    """A campaign as one annotator comes in.

    ``late`` says that a batch of the campaign has run out of time; ``open_batch`` is the
    annotator's own. ``practised``, ``qualified`` and ``tries`` say what came before work.
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


def enter(session: Session, campaign_id: str, annotator_id: str, at: datetime) -> Entry:
    """How a campaign stands for one of its annotators.

    Raises
    ------
    NotFound
        No such campaign.
    NotAllowed
        The annotator is not in the study, or is paused.
    """
    given = {"campaign": campaign_id, "annotator": annotator_id, "at": at}
    row = session.connection().execute(_ENTRY, given).first()
    if row is None:
        raise NotFound("campaign", campaign_id)
    if row.role is None or row.role == "viewer":
        raise NotAllowed("you are not an annotator of this study")
    if row.paused_at is not None:
        raise NotAllowed("your work in this study is paused; the owner of the study knows why")
    return Entry(
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
    )


# The words of the partial indexes, so that both databases use them.
_BEFORE_WORK = text("batch.kind <> 'work'")
_OPEN = text("batch.state = 'open'")
_TRIED = or_(Batch.state != "returned", Batch.valid.is_not(None))
_MINE: tuple[Any, ...] = (
    Batch.annotator_id == bindparam("annotator"),
    Batch.campaign_id == bindparam("campaign"),
)
_QUALIFICATION = (*_MINE, _BEFORE_WORK, Batch.kind == "qualification")

# Made once: making a statement takes longer than running it.
_ENTRY = (
    select(
        Campaign.study_id,
        Campaign.name,
        Campaign.state,
        Campaign.settings,
        Study.settings.label("study_settings"),
        Membership.role,
        Membership.paused_at,
        select(Batch.id).where(*_MINE, _OPEN).scalar_subquery().label("open_batch"),
        select(Batch.id)
        .where(
            Batch.campaign_id == bindparam("campaign"),
            _OPEN,
            Batch.expires_at < bindparam("at"),
        )
        .exists()
        .label("late"),
        # A practice that ran out before anything in it was answered comes again.
        select(Batch.id)
        .where(*_MINE, _BEFORE_WORK, Batch.kind == "practice", Batch.state != "returned")
        .where(or_(Batch.state != "expired", Batch.gold_asked > 0))
        .exists()
        .label("practised"),
        # Who leaves a qualification after judging some of it has tried.
        select(Batch.id).where(*_QUALIFICATION, Batch.valid.is_(True)).exists().label("qualified"),
        select(func.count())
        .select_from(Batch)
        .where(*_QUALIFICATION, _TRIED)
        .scalar_subquery()
        .label("tries"),
    )
    .join(Study, Study.id == Campaign.study_id)
    .outerjoin(
        Membership,
        and_(
            Membership.study_id == Campaign.study_id,
            Membership.user_id == bindparam("annotator"),
        ),
    )
    .where(Campaign.id == bindparam("campaign"))
)
