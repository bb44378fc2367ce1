"""Copies of one annotator are flagged; people who err independently are not."""

import numpy as np
import polars as pl
import pytest

from venire import Judgments
from venire.aggregation.collusion import (
    PAIR_SCHEMA,
    correct_by_holm,
    find_agreeing_pairs,
    list_shared_items,
)
from venire.aggregation.mean import Mean
from venire.aggregation.regularised_dawid_skene import RegularisedDawidSkene
from venire.simulation.crowds.kinds import simulated_crowd

MODEL = RegularisedDawidSkene()


def add_accounts(judgments, accounts):
    """Let an annotator of usual activity judge under so many further names."""
    codes = judgments.codes
    leader = codes.annotators[int(np.argsort(codes.per_annotator)[-10])]
    own = judgments.frame.filter(pl.col("annotator_id") == leader)
    copies = [
        own.with_columns(pl.lit(f"copy{number}").alias("annotator_id"))
        for number in range(accounts)
    ]
    return Judgments.of(pl.concat([judgments.frame, *copies]), scale=judgments.scale), leader


@pytest.mark.parametrize("accounts", [1, 2])
def test_accounts_of_one_person_are_flagged_and_nobody_else(accounts):
    judgments, leader = add_accounts(simulated_crowd("good", seed=31)[0], accounts)
    pairs = find_agreeing_pairs(judgments, MODEL.fit(judgments)).filter("flagged")
    names = {leader, *(f"copy{number}" for number in range(accounts))}
    assert pairs.height == len(names) * (len(names) - 1) / 2
    assert {*pairs["annotator_a"], *pairs["annotator_b"]} == names
    assert pairs["agreement"].min() == 1.0
    assert pairs["expected"].max() < 0.8


@pytest.mark.parametrize("kind", ["random", "one-label", "hard-topics"])
def test_people_who_err_independently_are_not_flagged(kind):
    judgments, _ = simulated_crowd(kind, seed=32)
    assert not find_agreeing_pairs(judgments, MODEL.fit(judgments))["flagged"].any()


def test_pairs_with_few_shared_items_are_not_tested():
    judgments, _ = simulated_crowd("good", seed=33)
    frame = judgments.frame
    low, high = "w1", "w2"
    counted = frame.filter(pl.col("annotator_id") == low).join(
        frame.filter(pl.col("annotator_id") == high), on=["query_id", "doc_id"]
    )
    shared = list_shared_items(judgments)
    ids = judgments.codes.annotators
    sizes = np.bincount(shared.pair)
    names = {
        (ids[int(a)], ids[int(b)]): int(n)
        for (a, b), n in zip(shared.annotators, sizes, strict=True)
    }
    assert min(names.values()) >= 10
    assert names.get((low, high), counted.height) == counted.height
    nothing = Judgments.from_dict(
        {"query_id": ["q"], "doc_id": ["d"], "annotator_id": ["a"], "label": [1]}, scale="0,1"
    )
    empty = find_agreeing_pairs(nothing, Mean().fit(nothing))
    assert dict(empty.schema) == PAIR_SCHEMA
    assert empty.is_empty()


def test_holm_by_hand():
    # p = .01, .04, .03: 3 x .01, then max(2 x .03, ...), then max(.06, .04).
    from scipy.stats import norm

    z = norm.isf([0.01, 0.04, 0.03])
    assert correct_by_holm(z) == pytest.approx([0.03, 0.06, 0.06])
