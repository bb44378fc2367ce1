"""What to do after an aggregation: whom to exclude, who agrees too much, what to judge again."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.aggregation.collusion import find_agreeing_pairs
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs
from venire.tables.judgments import Judgments
from venire.tables.schema import express

UNSEEN = 0.5
"""Share of labels given without looking, above which an annotator is excluded."""
Z95 = 1.96
"""Half of a 95% interval in standard deviations."""
NAMED = 5
"""Annotators or pairs that a sentence names."""


def find_spammers(annotators: pl.DataFrame) -> pl.DataFrame:
    """Return who to exclude: the 95% interval of their spamminess lies above one half.

    Spamminess is the probability that a label is given without looking. For its interval see
    :func:`find_spam_interval`; error rate, power and coverage by simulation:
    docs/reference/verdicts.md.

    Parameters
    ----------
    annotators : polars.DataFrame
        Of a posterior; models without ``spamminess`` name nobody.

    Returns
    -------
    polars.DataFrame
        ``annotator_id, judgments, spamminess, spamminess_low, spamminess_high``, the most
        certain first.
    """
    columns = ["annotator_id", "judgments", "spamminess", "spamminess_low", "spamminess_high"]
    if "spamminess_sd" not in annotators.columns:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.Float64))
    low, high = find_spam_interval(
        *(annotators[name].to_numpy() for name in ("spamminess", "spamminess_sd", "judgments"))
    )
    return (
        annotators.with_columns(
            pl.Series("spamminess_low", low), pl.Series("spamminess_high", high)
        )
        .select(columns)
        .filter(pl.col("spamminess_low") > UNSEEN)
        .sort(["spamminess_low", "annotator_id"], descending=[True, False])
    )


def find_spam_interval(mean: Floats, sd: Floats, judgments: Longs) -> tuple[Floats, Floats]:
    r"""Return the 95% interval of spamminess.

    .. math:: m \pm 1.96 \sqrt{\min(s^2, p (1 - p)) + p (1 - p) / n}, \quad
        p = (n m + 1) / (n + 2), \quad \text{within } [0, 1]

    Models are sure of one type of annotator sooner than n labels allow: p (1 - p) / n is the
    variance of a share of n labels. No share of mean p has a variance above p (1 - p) (Bhatia and
    Davis, American Mathematical Monthly 107, 2000).

    Parameters
    ----------
    mean, sd : float64 [N]
    judgments : int64 [N]
        n, at least 1.
    """
    n = judgments.astype(np.float64)
    share = (n * mean + 1.0) / (n + 2.0)
    largest = share * (1.0 - share)
    half = Z95 * np.sqrt(np.minimum(sd**2, largest) + largest / n)
    return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)


def describe_decision(judgments: Judgments, posterior: Posterior) -> tuple[str, ...]:
    """Return what to do next, one sentence each: exclude, look at pairs, judge again, calibrate."""
    return (
        *describe_spammers(posterior),
        *describe_pairs(judgments, posterior),
        *describe_intervals(posterior),
    )


def describe_spammers(posterior: Posterior) -> tuple[str, ...]:
    """Return the sentence that names who to exclude, with the evidence."""
    if "spamminess" not in posterior.annotators.columns:
        return ()
    spammers = find_spammers(posterior.annotators)
    if spammers.is_empty():
        return ("nobody to exclude: no annotator certainly gives most labels without looking",)
    parts = [
        f"{name} ({mean:.2f}, 95% interval {low:.2f} to {high:.2f}, {express(count, 'judgment')})"
        for name, count, mean, low, high in spammers.head(NAMED).iter_rows()
    ]
    rest = spammers.height - len(parts)
    return (
        f"exclude {', '.join(parts)}{f' and {rest} more' if rest else ''}: most of their labels "
        "are given without looking (spamminess)",
    )


def describe_pairs(judgments: Judgments, posterior: Posterior) -> tuple[str, ...]:
    """Return the sentence that names annotators who agree more than the grades predict."""
    pairs = find_agreeing_pairs(judgments, posterior).filter("flagged")
    if pairs.is_empty():
        return ()
    columns = ("annotator_a", "annotator_b", "shared", "agreement", "expected")
    parts = [
        f"{a} and {b} ({agreement:.0%} of {express(shared, 'item')}, expected {expected:.0%})"
        for a, b, shared, agreement, expected in pairs.head(NAMED).select(columns).iter_rows()
    ]
    rest = pairs.height - len(parts)
    return (
        f"agree more than the grades predict, as one person with two accounts would: "
        f"{', '.join(parts)}{f' and {rest} more' if rest else ''}",
    )


def describe_intervals(posterior: Posterior) -> tuple[str, ...]:
    """Return the sentence on intervals that no known grades have calibrated."""
    if posterior.model != "committee" or posterior.calibration is not None:
        return ()
    return (WIDTHS,)


WIDTHS = (
    "intervals are not calibrated: where annotators share errors they are too narrow. 95% "
    "intervals held 82% to 100% of the true grades on 11 public crowds (91% on average); on five "
    "of these they should have been 1.3 to 2.3 times as wide. Pass 50 or more known grades to "
    "calibrate them"
)
"""Measured by ``python reproduce/crowds.py``."""
