"""Two annotators, or two qrels: their table of counts, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from venire.agreement.alpha import alpha_of
from venire.agreement.counts import binary, first_relevant
from venire.agreement.fleiss import agreement_of, fleiss_of
from venire.agreement.gwet import gwet_of, weights_of
from venire.agreement.value import Value, divide, several, why, why_not_relevant, why_relevant
from venire.arrays import Floats, Longs, Shorts
from venire.errors import BadSetting, NoOverlap, UnknownName
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale, infer
from venire.tables.schema import express


def cohen_of(table: Floats, weights: Floats) -> Floats:
    """Return Cohen's kappa of tables [..., K, K]; nan where both used one and the same label.

    ``(P - P_e) / (1 - P_e)``, ``P = sum_kl w_kl t_kl / n``, ``P_e = sum_kl w_kl t_k. t_.l / n^2``
    (Cohen 1960; 1968 for weights). Weights are the identity for the kappa without weights.
    """
    total = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    observed = divide((table * weights).sum(axis=(-2, -1)), total)
    chance = (rows[..., :, None] * columns[..., None, :] * weights).sum(axis=(-2, -1))
    chance = divide(chance, total**2)
    return divide(observed - chance, 1.0 - chance, several(rows + columns))


def positive_of(table: Floats) -> Floats:
    """Return 2a / (2a + b + c) of tables [..., 2, 2] (Cicchetti and Feinstein 1990)."""
    a, off = table[..., 1, 1], table[..., 0, 1] + table[..., 1, 0]
    return divide(2 * a, 2 * a + off)


def negative_of(table: Floats) -> Floats:
    """Return 2d / (2d + b + c) of tables [..., 2, 2]."""
    return positive_of(table[..., ::-1, ::-1])


def overlap_of(table: Floats) -> Floats:
    """Return a / (a + b + c) of tables [..., 2, 2]: relevant to both of relevant to either."""
    a, off = table[..., 1, 1], table[..., 0, 1] + table[..., 1, 0]
    return divide(a, a + off)


@dataclass(frozen=True)
class Pair:
    """Two annotators on the items that both judged.

    Attributes
    ----------
    table : float [K, K]
        Number of items by the first one's grade (rows) and the second one's, rising.
    scale : Scale
    names : tuple of str
        The two annotators.
    first : int
        Position on the scale of the smallest grade that counts as relevant.
    notes : tuple of str

    Examples
    --------
    The example of Manning, Raghavan and Schütze (2008), table 8.2:

    >>> pair = Pair.of_table([[70, 10], [20, 300]])
    >>> {name: round(value.value, 3) for name, value in pair.values().items()}["pooled-kappa"]
    0.776
    """

    table: Floats
    scale: Scale
    names: tuple[str, str] = ("first", "second")
    first: int = 1
    notes: tuple[str, ...] = ()

    @classmethod
    def of_table(
        cls,
        table: ArrayLike,
        *,
        scale: Scale | None = None,
        relevant_from: float | str | None = None,
    ) -> Pair:
        """Return the pair of a table of counts: grades rise along rows and columns.

        Parameters
        ----------
        table : array [K, K]
        scale : Scale, optional
            0 to K - 1 by default.
        relevant_from : float or str, optional
            Smallest grade that counts as relevant; the scale's own by default.

        Raises
        ------
        BadSetting
            For a table that is not square, or holds no counts.
        """
        counts = np.asarray(table, dtype=np.float64)
        size = scale.size if scale else counts.shape[0] if counts.ndim else 0
        if counts.shape != (size, size) or not size:
            raise BadSetting(f"a table of counts has the shape K x K, not {counts.shape}")
        if not (np.isfinite(counts).all() and (counts >= 0).all()):
            raise BadSetting("a table of counts holds numbers of zero or more")
        scale = scale or Scale(tuple(map(float, range(size))))
        return cls(counts, scale, first=first_relevant(scale, relevant_from))

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        first: str,
        second: str,
        *,
        relevant_from: float | str | None = None,
    ) -> Pair:
        """Return two annotators of a table of judgments.

        Where one of them judged an item more than once, the last row counts.

        Raises
        ------
        UnknownName
            For an annotator who is not in the table.
        NoOverlap
            Where they share no item.
        """
        codes, size = judgments.codes, judgments.scale.size
        known = codes.annotators.to_list()
        for name in (first, second):
            if name not in known:
                raise UnknownName("annotator", name, known)
        labels = [_labels(judgments, known.index(name)) for name in (first, second)]
        (a, first_labels), (b, second_labels) = labels
        both, in_first, in_second = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        if not both.size:
            raise NoOverlap(f"annotators {first} and {second} judged no item in common")
        cell = first_labels[in_first].astype(np.int64) * size + second_labels[in_second]
        table = np.bincount(cell, minlength=size * size).reshape(size, size).astype(np.float64)
        notes = _left_out(a.size - both.size, b.size - both.size, first, second)
        place = first_relevant(judgments.scale, relevant_from)
        return cls(table, judgments.scale, (first, second), place, notes)

    @classmethod
    def of_qrels(
        cls,
        first: Qrels,
        second: Qrels,
        *,
        scale: Scale | None = None,
        names: tuple[str, str] = ("first", "second"),
        relevant_from: float | str | None = None,
    ) -> Pair:
        """Return two qrels as two annotators, on the pairs that both judge.

        Parameters
        ----------
        first, second : Qrels
        scale : Scale, optional
            By default the grades that occur in either.
        names : tuple of str
        relevant_from : float or str, optional
            Smallest grade that counts as relevant; the scale's own by default.

        Raises
        ------
        NoOverlap
            Where they share no pair.
        UnknownLabel
            For a grade that is not on the scale.
        """
        both = first.frame.join(second.frame, on=["query_id", "doc_id"], suffix="_second")
        if both.is_empty():
            raise NoOverlap(f"qrels {names[0]} and {names[1]} have no judged pair in common")
        grades = [both[name].cast(pl.Float64) for name in ("relevance", "relevance_second")]
        scale = scale or infer(
            pl.concat(
                [table.frame["relevance"].cast(pl.Float64) for table in (first, second)]
            ).unique()
        )
        rows, columns = (scale.index(grade.to_numpy()) for grade in grades)
        size = scale.size
        table = np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)
        notes = _left_out(
            first.frame.height - both.height, second.frame.height - both.height, *names
        )
        place = first_relevant(scale, relevant_from)
        return cls(table.astype(np.float64), scale, names, place, notes)

    @property
    def items(self) -> int:
        """Number of items that both judged."""
        return int(self.table.sum())

    @property
    def relevance(self) -> Floats:
        """The table [2, 2]: not relevant, relevant."""
        return binary(self.table, self.first)

    def values(self) -> dict[str, Value]:
        """Return every figure by its name.

        ``agreement`` (the share of items with equal grades), ``pooled-kappa`` (Scott's pi),
        ``cohen-kappa``, ``linear-kappa`` and ``quadratic-kappa`` (weights by the distance of the
        grades), ``alpha-nominal``, ``alpha-ordinal``, ``gwet-ac1``; and of relevant or not:
        ``positive-agreement`` 2a/(2a+b+c), ``negative-agreement`` 2d/(2d+b+c), ``overlap``
        a/(a+b+c), with a items relevant to both, b and c to one, d to none.
        """
        grades = self.scale.array()
        both = self.table + self.table.T
        corrected = {
            "agreement": agreement_of(self.table),
            "pooled-kappa": fleiss_of(both),
            "cohen-kappa": cohen_of(self.table, weights_of("nominal", grades)),
            "linear-kappa": cohen_of(self.table, weights_of("linear", grades)),
            "quadratic-kappa": cohen_of(self.table, weights_of("quadratic", grades)),
            "alpha-nominal": alpha_of(both, "nominal", grades),
            "alpha-ordinal": alpha_of(both, "ordinal", grades),
            "gwet-ac1": gwet_of(both, weights_of("nominal", grades)),
        }
        out = {name: Value.of(name, x, why(self.table)) for name, x in corrected.items()}
        two = self.relevance
        for name, function, reason in (
            ("positive-agreement", positive_of, why_relevant),
            ("negative-agreement", negative_of, why_not_relevant),
            ("overlap", overlap_of, why_relevant),
        ):
            out[name] = Value.of(name, function(two), reason(two))
        return out


def _labels(judgments: Judgments, annotator: int) -> tuple[Longs, Shorts]:
    """Return the items of an annotator, each once, and the label of the last row of each."""
    codes = judgments.codes
    rows = np.flatnonzero(codes.annotator == annotator)
    item = np.searchsorted(codes.indptr, rows, side="right") - 1
    order = np.lexsort((codes.row[rows], item))
    item, label = item[order], codes.label[rows][order]
    last = np.append(item[1:] != item[:-1], True)
    return item[last], label[last]


def _left_out(only_first: int, only_second: int, first: str, second: str) -> tuple[str, ...]:
    return tuple(
        f"{express(number, 'item')} that only {name} judged left out"
        for number, name in ((only_first, first), (only_second, second))
        if number
    )
