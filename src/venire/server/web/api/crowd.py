"""Crowd campaigns: more judgments asked for, forecasts kept and compared with what happened."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
from fastapi import APIRouter

from venire.errors import Conflict, DataError, NotFound
from venire.server.jobs import queue as jobs
from venire.server.store.work import Job
from venire.server.studies import campaigns
from venire.server.web.api.forms import KeptForecast, MoreJudgments, example
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession

router = APIRouter(prefix="/api/studies/{study_id}", tags=["crowd campaigns"])
_BESIDE = {"what": "judgments", "expected": 720.0, "so_far": 310}


def _finished(session: ReadSession, study_id: str, job_id: str, kind: str) -> Job:
    job = jobs.get_job(session, job_id, study_id)
    if job.kind != kind:
        raise NotFound(f"{kind} job", job_id)
    if job.state != "done":
        raise Conflict(f"the job is {job.state}; it has found nothing yet")
    return job


@router.post("/more-judgments", responses=example({"asked": 100}))
def ask_more(owner: CurrentOwner, store: AppStore, form: MoreJudgments) -> dict[str, int]:
    """Ask for one more judgment of every pair that a job ``next-best`` chose, once."""

    def work(session: Any) -> int:
        campaign = campaigns.get_campaign(session, form.campaign_id, owner.study_id)
        if campaign.state == "closed":
            raise Conflict(f"the campaign {campaign.name!r} is closed; nobody would be asked")
        job = _finished(session, owner.study_id, form.job_id, "next-best")
        frame = pl.read_parquet(io.BytesIO(jobs.part(session, job.id, "pairs.parquet")))
        if not frame.height:
            raise Conflict("the job chose no pair: none is expected to change anything")
        asked = campaigns.raise_overlap(
            session,
            form.campaign_id,
            list(frame.select("query_id", "doc_id").iter_rows()),
            by=owner.user.id,
            reason=f"next best judgment by {(job.result or {})['settings']['by']}",
            job=job.id,
        )
        if not asked:
            raise DataError(f"none of these pairs is in the pool of {campaign.name!r}")
        return asked

    return {"asked": store.write(work)}


@router.post("/forecasts", responses=example({"kept": True}))
def keep_forecast(owner: CurrentOwner, store: AppStore, form: KeptForecast) -> dict[str, bool]:
    """Keep what a job ``forecast`` expects of a design with a campaign; the last one counts."""

    def work(session: Any) -> None:
        campaigns.get_campaign(session, form.campaign_id, owner.study_id)
        job = _finished(session, owner.study_id, form.job_id, "forecast")
        rows = (job.result or {}).get("rows", [])
        if form.design >= len(rows):
            raise NotFound("design of the forecast", str(form.design))
        campaigns.keep_forecast(session, form.campaign_id, rows[form.design], owner.user.id)

    store.write(work)
    return {"kept": True}


@router.get("/campaigns/{campaign_id}/forecast", responses=example([_BESIDE]))
def get_forecast(
    member: CurrentMember, session: ReadSession, campaign_id: str
) -> list[dict[str, Any]]:
    """What was expected of a campaign beside what happened so far."""
    campaigns.get_campaign(session, campaign_id, member.study_id)
    return campaigns.beside_forecast(session, campaign_id)
