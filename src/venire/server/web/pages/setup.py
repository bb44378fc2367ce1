"""The pages Pool and Annotation: pool, scale, instructions, campaigns, links."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.grouping.settings import ONE, grid
from venire.pooling.strategies import list_settings, list_strategies
from venire.server.content.instructions import show_instructions
from venire.server.jobs.queue import list_jobs
from venire.server.studies import campaigns, files, invitations, pools
from venire.server.studies.studies import count_contents, get_study
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route
from venire.settings import Rule, Settings, rules
from venire.simulation.grouping.explanations import spell_setting

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)

WITHOUT_RUNS = {
    "qrels": "Qrels: all pairs of a qrels file",
    "all": "All pairs: every document for every topic",
}


def group_rules(kind: type[Settings]) -> dict[str, list[Rule]]:
    """Return the rules of the settings by the headings of the form."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules(kind):
        groups.setdefault(rule.group, []).append(rule)
    return groups


@router.get("/pool")
def pool_page(request: Request, member: CurrentMember, session: ReadSession) -> HTMLResponse:
    """Choose the pairs to judge: preview the pool, then build it."""
    return study_page(
        "pool.html",
        request,
        member,
        session,
        "pool",
        counts=count_contents(session, member.study_id),
        current=pools.find_current_pool(session, member.study_id),
        runs=files.list_run_names(session, member.study_id),
        qrels=[
            row["name"]
            for row in files.list_files(session, member.study_id)
            if row["kind"] == "qrels"
        ],
        strategies={name: kind.label for name, kind in list_strategies().items()} | WITHOUT_RUNS,
        known={**list_settings(), "qrels": ("qrels",), "all": ()},
    )


@router.get("/annotation")
def annotation_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    grouping: Annotated[str, Query(max_length=300)] = "",
    encoder: Annotated[str, Query(max_length=300)] = "",
) -> HTMLResponse:
    """Show campaigns, links, grouping, scale, instructions and defaults of new campaigns.

    With ``grouping`` and ``encoder``, the page proposes this grouping.
    """
    study = get_study(session, member.study_id)
    settings = StudySettings.of(study.settings)
    current = settings.grouping
    study_files = files.list_files(session, member.study_id)
    campaign_rows = [
        {**row, "settings": CampaignSettings.of(row["settings"]).to_dict()}
        for row in campaigns.list_campaigns(session, member.study_id)
    ]
    owner = member.role == "owner"
    return study_page(
        "annotation.html",
        request,
        member,
        session,
        "annotation",
        groups=group_rules(CampaignSettings),
        defaults=CampaignSettings.of(settings.campaign).to_dict(),
        shown=show_instructions(study.instructions[:100_000]),
        campaigns=campaign_rows,
        invitations=invitations.list_invitations(session, member.study_id) if owner else [],
        counts=count_contents(session, member.study_id),
        proposed=grouping if grouping != current.get("setting", ONE) else "",
        grouping={"setting": ONE, "encoder": "", **current},
        wanted={
            "setting": grouping or current.get("setting", ONE),
            "encoder": encoder or current.get("encoder", ""),
        },
        setting_words=spell_setting,
        vectors=[row["name"] for row in study_files if row["kind"] == "vectors"],
        regrouping=list_jobs(session, member.study_id, "regroup"),
        examples=[ONE, *map(str, grid(["average-linkage", "leader", "k-means"]))],
    )
