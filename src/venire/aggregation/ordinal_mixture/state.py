"""The mixture's judgments, laid out by category of difficulty, and its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl

from venire.aggregation import base
from venire.arrays import Floats, Ints, Longs, Shorts
from venire.errors import BadSetting, DataError
from venire.tables.codes import JudgmentCodes, code
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR

CATEGORY = "venire:category"
RESERVED = ("inverse_difficulty", "inverse_difficulty_sd")
"""Columns of the result."""


class Settings(Protocol):
    """Settings of the mixture that its inference reads; the model itself lies a layer above."""

    @property
    def difficulty(self) -> str: ...  # noqa: D102
    @property
    def ordinal(self) -> bool: ...  # noqa: D102
    @property
    def spam(self) -> bool: ...  # noqa: D102
    @property
    def responsibility(self) -> str: ...  # noqa: D102
    @property
    def outer(self) -> str: ...  # noqa: D102
    @property
    def prior_precision(self) -> float: ...  # noqa: D102
    @property
    def phi(self) -> float: ...  # noqa: D102
    @property
    def eta(self) -> float: ...  # noqa: D102
    @property
    def tolerance(self) -> float: ...  # noqa: D102
    @property
    def max_iterations(self) -> int: ...  # noqa: D102
    @property
    def shards(self) -> int | None: ...  # noqa: D102


@dataclass(frozen=True)
class Layout:
    """Judgments with the items of a category next to each other."""

    indptr: Longs
    annotator: Ints
    label: Shorts
    category_start: Longs
    order: Longs
    """Position in the codes of each item here."""
    categories: pl.Series | None
    """Name of each category; None where there is one for all."""


def lay_out(judgments: Judgments, difficulty: str) -> Layout:
    """Return the judgments with each category's items together."""
    codes = judgments.codes
    same = np.arange(codes.n_items, dtype=np.int64)
    if difficulty == "none":
        starts = np.array([0, codes.n_items], np.int64)
        return Layout(codes.indptr, codes.annotator, codes.label, starts, same, None)
    if difficulty == "item":
        starts = np.arange(codes.n_items + 1, dtype=np.int64)
        return Layout(
            codes.indptr, codes.annotator, codes.label, starts, same, codes.items["doc_id"]
        )
    if difficulty == "query":
        category = codes.query
        names = codes.items["query_id"].unique().sort()
    else:
        category, names = _column_category(judgments, codes, difficulty)
    order = np.argsort(category, kind="stable").astype(np.int64)
    starts = np.searchsorted(category[order], np.arange(len(names) + 1)).astype(np.int64)
    if np.array_equal(order, same):
        return Layout(codes.indptr, codes.annotator, codes.label, starts, order, names)
    lengths = codes.per_item[order]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    take = np.repeat(codes.indptr[:-1][order] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Layout(indptr, codes.annotator[take], codes.label[take], starts, order, names)


def _column_category(
    judgments: Judgments, codes: JudgmentCodes, column: str
) -> tuple[Ints, pl.Series]:
    if column not in judgments.frame.columns:
        raise BadSetting(
            f"difficulty is none, query, item or a column of the judgments, not {column!r} "
            f"(columns: {', '.join(judgments.frame.columns)})"
        )
    if column in RESERVED:
        raise BadSetting(f"difficulty cannot be the column {column}; rename it")
    category = pl.col(column).cast(pl.String).fill_null("").alias(CATEGORY)
    values = judgments.frame.select(*PAIR, category)
    mixed = values.unique().filter(pl.struct(PAIR).is_duplicated())
    if mixed.height:
        pair = " ".join(mixed.select(PAIR).row(0))
        raise DataError(f"difficulty column {column} has different values for item {pair}")
    return code(values[CATEGORY][codes.items["first"].to_numpy()])


@dataclass(frozen=True)
class State:
    """Variational parameters of the source document's equation (3), and its theta."""

    mu: Floats
    var: Floats
    alpha_n: Floats
    beta_n: Floats
    eps: Floats
    phi_c: Floats
    eta_c: Floats
    alpha: float
    beta: float
    sharpness: Floats | None = None
    """Sum of squared responsibilities [N], from which the sd of epsilon follows."""

    @cached_property
    def tau(self) -> Floats:
        """Mean expertise [N]."""
        return self.alpha_n / self.beta_n

    @cached_property
    def delta(self) -> Floats:
        """Mean inverse difficulty [C]."""
        return self.phi_c / self.eta_c

    @cached_property
    def tables(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return sqrt of mean and psi(shape) - ln(shape), for tau and for delta."""
        from scipy.special import psi

        return (
            np.sqrt(self.tau),
            psi(self.alpha_n) - np.log(self.alpha_n),
            np.sqrt(self.delta),
            psi(self.phi_c) - np.log(self.phi_c),
        )


def eps_sd(state: State, count: Longs) -> Floats:
    """Return the sd of epsilon, wider where spam is hard to tell from error.

    Known membership would give the information n / (eps (1 - eps)); what is observed is
    sum (omega - eps)^2 / (eps (1 - eps))^2. The sd of a Beta posterior is widened by the
    root of their ratio, up to that of not knowing (a uniform distribution).
    """
    sd = base.beta_sd(state.eps, count)
    if state.sharpness is None:
        return sd
    eps = state.eps
    complete = count * eps * (1.0 - eps)
    observed = state.sharpness - count * eps**2
    lost = np.divide(complete, observed, out=np.full_like(eps, np.inf), where=observed > 0)
    certain = complete < 1e-6 * count
    widened: Floats = np.where(certain, sd, sd * np.sqrt(np.maximum(lost, 1.0)))
    capped: Floats = np.minimum(widened, 12.0**-0.5)
    return capped
