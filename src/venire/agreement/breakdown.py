"""Agreement by grade, and of each annotator with the rest."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.agreement.counts import MOST_CELLS, PairCounts, binary, label_counts
from venire.agreement.fleiss import agreement_of
from venire.agreement.gwet import weights_of
from venire.agreement.pairs import cohen_of, positive_of
from venire.agreement.value import divide, several
from venire.arrays import Floats, Longs
from venire.errors import DataError
from venire.tables.judgments import Judgments


def column(values: Floats) -> pl.Series:
    """Return numbers as a column; what is undefined is null."""
    return pl.Series(values, dtype=pl.Float64).fill_nan(None)


def by_grade(counts: PairCounts) -> pl.DataFrame:
    """Return one row a grade.

    ``share`` is the share p_k of the labels (each item counts the same), ``agreement`` the
    probability that another annotator says the grade where one did, ``kappa`` that beyond
    chance, ``(agreement - p_k) / (1 - p_k)`` (Fleiss 1971), ``most_confused`` the
    grade that others say most often instead.
    """
    table = counts.by_item.sum(axis=0)
    margin = table.sum(axis=-1)
    share = divide(margin, margin.sum())
    same = divide(np.diagonal(table), margin)
    kappa = divide(same - share, 1.0 - share, np.full(share.shape, several(margin)))
    others = table.copy()
    np.fill_diagonal(others, 0.0)
    names = counts.scale.names
    return pl.DataFrame(
        {
            "grade": list(names),
            "judgments": counts.by_judgment.sum(axis=(0, 2)).round().astype(np.int64),
            "share": column(share),
            "agreement": column(same),
            "kappa": column(kappa),
            "most_confused": [names[int(row.argmax())] if row.any() else None for row in others],
        },
        schema_overrides={"most_confused": pl.String},
    )


def with_the_rest(judgments: Judgments) -> tuple[Floats, Longs]:
    """Return each annotator's table against all others [N, K, K], and their number of items [N].

    A judgment adds to the row of its grade the shares of the grades that others gave the same
    item, so that each judgment weighs 1 however many others there are. An annotator's own
    repeats are not others.
    """
    codes, size = judgments.codes, judgments.scale.size
    if codes.n_annotators * size * size > MOST_CELLS:
        raise DataError(
            f"{codes.n_annotators:,} annotators on a scale of {size} grades need "
            f"{codes.n_annotators * size * size:,} counts, and the limit is {MOST_CELLS:,}",
            hint="Use a scale with fewer grades.",
        )
    item = codes.item_of()
    counts = label_counts(judgments)
    # Judgments are sorted by item, then annotator: an annotator's of one item are a run.
    new = np.ones(codes.n_judgments, np.bool_)
    new[1:] = (item[1:] != item[:-1]) | (codes.annotator[1:] != codes.annotator[:-1])
    run = np.cumsum(new) - 1
    own = np.bincount(run)[run]
    others = codes.per_item[item] - own
    used = others > 0
    cell = codes.annotator[used].astype(np.int64) * size + codes.label[used]
    weight = 1.0 / others[used]
    tables = np.empty((codes.n_annotators, size, size))
    for k in range(size):
        own_label = np.bincount(run, weights=codes.label == k)[run]
        share_of_others = (counts[item, k] - own_label)[used] * weight
        tables[..., k] = np.bincount(
            cell, weights=share_of_others, minlength=codes.n_annotators * size
        ).reshape(-1, size)
    items = np.bincount(codes.annotator[used & new], minlength=codes.n_annotators)
    return tables, items


def by_annotator(judgments: Judgments, first: int) -> pl.DataFrame:
    """Return one row an annotator: how far they agree with all others on the same items.

    ``judgments`` all they gave, ``items`` those that somebody else judged too, ``agreement`` the
    probability that another annotator of the item gives the same grade, ``kappa`` Cohen's with
    the rest as the second annotator, ``quadratic_kappa`` that with weights by the distance of the
    grades, ``positive_agreement`` 2a/(2a+b+c) of relevant or not, ``leniency`` the mean of the
    own grade minus the mean of the others' (above zero: gives higher grades).

    Parameters
    ----------
    judgments : Judgments
    first : int
        Position on the scale of the smallest grade that counts as relevant.
    """
    tables, items = with_the_rest(judgments)
    grades = judgments.scale.array()
    total = tables.sum(axis=(-2, -1))
    gap = grades[:, None] - grades[None, :]
    return pl.DataFrame(
        {
            "annotator_id": judgments.codes.annotators,
            "judgments": judgments.codes.per_annotator,
            "items": items,
            "agreement": column(agreement_of(tables)),
            "kappa": column(cohen_of(tables, weights_of("nominal", grades))),
            "quadratic_kappa": column(cohen_of(tables, weights_of("quadratic", grades))),
            "positive_agreement": column(positive_of(binary(tables, first))),
            "leniency": column(divide((tables * gap).sum(axis=(-2, -1)), total)),
        }
    )
