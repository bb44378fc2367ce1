"""The job ``aggregate``: fit a model to the judgments that count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import polars as pl
from sqlalchemy.orm import Session

from venire.aggregation.decision import UNSEEN, add_spam_interval, decide
from venire.aggregation.registry import DEFAULT, build
from venire.progress import Progress
from venire.report.folder import build_confusion_frame
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import CAMPAIGN, SEED
from venire.server.jobs.work import Work
from venire.server.studies.gold import read_gold_grades
from venire.settings import setting


class AggregateResult(TypedDict):
    """Facts of the fit, and what to do; the grades themselves are the part items.parquet."""

    model: str
    settings: dict[str, Any]
    seed: int
    version: str
    converged: bool | None
    scale: dict[str, Any]
    decision: list[str]
    rows: list[dict[str, Any]]
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class AggregateJob(JobKind):
    """Fit a model to the judgments that count."""

    model: str = setting(DEFAULT, words="Name of the model.", label="Model")
    settings: dict[str, bool | int | float | str] = setting(
        words="Settings of the model.", label="Settings of the model", default_factory=dict
    )
    campaign: str | None = setting(None, **CAMPAIGN)
    use_gold: bool = setting(
        False, words="Fix the grades of gold documents at their known values.", label="Use gold"
    )
    seed: int = setting(0, **SEED)

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown model, or a setting that it does not have."""
        build(self.model, dict(self.settings))

    def run(self, work: Work, progress: Progress) -> AggregateResult:
        """Fit the model.

        Saves the tables ``items``, ``annotators``, ``bounds``, ``agreeing_pairs`` and
        ``pairs_to_judge`` and, if the model has them, ``confusion`` and ``difficulty``.
        """
        model = build(self.model, dict(self.settings))
        table = work.read_judgments(self.campaign, gold=self.use_gold)
        known = None
        if self.use_gold:
            with work.store.reading() as session:
                known = read_gold_grades(session, work.study_id)
        posterior = model.fit(table, gold=known, seed=self.seed, progress=progress)
        decision = decide(table, posterior)
        tables = {
            "items": posterior.frame,
            "annotators": _mark_annotators(posterior.annotators),
            "bounds": posterior.bounds,
            "agreeing_pairs": decision.agreeing,
            "pairs_to_judge": decision.to_judge,
        }
        if posterior.difficulty is not None:
            tables["difficulty"] = posterior.difficulty
        if posterior.confusion is not None:
            tables["confusion"] = build_confusion_frame(posterior)
        for name, frame in tables.items():
            work.save_table(name, frame)
        return {
            "model": posterior.model,
            "settings": dict(posterior.settings),
            "seed": posterior.seed,
            "version": posterior.version,
            "converged": posterior.converged,
            "scale": {"values": posterior.scale.values, "names": posterior.scale.names},
            "decision": list(decision.steps),
            "rows": [
                {
                    "judgments": len(table),
                    "items": posterior.items.height,
                    "annotators": posterior.annotators.height,
                    "mean_sd": float(posterior.items["sd"].mean() or 0.0),
                }
            ],
            "notes": [
                *table.notes,
                *(note for note in posterior.notes if note not in table.notes),
            ],
        }


def _mark_annotators(annotators: pl.DataFrame) -> pl.DataFrame:
    """Return annotators with the interval of their spamminess, and whether to exclude each."""
    frame = add_spam_interval(annotators)
    if "spamminess_low" not in frame.columns:
        return frame
    return frame.with_columns((pl.col("spamminess_low") > UNSEEN).alias("exclude"))
