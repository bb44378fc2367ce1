"""The pool and the campaigns: what is judged, by how many, under which rules."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from venire.server.store.judging import Campaign
from venire.server.studies import campaigns, lists, pools
from venire.server.web.api.forms import (
    CampaignChange,
    NewCampaign,
    PoolChoice,
    example,
    given,
    pool_settings,
)
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession

router = APIRouter(prefix="/api/studies/{study_id}", tags=["pool and campaigns"])
_POOL = {"strategy": "depth", "pairs": 812, "topics": 20, "documents_per_topic": 40.6}
_CAMPAIGN = {"campaign_id": "Jx2k", "name": "Wave 1", "wave": 1, "state": "draft"}


@router.get("/pool", responses=example({**_POOL, "at": "2026-01-05T09:30:00Z"}))
def get_pool(member: CurrentMember, session: ReadSession) -> dict[str, Any] | None:
    """How the pool was built last; null where it was not yet."""
    return pools.current(session, member.study_id)


@router.post("/pool/preview", responses=example(_POOL))
def preview_pool(member: CurrentMember, session: ReadSession, form: PoolChoice) -> dict[str, Any]:
    """What a strategy would choose, and what that costs; nothing is changed."""
    _, facts = pools.choose(
        session, member.study_id, form.strategy, pool_settings(form.settings), form.seed
    )
    return facts


@router.post("/pool", responses=example({**_POOL, "new": 812, "gone": 0, "left_out": 0}))
def build_pool(owner: CurrentOwner, store: AppStore, form: PoolChoice) -> dict[str, Any]:
    """Build the pool, or build it anew; judgments stay, whatever leaves the pool."""
    return store.write(
        lambda session: pools.build(
            session,
            owner.study_id,
            form.strategy,
            pool_settings(form.settings),
            owner.user.id,
            form.seed,
        )
    )


def _view(one: Campaign) -> dict[str, Any]:
    return {
        "campaign_id": one.id,
        "name": one.name,
        "wave": one.wave,
        "state": one.state,
        "settings": one.settings,
    }


@router.get("/campaigns", responses=example([_CAMPAIGN]))
def list_campaigns(member: CurrentMember, session: ReadSession) -> list[dict[str, Any]]:
    """Campaigns in the order of their waves."""
    rows = lists.campaigns(session, member.study_id)
    if member.role != "owner":
        # The codes are worth money on a crowd platform.
        rows = [
            {name: value for name, value in row.items() if not name.startswith("code_")}
            for row in rows
        ]
    return rows


@router.post("/campaigns", responses=example(_CAMPAIGN))
def create_campaign(owner: CurrentOwner, store: AppStore, form: NewCampaign) -> dict[str, Any]:
    """Make a campaign, not open yet; settings not given are the study's defaults."""
    return _view(
        store.write(
            lambda s: campaigns.create_campaign(s, owner.study_id, form.name, given(form.settings))
        )
    )  # fmt: skip


@router.patch("/campaigns/{campaign_id}", responses=example(_CAMPAIGN))
def change_campaign(
    owner: CurrentOwner, store: AppStore, campaign_id: str, form: CampaignChange
) -> dict[str, Any]:
    """Change rules, overlap or name; what was decided before stays decided."""

    def work(session: Any) -> Campaign:
        campaigns.get_campaign(session, campaign_id, owner.study_id)
        return campaigns.change_campaign(session, campaign_id, given(form.settings), form.name)

    return _view(store.write(work))


@router.post("/campaigns/{campaign_id}/open", responses=example({**_CAMPAIGN, "state": "open"}))
def open_campaign(owner: CurrentOwner, store: AppStore, campaign_id: str) -> dict[str, Any]:
    """Let annotators in."""

    def work(session: Any) -> Campaign:
        campaigns.get_campaign(session, campaign_id, owner.study_id)
        return campaigns.open_campaign(session, campaign_id)

    return _view(store.write(work))


@router.post("/campaigns/{campaign_id}/close", responses=example({**_CAMPAIGN, "state": "closed"}))
def close_campaign(owner: CurrentOwner, store: AppStore, campaign_id: str) -> dict[str, Any]:
    """Give out no more batches; those that are open can be finished."""

    def work(session: Any) -> Campaign:
        campaigns.get_campaign(session, campaign_id, owner.study_id)
        return campaigns.close_campaign(session, campaign_id)

    return _view(store.write(work))
