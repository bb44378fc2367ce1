"""Routes of the pool and of campaigns."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from venire.server.store.judging import Campaign
from venire.server.studies import campaigns, pools
from venire.server.web.api.forms import (
    CampaignChange,
    NewCampaign,
    PoolChoice,
    example,
    read_form,
    read_pool_settings,
)
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}", tags=["pool and campaigns"])
_POOL = {"strategy": "depth", "pairs": 812, "topics": 20, "documents_per_topic": 40.6}
_CAMPAIGN = {"campaign_id": "Jx2k", "name": "Wave 1", "wave": 1, "state": "draft"}


@router.get("/pool", responses=example({**_POOL, "at": "2026-01-05T09:30:00Z"}))
def get_pool(member: CurrentMember, session: ReadSession) -> dict[str, Any] | None:
    """Return how the current pool was built; null if there is none."""
    return pools.find_current_pool(session, member.study_id)


@router.post("/pool/preview", responses=example(_POOL))
def preview_pool(member: CurrentMember, session: ReadSession, form: PoolChoice) -> dict[str, Any]:
    """Return what a strategy would choose and cost, without changing anything."""
    _, facts = pools.choose_pool(
        session, member.study_id, form.strategy, read_pool_settings(form.settings), form.seed
    )
    return facts


@router.post("/pool", responses=example({**_POOL, "new": 812, "gone": 0, "left_out": 0}))
def build_pool(owner: CurrentOwner, store: AppStore, form: PoolChoice) -> dict[str, Any]:
    """Build the pool, or rebuild it. Judgments are kept, also of pairs that leave the pool."""
    return store.write(
        lambda session: pools.build_pool(
            session,
            owner.study_id,
            form.strategy,
            read_pool_settings(form.settings),
            owner.user.id,
            form.seed,
        )
    )


def _view(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign_id": campaign.id,
        "name": campaign.name,
        "wave": campaign.wave,
        "state": campaign.state,
        "settings": campaign.settings,
    }


@router.get("/campaigns", responses=example([_CAMPAIGN]))
def list_campaigns(member: CurrentMember, session: ReadSession) -> list[dict[str, Any]]:
    """Return the campaigns in the order of their waves; completion codes for owners only."""
    rows = campaigns.list_campaigns(session, member.study_id)
    if member.role != "owner":
        # A worker of a crowd platform is paid for a completion code.
        rows = [
            {name: value for name, value in row.items() if not name.startswith("code_")}
            for row in rows
        ]
    return rows


@router.post("/campaigns", responses=example(_CAMPAIGN))
def create_campaign(owner: CurrentOwner, store: AppStore, form: NewCampaign) -> dict[str, Any]:
    """Create a campaign as a draft. Settings that are not named are the study's defaults."""
    settings = read_form(form.settings)
    return _view(
        store.write(
            lambda session: campaigns.create_campaign(session, owner.study_id, form.name, settings)
        )
    )


@router.patch("/campaigns/{campaign_id}", responses=example(_CAMPAIGN))
def change_campaign(
    owner: CurrentOwner, store: AppStore, campaign_id: str, form: CampaignChange
) -> dict[str, Any]:
    """Change settings or name. Earlier decisions about batches stay."""

    def work(session: Any) -> Campaign:
        campaigns.get_campaign(session, campaign_id, owner.study_id)
        return campaigns.change_campaign(session, campaign_id, read_form(form.settings), form.name)

    return _view(store.write(work))


@router.post("/campaigns/{campaign_id}/open", responses=example({**_CAMPAIGN, "state": "open"}))
def open_campaign(owner: CurrentOwner, store: AppStore, campaign_id: str) -> dict[str, Any]:
    """Open a campaign: annotators get batches."""

    def work(session: Any) -> Campaign:
        campaigns.get_campaign(session, campaign_id, owner.study_id)
        return campaigns.open_campaign(session, campaign_id)

    return _view(store.write(work))


@router.post("/campaigns/{campaign_id}/close", responses=example({**_CAMPAIGN, "state": "closed"}))
def close_campaign(owner: CurrentOwner, store: AppStore, campaign_id: str) -> dict[str, Any]:
    """Close a campaign: annotators get no new batches, and can finish open ones."""

    def work(session: Any) -> Campaign:
        campaigns.get_campaign(session, campaign_id, owner.study_id)
        return campaigns.close_campaign(session, campaign_id)

    return _view(store.write(work))
