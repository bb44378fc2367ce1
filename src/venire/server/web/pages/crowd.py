"""Crowd: repeatability, judgments needed per pair, next best judgments, the planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse

from venire.report.annotators_needed import describe_verdict, join_intervals
from venire.report.forecast import describe_crowd
from venire.report.repeatability import label_all_grades
from venire.server.jobs.forecast import DESIGN_SETTINGS, CrowdSettings
from venire.server.jobs.kinds import find_rules
from venire.server.jobs.parts import list_parts
from venire.server.jobs.queue import list_jobs
from venire.server.jobs.repeatability import is_grade_source
from venire.server.store.work import Job
from venire.server.studies import campaigns, extra_judgments, forecasts
from venire.server.web.deps import CurrentMember, Member, ReadSession
from venire.server.web.pages import charts
from venire.server.web.pages.analysis import (
    MAX_ROWS,
    JobId,
    list_sources,
    read_names,
    read_table,
    show_names,
)
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route
from venire.settings import rules
from venire.simulation.campaigns.annotators_needed import MEASURES
from venire.simulation.campaigns.designs import Crowd, Design
from venire.simulation.campaigns.recommended_design import advise_on_designs
from venire.simulation.campaigns.settled_grades import RULES

router = APIRouter(route_class=Route, include_in_schema=False)
Row = dict[str, Any]
COSTS = ("pairs", "judgments", "money", "work_hours", "tau", "kappa", "error", "rejected",
         "spam_rejected", "others_rejected", "given_up")  # fmt: skip
DIGITS = {"pairs": 0, "judgments": 0, "money": 2, "work_hours": 2, "given_up": 1}
DESIGN_LABELS = {
    "depth": "Pool depth",
    "overlap": "Judgments per pair",
    "batch_size": "Documents per batch",
    "gold_size": "Gold per batch",
    "gold_errors": "Gold errors allowed",
}
"""Label of each setting of a design: in the form, the table and the sentences."""
JOB_KINDS = {
    "repeat": "repeatability",
    "judges": "annotators",
    "next": "next-best",
    "plan": "forecast",
}
"""Kind of job of each part of the page."""


@router.get("/studies/{study_id}/crowd")
def crowd_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Show four parts; each queues a job, watches it and shows its result."""
    sources = list_sources(session, member.study_id)
    rows = campaigns.list_campaigns(session, member.study_id)
    parts = {name: _read_part(session, member, kind, job) for name, kind in JOB_KINDS.items()}
    return study_page(
        "crowd.html",
        request,
        member,
        session,
        "crowd",
        charts=True,
        campaigns=rows,
        open_campaigns=[row for row in rows if row["state"] != "closed"],
        groups=_list_groups(rows, sources["sources"]),
        parts_of=parts,
        beside=_compare_forecasts(session, rows),
        kept_with=_list_forecasts(session, rows),
        measures=MEASURES,
        rules=RULES,
        settings_rules={name: find_rules(kind) for name, kind in JOB_KINDS.items()},
        crowd_rules={rule.name: rule for rule in rules(CrowdSettings)},
        design=Design(),
        design_labels=DESIGN_LABELS,
        crowd=Crowd(),
        **sources,
    )


def _read_part(session: Session, member: Member, kind: str, job_id: str) -> Row:
    """Return the jobs of a kind, and the result of one: that of the id, else the newest."""
    jobs = list_jobs(session, member.study_id, kind)
    done = [job for job in jobs if job.state == "done"]
    chosen = next((job for job in done if job.id == job_id), done[0] if done else None)
    if chosen is None or not chosen.result:
        return {"jobs": jobs, "job": None, "result": None, "kept": []}
    names = {**read_names(session, member.study_id), **_label_groups(chosen)}
    return {
        "jobs": jobs,
        "job": chosen,
        "result": show_names(chosen.result, names),
        "kept": list_parts(session, chosen.id),
        **show_names(_READERS[kind](session, chosen), names),
    }


def _label_groups(job: Job) -> dict[str, str]:
    """Return the label of each source of grades that a comparison has as a group."""
    groups = ((job.result or {}).get("settings") or {}).get("groups") or []
    return {group: f"Qrels {group[6:]}" for group in groups if group.startswith("qrels:")}


