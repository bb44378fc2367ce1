"""What a shallower pool of the same runs would have found, and how it would have ranked them."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import score
from venire.measures import Measure, parse
from venire.stats.rank_correlation import tau_b

DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def depth_curve(
    table: RankTable, grades: Longs, measure: str | Measure = "AP", *, topics: str = "qrels"
) -> pl.DataFrame:
    """Score the runs again by the judgments that a depth-k pool of them would have had.

    Where the curve of tau is flat before the depth that was judged, deeper judging would hardly
    change the order of these runs (Zobel, SIGIR 1998, asks the same of scores). It says nothing
    of relevant documents that no run brought.

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
        One row a depth: ``depth``, ``judged`` pairs and ``relevant`` ones in the first k of some
        run, ``found_share`` of all relevant pairs of the qrels, and Kendall's ``tau`` (tau-b) with
        the order by all judgments. It ends where deeper pools have no more judged pairs.

    Examples
    --------
    >>> from venire import Qrels, Runs
    >>> from venire.evaluation.score import rank
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1}})
    >>> table = rank(qrels, Runs.from_dict({"q": {"b": 2.0, "a": 1.0}}))
    >>> depth_curve(table, table.grades(qrels)).select("depth", "judged", "found_share").rows()
    [(1, 1, 0.0), (2, 2, 0.5)]
    """
    measure = parse(measure) if isinstance(measure, str) else measure
    rel = dict(measure.parameters).get("rel") or 1
    first = np.full(len(table.pairs), np.iinfo(np.int64).max)
    np.minimum.at(first, table.pair, table.rank)
    known = grades != ABSENT
    relevant = known & (grades >= rel)
    deepest = int(first[known & (first < np.iinfo(np.int64).max)].max(initial=1))
    whole = score(table, grades, [measure], topics=topics).mean[0]
    rows = []
    for depth in sorted({*(depth for depth in DEPTHS if depth < deepest), deepest}):
        inside = first <= depth
        seen = score(table, np.where(inside, grades, ABSENT), [measure], topics=topics).mean[0]
        found = int((inside & relevant).sum())
        rows.append(
            {
                "depth": depth,
                "judged": int((inside & known & (grades >= 0)).sum()),
                "relevant": found,
                "found_share": found / relevant.sum() if relevant.any() else None,
                "tau": tau_b(whole, seen),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"found_share": pl.Float64, "tau": pl.Float64})
