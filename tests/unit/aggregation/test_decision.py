"""Who is excluded, with an interval; colluders are named; uncalibrated intervals are marked."""

import numpy as np
import polars as pl
import pytest

import venire
from venire import Judgments
from venire.aggregation.decision import WIDTHS, find_spam_interval, find_spammers
from venire.simulation.crowds.annotators import TYPES, judge
from venire.simulation.crowds.kinds import simulated_crowd


def test_the_interval_has_the_variance_of_the_model_and_of_a_share_of_labels():
    # n = 8, m = .5: p = 5 / 10, p (1 - p) / n = 1 / 32; sd^2 = 1 / 32: together 1 / 16.
    low, high = find_spam_interval(np.array([0.5]), np.array([(1 / 32) ** 0.5]), np.array([8]))
    assert (low[0], high[0]) == pytest.approx((0.5 - 1.96 / 4, 0.5 + 1.96 / 4))


def test_certainty_of_a_model_cannot_beat_few_labels_and_ends_stay_shares():
    # m = 1, n = 2: p = 3 / 4, variance 3 / 32. With 98 labels p = .99 and it is .0099 / 98.
    low, high = find_spam_interval(np.ones(2), np.zeros(2), np.array([2, 98]))
    assert low == pytest.approx([1 - 1.96 * (3 / 32) ** 0.5, 1 - 1.96 * (0.0099 / 98) ** 0.5])
    assert high.tolist() == [1.0, 1.0]


def test_no_share_varies_more_than_its_mean_allows():
    # m = .9, n = 8: p = 8.2 / 10, at most p (1 - p) = .1476, and .1476 / 8 for eight labels.
    low, _ = find_spam_interval(np.array([0.9]), np.array([0.5]), np.array([8]))
    assert low[0] == pytest.approx(0.9 - 1.96 * (0.1476 * 9 / 8) ** 0.5)


def test_who_certainly_does_not_look_is_excluded_and_nobody_else():
    _, truth = simulated_crowd("good", seed=41)
    kinds = ["careful"] * 8 + ["typical"] * 8 + ["lenient"] * 2 + ["random"] * 3 + ["clicker"] * 2
    crowd = {f"{kind}-{number}": TYPES[kind] for number, kind in enumerate(kinds)}
    scale = simulated_crowd("good", seed=41)[0].scale
    judgments = judge(truth.frame, scale, crowd, overlap=5, seed=1)
    result = venire.aggregate(judgments, "ordinal-mixture", settings={"restarts": 2})
    spammers = find_spammers(result.annotators)
    expected = {name for name in crowd if name.split("-")[0] in ("random", "clicker")}
    assert set(spammers["annotator_id"]) == expected
    assert spammers["spamminess_low"].min() > 0.5
    assert any(note.startswith("exclude ") for note in result.notes)


def test_a_model_without_spamminess_excludes_nobody():
    assert find_spammers(pl.DataFrame({"annotator_id": ["a"], "judgments": [1]})).is_empty()


def test_colluders_are_named_and_the_committee_marks_its_intervals():
    judgments, _ = simulated_crowd("good", seed=42)
    own = judgments.frame.filter(pl.col("annotator_id") == "w7")
    copied = Judgments.of(
        pl.concat([judgments.frame, own.with_columns(pl.lit("copy").alias("annotator_id"))]),
        scale=judgments.scale,
    )
    result = venire.aggregate(copied, settings={"members": "binary,mean"})
    note = next(note for note in result.notes if "agree more than" in note)
    assert "copy and w7 (100% of" in note
    assert WIDTHS in result.notes
    assert not result.frame["calibrated"].any()
