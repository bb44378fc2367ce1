import numpy as np
import polars as pl
import pytest

from venire import Judgments, Runs
from venire.aggregation.mean import Mean
from venire.errors import BadSetting, DataError
from venire.evaluation.uncertain import GradeProbabilities, draw_scores
from venire.report.folder import write_posterior


def probabilities(*relevant):
    """Pairs a, b, c, ... that are relevant with these chances."""
    pairs = pl.DataFrame(
        {"query_id": ["q"] * len(relevant), "doc_id": list("abcdef"[: len(relevant)])}
    )
    p = np.array(relevant)
    return GradeProbabilities(pairs, np.stack([1 - p, p], axis=1), np.array([0, 1]))


def test_the_mean_over_draws_is_the_expectation():
    runs = Runs.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    found = draw_scores(probabilities(0.9, 0.5, 0.2), runs, ["P@3"], draws=4000, seed=1)
    # Expected precision (.9 + .5 + .2) / 3; its variance is the sum of p(1 - p) over 9.
    sd = ((0.09 + 0.25 + 0.16) / 9 / 4000) ** 0.5
    assert found.values.mean() == pytest.approx(1.6 / 3, abs=3 * sd)


def test_the_chance_to_be_better_is_the_enumerated_one():
    runs = pl.concat(
        [
            Runs.from_dict({"q": {"a": 2.0, "b": 1.0}}, run_id="first").frame,
            Runs.from_dict({"q": {"b": 2.0, "a": 1.0}}, run_id="second").frame,
        ]
    )
    found = draw_scores(probabilities(0.8, 0.3), Runs(runs), ["P@1"], draws=4000, seed=2)
    # a alone relevant .8 * .7; both or neither tie: .8 * .3 + .2 * .7.
    expected = 0.56 + 0.5 * (0.24 + 0.14)
    assert found.better("first", "second") == pytest.approx(expected, abs=0.025)


def test_sure_grades_have_no_width():
    runs = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}})
    low, high = draw_scores(probabilities(1.0, 0.0), runs, ["AP"], draws=20).interval()
    assert low.tolist() == high.tolist() == [[1.0]]


def test_draws_are_of_the_seed():
    runs = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}})
    first, second, other = (
        draw_scores(probabilities(0.5, 0.5), runs, ["AP"], draws=30, seed=seed).values
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_what_an_aggregation_wrote_is_read(tmp_path):
    judgments = Judgments.from_dict(
        {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"], "annotator_id": list("xyxy"),
         "label": [0, 2, 1, 1]}, scale="0,1,2",
    )  # fmt: skip
    write_posterior(Mean().fit(judgments), tmp_path / "out")
    for place in (tmp_path / "out", tmp_path / "out" / "items.csv"):
        read = GradeProbabilities.read(place)
        assert read.grades.tolist() == [0, 1, 2]
        assert read.probabilities.tolist() == [[0.5, 0, 0.5], [0, 1, 0]]


def test_other_files_are_refused(tmp_path):
    (tmp_path / "items.csv").write_text("query_id,doc_id\nq,a\n")
    with pytest.raises(DataError, match="no grade probabilities"):
        GradeProbabilities.read(tmp_path / "items.csv")
    with pytest.raises(BadSetting, match="draws"):
        draw_scores(probabilities(0.5), Runs.from_dict({"q": {"a": 1}}), ["AP"], draws=0)
