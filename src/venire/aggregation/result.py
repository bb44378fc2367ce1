"""How a model makes its posterior: frames in result order, confusion matrices, notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.base import Aggregator, check_table
from venire.aggregation.loop import Fit
from venire.aggregation.posterior import TIE, Posterior, build_bounds, moments
from venire.arrays import Floats, Longs
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR


def build_posterior(
    model: Aggregator,
    judgments: Judgments,
    *,
    seed: int,
    probabilities: Floats,
    mean: Floats | None = None,
    sd: Floats | None = None,
    estimate: Floats | None = None,
    item_columns: Sequence[pl.Series] = (),
    annotators: pl.DataFrame | None = None,
    prior: Floats | None = None,
    fits: Sequence[Fit] = (),
    best: int = 0,
    notes: Sequence[str] = (),
    **attributes: Any,
) -> Posterior:
    """Return the posterior of a model. Arrays are in the order of the item codes.

    Parameters
    ----------
    model : Aggregator
    judgments : Judgments
    seed : int
    probabilities : float64 [M, K]
        Grade probabilities of each item.
    mean, sd : float64 [M], optional
        Of each item; by default those of the grade probabilities.
    estimate : float64 [M], optional
        By default the mean.
    item_columns : sequence of polars.Series [M]
        Further columns of the items.
    annotators : polars.DataFrame, optional
        From :func:`build_annotators`; by default what the confusion matrices say, see
        :func:`describe_confusion`.
    prior : float64 [K], optional
        Frequencies of the grades that weight the rows of the confusion matrices; by default
        the mean of the grade probabilities.
    fits : sequence of Fit
        One per restart; none for models that do not iterate.
    best : int
        The restart that was chosen.
    notes : sequence of str
        The notes of the model; those of the judgments come before, those of the loop after.
    **attributes
        Other attributes of :class:`venire.aggregation.posterior.Posterior`.
    """
    codes = judgments.codes
    order = order_items(codes)
    if mean is None or sd is None:
        mean, sd = moments(probabilities, judgments.scale)
    confusions: Callable[[], tuple[Floats, Floats]] = partial(
        estimate_confusion, codes, probabilities
    )
    if annotators is None:
        confusion = confusions()
        confusions = lambda: confusion  # noqa: E731 - computed once
        if prior is None:
            size = judgments.scale.size
            prior = probabilities.mean(axis=0) if codes.n_items else np.full(size, 1.0 / size)
        annotators = build_annotators(codes, **describe_confusion(codes, confusion[0], prior))
    items = build_items(codes, mean, sd, mean if estimate is None else estimate)
    iterated: dict[str, Any] = {"bounds": build_bounds([fit.bounds for fit in fits])}
    if fits:
        iterated |= {"converged": fits[best].converged, "restart": best}
    return Posterior(
        model=model.name,
        scale=judgments.scale,
        items=items.with_columns(*item_columns)[order],
        probabilities=probabilities[order],
        annotators=annotators,
        settings=read_settings(model),
        seed=seed,
        notes=(*judgments.notes, *notes, *describe_fits(model, fits, best)),
        **({"confusions": confusions} | iterated | attributes),
    )


def build_from_votes(
    model: Aggregator,
    judgments: Judgments,
    gold: Qrels | None,
    seed: int,
    estimate: Callable[[Floats], Floats] | None = None,
) -> Posterior:
    """Return the posterior of a model that only counts votes.

    Parameters
    ----------
    model : Aggregator
    judgments : Judgments
    gold : Qrels or None
        Not used; a note says so.
    seed : int
    estimate : callable, optional
        Takes the share of each label [M, K] and returns the estimates [M]; by default the
        mean of the labels.
    """
    from venire.aggregation.kernels.counts import count_votes

    check_table(judgments)
    codes = judgments.codes
    values = judgments.scale.array()
    votes = count_votes(codes.indptr, codes.label, values.size)
    shares = votes / codes.per_item[:, None]
    # Grades are summed before the division: equal means are then equal to the last bit.
    mean = (votes @ values) / codes.per_item
    _, sd = moments(shares, judgments.scale)
    return build_posterior(
        model,
        judgments,
        seed=seed,
        probabilities=shares,
        mean=mean,
        sd=sd,
        estimate=estimate(shares) if estimate else None,
        annotators=build_annotators(codes),
        confusions=None,
        notes=note_unused_gold(gold),
    )


def note_unused_gold(gold: Qrels | None) -> tuple[str, ...]:
    """Return the note of a model that cannot use known grades."""
    if gold is None:
        return ()
    return ("known grades are not used: this model learns nothing about annotators",)


def order_items(codes: JudgmentCodes) -> Longs:
    """Return the item codes in the order of their first judgment, the order of every result."""
    return codes.items["first"].arg_sort().to_numpy().astype(np.int64)


def build_items(codes: JudgmentCodes, mean: Floats, sd: Floats, estimate: Floats) -> pl.DataFrame:
    """Return the items of a posterior in the order of the item codes."""
    return codes.items.select(PAIR).with_columns(
        pl.Series("judgments", codes.per_item, dtype=pl.Int64),
        pl.Series("estimate", estimate, dtype=pl.Float64),
        pl.Series("mean", mean, dtype=pl.Float64),
        pl.Series("sd", sd, dtype=pl.Float64),
    )


def build_annotators(codes: JudgmentCodes, **columns: Floats) -> pl.DataFrame:
    """Return the annotators of a posterior with what a model learnt about each."""
    frame = pl.DataFrame({"annotator_id": codes.annotators}, schema={"annotator_id": pl.String})
    return frame.with_columns(
        pl.Series("judgments", codes.per_annotator, dtype=pl.Int64),
        *(
            pl.Series(name, values, dtype=pl.Float64, nan_to_null=True)
            for name, values in columns.items()
        ),
    )


def build_difficulty(codes: JudgmentCodes, inverse: Floats) -> pl.DataFrame:
    """Return the inverse difficulty of each item, in result order."""
    column = pl.Series("inverse_difficulty", inverse, dtype=pl.Float64)
    return codes.items.select(PAIR).with_columns(column)[order_items(codes)]


def read_settings(model: Any) -> dict[str, Any]:
    """Return the settings of a model as plain values."""
    return dict(asdict(model))


def pick_winners(shares: Floats, judgments: Judgments) -> Floats:
    """Return the grade with the largest share of votes; the lowest grade wins a tie."""
    top = shares.max(axis=1, keepdims=True, initial=0.0)
    grades: Floats = judgments.scale.array()[np.argmax(shares >= top - TIE, axis=1)]
    return grades


def estimate_confusion(codes: JudgmentCodes, grades: Floats) -> tuple[Floats, Floats]:
    """Return P(label | grade) of each annotator [N, grade, label] and its sd.

    Posterior mean and sd under a Dirichlet prior of one judgment spread over the labels,
    with the grade probabilities of the items as weights.
    """
    from venire.aggregation.kernels.counts import count_soft_votes

    counts = count_soft_votes(
        codes.indptr, codes.annotator, codes.label, grades, codes.n_annotators
    )
    size = grades.shape[1]
    counts = counts + 1.0 / size
    total = counts.sum(axis=2, keepdims=True)
    mean = counts / total
    return mean, np.sqrt(mean * (1.0 - mean) / (total + 1.0))


def describe_confusion(codes: JudgmentCodes, matrix: Floats, prior: Floats) -> dict[str, Floats]:
    """Return what the confusion matrix of an annotator says, with its uncertainty.

    ``expertise``: the probability that a label is right, sum_k p_k P(k | k); its sd is that
    of as many trials as there are judgments. ``spammer_score``: that of Raykar and Yu,
    "Eliminating spammers and ranking annotators" (JMLR 2012), the mean squared distance between
    the rows of the matrix, each pair of grades weighted by how often both occur: 0 where the
    label does not depend on the grade, 1 for an annotator who is always right. Grades that never
    occur have no weight. It is no probability: careful annotators who err by one grade have .3.

    Parameters
    ----------
    codes : JudgmentCodes
    matrix : float64 [N, grade, label]
    prior : float64 [K]
        Frequencies of the grades.
    """
    p = prior / prior.sum()
    right = np.einsum("k,nkk->n", p, matrix)
    square = np.einsum("k,nkl,nkl->n", p, matrix, matrix)
    middle = np.einsum("k,nkl->nl", p, matrix)
    # sum over pairs of p p' |row - row'|^2 = sum p |row|^2 - |sum p row|^2; at most 1 - sum p^2.
    maximum = 1.0 - float(np.sum(p**2))
    spread = square - np.einsum("nl,nl->n", middle, middle)
    score = spread / maximum if maximum > 1e-9 else np.zeros_like(spread)
    count = codes.per_annotator
    return {
        "expertise": right,
        "expertise_sd": beta_sd(right, count),
        "spammer_score": score,
        "spammer_score_sd": beta_sd(np.clip(score, 0.0, 1.0), count),
    }


def beta_sd(share: Floats, count: Longs) -> Floats:
    """Return the sd of Beta(1 + share * count, 1 + (1 - share) * count)."""
    a = 1.0 + share * count
    b = 1.0 + (1.0 - share) * count
    return np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1.0)))


def describe_fits(model: Any, fits: Sequence[Fit], best: int) -> tuple[str, ...]:
    """Return the note that says which restart was chosen and whether it converged."""
    if not fits or not fits[best].bounds:
        return ()
    fit = fits[best]
    chosen = f"restart {best + 1} of {len(fits)} chosen: " if len(fits) > 1 else ""
    state = "converged" if fit.converged else "NOT converged"
    return (
        f"{chosen}{state} after {len(fit.bounds)} iterations, "
        f"{model.objective} {fit.bounds[-1]:,.2f}",
    )


def cell_probabilities(mean: Floats, sd: Floats, thresholds: Floats) -> Floats:
    """Return the mass of N(mean, sd) between thresholds [M, K]; an sd of 0 is a known grade."""
    from scipy.special import ndtr

    scale = np.where(sd > 0, sd, 1e-12)
    below = ndtr((thresholds[None, :] - mean[:, None]) / scale[:, None])
    return np.diff(below, axis=1)
