"""Pool and Annotation: what is judged, on which scale, under which rules, by whom."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from venire.grouping.settings import ONE, grid
from venire.pooling.strategies import SETTINGS
from venire.report.grouping_words import named
from venire.server.content.instructions import show_instructions
from venire.server.jobs import queue as jobs
from venire.server.judging.settings import MATCHES, TOPICS, CampaignSettings, StudySettings
from venire.server.studies import accounts, lists, pools
from venire.server.studies.studies import counts, get_study
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.common import study_page

router = APIRouter(prefix="/studies/{study_id}", include_in_schema=False)

#: Settings of a campaign as the page asks for them: name, label, help, group.
FIELDS = (
    ("overlap", "Judgments a document", "Different annotators for each document.", "Batches"),
    ("batch_size", "Documents in a batch", "Without gold.", "Batches"),
    ("topics", "Topics in a batch", "Auto: one, where it has gold of its own.", "Batches"),
    ("minutes", "Minutes kept", "How long a document waits for its annotator.", "Batches"),
    ("gold_size", "Gold in a batch", "Hidden documents with a known grade.", "Gold"),
    ("gold_errors", "Gold allowed wrong", "More, and the batch is rejected.", "Gold"),
    ("gold_match", "Gold is right when", "Side: relevant or not.", "Gold"),
    ("min_seconds", "Least seconds a document", "Median active time; 0 is no rule.", "Rules"),
    ("max_same_share", "Most of one label", "As a share of the batch; 1 is no rule.", "Rules"),
    (
        "pause_below",
        "Pause below",
        "Accuracy on gold that an annotator needs; 0 is no rule.",
        "Pause",
    ),
    ("pause_sure", "When sure", "The chance of being below it, .5 to 1.", "Pause"),
    ("practice_size", "Practice documents", "With feedback, before the first batch.", "Start"),
    ("qualification_size", "Qualification documents", "All gold; 0 is none.", "Start"),
    ("qualification_needed", "Needed right", "Of the qualification.", "Start"),
    ("qualification_tries", "Tries", "Of the qualification.", "Start"),
)
CHOICES = {"topics": TOPICS, "gold_match": MATCHES}
STRATEGIES = {
    "depth": "Depth: the first k of each run",
    "fused": "Fused: the first N of all runs taken together",
    "move-to-front": "Move to front: go on where relevant ones were found",
    "bandit-max-mean": "Bandit, greatest mean",
    "bandit-thompson": "Bandit, Thompson sampling",
    "bandit-nonstationary": "Bandit that forgets",
    "stratified": "Stratified: a random sample by rank",
    "qrels": "The pairs of qrels",
    "all": "Every document for every topic",
}


@router.get("/pool")
def pool_page(request: Request, member: CurrentMember, session: ReadSession) -> HTMLResponse:
    """Choose the pairs to judge: preview, then build."""
    return study_page(
        "pool.html",
        request,
        member,
        session,
        "pool",
        counts=counts(session, member.study_id),
        current=pools.current(session, member.study_id),
        runs=pools.run_names(session, member.study_id),
        qrels=[
            row["name"] for row in lists.files(session, member.study_id) if row["kind"] == "qrels"
        ],
        strategies=STRATEGIES,
        known={**SETTINGS, "qrels": ("qrels",), "all": ()},
    )


@router.get("/annotation")
def annotation_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    grouping: Annotated[str, Query(max_length=300)] = "",
    encoder: Annotated[str, Query(max_length=300)] = "",
) -> HTMLResponse:
    """Scale, instructions, grouping, defaults, campaigns, links; a grouping may be proposed."""
    study = get_study(session, member.study_id)
    current = StudySettings.of(study.settings).grouping
    there = lists.files(session, member.study_id)
    defaults: dict[str, Any] = asdict(
        CampaignSettings.of(StudySettings.of(study.settings).campaign)
    )
    owner = member.role == "owner"
    return study_page(
        "annotation.html",
        request,
        member,
        session,
        "annotation",
        fields=FIELDS,
        choices=CHOICES,
        defaults=defaults,
        shown=show_instructions(study.instructions[:100_000]),
        campaigns=lists.campaigns(session, member.study_id),
        invitations=accounts.invitations(session, member.study_id) if owner else [],
        counts=counts(session, member.study_id),
        proposed=grouping if grouping != current.get("setting", ONE) else "",
        grouping={"setting": ONE, "encoder": "", **current},
        wanted={
            "setting": grouping or current.get("setting", ONE),
            "encoder": encoder or current.get("encoder", ""),
        },
        setting_words=named,
        vectors=[row["name"] for row in there if row["kind"] == "vectors"],
        regrouping=jobs.list_jobs(session, member.study_id, "regroup"),
        examples=[ONE, *map(str, grid(["average-linkage", "leader", "k-means"]))],
    )
