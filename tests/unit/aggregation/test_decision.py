"""Who is excluded, with an interval; colluders are named; uncalibrated intervals are marked."""

import polars as pl
import pytest
from scipy.stats import beta

import venire
from venire import Judgments
from venire.aggregation.decision import WIDTHS, find_beta_interval, find_spammers
from venire.simulation.crowds.annotators import TYPES, judge
from venire.simulation.crowds.kinds import simulated_crowd


def test_the_interval_is_that_of_the_beta_distribution():
    low, high = find_beta_interval(beta(8, 2).mean(), beta(8, 2).std())
    assert (low, high) == pytest.approx(beta(8, 2).interval(0.95))


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
    note = next(note for note in result.notes if note.startswith("agree more"))
    assert "copy and w7 (100% of" in note
    assert WIDTHS in result.notes
    assert not result.frame["calibrated"].any()
