"""What to do after an aggregation: whom to exclude, who agrees too much, what to judge again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.aggregation.collusion import find_agreeing_pairs
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR, express

UNSEEN = 0.5
"""Share of labels given without looking, above which an annotator is excluded."""
Z95 = 1.96
"""Half of a 95% interval in standard deviations."""
NAMED = 5
"""Annotators or pairs that a sentence names."""
SURE = 0.9
"""A pair whose most probable grade has less than this probability is worth another judgment; a
choice of ours."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What to do after an aggregation.

    Attributes
    ----------
    steps : tuple of str
        One sentence each: exclude, look at pairs of annotators, judge again, calibrate.
    spammers : polars.DataFrame
        Annotators to exclude; see :func:`find_spammers`.
    agreeing : polars.DataFrame
        The pairs of annotators that :func:`venire.aggregation.collusion.find_agreeing_pairs`
        flags.
    to_judge : polars.DataFrame
        Pairs of query and document to judge again; see :func:`list_unsure_pairs`.
    """

    steps: tuple[str, ...]
    spammers: pl.DataFrame
    agreeing: pl.DataFrame
    to_judge: pl.DataFrame


def decide(judgments: Judgments, posterior: Posterior) -> Decision:
    """Return whom to exclude, who agrees too much, what to judge again, and what to do next."""
    spammers = find_spammers(posterior.annotators)
    agreeing = find_agreeing_pairs(judgments, posterior).filter("flagged").drop("flagged")
    to_judge = list_unsure_pairs(posterior)
    steps = (
        *(describe_spammers(spammers) if "spamminess" in posterior.annotators.columns else ()),
        *describe_agreeing_pairs(agreeing),
        *describe_unsure_pairs(to_judge, posterior.items.height),
        *describe_intervals(posterior),
    )
    return Decision(steps, spammers, agreeing, to_judge)


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
    return (
        add_spam_interval(annotators)
        .select(columns)
        .filter(pl.col("spamminess_low") > UNSEEN)
        .sort(["spamminess_low", "annotator_id"], descending=[True, False])
    )


def add_spam_interval(annotators: pl.DataFrame) -> pl.DataFrame:
    """Return annotators with ``spamminess_low, spamminess_high``, if the model has spamminess."""
    if "spamminess_sd" not in annotators.columns:
        return annotators
    low, high = find_spam_interval(
        *(annotators[name].to_numpy() for name in ("spamminess", "spamminess_sd", "judgments"))
    )
    return annotators.with_columns(
        pl.Series("spamminess_low", low), pl.Series("spamminess_high", high)
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


def list_unsure_pairs(posterior: Posterior) -> pl.DataFrame:
    """Return the pairs whose most probable grade has a probability below ``SURE``.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    polars.DataFrame
        ``query_id, doc_id, judgments, grade, probability, sd``, the largest sd first. The grade is
        the most probable one, with its probability.
    """
    probabilities = posterior.probabilities
    best = probabilities.max(axis=1) if probabilities.size else np.zeros(posterior.items.height)
    return (
        posterior.items.select(
            *PAIR,
            "judgments",
            pl.Series("grade", posterior.grades("mode"), dtype=pl.Float64),
            pl.Series("probability", best, dtype=pl.Float64),
            "sd",
        )
        .filter(pl.col("probability") < SURE)
        .sort(["sd", "probability", *PAIR], descending=[True, False, False, False])
    )


def describe_spammers(spammers: pl.DataFrame) -> tuple[str, ...]:
    """Return the sentence that names who to exclude, with the evidence."""
    if spammers.is_empty():
        return ("nobody to exclude: no annotator certainly gives most labels without looking",)
    parts = [
        f"{name} ({mean:.2f}, 95% interval {low:.2f} to {high:.2f}, {express(count, 'judgment')})"
        for name, count, mean, low, high in spammers.head(NAMED).iter_rows()
    ]
    rest = spammers.height - len(parts)
    return (
        f"exclude {', '.join(parts)}{f' and {rest} more' if rest else ''}: most of their labels "
        "are given without looking (spamminess). Then aggregate again",
    )


def describe_agreeing_pairs(pairs: pl.DataFrame) -> tuple[str, ...]:
    """Return the sentence that names annotators who agree more than the grades predict."""
    if pairs.is_empty():
        return ()
    columns = ("annotator_a", "annotator_b", "shared", "agreement", "expected")
    parts = [
        f"{a} and {b} ({agreement:.0%} of {express(shared, 'item')}, expected {expected:.0%})"
        for a, b, shared, agreement, expected in pairs.head(NAMED).select(columns).iter_rows()
    ]
    rest = pairs.height - len(parts)
    return (
        "compare the labels of annotators who agree more than the grades predict, as one person "
        f"with two accounts would: {', '.join(parts)}{f' and {rest} more' if rest else ''}. If "
        "they copied or are one person, exclude all but one of them and aggregate again",
    )


def describe_unsure_pairs(pairs: pl.DataFrame, items: int) -> tuple[str, ...]:
    """Return the sentence that names the first pairs to judge again."""
    if pairs.is_empty():
        return ()
    parts = [f"{query}/{doc}" for query, doc in pairs.head(NAMED).select(PAIR).iter_rows()]
    return (
        f"judge again first {', '.join(parts)}, the least certain ({pairs.height:,} of "
        f"{express(items, 'pair')} have no grade of probability {SURE})",
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