def _list_groups(rows: list[Row], sources: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the campaigns, and the sources of grades that may be those of experts."""
    # The name of a campaign can be that of a source of grades; its id cannot.
    groups = [
        (row["campaign_id"] if is_grade_source(row["name"]) else row["name"], row["name"])
        for row in rows
    ]
    return groups + [row for row in sources if row[0].partition(":")[0] in ("settled", "qrels")]


def _compare_forecasts(session: Session, rows: list[Row]) -> list[Row]:
    """Compare the forecast of each campaign that has one with what has happened so far."""
    return [
        {"campaign": row["name"], **comparison}
        for row in rows
        if forecasts.forecast_of(session, row["campaign_id"]) is not None
        for comparison in forecasts.compare_forecast(session, row["campaign_id"])
    ]


def _list_forecasts(session: Session, rows: list[Row]) -> list[Row]:
    """Return the design saved with each campaign, and when it was saved."""
    saved = [(row["name"], forecasts.find_forecast(session, row["campaign_id"])) for row in rows]
    return [
        {"campaign": name, "design": describe_design(forecast[0]), "at": forecast[1]}
        for name, forecast in saved
        if forecast is not None
    ]


def describe_design(row: Mapping[str, Any], names: Sequence[str] = DESIGN_SETTINGS) -> str:
    """Return the settings of a design in words; those that a saved forecast lacks are left out."""
    return ", ".join(f"{DESIGN_LABELS[name].lower()} {row[name]}" for name in names if name in row)


def _read_repeatability(session: Session, job: Job) -> Row:
    tables = {
        name: read_table(session, job, name)
        for name in ("scores", "swaps", "strictness", "agreement")
    }
    rows = {name: [] if frame is None else frame.to_dicts() for name, frame in tables.items()}
    by_measure: dict[str, list[Row]] = {}
    for row in rows["scores"]:
        by_measure.setdefault(row["measure"], []).append(
            {name: value for name, value in row.items() if name != "measure"}
        )
    result = job.result or {}
    groups = result["settings"]["groups"]
    labels = _label_groups(job)
    return {
        **rows,
        "rates": [
            {name: "–" if value is None else value for name, value in row.items()}
            for row in result["rates"]
        ],
        "strictness": label_all_grades(rows["strictness"]),
        "scores": [
            {
                "measure": measure,
                "rows": [_label_columns(row, labels) for row in scores],
                "chart": charts.draw_columns(
                    scores[: charts.MAX_RUNS], "run_id", groups, ("systems", measure)
                ),
            }
            for measure, scores in by_measure.items()
        ],
        "matter": [row for row in rows["swaps"] if row["told_apart_by"] != "neither"],
    }


def _label_columns(row: Row, labels: Mapping[str, str]) -> Row:
    """Return a row whose columns are named by the labels of groups."""
    named = dict(row)
    for group, label in labels.items():
        named = {
            label + name[len(group) :] if name in (group, f"{group} rank") else name: value
            for name, value in named.items()
        }
    return named


def _read_annotators(_session: Session, job: Job) -> Row:
    """Return the verdicts in words, the table and the curves; nothing of an earlier version's."""
    result = job.result or {}
    if "verdicts" not in result:
        return {"is_outdated": True}
    rows, settings = result["rows"], result["settings"]
    axis = "judgments per pair"
    return {
        "is_outdated": False,
        "verdicts": [
            (measure, verdict["code"], describe_verdict(verdict, settings))
            for measure, verdict in result["verdicts"].items()
        ],
        "rows": join_intervals(rows),
        "tau": charts.draw_bands(
            rows, "judges", "tau_rep", (axis, "tau with another crowd"), settings["target_tau"]
        ),
        "sd": charts.draw_bands(
            rows, "judges", "sd", (axis, "standard deviation of a score"), settings["target_sd"]
        ),
    }


def _read_next_best(session: Session, job: Job) -> Row:
    pairs = read_table(session, job, "pairs")
    return {
        "pairs": [] if pairs is None else pairs.head(MAX_ROWS).to_dicts(),
        "total": 0 if pairs is None else pairs.height,
        "asked": extra_judgments.count_requested(session, job.study_id, job.id),
    }


def _read_forecast(_session: Session, job: Job) -> Row:
    result = job.result or {}
    # Forecasts of earlier versions lack some columns, and call the work hours "hours".
    empty = dict.fromkeys((*COSTS, "tau_low", "tau_high"))
    designs = [{**empty, "work_hours": row.get("hours"), **row} for row in result["rows"]]
    varied = [name for name in DESIGN_SETTINGS if len({row[name] for row in designs}) > 1]
    fixed = [name for name in DESIGN_SETTINGS if name not in varied]
    rows = [
        {
            **row,
            "design": describe_design(row),
            "choice": describe_design(row, varied or DESIGN_SETTINGS),
        }
        for row in designs
    ]
    crowd = result["settings"]["crowd"]
    expected = {name: value for name, value in crowd.items() if value is not None}
    order = sorted(range(len(rows)), key=lambda row: (not rows[row]["best"], rows[row]["money"]))
    return {
        "advice": advise_on_designs(designs, result["settings"]["replays"])
        if "tau_sd" in designs[0]
        else [],
        "chart": charts.draw_designs(rows),
        "designs": [(index, rows[index]) for index in order],
        "differs": varied or DESIGN_SETTINGS,
        "common": describe_design(designs[0], fixed) if varied else "",
        "columns": COSTS,
        "labels": DESIGN_LABELS,
        "digits": DIGITS,
        "crowd": describe_crowd({**asdict(Crowd()), **expected, **result.get("crowd", {})}),
    }


_READERS = {
    "repeatability": _read_repeatability,
    "annotators": _read_annotators,
    "next-best": _read_next_best,
    "forecast": _read_forecast,
}
