"""``venire.simulate_campaign``: what designs of a campaign cost, and how good their grades are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from venire.arguments import check_arguments
from venire.formats.load import (
    JudgmentsLike,
    QrelsLike,
    RunsLike,
    load_judgments,
    load_qrels,
    load_runs,
)
from venire.formats.reading_options import ReadingOptions
from venire.measures import MeasureLike
from venire.progress import Progress, silent
from venire.simulation.campaigns.designs import Crowd, Forecast, forecast, grid
from venire.simulation.campaigns.pilot_crowd import crowd_of_pilot
from venire.tables.judgments import Judgments

PILOT = ReadingOptions(repeats="last")


@check_arguments
def simulate_campaign(
    truth: QrelsLike,
    runs: RunsLike,
    *,
    depth: int | Sequence[int] = 10,
    overlap: int | Sequence[int] = (1, 3, 5),
    batch_size: int | Sequence[int] = 10,
    gold: int | Sequence[int] = 2,
    gold_errors: int | Sequence[int] = 0,
    spam: float = 0.1,
    accuracy: float = 0.8,
    pilot: JudgmentsLike | None = None,
    seconds: float | None = None,
    price: float = 0.02,
    fee: float = 0.2,
    pay_rejected: bool = False,
    measure: MeasureLike = "AP",
    replays: int = 20,
    seed: int = 0,
    progress: Progress = silent,
) -> Forecast:
    """Forecast what designs of a campaign would cost and how good their grades would be.

    Every combination of the design's numbers is replayed on known grades.

    Parameters
    ----------
    truth : Qrels, path or dataframe
        Known grades of a collection like the one to be judged.
    runs : Runs, path, list of paths, or dataframe
        Two runs or more.
    depth : int or sequence of int
        Depths of the pool.
    overlap : int or sequence of int
        Judgments per document.
    batch_size : int or sequence of int
        Documents per batch, without gold.
    gold : int or sequence of int
        Gold documents per batch.
    gold_errors : int or sequence of int
        Gold documents that a valid batch may have wrong.
    spam : float
        Share of batches with random labels.
    accuracy : float
        Probability that the other annotators give the right grade.
    pilot : Judgments, path or dataframe, optional
        Judgments of pairs of ``truth`` that show how people judge, instead of ``spam`` and
        ``accuracy``.
    seconds : float, optional
        Seconds per judgment; 15, or the pilot's median.
    price : float
        Price per judgment.
    fee : float
        Share that the platform adds.
    pay_rejected : bool
        Whether rejected batches are paid too.
    measure : str
        Measure of the systems.
    replays : int
        Number of replays per design.
    seed : int
    progress : Progress

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    designs = grid(
        depth=_list_numbers(depth),
        overlap=_list_numbers(overlap),
        batch_size=_list_numbers(batch_size),
        gold_size=_list_numbers(gold),
        gold_errors=_list_numbers(gold_errors),
    )
    known = load_qrels(truth)
    table = load_runs(runs)
    expected: dict[str, Any] = {"price": price, "fee": fee, "pay_rejected": pay_rejected}
    if seconds is not None:
        expected["seconds"] = seconds
    if pilot is None:
        crowd = Crowd(spam=spam, accuracy=accuracy, **expected)
    else:
        judged = pilot if isinstance(pilot, Judgments) else load_judgments(pilot, PILOT, mapping="")
        crowd = crowd_of_pilot(judged, known, **expected)
    result = forecast(
        known, table, designs, crowd, measure=str(measure), replays=replays, seed=seed,
        progress=progress,
    )  # fmt: skip
    return replace(result, notes=(*table.notes, *result.notes))


def _list_numbers(numbers: int | Sequence[int]) -> list[int]:
    return [numbers] if isinstance(numbers, int) else list(numbers)
