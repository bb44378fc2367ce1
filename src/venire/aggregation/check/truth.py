"""How near inferred grades are to known ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats
from venire.errors import DataError, NoOverlap
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, counted, number_text


@dataclass(frozen=True)
class Truth:
    """The source paper's three scores, and the share of right labels.

    Attributes
    ----------
    mse : float
        Mean squared error of the estimate.
    pearson : float or None
        Correlation; None (undefined) where one side does not vary.
    ndcg : float
        Mean over queries; gains 2^v - 1 with grades mapped to v = 1..K.
    accuracy : float
        Share of items whose most probable grade is the known one.
    items, queries : int
        How many were compared.
    notes : tuple of str
    """

    mse: float
    pearson: float | None
    ndcg: float
    accuracy: float
    items: int
    queries: int
    notes: tuple[str, ...] = ()


def against_gold(posterior: Posterior, gold: Qrels) -> Truth:
    r"""Score inferred grades against known ones.

    .. math:: MSE = \frac1M \sum_m (z_m - \hat z_m)^2

    Pearson's r over all pairs, and for each query the nDCG of its known pairs ranked by
    the estimate (source: arXiv:1305.0015, section 4). Equal estimates keep the order in
    which the pairs first occur in the judgments.

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
            f"none of the {len(gold):,} known pairs was judged; known: "
            f"{_some(gold.frame)}; judged: {_some(frame)}"
        )
    if both.height < len(gold):
        notes = (f"never judged and not scored: {counted(len(gold) - both.height, 'known pair')}",)
    truth = both["relevance"].cast(pl.Float64).to_numpy()
    estimate = both["estimate"].to_numpy()
    off = both.filter(~pl.col("relevance").cast(pl.Float64).is_in(list(posterior.scale.values)))
    if off.height:
        query, doc = off.row(0)[:2]
        raise DataError(
            f"the known grade {number_text(off['relevance'][0])} of {query} {doc} is not on the "
            f"scale {', '.join(posterior.scale.names)}",
            hint='Pass the whole scale, for example `scale="0,1,2"`.',
            code="grade-off-scale",
        )
    rank = posterior.scale.index(truth) + np.float64(1.0)
    ndcg = ndcg_by_query(both["query_id"], estimate, rank)
    return Truth(
        mse=float(np.mean((estimate - truth) ** 2)),
        pearson=pearson(estimate, truth),
        ndcg=float(np.mean(ndcg)),
        accuracy=float(np.mean(both["mode"].to_numpy() == truth)),
        items=both.height,
        queries=ndcg.size,
        notes=notes,
    )


def _some(frame: pl.DataFrame) -> str:
    return ", ".join("/".join(map(str, row)) for row in frame.select(PAIR).head(3).iter_rows())


def pearson(a: Floats, b: Floats) -> float | None:
    """Return Pearson's r, or None where it is undefined: one value only on a side."""
    if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def ndcg_by_query(query: pl.Series, estimate: Floats, grade: Floats) -> Floats:
    """Return nDCG of each query, gain 2^grade - 1 and discount 1 / log2(rank + 1).

    Parameters
    ----------
    query : polars.Series [n]
    estimate, grade : float64 [n]
        What to rank by (ties keep their order), and the known grade from 1.
    """
    code = (query.rank("dense") - 1).to_numpy().astype(np.int64)
    gain = 2.0**grade - 1.0
    start = np.concatenate([[0], np.cumsum(np.bincount(code))])

    def dcg(by: Floats) -> Floats:
        # np.bincount adds in one order, where a group_by of threads would not.
        ranked = np.lexsort((-by, code))
        position = np.arange(1, code.size + 1) - start[code[ranked]]
        return np.bincount(code[ranked], gain[ranked] / np.log2(position + 1.0)).astype(np.float64)

    ideal = dcg(gain)
    out: Floats = np.divide(dcg(estimate), ideal, out=np.full(ideal.size, np.nan), where=ideal > 0)
    return out
