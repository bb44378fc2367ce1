"""What every aggregator shares: its interface, the known grades, the order of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np
import polars as pl

from venire.aggregation.loop import Fit
from venire.aggregation.posterior import TIE, Posterior, moments
from venire.arrays import Floats, Longs, Shorts
from venire.engine import Engine
from venire.errors import BadSetting, DataError, NoOverlap
from venire.progress import Progress, silent
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, number_text


class Aggregator(Protocol):
    """Settings in (a frozen dataclass), a posterior out."""

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Qrels | None = None,
        start: Posterior | None = None,
        seed: int = 0,
        engine: Engine | None = None,
        progress: Progress = silent,
    ) -> Posterior:
        """Infer the grades.

        Parameters
        ----------
        judgments : Judgments
        gold : Qrels, optional
            Grades that are known: held fixed while the annotators are learnt from them.
        start : Posterior, optional
            Continue from an earlier result of the same model after new judgments came.
        seed : int
        engine : Engine, optional
            Where shards are worked on; threads by default.
        progress : callable
        """
        ...


def known_grades(judgments: Judgments, gold: Qrels | None) -> tuple[Shorts, tuple[str, ...]]:
    """Return for each item the position of its known grade, or -1, and notes.

    Raises
    ------
    DataError
        A known grade that the scale does not have.
    NoOverlap
        When no known pair was judged.
    """
    codes = judgments.codes
    known = np.full(codes.n_items, -1, np.int16)
    if gold is None:
        return known, ()
    off = gold.frame.filter(
        ~pl.col("relevance").cast(pl.Float64).is_in(list(judgments.scale.values))
    )
    if off.height:
        query, doc, grade = off.row(0)
        raise DataError(
            f"the known grade {number_text(grade)} of {query} {doc} is not on the scale "
            f"{', '.join(judgments.scale.names)}"
        )
    joined = codes.items.select(PAIR).join(
        gold.frame.select(*PAIR, "relevance"), on=PAIR, how="left", maintain_order="left"
    )
    grade = joined["relevance"].cast(pl.Float64).to_numpy()
    there = np.isfinite(grade)
    known[there] = judgments.scale.index(grade[there]).astype(np.int16)
    held = int(there.sum())
    if len(gold) and not held:
        raise NoOverlap(f"none of the {len(gold):,} known pairs was judged: nothing to hold")
    notes = [f"{held:,} items held at their known grade"]
    if len(gold) - held:
        notes.append(f"{len(gold) - held:,} known pairs were never judged and are not used")
    return known, tuple(notes)


def grade_prior(text: str, size: int | None) -> Floats | None:
    """Return the grade prior [K] that a setting names; None where it is learnt.

    Parameters
    ----------
    text : str
        ``"learnt"``, ``"uniform"``, or one number a grade with commas between.
    size : int or None
        K; None only checks the text.

    Raises
    ------
    BadSetting
    """
    if text == "learnt":
        return None
    if text == "uniform":
        return np.full(size or 1, 1.0 / (size or 1))
    try:
        given = np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise BadSetting(
            f"grade_prior is learnt, uniform or numbers such as 0.5,0.3,0.2, not {text!r}"
        ) from None
    if not np.isfinite(given).all() or (given <= 0).any():
        raise BadSetting(f"the probabilities of grade_prior must be above 0: {text}")
    if size is not None and given.size != size:
        raise BadSetting(f"grade_prior has {given.size} numbers and the scale {size} grades")
    prior: Floats = given / given.sum()
    return prior


def ignored_gold(gold: Qrels | None) -> tuple[str, ...]:
    """Return the note of a model that cannot use known grades."""
    if gold is None:
        return ()
    return ("known grades are not used: this model learns nothing about annotators",)


def item_order(codes: JudgmentCodes) -> Longs:
    """Return the items in the order of their first judgment, which results keep."""
    return codes.items["first"].arg_sort().to_numpy().astype(np.int64)


def items_frame(
    codes: JudgmentCodes,
    order: Longs,
    mean: Floats,
    sd: Floats,
    estimate: Floats | None = None,
) -> pl.DataFrame:
    """Return the items of a posterior in result order; the estimate is the mean unless given."""
    frame = codes.items.select(PAIR)
    frame = frame.with_columns(
        pl.Series("judgments", codes.per_item, dtype=pl.Int64),
        pl.Series("estimate", mean if estimate is None else estimate, dtype=pl.Float64),
        pl.Series("mean", mean, dtype=pl.Float64),
        pl.Series("sd", sd, dtype=pl.Float64),
    )
    return frame[order]


def annotators_frame(codes: JudgmentCodes, **columns: Floats) -> pl.DataFrame:
    """Return the annotators of a posterior with what a model says of each."""
    frame = pl.DataFrame({"annotator_id": codes.annotators}, schema={"annotator_id": pl.String})
    return frame.with_columns(
        pl.Series("judgments", codes.per_annotator, dtype=pl.Int64),
        *(
            pl.Series(name, values, dtype=pl.Float64, nan_to_null=True)
            for name, values in columns.items()
        ),
    )


def settings_of(aggregator: Any) -> dict[str, Any]:
    """Return the settings of an aggregator as plain values."""
    return dict(asdict(aggregator))


def same_model(start: Posterior | None, model: str, judgments: Judgments) -> None:
    """Check that judgments are a table of ours, and a warm start of the same model and scale."""
    check_table(judgments)
    if start is None:
        return
    if start.model != model or start.state is None:
        raise DataError(f"start is a result of {start.model}, which {model} cannot continue")
    if start.scale.values != judgments.scale.values:
        raise DataError("start is on another scale than the judgments")


def winner(shares: Floats, judgments: Judgments) -> Floats:
    """Return the grade with the largest share; the lowest wins a tie."""
    top = shares.max(axis=1, keepdims=True, initial=0.0)
    grades: Floats = judgments.scale.array()[np.argmax(shares >= top - TIE, axis=1)]
    return grades


def of_votes(
    aggregator: Any,
    model: str,
    judgments: Judgments,
    gold: Qrels | None,
    seed: int,
    estimate: Callable[[Floats], Floats] | None = None,
) -> Posterior:
    """Return the result of a model that only counts votes."""
    from venire.aggregation.kernels.counts import votes

    check_table(judgments)
    codes = judgments.codes
    order = item_order(codes)
    values = judgments.scale.array()
    counted = votes(codes.indptr, codes.label, values.size)
    shares = counted / codes.per_item[:, None]
    # Sums of grades before the division: equal means are then equal to the last bit.
    mean = (counted @ values) / codes.per_item
    _, sd = moments(shares, judgments.scale)
    return Posterior(
        model=model,
        scale=judgments.scale,
        items=items_frame(codes, order, mean, sd, estimate(shares) if estimate else None),
        probabilities=shares[order],
        annotators=annotators_frame(codes),
        settings=settings_of(aggregator),
        seed=seed,
        notes=(*judgments.notes, *ignored_gold(gold)),
    )


def align(ids: pl.DataFrame, earlier: pl.DataFrame) -> tuple[Longs, Longs]:
    """Return (new position, old position) of the ids that both frames have."""
    on = ids.columns
    both = ids.with_row_index("new").join(
        earlier.select(on).with_row_index("old"), on=on, how="inner"
    )
    return both["new"].to_numpy().astype(np.int64), both["old"].to_numpy().astype(np.int64)


def confusion(codes: JudgmentCodes, grades: Floats) -> tuple[Floats, Floats]:
    """Return P(label | grade) of each annotator [N, grade, label] and its sd.

    Posterior mean and sd under a Dirichlet prior of one judgment spread over the labels,
    with the items' grade probabilities as weights.
    """
    from venire.aggregation.kernels.counts import soft_counts

    counts = soft_counts(codes.indptr, codes.annotator, codes.label, grades, codes.n_annotators)
    size = grades.shape[1]
    counts = counts + 1.0 / size
    total = counts.sum(axis=2, keepdims=True)
    mean = counts / total
    return mean, np.sqrt(mean * (1.0 - mean) / (total + 1.0))


def confusion_columns(codes: JudgmentCodes, matrix: Floats, prior: Floats) -> dict[str, Floats]:
    """Return what a confusion matrix says of an annotator, with its uncertainty.

    ``expertise``: the probability that a label is right, sum_k p_k P(k | k); its sd is that
    of as many tries as there are judgments. ``spamminess``: 1 minus the spammer score of
    Raykar and Yu, "Eliminating spammers and ranking annotators" (JMLR 2012), the mean
    squared distance between the rows of the matrix, each pair of grades weighted by how
    often both occur: 1 where the label does not depend on the grade, 0 for who is always
    right. A grade that never occurs says nothing of anybody.
    """
    p = prior / prior.sum()
    right = np.einsum("k,nkk->n", p, matrix)
    square = np.einsum("k,nkl,nkl->n", p, matrix, matrix)
    middle = np.einsum("k,nkl->nl", p, matrix)
    # sum over pairs of p p' |row - row'|^2 = sum p |row|^2 - |sum p row|^2; at most 1 - sum p^2.
    most = 1.0 - float(np.sum(p**2))
    spread = square - np.einsum("nl,nl->n", middle, middle)
    score = spread / most if most > 1e-9 else np.zeros_like(spread)
    count = codes.per_annotator
    return {
        "expertise": right,
        "expertise_sd": beta_sd(right, count),
        "spamminess": 1.0 - score,
        "spamminess_sd": beta_sd(np.clip(1.0 - score, 0.0, 1.0), count),
    }


def beta_sd(share: Floats, count: Longs) -> Floats:
    """Return the sd of Beta(1 + share * count, 1 + (1 - share) * count)."""
    a = 1.0 + share * count
    b = 1.0 + (1.0 - share) * count
    return np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1.0)))


def loop_notes(fits: list[Fit], best: int) -> tuple[str, ...]:
    """Say which start was kept and whether it converged."""
    fit = fits[best]
    if not fit.bounds:
        return ()
    kept = f"start {best + 1} of {len(fits)} kept: " if len(fits) > 1 else ""
    after = f"after {len(fit.bounds)} iterations, bound {fit.bounds[-1]:,.2f}"
    return (f"{kept}{'converged' if fit.converged else 'NOT converged'} {after}",)


def cells(mean: Floats, sd: Floats, thresholds: Floats) -> Floats:
    """Return the mass of N(mean, sd) between thresholds, [M, K]; sd 0 is a known grade."""
    from scipy.special import ndtr

    scale = np.where(sd > 0, sd, 1e-12)
    below = ndtr((thresholds[None, :] - mean[:, None]) / scale[:, None])
    return np.diff(below, axis=1)


def check_seed(seed: int) -> None:
    """Refuse a negative seed in words."""
    if seed < 0:
        raise BadSetting(f"seed must be 0 or more, not {seed}")


def check_table(judgments: Any) -> None:
    """Tell who gives a dataframe how to make it a table of judgments."""
    if not isinstance(judgments, Judgments):
        raise DataError(
            f"fit takes a Judgments table, not a {type(judgments).__name__}; make one with "
            "Judgments.of(frame, columns={'annotator_id': ...})"
        )
