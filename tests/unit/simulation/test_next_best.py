import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadSetting, UnknownName
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import score
from venire.simulation.campaigns.next_best import grade_gain, influence, next_best


def lists(rng, topics=4, docs=12, systems=3, depth=8):
    frames = []
    for name in range(systems):
        ranked = {
            f"q{t}": {f"d{d}": float(-at) for at, d in enumerate(rng.permutation(docs)[:depth])}
            for t in range(topics)
        }
        frames.append(Runs.from_dict(ranked, run_id=f"s{name}").frame)
    pairs = pl.DataFrame(
        {"query_id": np.repeat([f"q{t}" for t in range(topics)], docs),
         "doc_id": np.tile([f"d{d}" for d in range(docs)], topics)}
    )  # fmt: skip
    return RankTable.of(Runs(pl.concat(frames)), pairs)


def expected_ap(table, relevant):
    """AP with real-valued relevance, one system and topic at a time."""
    out = np.zeros((len(table.runs), len(table.topics)))
    for segment in range(out.size):
        here = np.flatnonzero(table.segment == segment)
        run, topic = divmod(segment, len(table.topics))
        total, seen = 0.0, 0.0
        for at in here:
            seen += relevant[table.pair[at]]
            total += relevant[table.pair[at]] * seen / table.rank[at]
        out[run, topic] = total / relevant[table.topic == topic].sum()
    return out.mean(axis=1)


def test_the_influence_is_that_of_numerical_derivatives():
    rng = np.random.default_rng(3)
    table = lists(rng)
    relevant = rng.uniform(0.05, 0.95, table.pairs.height)
    step = 1e-5
    slopes = np.empty((len(table.runs), relevant.size))
    for pair in range(relevant.size):
        low, high = relevant.copy(), relevant.copy()
        low[pair] -= step
        high[pair] += step
        slopes[:, pair] = (expected_ap(table, high) - expected_ap(table, low)) / (2 * step)
        # A pair counts with itself too: rel_i * rel_i / rank, of which the formula has one part.
        for run in range(len(table.runs)):
            topic = table.topic[pair]
            segment = run * len(table.topics) + topic
            there = np.flatnonzero((table.segment == segment) & (table.pair == pair))
            total = relevant[table.topic == topic].sum()
            for at in there:
                slopes[run, pair] -= relevant[pair] / table.rank[at] / total / len(table.topics)
    # With the precision at the pair's own rank in place of its derivative, the rest is equal.
    own = np.zeros_like(slopes)
    for at in range(table.pair.size):
        run, topic = divmod(int(table.segment[at]), len(table.topics))
        pair = table.pair[at]
        total = relevant[table.topic == topic].sum()
        own[run, pair] = relevant[pair] / table.rank[at] / total / len(table.topics)
    centred = slopes - slopes.mean(axis=0)
    found = influence(table, relevant)
    near = (centred**2).sum(axis=0)
    assert np.allclose(found, near, rtol=0.02, atol=1e-6)


def test_with_known_relevance_ap_is_that_of_the_measure():
    rng = np.random.default_rng(4)
    table = lists(rng)
    grades = rng.integers(0, 2, table.pairs.height)
    grades[::12] = 1
    assert np.allclose(
        expected_ap(table, grades.astype(float)), score(table, grades, ["AP"]).mean[0]
    )


def test_the_gain_is_the_law_of_total_variance():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 20)
    c = rng.dirichlet(np.ones(3) * 2, 3)
    values = np.array([0.0, 1.0, 3.0])
    for row, gain in zip(p, grade_gain(p, c, values), strict=True):
        before = (row * values**2).sum() - (row * values).sum() ** 2
        after = 0.0
        for label in range(3):
            joint = row * c[:, label]
            post = joint / joint.sum()
            after += joint.sum() * ((post * values**2).sum() - (post * values).sum() ** 2)
        assert gain == pytest.approx(before - after)


