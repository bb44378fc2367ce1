"""The aggregator interface, and what models do with their input: known grades, warm starts."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs, Shorts
from venire.engine import Engine
from venire.errors import BadSetting, DataError, NoOverlap
from venire.progress import Progress, silent
from venire.settings import setting
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, number_text

LEAST_SHARE = 1e-6
"""Smallest weight of a grade in the balanced prior: no grade is impossible."""


class Aggregator(Protocol):
    """A model: its settings are a frozen dataclass, and ``fit`` returns a posterior."""

    name: ClassVar[str]
    """The name under which the model is registered."""

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
            Known grades: held fixed while the model learns about the annotators.
        start : Posterior, optional
            Continue from an earlier result of the same model after new judgments arrived.
        seed : int
        engine : Engine, optional
            Where shards are processed; threads by default.
        progress : callable
        """
        ...


def find_known_grades(judgments: Judgments, gold: Qrels | None) -> tuple[Shorts, tuple[str, ...]]:
    """Return the position of the known grade of each item, or -1, and notes.

    Raises
    ------
    DataError
        A known grade that is not on the scale.
    NoOverlap
        When no known pair was judged.
    """
    codes = judgments.codes
    known = np.full(codes.n_items, -1, np.int16)
    if gold is None:
        return known, ()
    off_scale = gold.frame.filter(
        ~pl.col("relevance").cast(pl.Float64).is_in(list(judgments.scale.values))
    )
    if off_scale.height:
        query, doc, grade = off_scale.row(0)
        raise DataError(
            f"The known grade {number_text(grade)} of {query} {doc} is not on the scale "
            f"{', '.join(judgments.scale.names)}.",
            hint='Pass the whole scale, for example `scale="0,1,2"`.',
            code="grade-off-scale",
        )
    joined = codes.items.select(PAIR).join(
        gold.frame.select(*PAIR, "relevance"), on=PAIR, how="left", maintain_order="left"
    )
    grade = joined["relevance"].cast(pl.Float64).to_numpy()
    is_known = np.isfinite(grade)
    known[is_known] = judgments.scale.index(grade[is_known]).astype(np.int16)
    held = int(is_known.sum())
    if len(gold) and not held:
        raise NoOverlap(f"None of the {len(gold):,} known pairs was judged.")
    notes = [f"{held:,} items held at their known grade"]
    if len(gold) - held:
        notes.append(f"{len(gold) - held:,} known pairs were never judged and are not used")
    return known, tuple(notes)


def declare_grade_prior(default: str) -> Any:
    """Return the field of the setting ``grade_prior``, see :func:`find_grade_prior`."""
    return setting(
        default,
        words="Prior of the grades. balanced: equal for the grades that annotators use, near 0 "
        "for a grade that they hardly use; uniform: equal for all grades; learnt; or the "
        "probabilities of the grades, lowest grade first, separated by commas, for example "
        "0.5,0.3,0.2.",
    )


def balance_grades(judgments: Judgments) -> Floats:
    r"""Return the balanced prior of the grades [K].

    .. math:: p_k \propto \frac{s_k^2}{s_k^2 + h^2}, \qquad h = \frac{1}{4 K}

    with :math:`s_k` the share of label k, averaged over the items. It is nearly uniform while
    annotators use all grades. Where nearly all labels are equal, a uniform prior would
    contradict them: the likelihood of a fit gains log 2 per item by calling half of them another
    grade, which unanimous annotators who all err would explain as well.
    """
    from venire.aggregation.kernels.counts import count_votes

    codes, size = judgments.codes, judgments.scale.size
    if not codes.n_items:
        return np.full(size, 1.0 / size)
    shares = count_votes(codes.indptr, codes.label, size) / codes.per_item[:, None]
    square = np.mean(shares, axis=0) ** 2
    weight = square / (square + 1.0 / (4.0 * size) ** 2) + LEAST_SHARE
    prior: Floats = weight / weight.sum()
    return prior


def find_grade_prior(text: str, judgments: Judgments) -> Floats | None:
    """Return the grade prior [K] that a setting names; None where it is learnt.

    Raises
    ------
    BadSetting
    """
    if text == "balanced":
        return balance_grades(judgments)
    return parse_grade_prior(text, judgments.scale.size)


def parse_grade_prior(text: str, size: int | None) -> Floats | None:
    """Return the grade prior [K] that a setting names; None where it depends on the judgments.

    Parameters
    ----------
    text : str
        ``"balanced"``, ``"learnt"``, ``"uniform"``, or one number per grade, separated by commas.
    size : int or None
        K; None only checks the text.

    Raises
    ------
    BadSetting
    """
    if text in ("balanced", "learnt"):
        return None
    if text == "uniform":
        return np.full(size or 1, 1.0 / (size or 1))
    try:
        weights = np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise BadSetting(
            "must be balanced, learnt, uniform or one number per grade such as 0.5,0.3,0.2 "
            f"(got {text!r})",
            argument="grade_prior",
            value=text,
        ) from None
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise BadSetting(
            f"must have probabilities > 0 (got {text})", argument="grade_prior", value=text
        )
    if size is not None and weights.size != size:
        raise BadSetting(
            f"must have one number per grade, {size} in all (got {weights.size})",
            argument="grade_prior",
            value=text,
        )
    prior: Floats = weights / weights.sum()
    return prior


def check_start(model: Aggregator, judgments: Judgments, start: Posterior | None) -> None:
    """Refuse judgments that are no table of Venire, and a warm start of another model or scale.

    Raises
    ------
    DataError
    """
    check_table(judgments)
    if start is None:
        return
    if start.model != model.name or start.state is None:
        raise DataError(
            f"`start` is a result of {start.model}, which {model.name} cannot continue."
        )
    if start.scale.values != judgments.scale.values:
        raise DataError("`start` has another scale than the judgments.")


def check_table(judgments: Any) -> None:
    """Refuse anything but a table of judgments."""
    if not isinstance(judgments, Judgments):
        raise DataError(
            f"`fit` takes a Judgments table (got {type(judgments).__name__}). Make one with "
            "Judgments.of(frame, columns={'annotator_id': ...})."
        )


def align_ids(ids: pl.DataFrame, earlier: pl.DataFrame) -> tuple[Longs, Longs]:
    """Return (new position, old position) of the ids that both frames have."""
    on = ids.columns
    both = ids.with_row_index("new").join(
        earlier.select(on).with_row_index("old"), on=on, how="inner"
    )
    return both["new"].to_numpy().astype(np.int64), both["old"].to_numpy().astype(np.int64)


def align_annotators(annotators: pl.Series, earlier: pl.Series) -> tuple[Longs, Longs]:
    """Return (new position, old position) of the annotators that both series have."""
    return align_ids(
        pl.DataFrame({"annotator_id": annotators}), pl.DataFrame({"annotator_id": earlier})
    )
