"""What a committee says of each annotator: spamminess by the members that have it, and the type."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior

SPAM_MEMBERS = ("ordinal-mixture", "annotator-types", "annotator-types (grades)")
"""Members with a spam component: their spamminess is the share of labels given unseen."""


def describe_annotators(annotators: pl.DataFrame, results: dict[str, Posterior]) -> pl.DataFrame:
    """Return the annotators with the spamminess and types of the members that have them.

    Spamminess is the probability that a label is given without looking. Its mean is that of
    the members; its variance is that of their mixture.

    Parameters
    ----------
    annotators : polars.DataFrame [N]
        ``annotator_id, judgments, expertise, ...`` of the mixture.
    results : mapping of str to Posterior
    """
    frames = [
        results[name].annotators
        for name in SPAM_MEMBERS
        if name in results and "spamminess" in results[name].annotators.columns
    ]
    if not frames:
        return annotators
    mean = np.stack([frame["spamminess"].to_numpy() for frame in frames])
    sd = np.stack([frame["spamminess_sd"].to_numpy() for frame in frames])
    middle = mean.mean(axis=0)
    spread = np.sqrt(np.mean(sd**2 + (mean - middle) ** 2, axis=0))
    annotators = annotators.with_columns(
        pl.Series("spamminess", middle), pl.Series("spamminess_sd", spread)
    )
    types = [frame["type"] for frame in frames if "type" in frame.columns]
    return annotators.with_columns(types[0]) if types else annotators
