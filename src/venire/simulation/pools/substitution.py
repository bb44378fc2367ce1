"""Simulate another assessor in place of the first, and compare the order of the systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from venire.agreement.pairs import cohen_of
from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import ALL_TOPICS
from venire.measures import parse
from venire.pooling.base import Lists
from venire.reliability.substitution import mean_change, score_assessors
from venire.short_repr import write_repr
from venire.simulation.known_pairs import list_pairs, require_relevant
from venire.simulation.pools.second_assessor import SecondAssessor
from venire.stats.rank_correlation import count_swaps, rank_scores, tau_b_many
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import express


@dataclass(frozen=True)
class SimulatedSubstitution:
    """Scores of the systems under simulated second assessors, compared with those under the first.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per seed: ``seed``; ``overlap`` of the relevant sets (mean over topics of
        intersection / union); ``kappa`` (Cohen's, over the pool and the relevant documents);
        ``change``, the mean over systems of the absolute change of the score;
        ``relative_change``, the mean of that change divided by the score; Kendall's ``tau``
        (tau-b); number of ``swapped`` pairs of systems.
    systems : polars.DataFrame
        One row per run, best first: ``run_id, score, rank`` under the first assessor.
    scores : float64 [seeds, runs]
        Scores under the second assessor, in the order of ``runs``.
    runs : list of str
    settings : mapping
    notes : tuple of str
    """

    frame: pl.DataFrame
    systems: pl.DataFrame
    scores: Floats
    runs: list[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return write_repr(
            self, express(len(self.runs), "run"), express(self.frame.height, "simulation")
        )

    @property
    def ranks(self) -> pl.DataFrame:
        """One row per seed and run: ``seed, run_id, score, rank`` under the second assessor."""
        seeds = self.frame["seed"].to_numpy()
        return pl.DataFrame(
            {
                "seed": np.repeat(seeds, len(self.runs)),
                "run_id": self.runs * seeds.size,
                "score": self.scores.reshape(-1),
                "rank": rank_scores(self.scores).reshape(-1),
            },
            schema_overrides={"run_id": pl.String},
        )

    def summary(self) -> list[dict[str, Any]]:
        """Return ``quantity, median, low, high`` of each column: median and quartiles over seeds.

        Seeds in which a quantity is undefined are left out of its row.
        """
        rows = []
        for name in self.frame.columns[1:]:
            values = self.frame[name].cast(pl.Float64).drop_nulls().drop_nans().to_numpy()
            quartiles: list[float | None] = (
                [float(x) for x in np.quantile(values, (0.5, 0.25, 0.75))]
                if values.size
                else [None] * 3
            )
            median, low, high = quartiles
            rows.append({"quantity": name, "median": median, "low": low, "high": high})
        return rows

    def by_run(self) -> list[dict[str, Any]]:
        """Return one row per run: score and rank under the first assessor, and over the seeds."""
        ranks = rank_scores(self.scores)
        rows = []
        for name, score, rank in self.systems.iter_rows():
            run = self.runs.index(name)
            rows.append(
                {
                    "run": name,
                    "score": score,
                    "rank": rank,
                    "median_score": float(np.median(self.scores[:, run])),
                    "median_rank": float(np.median(ranks[:, run])),
                    "best_rank": int(ranks[:, run].min()),
                    "worst_rank": int(ranks[:, run].max()),
                    "first": float((ranks[:, run] == 1).mean()),
                }
            )
        return rows


def simulate_substitution(
    qrels: Qrels,
    runs: Runs,
    assessor: SecondAssessor,
    *,
    seeds: int | Sequence[int] = 30,
    measure: str = "AP",
    relevant_from: int = 1,
    ties: str = "trec",
    numbers: Callable[[int, pl.DataFrame], Floats] | None = None,
) -> SimulatedSubstitution:
    """Judge again with a simulated assessor, score the systems again, and compare.

    Both assessors are binary here, so that a graded measure sees the same kind of grades from
    both. The experiment is that of Voorhees, IP&M 36 (2000), with a simulated second assessor.

    Parameters
    ----------
    qrels : Qrels
        Grades of the first assessor; pairs that they do not name are not relevant.
    runs : Runs
        Two systems or more.
    assessor : SecondAssessor
    seeds : int or sequence of int
        Number of simulations (seeds 0, 1, ...), or their seeds.
    measure : str
    relevant_from : int
        Smallest relevant grade.
    ties : str
        As in :meth:`venire.Runs.with_ranks`.
    numbers : callable, optional
        Takes a seed and the pairs (``query_id, doc_id``; ``relevant``, whether the first assessor
        calls the pair relevant; ``chance``, the probability that the second does), and returns a
        number in [0, 1) per pair. Use it for the random numbers of another program. By default
        those of numpy's generator, in the order of the ids.

    Raises
    ------
    BadSetting
        No seed, one system, no relevant pair, a relevant grade without a rate.
    UnknownName
        Where the favoured run is not among the runs.
    NoOverlap
        Where runs and qrels share no topic.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> good = Runs.from_dict({"q": {"a": 2, "b": 1}}, run_id="good").frame
    >>> poor = Runs.from_dict({"q": {"a": 1, "b": 2}}, run_id="poor").frame
    >>> same = SecondAssessor(keep=1.0, false_positives=0.0)
    >>> both = Runs(pl.concat([good, poor]))
    >>> simulate_substitution(qrels, both, same, seeds=1).frame.row(0)
    (0, 1.0, 1.0, 0.0, 0.0, 1.0, 0)
    """
    seed_list = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not seed_list:
        raise BadSetting("must name at least one seed (got none)", argument="seeds")
    parsed = parse(measure)
    lists = Lists.of(runs, ties=ties)
    if len(lists.runs) < 2:
        raise BadSetting("the order of systems needs at least two runs")
    require_relevant(qrels, relevant_from)
    depth = max(assessor.depth, assessor.top if assessor.favour else 0)
    table = RankTable.of(runs, list_pairs(qrels, lists, depth), ties=ties)
    grades = table.grades(qrels)
    first = grades >= relevant_from
    chance = assessor.relevance(table, grades, relevant_from)
    # Pairs are in the order of their ids, so the draws do not depend on the order of the rows.
    draw = numbers or (lambda seed, pairs: np.random.default_rng(seed).random(pairs.height))
    pairs = table.pairs.with_columns(pl.Series("relevant", first), pl.Series("chance", chance))
    second = np.stack([draw(seed, pairs) < chance for seed in seed_list])
    before, after = score_assessors(
        table, first.astype(np.int64), second.astype(np.int64), parsed, topics=ALL_TOPICS
    )
    changes = {
        **_measure_agreement(table, first, second, assessor.depth),
        **_measure_changes(before, after),
    }
    return SimulatedSubstitution(
        frame=_frame(seed_list, changes),
        systems=pl.DataFrame(
            {"run_id": table.runs, "score": before, "rank": rank_scores(before)},
            schema_overrides={"run_id": pl.String},
        ).sort("rank", "run_id"),
        scores=after,
        runs=table.runs,
        settings={
            **assessor.settings,
            "measure": str(parsed),
            "relevant_from": relevant_from,
            "ties": ties,
        },
        notes=table.notes,
    )


def _measure_agreement(
    table: RankTable, first: Mask, second: Mask, depth: int
) -> dict[str, Floats]:
    """Return overlap and kappa of the first assessor and each second one [S]."""
    is_judged = first | (table.best_ranks() <= depth)
    counts = np.stack([_cross_tabulate(first[is_judged], row[is_judged]) for row in second])
    size = int(table.topic.max()) + 1
    overlap = []
    for row in second:
        both = np.bincount(table.topic[first & row], minlength=size)
        either = np.bincount(table.topic[first | row], minlength=size)
        # A topic in which neither finds anything relevant has no overlap.
        has_any = either > 0
        overlap.append(float((both[has_any] / either[has_any]).mean()) if has_any.any() else np.nan)
    return {"overlap": np.array(overlap), "kappa": cohen_of(counts, np.eye(2))}


def _measure_changes(before: Floats, after: Floats) -> dict[str, Floats | Longs]:
    """Return changes of scores and order under each second assessor [S]."""
    change = np.abs(after - before)
    relative = np.divide(change, before, out=np.full(change.shape, np.nan), where=before > 0)
    return {
        "change": mean_change(before, after),
        "relative_change": relative.mean(axis=1),
        "tau": tau_b_many(before, after),
        "swapped": count_swaps(before, after),
    }


def _frame(seeds: list[int], columns: Mapping[str, Floats | Longs]) -> pl.DataFrame:
    frame = pl.DataFrame({"seed": seeds, **columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def _cross_tabulate(first: Mask, second: Mask) -> Floats:
    cell = np.bincount(first * 2 + second, minlength=4)
    return cell.reshape(2, 2).astype(np.float64)
