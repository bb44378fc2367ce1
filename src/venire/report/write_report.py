"""``venire.write_report``: a result as a folder with tables and a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from venire.aggregation.aggregate import Aggregation
from venire.aggregation.posterior import Posterior
from venire.agreement.summary import Agreement
from venire.arguments import check_arguments
from venire.errors import DataError
from venire.formats.whole_folder import write_whole
from venire.reliability.repeatability import Repeatability
from venire.reliability.summary import Trust
from venire.report.agreement import write_agreement
from venire.report.annotators_needed import write_annotators_needed
from venire.report.folder import write_posterior, write_posteriors
from venire.report.forecast import write_forecast
from venire.report.grouping import GroupingReport, write_grouping
from venire.report.repeatability import write_repeatability
from venire.report.trust import write_trust
from venire.simulation.campaigns.annotators_needed import AnnotatorsNeeded
from venire.simulation.campaigns.designs import Forecast
from venire.simulation.grouping.explanations import plan
from venire.simulation.simulate_grouping import GroupingSimulation
from venire.value_types import name_type


@check_arguments
def write_report(result: Any, folder: str | Path) -> Path:
    """Write a result into a folder: its tables, and ``report.html`` to look at.

    Parameters
    ----------
    result : Aggregation, Posterior, Agreement, Trust, Repeatability, AnnotatorsNeeded, \
GroupingSimulation or Forecast
        What a verb returned.
    folder : str or Path
        Folder to write; made where there is none. It holds all new files, or is as it was.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    DataError
        For anything else.
    """
    writer = next((writer for kind, writer in _WRITERS if isinstance(result, kind)), None)
    if writer is None:
        names = ", ".join(kind.__name__ for kind, _ in _WRITERS)
        raise DataError(
            f"There is no report for {name_type(type(result))}.", hint=f"Reports exist for {names}."
        )
    with write_whole(folder) as draft:
        writer(result, draft)
    return Path(folder) / "report.html"


def _write_aggregation(result: Aggregation, folder: str | Path) -> None:
    write_posteriors(
        list(result.posteriors.items()),
        folder,
        rows=result.rows,
        notes=result.notes,
        gold=result.gold,
        decision=result.decision,
    )


def _write_grouping(result: GroupingSimulation, folder: str | Path) -> None:
    recommendation = result.recommendation
    report = GroupingReport(
        recommendation=recommendation,
        results=result.results,
        annotators=result.annotators,
        cosines=result.cosines,
        plan=plan(
            result.settings,
            result.annotators,
            queries=len(result.queries),
            repetitions=result.repetitions,
        ),
        seed=result.seed,
        notes=[recommendation.summary, *recommendation.caveats, *result.notes],
    )
    write_grouping(report, folder)


_WRITERS: tuple[tuple[type, Callable[[Any, str | Path], Any]], ...] = (
    (Aggregation, _write_aggregation),
    (Posterior, write_posterior),
    (Agreement, write_agreement),
    (Trust, write_trust),
    (Repeatability, write_repeatability),
    (AnnotatorsNeeded, write_annotators_needed),
    (GroupingSimulation, _write_grouping),
    (Forecast, write_forecast),
)
