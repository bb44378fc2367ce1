"""Items with one judgment, of an annotator who shares no item with anybody: nothing checks it."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats, Longs, Shorts
from venire.tables.codes import JudgmentCodes
from venire.tables.schema import express

HALF = 0.5
"""In the ordinal prior, a label one grade further away is half as likely."""


def ordinal_centre(size: int) -> Floats:
    """Return phi [label, grade] in which each grade further away is half as likely."""
    gap = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :])
    weight: Floats = HALF**gap
    matrix: Floats = weight / weight.sum(axis=0)
    return matrix


def find_unchecked(codes: JudgmentCodes, known: Shorts) -> Longs:
    """Return the items [U] whose only judgment is of an annotator whom nothing checks.

    An item checks its annotators where it has two or more judgments, or a known grade.
    """
    checks = (codes.per_item > 1) | (known >= 0)
    item = np.repeat(np.arange(codes.n_items), codes.per_item)
    is_checked = np.zeros(codes.n_annotators, np.bool_)
    is_checked[codes.annotator[checks[item]]] = True
    single = np.flatnonzero(~checks)
    rows: Longs = single[~is_checked[codes.annotator[codes.indptr[single]]]]
    return rows


def assume_grades(label: Shorts, size: int) -> Floats:
    """Return grade probabilities [U, K] of single labels of annotators whose error is unknown.

    The error is assumed, not measured: each grade further away is half as likely, and every
    grade equally frequent. Maximum likelihood would take the label for certain.
    """
    chance = ordinal_centre(size)
    grades: Floats = chance / chance.sum(axis=1, keepdims=True)
    return grades[label]


def describe_unchecked(items: int) -> tuple[str, ...]:
    """Return the note on items whose uncertainty is assumed."""
    if not items:
        return ()
    return (
        f"{express(items, 'item')} judged once, by annotators who share no item with others: their "
        "uncertainty is assumed (each grade further away is half as likely), not measured",
    )
