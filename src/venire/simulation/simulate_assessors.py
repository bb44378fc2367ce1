"""``venire.simulate_assessors``: systems scored by a simulated second assessor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from venire.arguments import check_arguments
from venire.formats.load import RunsLike
from venire.measures import MeasureLike
from venire.simulation.known_truth import TruthLike, load_truth
from venire.simulation.pools.second_assessor import SecondAssessor
from venire.simulation.pools.substitution import SimulatedSubstitution, simulate_substitution


@check_arguments
def simulate_assessors(
    truth: TruthLike,
    runs: RunsLike | None = None,
    *,
    keep: float | Mapping[int, float],
    false_positives: float = 0.04,
    depth: int = 20,
    favour: str | None = None,
    top: int = 5,
    accept: float = 0.5,
    seeds: int = 30,
    measure: MeasureLike = "AP",
    relevant_from: int = 1,
    ties: str = "trec",
    seed: int = 0,
) -> SimulatedSubstitution:
    """Score systems by a simulated second assessor.

    The second assessor takes the place of the first, and the systems are scored again. The first
    simulation has the seed ``seed``, the next ``seed + 1``, and so on.

    Parameters
    ----------
    truth : collection, folder, Qrels, path or dataframe
        Qrels, or a collection with its qrels.
    runs : Runs, path, list of paths, or dataframe, optional
        As for :func:`venire.simulate_pools`.
    keep : float or mapping of grade to float
        Probability that a relevant document stays relevant: one number, or one per grade.
    false_positives : float
        Probability that a document of the pool that is not relevant becomes relevant.
    depth : int
        Depth of the assessor's pool.
    favour : str, optional
        Run that the assessor favours: documents at its top become relevant.
    top : int
        Number of top documents of the favoured run.
    accept : float
        Probability that a top document that is not relevant becomes relevant.
    seeds : int
        Number of simulations.
    measure : str
        Measure of the systems.
    relevant_from : int
        Smallest relevant grade.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.
    seed : int
        Seed of the first simulation.

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    assessor = SecondAssessor(
        keep=keep,
        false_positives=false_positives,
        depth=depth,
        favour=favour,
        top=top,
        accept=accept,
    )
    known = load_truth(truth, runs, ties)
    result = simulate_substitution(
        known.qrels,
        known.runs,
        assessor,
        seeds=range(seed, seed + seeds),
        measure=str(measure),
        relevant_from=relevant_from,
        ties=ties,
    )
    return replace(result, notes=(*known.notes, *result.notes))
