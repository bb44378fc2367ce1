"""Pairs of annotators who agree more than the grades predict: colluders, or one person twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs, Shorts
from venire.tables.judgments import Judgments

LEAST_SHARED = 10
"""Shared items below which a pair of annotators is not tested."""
OWN_LABELS = 10.0
"""Labels' worth by which a pair's error rates are drawn to those on all items."""
COMPANIONS = 3.0
"""z from which two annotators agree so much more than with others that neither vouches."""
LEVEL = 0.01
"""Family-wise level of the test over all pairs."""
FEW_PAIRS = 10.0
"""Pairs' worth by which the excess agreement of all pairs is drawn to 0."""
PAIR_SCHEMA = {
    "annotator_a": pl.String,
    "annotator_b": pl.String,
    "shared": pl.Int64,
    "agreement": pl.Float64,
    "expected": pl.Float64,
    "p_value": pl.Float64,
    "flagged": pl.Boolean,
}


class SharedItems(NamedTuple):
    """One row per pair of judgments of the same item by two annotators."""

    item: Longs
    first: Longs
    """Position of the judgment of the annotator with the lower code."""
    second: Longs
    pair: Longs
    """Code of the pair of annotators."""
    annotators: Longs
    """Codes of both annotators of each pair [P, 2]."""


def find_agreeing_pairs(judgments: Judgments, posterior: Posterior) -> pl.DataFrame:
    r"""Test each pair of annotators for more agreement than the grades predict.

    .. math:: \pi_m = \sum_k p_m^{-ab}(k) \sum_l \theta_a(l \mid k)\, \theta_b(l \mid k), \qquad
        z_{ab} = \frac{\sum_m (1[r_{am} = r_{bm}] - \pi_m) - n e}
        {\sqrt{\phi \sum_m \pi_m (1 - \pi_m)}}

    The grades of a pair's shared items are inferred from the other annotators, and the pair's
    error rates are estimated on these items. All annotators of a crowd share some errors, so e
    and phi are the excess and the spread of the usual pair (median, and median absolute
    deviation). p values are corrected for all pairs by Holm's method. Error rate and power by
    simulation: docs/reference/verdicts.md.

    Parameters
    ----------
    judgments : Judgments
    posterior : Posterior
        Of a model with grade probabilities, on the same judgments.

    Returns
    -------
    polars.DataFrame
        ``annotator_a, annotator_b, shared, agreement, expected, p_value, flagged``, the least
        probable agreement first. ``expected`` includes the excess of the usual pair.
    """
    codes = judgments.codes
    shared = list_shared_items(judgments)
    if not shared.pair.size or posterior.confusion is None:
        return pl.DataFrame(schema=PAIR_SCHEMA)
    grades, theta = infer_without(judgments, posterior, shared)
    label_a, label_b = codes.label[shared.first], codes.label[shared.second]
    count = shared.annotators.shape[0]
    rates_a = estimate_rates(grades, label_a, shared.pair, theta[shared.annotators[:, 0]])
    rates_b = estimate_rates(grades, label_b, shared.pair, theta[shared.annotators[:, 1]])
    chance = np.einsum("rk,rk->r", grades, np.einsum("pkl,pkl->pk", rates_a, rates_b)[shared.pair])
    chance = np.clip(chance, 1e-6, 1.0 - 1e-6)

    def add(values: Floats) -> Floats:
        out: Floats = np.bincount(shared.pair, weights=values, minlength=count).astype(np.float64)
        return out

    n = add(np.ones(chance.size))
    observed, expected = add((label_a == label_b).astype(np.float64)), add(chance)
    z, excess = standardise(observed - expected, add(chance * (1.0 - chance)), n)
    p = correct_by_holm(z)
    names = codes.annotators
    frame = pl.DataFrame(
        {
            "annotator_a": names.gather(shared.annotators[:, 0]),
            "annotator_b": names.gather(shared.annotators[:, 1]),
            "shared": n.astype(np.int64),
            "agreement": observed / n,
            "expected": np.clip(expected / n + excess, 0.0, 1.0),
            "p_value": p,
            "flagged": p < LEVEL,
        },
        schema=PAIR_SCHEMA,
    )
    order = np.lexsort((-n, p))
    return frame[order]


def list_shared_items(judgments: Judgments) -> SharedItems:
    """Return the shared items of every pair of annotators with enough of them."""
    codes = judgments.codes
    item = np.repeat(np.arange(codes.n_items), codes.per_item)
    frame = pl.DataFrame(
        {"item": item, "row": np.arange(item.size), "annotator": codes.annotator.astype(np.int64)}
    ).unique(["item", "annotator"], keep="last", maintain_order=True)
    both = frame.join(frame, on="item", suffix="_b").filter(
        pl.col("annotator") < pl.col("annotator_b")
    )
    on = ["annotator", "annotator_b"]
    usual = both.group_by(on).len().filter(pl.col("len") >= LEAST_SHARED).sort(on)
    usual = usual.with_row_index("pair")
    both = both.join(usual, on=on).sort("pair", "item")
    item, first, second, pair = (
        both[name].to_numpy().astype(np.int64) for name in ("item", "row", "row_b", "pair")
    )
    annotators = usual.select(on).to_numpy().astype(np.int64).reshape(-1, 2)
    return SharedItems(item, first, second, pair, annotators)


