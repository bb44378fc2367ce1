"""Scores of inferred grades against known grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats
from venire.errors import DataError, NoOverlap
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, express, number_text


@dataclass(frozen=True)
class Truth:
    """The three scores of arXiv:1305.0015, and the share of right grades.

    Attributes
    ----------
    mse : float
        Mean squared error of the estimate.
    pearson : float or None
        Correlation; None (undefined) if one side does not vary.
    ndcg : float
        Mean over queries, with gains 2^v - 1 for the grades v = 1..K.
    accuracy : float
        Share of items whose most probable grade is the known one.
    items, queries : int
        Number of items and queries that were compared.
    notes : tuple of str
    """

    mse: float
    pearson: float | None
    ndcg: float
    accuracy: float
    items: int
    queries: int
    notes: tuple[str, ...] = ()


def score_against_gold(posterior: Posterior, gold: Qrels) -> Truth:
    r"""Score inferred grades against known grades.

    .. math:: MSE = \frac1M \sum_m (z_m - \hat z_m)^2

    Pearson's r over all pairs, and per query the nDCG of its known pairs ranked by the
    estimate (source: arXiv:1305.0015, section 4). Equal estimates keep the order in which
    the pairs first occur in the judgments.

    Parameters
    ----------
    posterior : Posterior
    gold : Qrels

    Raises
    ------
    NoOverlap
        When no known pair was judged.
    """
    frame = posterior.items.select(*PAIR, "estimate").with_columns(
        pl.Series("mode", posterior.grades("mode"), dtype=pl.Float64)
    )
    both = frame.join(gold.frame, on=PAIR, how="inner", maintain_order="left")
    notes: tuple[str, ...] = ()
    if not both.height:
        raise NoOverlap(
            f"None of the {len(gold):,} known pairs was judged. Known pairs: "
            f"{_name_first(gold.frame)}; judged pairs: {_name_first(frame)}."
        )
    if both.height < len(gold):
        notes = (f"never judged and not scored: {express(len(gold) - both.height, 'known pair')}",)
    truth = both["relevance"].cast(pl.Float64).to_numpy()
    estimate = both["estimate"].to_numpy()
    on_scale = pl.col("relevance").cast(pl.Float64).is_in(list(posterior.scale.values))
    off_scale = both.filter(~on_scale)
    if off_scale.height:
        query, doc = off_scale.row(0)[:2]
        raise DataError(
            f"The known grade {number_text(off_scale['relevance'][0])} of {query} {doc} is not on "
            f"the scale {', '.join(posterior.scale.names)}.",
            hint='Pass the whole scale, for example `scale="0,1,2"`.',
            code="grade-off-scale",
        )
    rank = posterior.scale.index(truth) + np.float64(1.0)
    ndcg = score_queries(both["query_id"], estimate, rank)
    return Truth(
        mse=float(np.mean((estimate - truth) ** 2)),
        pearson=pearson(estimate, truth),
        ndcg=float(np.mean(ndcg)),
        accuracy=float(np.mean(both["mode"].to_numpy() == truth)),
        items=both.height,
        queries=ndcg.size,
        notes=notes,
    )


def _name_first(frame: pl.DataFrame) -> str:
    return ", ".join("/".join(map(str, row)) for row in frame.select(PAIR).head(3).iter_rows())


def pearson(a: Floats, b: Floats) -> float | None:
    """Return Pearson's r, or None where it is undefined because one side is constant."""
    if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def score_queries(query: pl.Series, estimate: Floats, grade: Floats) -> Floats:
    """Return the nDCG of each query, with gain 2^grade - 1 and discount 1 / log2(rank + 1).

    Parameters
    ----------
    query : polars.Series [n]
    estimate, grade : float64 [n]
        The ranking criterion (ties keep their order), and the known grade from 1.
    """
    code = (query.rank("dense") - 1).to_numpy().astype(np.int64)
    gain = 2.0**grade - 1.0
    start = np.concatenate([[0], np.cumsum(np.bincount(code))])

    def dcg(by: Floats) -> Floats:
        # np.bincount adds in a fixed order; a group_by with threads would not.
        ranked = np.lexsort((-by, code))
        position = np.arange(1, code.size + 1) - start[code[ranked]]
        return np.bincount(code[ranked], gain[ranked] / np.log2(position + 1.0)).astype(np.float64)

    ideal = dcg(gain)
    out: Floats = np.divide(dcg(estimate), ideal, out=np.full(ideal.size, np.nan), where=ideal > 0)
    return out