def test_ranking_prefers_what_tells_systems_apart():
    # `a` is first for one system and absent for the other; both have `b` at the same rank.
    one = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}}, run_id="one")
    two = Runs.from_dict({"q": {"c": 2.0, "b": 1.0}}, run_id="two")
    table = Judgments.from_dict(
        {
            "query_id": ["q"] * 6,
            "doc_id": list("aabbcc"),
            "annotator_id": list("xyxyxy"),
            "label": [0, 1, 0, 1, 0, 0],
        }
    )
    runs = Runs(pl.concat([one.frame, two.frame]))
    found = next_best(table, 3, runs=runs).frame
    assert found["doc_id"][0] == "a"
    by_grade = next_best(table, 3, by="grade").frame
    gains = dict(by_grade.select("doc_id", "gain").iter_rows())
    assert gains["a"] == pytest.approx(gains["b"])
    assert gains["c"] < gains["a"]


def test_wrong_input_is_told():
    table = Judgments.from_dict({"query_id": ["q"], "doc_id": ["a"], "annotator_id": ["x"],
                                 "label": [1]}, scale="0,1")  # fmt: skip
    with pytest.raises(BadSetting, match="`runs` must be given"):
        next_best(table, 1)
    with pytest.raises(BadSetting, match=r"`budget` must be >= 1 \(got 0\)"):
        next_best(table, 0, by="grade")
    with pytest.raises(UnknownName, match="Unknown by 'luck'"):
        next_best(table, 1, by="luck")


def test_qrels_of_the_trial_are_binary():
    from venire.simulation.campaigns.next_best_trial import Trial, measure_saving, trial

    rng = np.random.default_rng(1)
    truth = Qrels.from_dict({f"q{t}": {f"d{d}": int(d < 4) for d in range(12)} for t in range(15)})
    frames = []
    for at, quality in enumerate((0.9, 0.6, 0.3)):
        scores = {
            f"q{t}": {f"d{d}": quality * (d < 4) + (1 - quality) * rng.random() for d in range(12)}
            for t in range(15)
        }
        frames.append(Runs.from_dict(scores, run_id=f"s{at}").frame)
    runs = Runs(pl.concat(frames))
    rows = trial(truth, runs, truth.frame, Trial(workers=20, most=3, step=0.5), seed=1)
    equal = [row for row in rows if row["way"] == "equal"]
    assert [row["per_pair"] for row in equal] == [1.0, 2.0, 3.0]
    first = next(row for row in rows if row["way"] == "next best")
    assert first["tau"] == equal[0]["tau"]
    assert measure_saving(rows, 1)[1] is not None


def test_pairs_that_would_change_nothing_are_not_chosen():
    # `a` and `b` change places. No system has the others: whatever is said of them moves both
    # average precisions alike, as these are equal.
    one = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}}, run_id="one")
    two = Runs.from_dict({"q": {"b": 2.0, "a": 1.0}}, run_id="two")
    labels = {"a": (0, 1), "b": (0, 1), "c": (0, 1), "d": (1, 1), "e": (0, 0), "f": (0, 0)}
    table = Judgments.from_dict(
        {
            "query_id": ["q"] * 12,
            "doc_id": [doc for doc in labels for _ in range(2)],
            "annotator_id": list("xy" * 6),
            "label": [label for pair in labels.values() for label in pair],
        }
    )
    found = next_best(table, 5, runs=Runs(pl.concat([one.frame, two.frame])))
    assert sorted(found.frame["doc_id"]) == ["a", "b"]
    assert found.notes == (
        "another judgment has an expected gain for 2 pairs only; the other 4 are left out",
    )
    # Annotators who give one label each tell nothing: all gains are 0, but for rounding.
    flat = table.frame.with_columns((pl.col("annotator_id") == "y").cast(pl.Int64).alias("label"))
    blind = Judgments.of(flat.select("query_id", "doc_id", "annotator_id", "label"))
    both = Runs(pl.concat([one.frame, two.frame]))
    assert next_best(blind, 3, runs=both).frame.height == 0
    assert next_best(blind, 3, by="grade").frame.height == 0
    # The same run twice: nothing tells them apart.
    same = Runs(pl.concat([one.frame, one.frame.with_columns(pl.lit("two").alias("run_id"))]))
    assert next_best(table, 3, runs=same).frame.height == 0
