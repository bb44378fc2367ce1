"""Crowd campaigns: request more judgments; save forecasts and compare them with what happened."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from sqlalchemy.orm import Session

from venire.errors import Conflict, DataError, NotFound
from venire.formats.parquet import read_parquet
from venire.server.jobs.parts import read_part
from venire.server.jobs.queue import get_job
from venire.server.store.work import Job
from venire.server.studies import campaigns, extra_judgments, forecasts
from venire.server.web.api.forms import KeptForecast, MoreJudgments, example
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}", tags=["crowd campaigns"])
_COMPARISON = {"what": "judgments", "expected": 720.0, "so_far": 310}


def _get_done_job(session: Session, study_id: str, job_id: str, kind: str) -> Job:
    job = get_job(session, job_id, study_id)
    if job.kind != kind:
        raise NotFound(f"{kind} job", job_id)
    if job.state != "done":
        raise Conflict(f"The job is {job.state} and has no result. Wait until it is done.")
    return job


@router.post("/more-judgments", responses=example({"asked": 100}))
def request_judgments(owner: CurrentOwner, store: AppStore, form: MoreJudgments) -> dict[str, int]:
    """Request one more judgment of each pair that a job ``next-best`` chose; once per job."""

    def request(session: Session) -> int:
        campaign = campaigns.get_campaign(session, form.campaign_id, owner.study_id)
        if campaign.state == "closed":
            raise Conflict(f"The campaign {campaign.name!r} is closed. Open it, or choose another.")
        job = _get_done_job(session, owner.study_id, form.job_id, "next-best")
        pairs = read_parquet(read_part(session, job.id, "pairs.parquet"))
        if not pairs.height:
            raise Conflict("The job chose no pairs, so there is nothing to request.")
        requested = extra_judgments.raise_overlap(
            session,
            form.campaign_id,
            list(pairs.select("query_id", "doc_id").iter_rows()),
            by=owner.user.id,
            reason=f"next best judgment by {(job.result or {})['settings']['by']}",
            job=job.id,
        )
        if not requested:
            raise DataError(f"None of these pairs is in the pool of {campaign.name!r}.")
        return requested

    return {"asked": store.write(request)}


@router.post("/forecasts", responses=example({"kept": True}))
def save_forecast(owner: CurrentOwner, store: AppStore, form: KeptForecast) -> dict[str, bool]:
    """Save the forecast of a design with a campaign; it replaces an earlier one."""

    def save(session: Session) -> None:
        campaigns.get_campaign(session, form.campaign_id, owner.study_id)
        job = _get_done_job(session, owner.study_id, form.job_id, "forecast")
        rows = (job.result or {}).get("rows", [])
        if form.design >= len(rows):
            raise NotFound("design of the forecast", str(form.design))
        forecasts.save_forecast(session, form.campaign_id, rows[form.design], owner.user.id)

    store.write(save)
    return {"kept": True}


@router.get("/campaigns/{campaign_id}/forecast", responses=example([_COMPARISON]))
def get_forecast(
    member: CurrentMember, session: ReadSession, campaign_id: str
) -> list[dict[str, Any]]:
    """Compare the forecast of a campaign with what has happened so far."""
    campaigns.get_campaign(session, campaign_id, member.study_id)
    return forecasts.compare_forecast(session, campaign_id)
