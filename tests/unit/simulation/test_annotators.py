import numpy as np
import polars as pl
import pytest

from venire import Judgments, Scale
from venire.errors import BadSetting, UnknownName
from venire.simulation.crowds.annotators import TYPES, add_fakes, confusion_of, judge, kind_named
from venire.simulation.crowds.collection import SYSTEMS, make_collection
from venire.testing.crowds import make_crowd


@pytest.mark.parametrize("kind", TYPES.values(), ids=str)
def test_a_type_is_a_confusion_matrix(kind):
    table = confusion_of(kind, 4)
    assert table == pytest.approx(np.clip(table, 0, 1))
    assert table.sum(axis=1) == pytest.approx(1.0)


def test_labels_follow_the_confusion_matrix():
    n = 20_000
    grades = pl.DataFrame(
        {"query_id": ["q"] * n, "doc_id": [f"d{at}" for at in range(n)], "relevance": [1.0] * n}
    )
    scale = Scale.of(range(4))
    judgments = judge(grades, scale, {"w": kind_named("lenient")}, overlap=1, seed=0)
    share = np.bincount(judgments.frame["label"].to_numpy(), minlength=4) / n
    # Three standard errors of a share from 20,000 draws are at most .011.
    assert share == pytest.approx(confusion_of(kind_named("lenient"), 4)[1], abs=0.011)


def test_fakes_do_the_average_work_and_judge_an_item_once():
    judgments, _ = make_crowd(0, items=200, people=10, per_item=5)
    both = add_fakes(judgments, 9, seed=1)
    fakes = both.frame.filter(pl.col("annotator_id").str.starts_with("fake"))
    assert fakes.height == 9 * 200
    work = fakes.group_by("annotator_id").len()["len"]
    assert work.mean() == pytest.approx(len(judgments) / 10, rel=0.05)
    assert work.max() - work.min() <= 1
    assert not fakes.select(pl.struct("doc_id", "annotator_id").is_duplicated().any()).item()
    share = fakes["label"].value_counts()["count"].to_numpy() / fakes.height
    assert share == pytest.approx(0.25, abs=0.04)


def test_fakes_are_of_the_seed_and_none_changes_nothing():
    judgments, _ = make_crowd(0)
    assert add_fakes(judgments, 0, seed=1) is judgments
    first, second = (add_fakes(judgments, 2, seed=seed) for seed in (1, 1))
    assert first.frame.equals(second.frame)
    assert not first.frame.equals(add_fakes(judgments, 2, seed=2).frame)


def test_bad_settings_are_refused():
    judgments, _ = make_crowd(0)
    with pytest.raises(BadSetting):
        add_fakes(judgments, -1, seed=0)
    with pytest.raises(UnknownName, match="Did you mean 'careful'"):
        kind_named("carefull")
    with pytest.raises(BadSetting, match="overlap"):
        judge(pl.DataFrame(), Scale.of([0, 1]), {"w": kind_named("careful")}, overlap=2, seed=0)


def test_the_collection_is_what_it_says():
    made = make_collection(seed=5)
    assert made.topics.height == 12
    assert made.documents.height == 400
    assert made.annotators.height == 60
    bad = made.annotators.filter(pl.col("type").is_in(["careless", "random", "clicker"]))
    assert bad.height == 15
    assert sorted(made.runs.frame["run_id"].unique()) == sorted(SYSTEMS)
    assert len(made.truth) == 12 * 400
    assert len(made.judgments) == 5 * made.pool.height
    again = make_collection(seed=5)
    assert again.judgments.frame.equals(made.judgments.frame)
    assert isinstance(made.judgments, Judgments)
