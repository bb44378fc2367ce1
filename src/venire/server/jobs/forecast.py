"""The job ``forecast``: simulate designs of a campaign on known grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from sqlalchemy.orm import Session

from venire.errors import BadSetting
from venire.measures import parse
from venire.progress import Progress
from venire.report.forecast import forecast_page
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import GRADES_SOURCE, MEASURE, RUNS, SEED, check_grades
from venire.server.jobs.work import Work
from venire.server.studies.files import read_runs
from venire.server.studies.grades import read_grades
from venire.server.studies.judgments import read_judgments
from venire.settings import Settings, setting
from venire.simulation.campaigns.designs import Crowd, Design, forecast, grid
from venire.simulation.campaigns.pilot_crowd import crowd_of_pilot

DESIGN_SETTINGS = tuple(field.name for field in fields(Design))


class ForecastResult(TypedDict):
    """One row per design: its cost, and the quality of its grades.

    ``summary`` is the sentence on the design to take.
    """

    summary: str
    rows: list[dict[str, Any]]
    notes: list[str]
    settings: dict[str, Any]
    crowd: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class CrowdSettings(Settings):
    """What is expected of the annotators; null means the default, or the value of the pilot."""

    spam: float | None = setting(
        None, words="Share of batches with random labels.", label="Share of spam", least=0, below=1
    )
    accuracy: float | None = setting(
        None, words="Accuracy of the other annotators.", label="Accuracy", above=0, most=1
    )
    seconds: float | None = setting(
        None, words="Seconds per judgment.", label="Seconds per judgment", least=0
    )
    price: float | None = setting(
        None, words="Price per judgment.", label="Price per judgment", least=0
    )
    fee: float | None = setting(
        None, words="Fee of the platform, as a share of the price.", label="Fee", least=0
    )
    pay_rejected: bool | None = setting(
        None, words="Pay rejected batches too.", label="Pay rejected batches"
    )

    def drop_nulls(self) -> dict[str, Any]:
        """Return the settings that are not null."""
        return {name: value for name, value in self.to_dict().items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class ForecastJob(JobKind):
    """Simulate each design, and report its cost and the quality of its grades."""

    grades: str = setting("adjudicated", **GRADES_SOURCE)
    designs: dict[str, list[int]] = setting(
        words=f"Values to try of each setting: {', '.join(DESIGN_SETTINGS)}. Every combination is "
        "simulated.",
        label="Designs",
        default_factory=lambda: {"overlap": [1, 3, 5]},
    )
    crowd: dict[str, bool | int | float | None] = setting(
        words="What is expected of the annotators: spam, accuracy, seconds, price, fee, "
        "pay_rejected.",
        label="Annotators",
        default_factory=dict,
    )
    pilot: str | None = setting(
        None,
        words="ID of a campaign whose annotators are simulated; null: annotators as in crowd.",
        label="Pilot",
    )
    runs: list[str] | None = setting(None, **RUNS)
    measure: str = setting("AP", **MEASURE)
    replays: int = setting(20, words="Simulations per design.", label="Replays", least=2)
    seed: int = setting(0, **SEED)

    def check(self, session: Session, study_id: str) -> None:
        """Refuse unknown grades, an unknown measure, and impossible designs or annotators."""
        check_grades(self.grades)
        parse(self.measure)
        list_designs(self.designs)
        Crowd(**CrowdSettings.of(self.crowd).drop_nulls())

    def run(self, work: Work, progress: Progress) -> ForecastResult:
        """Simulate the designs; saves the report.

        :func:`venire.server.studies.forecasts.save_forecast` saves a row with a campaign.
        """
        with work.store.reading() as session:
            truth = read_grades(session, work.study_id, self.grades)
            runs = read_runs(session, work.study_id, self.runs)
            pilot = None
            if self.pilot is not None:
                pilot = read_judgments(session, work.study_id, self.pilot)
        expected = CrowdSettings.of(self.crowd).drop_nulls()
        crowd = Crowd(**expected)
        if pilot is not None:
            crowd = crowd_of_pilot(pilot, truth, **expected)
        outcome = forecast(
            truth,
            runs,
            list_designs(self.designs),
            crowd,
            measure=self.measure,
            replays=self.replays,
            seed=self.seed,
            progress=progress,
        )
        page = forecast_page(outcome)
        work.save_page(page.render(f"Venire {outcome.version}, seed {outcome.seed}"))
        return {
            "summary": outcome.summary,
            "rows": outcome.rows,
            "notes": [*outcome.advice, *outcome.notes],
            "settings": self.to_dict(),
            "crowd": outcome.settings["crowd"],
            "version": outcome.version,
        }


def list_designs(choices: Mapping[str, Sequence[int]]) -> list[Design]:
    """Return the designs of every combination of the values.

    Raises
    ------
    BadSetting
        A setting that designs do not have, or no value for one.
    """
    for name in choices:
        if name not in DESIGN_SETTINGS:
            raise BadSetting(
                f"must be lists of whole numbers for {', '.join(DESIGN_SETTINGS)} (got {name!r})",
                argument="designs",
            )
    designs = grid(**choices)
    if not designs:
        raise BadSetting(
            f"must be lists of whole numbers, none of them empty (got {dict(choices)})",
            argument="designs",
        )
    return designs
