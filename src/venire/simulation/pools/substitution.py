"""One assessor in the place of another: does the order of the systems hold."""

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
from venire.measures import parse
from venire.pooling.base import Lists
from venire.simulation.pools.assessors import SecondAssessor
from venire.simulation.pools.replay import mean_scores, pairs_of
from venire.stats.many_orders import kendall_taus, ranks_of, swapped_pairs
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


@dataclass(frozen=True)
class SimulatedSubstitution:
    """What changes when the second assessor's judgments take the place of the first's.

    Attributes
    ----------
    frame : polars.DataFrame
        One row a seed: ``seed``; ``overlap`` of the relevant sets (mean over topics of
        intersection / union); ``kappa`` (Cohen's, over the pool and the relevant documents);
        ``change``, the mean over systems of the absolute change of the score;
        ``relative_change``, of that change over the score; Kendall's ``tau``; ``swapped`` pairs.
    systems : polars.DataFrame
        One row a run, best first: ``run_id, score, rank`` under the first assessor.
    scores : float64 [seeds, runs]
        Under the second assessor, in the order of ``runs``.
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

    @property
    def ranks(self) -> pl.DataFrame:
        """One row a seed and run: ``seed, run_id, score, rank`` under the second assessor."""
        seeds = self.frame["seed"].to_numpy()
        return pl.DataFrame(
            {
                "seed": np.repeat(seeds, len(self.runs)),
                "run_id": self.runs * seeds.size,
                "score": self.scores.reshape(-1),
                "rank": ranks_of(self.scores).reshape(-1),
            },
            schema_overrides={"run_id": pl.String},
        )

    def summary(self) -> list[dict[str, Any]]:
        """Return ``quantity, median, low, high`` of each column: median and quartiles over seeds.

        A seed in which a quantity is not defined is left out of it.
        """
        rows = []
        for name in self.frame.columns[1:]:
            values = self.frame[name].cast(pl.Float64).drop_nulls().drop_nans().to_numpy()
            some: list[float | None] = (
                [float(x) for x in np.quantile(values, (0.5, 0.25, 0.75))]
                if values.size
                else [None] * 3
            )
            rows.append({"quantity": name, "median": some[0], "low": some[1], "high": some[2]})
        return rows

    def by_run(self) -> list[dict[str, Any]]:
        """Return a row a run: under the first assessor, and what the seeds make of it."""
        ranks = ranks_of(self.scores)
        rows = []
        for name, score, rank in self.systems.iter_rows():
            at = self.runs.index(name)
            rows.append(
                {
                    "run": name,
                    "score": score,
                    "rank": rank,
                    "median_score": float(np.median(self.scores[:, at])),
                    "median_rank": float(np.median(ranks[:, at])),
                    "best_rank": int(ranks[:, at].min()),
                    "worst_rank": int(ranks[:, at].max()),
                    "first": float((ranks[:, at] == 1).mean()),
                }
            )
        return rows


def substitute(
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
    both. The experiment is that of Voorhees, IP&M 36 (2000), with one assessor made up.

    Parameters
    ----------
    qrels : Qrels
        The first assessor; what they do not name is not relevant.
    runs : Runs
        Two systems or more.
    assessor : SecondAssessor
    seeds : int or sequence of int
        How many simulations (seeds 0, 1, ...), or their seeds.
    measure : str
    relevant_from : int
        Least relevant grade.
    ties : str
        As in :meth:`venire.Runs.ranked`.
    numbers : callable, optional
        Takes a seed and the pairs (``query_id, doc_id``, ``relevant`` to the first assessor and
        the ``chance`` to be so to the second) and gives a number in [0, 1) for each: for the random
        numbers of another program. By default numpy's generator, in the order of the ids.

    Raises
    ------
    BadSetting
        No seed, one system, a relevant grade without a rate.
    UnknownName
        Where the favoured run is none of the runs.
    NoOverlap
        Where runs and qrels share no topic.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> good = Runs.from_dict({"q": {"a": 2, "b": 1}}, run_id="good").frame
    >>> poor = Runs.from_dict({"q": {"a": 1, "b": 2}}, run_id="poor").frame
    >>> same = SecondAssessor(keep=1.0, false_positives=0.0)
    >>> substitute(qrels, Runs(pl.concat([good, poor])), same, seeds=1).frame.row(0)
    (0, 1.0, 1.0, 0.0, 0.0, 1.0, 0)
    """
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise BadSetting("a simulation needs at least one seed")
    parsed = parse(measure)
    lists = Lists.of(runs, ties=ties)
    if len(lists.runs) < 2:
        raise BadSetting("the order of systems needs at least two runs")
    depth = max(assessor.depth, assessor.top if assessor.favour else 0)
    table = RankTable.of(runs, pairs_of(qrels, lists, depth, relevant_from), ties=ties)
    grades = table.grades(qrels)
    first = grades >= relevant_from
    chance = assessor.relevance(table, grades, relevant_from)
    # Pairs stand in the order of their ids, so the draws do not depend on the order of the rows.
    draw = numbers or (lambda seed, pairs: np.random.default_rng(seed).random(pairs.height))
    pairs = table.pairs.with_columns(pl.Series("relevant", first), pl.Series("chance", chance))
    second = np.stack([draw(seed, pairs) < chance for seed in chosen])
    looked_at = first.copy()
    looked_at[table.pair[table.rank <= assessor.depth]] = True
    before = mean_scores(table, first.astype(np.int64), parsed)
    after = np.stack([mean_scores(table, row.astype(np.int64), parsed) for row in second])
    return SimulatedSubstitution(
        frame=_compare(chosen, table.topic, first, second, looked_at, before, after),
        systems=pl.DataFrame(
            {"run_id": table.runs, "score": before, "rank": ranks_of(before)},
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


def _compare(
    seeds: list[int],
    topic: Longs,
    first: Mask,
    second: Mask,
    looked_at: Mask,
    before: Floats,
    after: Floats,
) -> pl.DataFrame:
    """Return one row a seed; see :class:`SimulatedSubstitution`."""
    rows = np.stack([_table(first[looked_at], row[looked_at]) for row in second])
    size = int(topic.max()) + 1
    overlap = []
    for row in second:
        both = np.bincount(topic[first & row], minlength=size)
        either = np.bincount(topic[first | row], minlength=size)
        # A topic in which neither finds anything relevant has no overlap.
        overlap.append(
            float((both[either > 0] / either[either > 0]).mean()) if either.any() else None
        )
    change = np.abs(after - before)
    relative = np.divide(change, before, out=np.full(change.shape, np.nan), where=before > 0)
    values = {
        "kappa": cohen_of(rows, np.eye(2)),
        "change": change.mean(axis=1),
        "relative_change": relative.mean(axis=1),
        "tau": kendall_taus(before, after),
    }
    return pl.DataFrame(
        {"seed": seeds, "overlap": overlap, **values, "swapped": swapped_pairs(before, after)},
        schema_overrides={"overlap": pl.Float64},
    ).with_columns(pl.col(list(values)).fill_nan(None))


def _table(first: Mask, second: Mask) -> Floats:
    cell = np.bincount(first * 2 + second, minlength=4)
    return cell.reshape(2, 2).astype(np.float64)
