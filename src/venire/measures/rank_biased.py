"""Rank-biased precision, and its residual: the weight of documents without a grade."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats
from venire.measures.family import CUTOFF, REL, Family
from venire.measures.hits import Hits
from venire.settings import Rule

P = Rule(
    name="p",
    type=float,
    default=0.8,
    above=0,
    below=1,
    words="Persistence: probability that the user goes on to the next document.",
)


def rank_biased_precision(hits: Hits, *, rel: int, p: float, cutoff: int | None) -> Floats:
    """RBP: (1 - p) sum of p^(rank - 1) over relevant documents."""
    mask = hits.cut(hits.grade >= rel, cutoff)
    return hits.sum(_weigh_ranks(hits, p), mask)


def rbp_residual(hits: Hits, *, p: float, cutoff: int | None) -> Floats:
    """RBPResidual: what RBP would gain if every document without a grade were relevant.

    1 minus the weight of the judged documents: unjudged documents in the ranking, and all ranks
    after its end (or after the cutoff). A topic without retrieved documents has 0, as in
    trec_eval.
    """
    mask = hits.cut(hits.grade >= 0, cutoff)
    residual = 1.0 - hits.sum(_weigh_ranks(hits, p), mask)
    return np.where(hits.retrieved > 0, residual, 0.0)


def _weigh_ranks(hits: Hits, p: float) -> Floats:
    """Return (1 - p) p^(rank - 1): the probability that the user looks at a rank and stops."""
    weight: Floats = (1.0 - p) * np.power(p, hits.rank - 1.0)
    return weight


RBP = Family(
    name="RBP",
    function=rank_biased_precision,
    parameters=(P, REL),
    cutoff=CUTOFF,
    # ir_measures computes a graded RBP where rel is not named: the name says which one this is.
    shown=("rel",),
    source="Moffat and Zobel, ACM TOIS 27 (2008)",
)
RBP_RESIDUAL = Family(
    name="RBPResidual",
    function=rbp_residual,
    parameters=(P,),
    cutoff=CUTOFF,
    skips_unjudged=True,
    source="Moffat and Zobel, ACM TOIS 27 (2008)",
)
