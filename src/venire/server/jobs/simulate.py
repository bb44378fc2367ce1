"""The job ``simulate``: find the grouping of the study's pools that saves most time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import polars as pl
from sqlalchemy.orm import Session

from venire.formats.parquet import read_parquet
from venire.progress import Progress
from venire.report.grouping import GroupingReport, grouping_page
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.part_writer import PartWriter
from venire.server.jobs.simulation_plan import SimulationPlan, SimulationSettings, read_plan
from venire.server.jobs.work import Work, to_parquet
from venire.simulation.grouping.explanations import explanations
from venire.simulation.grouping.recommend import Recommendation, recommend
from venire.simulation.grouping.replay import Unit, results
from venire.simulation.grouping.replay import simulate as replay_all

SAVE_SECONDS = 1.0


class SimulateResult(TypedDict):
    """The recommendation, and one row per setting and per setting and annotator type."""

    verdict: str
    doubts: list[str]
    setting: str
    chosen: list[str]
    points: float
    encoder: str
    plan: str
    rows: list[dict[str, Any]]
    types: list[dict[str, Any]]
    explanations: dict[str, str]
    queries: list[str]
    notes: list[str]
    seed: int
    version: str


@dataclass(frozen=True, kw_only=True)
class SimulateJob(SimulationSettings, JobKind):
    """Replay every grouping with every annotator type, and recommend one grouping.

    Finished units (one grouping replayed by one annotator type) are saved while the job runs, so
    that a resumed job continues with the rest.
    """

    def check(self, session: Session, study_id: str) -> None:
        """Refuse what cannot be simulated."""
        read_plan(session, study_id, self)

    def run(self, work: Work, progress: Progress) -> SimulateResult:
        """Run the simulation.

        Saves the report and the tables ``settings``, ``types``, ``queries``, ``annotators`` and
        ``cosines``.
        """
        with work.store.reading() as session:
            plan = read_plan(session, work.study_id, self)
        table = _replay_units(work, plan, progress)
        recommendation = recommend(table, plan.chosen, bootstrap=plan.bootstrap, seed=plan.seed)
        _save_results(work, plan, table, recommendation)
        work.delete_parts(work.list_parts("units-"))
        return {
            "verdict": recommendation.summary,
            "doubts": recommendation.caveats,
            "setting": recommendation.setting,
            "chosen": list(recommendation.chosen),
            "points": recommendation.points,
            "encoder": self.encoder,
            "plan": plan.sentence,
            "rows": recommendation.settings.to_dicts(),
            "types": recommendation.types.to_dicts(),
            "explanations": explanations(recommendation),
            "queries": list(plan.groupings.pools.queries),
            "notes": plan.notes,
            "seed": recommendation.seed,
            "version": recommendation.version,
        }


def _replay_units(work: Work, plan: SimulationPlan, progress: Progress) -> pl.DataFrame:
    """Replay the units that no saved part has; return the rows of all units."""
    prefix = f"units-{plan.fingerprint}-"
    tables = [read_parquet(work.read_part(name)) for name in work.list_parts(prefix)]
    done = {
        unit for table in tables for unit in table.select("setting", "annotator").unique().rows()
    }
    fresh: list[Unit] = []
    units = replay_all(
        plan.groupings,
        plan.settings,
        plan.people,
        seed=plan.seed,
        repetitions=plan.repetitions,
        done=done,
        progress=progress,
    )
    with PartWriter[Unit](
        work, prefix, lambda pieces: to_parquet(results(pieces)), SAVE_SECONDS
    ) as writer:
        for unit in units:
            fresh.append(unit)
            writer.add(unit)
    return pl.concat([*tables, results(fresh)]) if fresh else pl.concat(tables)


def _save_results(
    work: Work, plan: SimulationPlan, table: pl.DataFrame, recommendation: Recommendation
) -> None:
    report = GroupingReport(
        recommendation=recommendation,
        results=table,
        annotators=plan.people,
        cosines=plan.groupings.cosines(),
        plan=plan.sentence,
        seed=plan.seed,
        notes=[recommendation.summary, *recommendation.caveats, *plan.notes],
    )
    page = grouping_page(report)
    work.save_page(page.render(f"Venire {recommendation.version}, seed {recommendation.seed}"))
    frames = {
        "settings": recommendation.settings,
        "types": recommendation.types,
        "queries": table,
        "annotators": pl.DataFrame([person.settings for person in plan.people]),
        "cosines": report.cosines,
    }
    for name, frame in frames.items():
        work.save_table(name, frame)
