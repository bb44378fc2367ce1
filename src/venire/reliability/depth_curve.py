"""Compute what shallower pools of the same runs would have found, and how they would rank them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from venire.arrays import Longs
from venire.evaluation.ranks import ABSENT, UNRANKED, RankTable
from venire.evaluation.score import Scores, parse_measures, score
from venire.measures import Measure
from venire.reliability.pool_effect import measure_pool_effect, score_masked
from venire.stats.rank_correlation import tau_b

DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def compute_depth_curve(
    table: RankTable, grades: Longs, measure: str | Measure = "AP", *, topics: str = "qrels"
) -> pl.DataFrame:
    """Score the runs by the judgments that pools of depth 1, 2, 5, ... would have had.

    Where the curve of tau is flat before the depth that was judged, deeper judging would hardly
    change the order of these runs (Zobel, SIGIR 1998, asks the same of scores). The curve does not
    cover relevant documents that no run retrieved. Averages are over the same topics at every
    depth.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
    measure : str or Measure
    topics : "qrels" or "run"
        As in :func:`venire.evaluation.score.score_runs`.

    Returns
    -------
    polars.DataFrame
        One row per depth: ``depth``; number of ``judged`` and ``relevant`` pairs in the first k
        documents of any run; ``found_share`` of all relevant pairs of the qrels; Kendall's ``tau``
        (tau-b) with the order by all judgments. The last depth is that of the deepest judged pair.

    Examples
    --------
    >>> from venire import Qrels, Runs
    >>> from venire.evaluation.score import rank
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1}})
    >>> table = rank(qrels, Runs.from_dict({"q": {"b": 2.0, "a": 1.0}}))
    >>> curve = compute_depth_curve(table, table.grades(qrels))
    >>> curve.select("depth", "judged", "found_share").rows()
    [(1, 1, 0.0), (2, 2, 0.5)]
    """
    whole = score(table, grades, parse_measures([measure]), topics=topics)
    best = table.best_ranks()
    is_graded = grades != ABSENT
    deepest = int(best[is_graded & (best < UNRANKED)].max(initial=1))
    rows = []
    for depth in sorted({*(depth for depth in DEPTHS if depth < deepest), deepest}):
        pooled = best <= depth
        effect = measure_pool_effect(table, grades, pooled, whole)
        rows.append(
            {
                "depth": depth,
                "judged": int((pooled & (grades >= 0)).sum()),
                "relevant": effect.relevant_pooled,
                "found_share": effect.found_share,
                "tau": effect.tau,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"found_share": pl.Float64, "tau": pl.Float64})


def compare_half_depth(
    table: RankTable, grades: Longs, scores: Scores, systems: Sequence[str], depth: int
) -> float | None:
    """Return tau between the order of some systems by a pool and by a pool of half its depth.

    Where it is well below 1, the order still changes with depth. Judged pairs outside the first
    ``depth`` of every run stay judged. None where tau is undefined, or for a depth of 1.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
    scores : Scores
        By these grades, of one measure.
    systems : sequence of str
    depth : int
    """
    if depth < 2:
        return None
    best = table.best_ranks()
    is_shallow = (best <= depth // 2) | (best > depth)
    half = score_masked(table, grades, is_shallow, scores.measures[0], scores.counted)
    rows = [table.runs.index(name) for name in systems]
    return tau_b(scores.mean[0][rows], half[rows])
