"""The average annotator of a crowd: one confusion matrix for all."""

from __future__ import annotations

import polars as pl

from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats
from venire.errors import DataError
from venire.tables.judgments import Judgments


def fit_average_annotator(judgments: Judgments) -> tuple[Posterior, Floats]:
    """Return grades and P(label | grade) [K, K] as if an average annotator had given every label.

    Fits Dawid-Skene with one confusion matrix for all. A few labels per person are too few to learn
    a matrix per person, and the mean of such matrices would be drawn towards chance.
    """
    pooled = judgments.frame.with_columns(pl.lit("all").alias("annotator_id"))
    posterior = DawidSkene().fit(Judgments(pooled, judgments.scale))
    if posterior.confusion is None:
        raise DataError("the model learns no confusion of annotators")
    return posterior, posterior.confusion[0]
