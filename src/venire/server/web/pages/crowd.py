"""Crowd: whether campaigns repeat, how many judges, what to ask next, what a campaign costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from venire.report.annotators_needed import shown
from venire.report.forecast import played_with
from venire.report.repeatability import overall_named
from venire.server.jobs import queue as jobs
from venire.server.store.work import Job
from venire.server.studies import campaigns, lists
from venire.server.web.deps import CurrentMember, Member, ReadSession
from venire.server.web.pages import charts
from venire.server.web.pages.analysis import SHOWN, JobId, kept_table, named, sources
from venire.server.web.pages.common import study_page
from venire.simulation.campaigns.annotators_needed import MEASURES, RULES, SOURCES
from venire.simulation.campaigns.designs import Crowd, Design

router = APIRouter(include_in_schema=False)
Row = dict[str, Any]
SETTINGS = ("depth", "overlap", "batch_size", "gold_size", "gold_errors")
COSTS = ("pairs", "judgments", "money", "hours", "tau", "tau_low", "tau_high", "kappa", "error",
         "rejected", "given_up")  # fmt: skip
DIGITS = {"pairs": 0, "judgments": 0, "money": 2, "hours": 2, "given_up": 1}


@router.get("/studies/{study_id}/crowd")
def crowd_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Four parts, each a job that is asked for, watched, and shown."""
    there = sources(session, member.study_id)
    known = lists.campaigns(session, member.study_id)
    parts = {name: _part(session, member, kind, job) for name, kind in _KINDS.items()}
    return study_page(
        "crowd.html",
        request,
        member,
        session,
        "crowd",
        charts=True,
        campaigns=known,
        open_campaigns=[row for row in known if row["state"] != "closed"],
        groups=_groups(known, there["sources"]),
        parts_of=parts,
        beside=_beside(session, known),
        kept_with=_kept(session, known),
        measures=MEASURES,
        label_sources=SOURCES,
        rules=RULES,
        design=Design(),
        crowd=Crowd(),
        **there,
    )


def _part(session: ReadSession, member: Member, kind: str, job_id: str) -> Row:
    """Jobs of a kind; what the one chosen has found, else the newest that is done."""
    known = jobs.list_jobs(session, member.study_id, kind)
    done = [job for job in known if job.state == "done"]
    chosen = next((job for job in done if job.id == job_id), done[0] if done else None)
    if chosen is None or not chosen.result:
        return {"jobs": known, "job": None, "result": None, "kept": []}
    names = {row["user_id"]: row["name"] for row in lists.members(session, member.study_id)}
    more = _FOUND[kind](session, chosen)
    return {
        "jobs": known,
        "job": chosen,
        "result": named(chosen.result, names),
        "kept": jobs.parts(session, chosen.id),
        **{key: named(value, names) for key, value in more.items()},
    }


def _groups(known: list[Row], grades: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Campaigns by name, and grades that experts may have given."""
    # The name of a campaign could be that of grades; its id cannot.
    found = [
        (row["campaign_id"] if ":" in row["name"] else row["name"], row["name"]) for row in known
    ]
    return found + [row for row in grades if row[0].partition(":")[0] in ("settled", "qrels")]


def _beside(session: ReadSession, known: list[Row]) -> list[Row]:
    """What was expected of every campaign that has a forecast, beside what happened so far."""
    return [
        {"campaign": row["name"], **what}
        for row in known
        if campaigns.forecast_of(session, row["campaign_id"]) is not None
        for what in campaigns.beside_forecast(session, row["campaign_id"])
    ]


def _kept(session: ReadSession, known: list[Row]) -> list[Row]:
    """The design that was kept with each campaign, and when."""
    found = [(row["name"], campaigns.kept_forecast(session, row["campaign_id"])) for row in known]
    return [
        {"campaign": name, "design": design_in_words(one[0]), "at": one[1]}
        for name, one in found
        if one is not None
    ]


def design_in_words(row: Mapping[str, Any], names: Sequence[str] = SETTINGS) -> str:
    """A design by its settings; those that a kept forecast does not have are left out."""
    return ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in names if name in row)


def _repeatability(session: ReadSession, job: Job) -> Mapping[str, Any]:
    tables = {
        name: kept_table(session, job, name)
        for name in ("scores", "swaps", "strictness", "agreement")
    }
    rows = {name: [] if frame is None else frame.to_dicts() for name, frame in tables.items()}
    by_measure: dict[str, list[Row]] = {}
    for row in rows["scores"]:
        by_measure.setdefault(row["measure"], []).append(
            {name: value for name, value in row.items() if name != "measure"}
        )
    groups = (job.result or {})["settings"]["groups"]
    return {
        **rows,
        "strictness": overall_named(rows["strictness"]),
        "scores": [
            {
                "measure": measure,
                "rows": mine,
                "chart": charts.lines(
                    mine[: charts.MOST_RUNS], "run_id", groups, ("systems", measure)
                ),
            }
            for measure, mine in by_measure.items()
        ],
        "matter": [row for row in rows["swaps"] if row["told_apart_by"] != "neither"],
    }


def _annotators(_session: ReadSession, job: Job) -> Mapping[str, Any]:
    rows = (job.result or {})["rows"]
    return {
        "sd": charts.by_measure(
            rows, "judges", "sd", ("judgments a pair", "standard deviation of a score")
        ),
        "rows": shown(rows),
        "tau": charts.by_measure(rows, "judges", "tau", ("judgments a pair", "tau")),
    }


def _next(session: ReadSession, job: Job) -> Mapping[str, Any]:
    pairs = kept_table(session, job, "pairs")
    return {
        "pairs": [] if pairs is None else pairs.head(SHOWN).to_dicts(),
        "total": 0 if pairs is None else pairs.height,
        "asked": campaigns.asked_for(session, job.study_id, job.id),
    }


def _forecast(_session: ReadSession, job: Job) -> Mapping[str, Any]:
    result = job.result or {}
    found = result["rows"]
    differs = [name for name in SETTINGS if len({row[name] for row in found}) > 1]
    rows = [{**row, "design": design_in_words(row)} for row in found]
    given = {key: value for key, value in result["settings"]["crowd"].items() if value is not None}
    order = sorted(range(len(rows)), key=lambda at: (not rows[at]["best"], rows[at]["money"]))
    return {
        "chart": charts.pareto(rows),
        "designs": [(at, rows[at]) for at in order],
        "differs": differs or SETTINGS,
        "common": design_in_words(found[0], [name for name in SETTINGS if name not in differs])
        if differs
        else "",
        "columns": COSTS,
        "digits": DIGITS,
        "played": played_with({**asdict(Crowd()), **given, **result.get("crowd", {})}),
    }


_KINDS = {
    "repeat": "repeatability",
    "judges": "annotators",
    "next": "next-best",
    "plan": "forecast",
}
_FOUND = {
    "repeatability": _repeatability,
    "annotators": _annotators,
    "next-best": _next,
    "forecast": _forecast,
}
