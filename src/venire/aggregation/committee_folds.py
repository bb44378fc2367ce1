"""Folds of annotators: what members that never saw an annotator foretell of their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from venire.aggregation.committee_members import Opinions
from venire.arrays import Floats, Longs
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR

FOLDS = 5
MOST = 20_000
"""Judgments above which weights are learnt from a sample of the items."""


class HeldOut(NamedTuple):
    """Labels of annotators whom the members did not see."""

    x: Floats
    """Estimate of the item of each label by each member [L, I], in steps."""
    label: Floats
    """Labels [L], in steps."""
    annotator: Longs
    """Annotator of each label [L]."""
    annotators: int
    """Number of annotators."""


def sample_items(judgments: Judgments, seed: int) -> Judgments:
    """Return the judgments of so many items, drawn at random, that about ``MOST`` remain."""
    codes = judgments.codes
    if codes.n_judgments <= MOST:
        return judgments
    rng = np.random.default_rng(seed)
    count = max(round(MOST * codes.n_items / codes.n_judgments), 1)
    rows = np.sort(rng.permutation(codes.n_items)[:count])
    items = codes.items.select(PAIR)[rows]
    frame = judgments.frame.join(items, on=PAIR, how="semi", maintain_order="left")
    return replace(judgments, frame=frame)


def assign_annotators(codes: JudgmentCodes) -> Longs:
    """Return the fold of each annotator [N]; folds have about equal numbers of judgments.

    The most active annotator first, each into the fold with the fewest judgments. Ties are
    broken by what they judged, so that ids and the order of rows change nothing.
    """
    item = np.repeat(np.arange(codes.n_items), codes.per_item)
    size = codes.n_annotators
    labels = np.bincount(codes.annotator, weights=codes.label, minlength=size)
    content = np.bincount(
        codes.annotator, weights=(item + 1.0) * (codes.label + 1.0), minlength=size
    )
    order = np.lexsort((content, labels, -codes.per_annotator))
    folds = min(FOLDS, max(size, 1))
    load = np.zeros(folds, np.int64)
    fold = np.zeros(size, np.int64)
    for number in order:
        fold[number] = int(np.argmin(load))
        load[fold[number]] += codes.per_annotator[number]
    return fold


def leave_out(judgments: Judgments, fold: Longs) -> list[Judgments]:
    """Return the judgments without each fold of annotators, as far as any remain."""
    codes = judgments.codes
    judged = np.empty(codes.n_judgments, np.int64)
    judged[codes.row] = fold[codes.annotator]
    return [
        replace(judgments, frame=judgments.frame.filter(pl.Series(judged != number)))
        for number in range(int(fold.max(initial=-1)) + 1)
    ]


def match_labels(
    judgments: Judgments,
    fold: Longs,
    opinions: list[tuple[pl.DataFrame, Opinions] | None],
    unit: float,
) -> HeldOut:
    """Return each label of a fold with the opinions on its item that were formed without it.

    Parameters
    ----------
    judgments : Judgments
    fold : int64 [N]
    opinions : list of (items, Opinions) or None
        One per fold; None where no judgment remains without it. Labels of items that were judged
        in their fold only are left out.
    unit : float
        Mean step of the scale.
    """
    codes = judgments.codes
    values = judgments.scale.array()
    item = np.repeat(np.arange(codes.n_items), codes.per_item)
    pairs = codes.items.select(PAIR).with_row_index("item")
    x, label, annotator = [], [], []
    for number, formed in enumerate(opinions):
        if formed is None:
            continue
        items, opinion = formed
        rows = np.full(codes.n_items, -1, np.int64)
        joined = items.select(PAIR).with_row_index("row").join(pairs, on=PAIR, how="inner")
        rows[joined["item"].to_numpy()] = joined["row"].to_numpy()
        chosen = (fold[codes.annotator] == number) & (rows[item] >= 0)
        x.append(opinion.x[rows[item[chosen]]] / unit)
        label.append(values[codes.label[chosen]] / unit)
        annotator.append(codes.annotator[chosen].astype(np.int64))
    if not x:
        return HeldOut(np.empty((0, 0)), np.empty(0), np.empty(0, np.int64), fold.size)
    return HeldOut(np.concatenate(x), np.concatenate(label), np.concatenate(annotator), fold.size)