def infer_without(
    judgments: Judgments, posterior: Posterior, shared: SharedItems
) -> tuple[Floats, Floats]:
    """Return grades of shared items by the others [R, K], and P(label | grade) [N, K, K]."""
    codes = judgments.codes
    theta = posterior.confusion
    if theta is None:
        raise ValueError("the model has no confusion matrices")
    prior = posterior.probabilities.mean(axis=0) + 1e-6
    log = np.log(np.maximum(theta, 1e-6))[codes.annotator, :, codes.label]
    total = np.add.reduceat(log, codes.indptr[:-1], axis=0) + np.log(prior / prior.sum())
    rest = total[shared.item] - log[shared.first] - log[shared.second]
    rest -= add_companions(judgments, shared, log)
    grades = np.exp(rest - rest.max(axis=1, keepdims=True))
    return grades / grades.sum(axis=1, keepdims=True), theta


def find_companions(judgments: Judgments, shared: SharedItems) -> pl.DataFrame:
    """Return ``annotator, companion``: who agrees with whom far more often than with others.

    Three accounts of one person would vouch for each other. Companions do not count among the
    others from which the grades of a pair are inferred; this is no verdict about them.
    """
    codes = judgments.codes
    agree = codes.label[shared.first] == codes.label[shared.second]
    pairs = (
        pl.DataFrame({"pair": shared.pair, "agree": agree})
        .group_by("pair")
        .agg(pl.col("agree").sum().cast(pl.Float64), pl.len().alias("n"))
        .sort("pair")
    )
    a, b = shared.annotators.T
    n, hits = pairs["n"].to_numpy().astype(np.float64), pairs["agree"].to_numpy()
    size = codes.n_annotators
    all_n = np.bincount(a, n, size) + np.bincount(b, n, size)
    all_hits = np.bincount(a, hits, size) + np.bincount(b, hits, size)
    usual = np.stack([(all_hits[x] - hits + 1.0) / (all_n[x] - n + 2.0) for x in (a, b)])
    rate = usual.max(axis=0)
    z = (hits - n * rate) / np.sqrt(n * rate * (1.0 - rate))
    close = np.flatnonzero(z > COMPANIONS)
    return pl.DataFrame(
        {
            "annotator": np.concatenate([a[close], b[close]]),
            "companion": np.concatenate([b[close], a[close]]),
        }
    )


def add_companions(judgments: Judgments, shared: SharedItems, log: Floats) -> Floats:
    """Return what the companions of either annotator add to the log grades [R, K]."""
    codes = judgments.codes
    out = np.zeros((shared.item.size, log.shape[1]))
    companions = find_companions(judgments, shared)
    if companions.is_empty():
        return out
    item = np.repeat(np.arange(codes.n_items), codes.per_item)
    judged = pl.DataFrame(
        {"item": item, "companion": codes.annotator.astype(np.int64), "at": np.arange(item.size)}
    )
    both = shared.annotators[shared.pair]
    rows = pl.DataFrame(
        {"row": np.arange(shared.item.size), "item": shared.item, "a": both[:, 0], "b": both[:, 1]}
    )
    vouchers = pl.concat(
        [
            rows.join(companions, left_on=side, right_on="annotator").select(
                "row", "item", "a", "b", "companion"
            )
            for side in ("a", "b")
        ]
    ).unique()
    others = (pl.col("companion") != pl.col("a")) & (pl.col("companion") != pl.col("b"))
    vouchers = vouchers.filter(others).join(judged, on=["item", "companion"])
    np.add.at(out, vouchers["row"].to_numpy(), log[vouchers["at"].to_numpy()])
    return out


def estimate_rates(grades: Floats, label: Shorts, pair: Longs, usual: Floats) -> Floats:
    """Return P(label | grade) of one annotator of each pair on the pair's items [P, grade, label].

    Parameters
    ----------
    grades : float64 [R, K]
        Grades of the shared items by the others.
    label : int [R]
    pair : int [R]
    usual : float64 [P, grade, label]
        The annotator's P(label | grade) on all items.
    """
    counts = OWN_LABELS * usual
    np.add.at(counts.transpose(0, 2, 1), (pair, label), grades)
    rates: Floats = counts / counts.sum(axis=2, keepdims=True)
    return rates


def standardise(excess: Floats, variance: Floats, n: Floats) -> tuple[Floats, float]:
    """Return z of each pair beside the usual pair, and the usual excess agreement per item."""
    weight = excess.size / (excess.size + FEW_PAIRS)
    usual = weight * float(np.median(excess / n))
    z = (excess - n * usual) / np.sqrt(variance)
    spread = float(np.median(np.abs(z))) / 0.6745
    return z / max(1.0, weight * spread), usual


def correct_by_holm(z: Floats) -> Floats:
    """Return one-sided p values corrected for all pairs (Holm 1979)."""
    from scipy.special import ndtr

    p = ndtr(-z)
    order = np.argsort(p, kind="stable")
    factor = np.arange(p.size, 0, -1)
    out = np.empty(p.size)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * factor), 1.0)
    return out
