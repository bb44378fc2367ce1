"""The judgments of the ordinal mixture, sorted by category of difficulty, and its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from venire.aggregation.result import beta_sd
from venire.arrays import Floats, Ints, Longs, Shorts
from venire.errors import BadSetting, DataError
from venire.tables.codes import JudgmentCodes, code
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR

CATEGORY = "venire:category"
RESERVED = ("inverse_difficulty", "inverse_difficulty_sd")
"""Columns of the result, which no column of difficulty may be named."""


@dataclass(frozen=True)
class Layout:
    """Judgments in the order of the categories of their items."""

    indptr: Longs
    annotator: Ints
    label: Shorts
    category_start: Longs
    order: Longs
    """Item code of each item [M]."""
    categories: pl.Series | None
    """Name of each category [C]; None where one category holds all items."""


def lay_out(judgments: Judgments, difficulty: str) -> Layout:
    """Return the judgments in the order of the categories of their items."""
    codes = judgments.codes
    unchanged = np.arange(codes.n_items, dtype=np.int64)
    if difficulty == "none":
        starts = np.array([0, codes.n_items], np.int64)
        return Layout(codes.indptr, codes.annotator, codes.label, starts, unchanged, None)
    if difficulty == "item":
        starts = np.arange(codes.n_items + 1, dtype=np.int64)
        return Layout(
            codes.indptr, codes.annotator, codes.label, starts, unchanged, codes.items["doc_id"]
        )
    if difficulty == "query":
        category = codes.query
        names = codes.items["query_id"].unique().sort()
    else:
        category, names = _read_categories(judgments, codes, difficulty)
    order = np.argsort(category, kind="stable").astype(np.int64)
    starts = np.searchsorted(category[order], np.arange(len(names) + 1)).astype(np.int64)
    if np.array_equal(order, unchanged):
        return Layout(codes.indptr, codes.annotator, codes.label, starts, order, names)
    lengths = codes.per_item[order]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    take = np.repeat(codes.indptr[:-1][order] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Layout(indptr, codes.annotator[take], codes.label[take], starts, order, names)


def _read_categories(
    judgments: Judgments, codes: JudgmentCodes, column: str
) -> tuple[Ints, pl.Series]:
    if column not in judgments.frame.columns:
        raise BadSetting(
            f"must be none, query, item or a column of the judgments (got {column!r}). "
            f"The columns are {', '.join(judgments.frame.columns)}.",
            argument="difficulty",
            value=column,
        )
    if column in RESERVED:
        raise BadSetting(
            f"must not be a column of the result (got {column}). Rename the column.",
            argument="difficulty",
            value=column,
        )
    category = pl.col(column).cast(pl.String).fill_null("").alias(CATEGORY)
    values = judgments.frame.select(*PAIR, category)
    mixed = values.unique().filter(pl.struct(PAIR).is_duplicated())
    if mixed.height:
        pair = " ".join(mixed.select(PAIR).row(0))
        raise DataError(f"The difficulty column {column} has different values for item {pair}.")
    return code(values[CATEGORY][codes.items["first"].to_numpy()])


@dataclass(frozen=True)
class State:
    """Variational parameters of equation (3) of arXiv:1305.0015, and its theta."""

    mu: Floats
    """Mean of q(z) [M]."""
    var: Floats
    """Variance of q(z) [M]."""
    alpha_n: Floats
    """Shape of q(tau) [N]."""
    beta_n: Floats
    """Rate of q(tau) [N]."""
    eps: Floats
    """epsilon [N]: share of the judgments that depend on the item."""
    phi_c: Floats
    """Shape of q(delta) [C]."""
    eta_c: Floats
    """Rate of q(delta) [C]."""
    alpha: float
    """Shape of the prior of tau."""
    beta: float
    """Rate of the prior of tau."""
    sharpness: Floats | None = None
    """Sum of squared responsibilities [N], which gives the sd of epsilon."""

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
    """Return the sd of epsilon, wider where spam is hard to distinguish from error.

    Known membership would have the information n / (eps (1 - eps)); the observed information
    is sum (omega - eps)^2 / (eps (1 - eps))^2. The sd of a Beta posterior is widened by the
    square root of their ratio, at most to the sd of a uniform distribution.
    """
    sd = beta_sd(state.eps, count)
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
