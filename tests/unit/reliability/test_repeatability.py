from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from venire import Judgments, Qrels, Runs
from venire.aggregation.majority import Majority
from venire.agreement.strictness import strictness
from venire.errors import BadSetting, NoOverlap
from venire.evaluation.score import score_runs
from venire.reliability.repeatability import Group, compare_groups
from venire.simulation.crowds.annotators import AnnotatorType, judge
from venire.simulation.crowds.collection import SCALE, make_collection
from venire.stats.proportion import wilson
from venire.stats.rank_correlation import tau_b, tau_b_many

SIX = ("AP(rel=2)", "nDCG", "P(rel=2)@10")


@pytest.fixture(scope="module")
def known():
    return make_collection(seed=3)


def wave(known, seed, shift=0.15, overlap=3):
    """A crowd that is lenient by ``shift`` steps, each pair judged by three."""
    crowd = {f"w{seed}-{at}": AnnotatorType("worker", shift=shift, sd=0.6, attention=0.9)
             for at in range(40)}  # fmt: skip
    table = judge(known.truth.frame.join(known.pool, on=["query_id", "doc_id"]), SCALE, crowd,
                  overlap=overlap, seed=seed)  # fmt: skip
    return Group(Majority().fit(table).qrels(), table)


@pytest.fixture(scope="module")
def found(known):
    experts = judge(
        known.truth.frame.join(known.pool, on=["query_id", "doc_id"]), SCALE,
        {"expert": AnnotatorType("expert", shift=-0.3, sd=0.3)}, overlap=1, seed=9,
    )  # fmt: skip
    groups = {
        "wave 1": wave(known, 1),
        "wave 2": wave(known, 2),
        "expert": Group(Majority().fit(experts).qrels(), experts),
    }
    return groups, compare_groups(groups, known.runs, SIX, relevant_from=2)


def test_six_systems_keep_their_order_while_scores_differ(found):
    _, result = found
    assert [row["tau"] for row in result.orders] == [1.0] * 9
    assert all(row["swapped"] == row["matter"] == 0 for row in result.orders)
    scores = result.scores
    assert not np.allclose(scores["wave 1"], scores["wave 2"])
    assert not np.allclose(scores["wave 1"], scores["expert"])
    assert (scores["wave 1 rank"] == scores["expert rank"]).all()
    assert "the same under wave 1, wave 2 and expert" in result.sentence


def test_experts_are_pessimists(found):
    _, result = found
    overall = {(row["group"], row["against"]): row for row in result.strictness
               if row["grade"] is None}  # fmt: skip
    for crowd in ("wave 1", "wave 2"):
        assert overall["expert", crowd]["high"] < 0
        assert overall["expert", crowd]["offset"] == -overall[crowd, "expert"]["offset"]
    # Two waves of one crowd are as strict as each other, but for chance.
    gap = abs(overall["wave 1", "wave 2"]["offset"])
    assert gap < abs(overall["expert", "wave 1"]["offset"]) / 5
    assert "expert is the strictest" in result.sentence


def test_scores_and_taus_are_those_of_each_group_alone(found, known):
    groups, result = found
    means = {}
    for name, group in groups.items():
        scores = score_runs(group.qrels, known.runs, ["nDCG"])
        means[name] = scores.mean[0]
        shown = result.scores.filter(pl.col("measure") == "nDCG").sort("run_id")
        assert np.allclose(shown[name], scores.mean[0])
    for first, second in combinations(groups, 2):
        row = next(row for row in result.orders if row["measure"] == "nDCG"
                   and (row["first"], row["second"]) == (first, second))  # fmt: skip
        assert row["tau"] == pytest.approx(kendalltau(means[first], means[second]).statistic)
        assert row["tau_low"] <= row["tau"] <= row["tau_high"]


def test_a_swap_matters_where_a_group_tells_the_systems_apart():
    # `one` is first under A on every topic; B turns it round on every topic; C cannot tell.
    topics = [f"q{at}" for at in range(12)]
    one = Runs.from_dict({q: {"a": 2.0, "b": 1.0} for q in topics}, run_id="one")
    two = Runs.from_dict({q: {"b": 2.0, "a": 1.0} for q in topics}, run_id="two")
    runs = Runs(pl.concat([one.frame, two.frame]))
    a = Qrels.from_dict({q: {"a": 1, "b": 0} for q in topics})
    b = Qrels.from_dict({q: {"a": 0, "b": 1} for q in topics})
    result = compare_groups({"A": Group(a), "B": Group(b)}, runs, ["AP"])
    assert result.orders[0] | {"tau_ap": None, "tau_low": None, "tau_high": None} == {
        "measure": "AP", "first": "A", "second": "B", "tau": -1.0, "tau_low": None,
        "tau_high": None, "tau_ap": None, "pairs": 1, "swapped": 1, "matter": 1,
        "largest_shift": 1,
    }  # fmt: skip
    assert result.swaps[0]["told_apart_by"] == "A, B"
    barely = Qrels.from_dict({q: {"a": int(at % 2), "b": int(at % 2 == 0 or at == 1)}
                              for at, q in enumerate(topics)})  # fmt: skip
    again = compare_groups({"A": Group(barely), "B": Group(b)}, runs, ["AP"])
    assert again.orders[0]["matter"] == 0 or again.swaps[0]["told_apart_by"] == "B"


def test_only_pairs_of_all_groups_count_unless_asked():
    runs = Runs(pl.concat([
        Runs.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, run_id="one").frame,
        Runs.from_dict({"q": {"c": 3.0, "b": 2.0, "a": 1.0}}, run_id="two").frame,
    ]))  # fmt: skip
    groups = {
        "A": Group(Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1}})),
        "B": Group(Qrels.from_dict({"q": {"a": 1, "b": 0}})),
    }
    shared = compare_groups(groups, runs, ["P@1"])
    own = compare_groups(groups, runs, ["P@1"], pairs="own")
    assert shared.scores.sort("run_id")["A"].to_list() == [1.0, 0.0]
    assert own.scores.sort("run_id")["A"].to_list() == [1.0, 1.0]
    assert any("A: 1 pair that not all groups judged, not used" in note for note in shared.notes)
    tied = own.orders[0]
    assert tied["tau"] is None
    assert "Nothing can be said" in own.sentence


def test_rejection_rates_and_their_departure():
    runs = Runs(pl.concat([Runs.from_dict({"q": {"a": 1.0}}, run_id="one").frame,
                           Runs.from_dict({"q": {"b": 1.0}}, run_id="two").frame]))  # fmt: skip
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    rates = compare_groups(
        {"first": Group(qrels, rejected=wilson(5, 100)),
         "second": Group(qrels, rejected=wilson(54, 100)),
         "third": Group(qrels, rejected=wilson(50, 100))}, runs, ["AP"],
    ).rates  # fmt: skip
    assert [row["differs"] for row in rates] == [None, True, False]
    assert rates[1]["rejected"] == 0.54


def test_offsets_by_grade_are_means():
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (2, 500))
    topic = rng.integers(0, 20, 500)
    rows = strictness(["a", "b"], grades, topic, bootstrap=300, seed=1)
    for row in rows:
        mine, theirs = (0, 1) if row["group"] == "a" else (1, 0)
        chosen = slice(None) if row["grade"] is None else grades[theirs] == row["grade"]
        assert row["offset"] == pytest.approx((grades[mine] - grades[theirs])[chosen].mean())
        assert row["low"] < row["offset"] < row["high"]


def test_taus_of_many():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 4, (2, 50, 6)).astype(float)
    expected = [tau_b(a, b) for a, b in zip(first, second, strict=True)]
    assert np.allclose(tau_b_many(first, second), np.array(expected, float), equal_nan=True)


def test_wrong_input_is_told():
    runs = Runs.from_dict({"q": {"a": 1.0}}, run_id="one")
    qrels = Qrels.from_dict({"q": {"a": 1}})
    with pytest.raises(BadSetting, match="at least two groups"):
        compare_groups({"A": Group(qrels)}, runs)
    with pytest.raises(BadSetting, match="at least two runs"):
        compare_groups({"A": Group(qrels), "B": Group(qrels)}, runs)
    two = Runs(pl.concat([runs.frame, Runs.from_dict({"q": {"b": 1.0}}, run_id="two").frame]))
    other = Group(Qrels.from_dict({"q": {"b": 1}}))
    with pytest.raises(NoOverlap, match="share no judged pair"):
        compare_groups({"A": Group(qrels), "B": other}, two)
    with pytest.raises(BadSetting, match="`pairs` must be shared or own"):
        compare_groups({"A": Group(qrels), "B": other}, two, pairs="all")


def test_judgments_give_agreement_within():
    table = Judgments.from_dict(
        {
            "query_id": list("qqqqrrrr"),
            "doc_id": list("aabbaabb"),
            "annotator_id": list("xyxyxyxy"),
            "label": [0, 0, 1, 1, 0, 1, 1, 1],
        }
    )
    runs = Runs(pl.concat([Runs.from_dict({"q": {"a": 1.0}}, run_id="one").frame,
                           Runs.from_dict({"q": {"b": 1.0}}, run_id="two").frame]))  # fmt: skip
    group = Group(Majority().fit(table).qrels(), table)
    rows = compare_groups({"A": group, "B": Group(group.qrels)}, runs, ["AP"]).agreement
    within = {row["measure"]: row["value"] for row in rows if row["first"] == row["second"]}
    assert within["agreement"] == 0.75
    between = {row["measure"]: row["value"] for row in rows if row["first"] != row["second"]}
    assert between["agreement"] == 1.0


def few(topics, grades, other=None):
    """Five systems that find the relevant document in the first place, or ever later, of each."""
    docs = [f"d{at}" for at in range(5)]
    runs = Runs(pl.concat([
        Runs.from_dict(
            {f"q{t}": {d: float((at - shift) % 5) for at, d in enumerate(docs)}
             for t in range(topics)}, run_id=f"s{shift}").frame
        for shift in range(5)
    ]))  # fmt: skip
    qrels = [
        Qrels.from_dict({f"q{t}": dict(zip(docs, row, strict=False)) for t in range(topics)})
        for row in (grades, other or grades)
    ]
    return compare_groups({"A": Group(qrels[0]), "B": Group(qrels[1])}, runs, ["AP", "P@1"])


def test_what_is_too_little_to_tell_is_said_first():
    one = few(1, [1, 0, 0])
    # Equal grades: the same order, with ties, in tau_ap too.
    assert [(row["tau"], row["tau_ap"]) for row in one.orders] == [(1.0, 1.0)] * 2
    assert one.orders[0]["tau_low"] is None
    assert one.sentence.startswith(
        "Whether the order repeats cannot be told yet: the systems are scored on 1 topic (3 pairs "
        "judged by all groups), of which tau has no interval; judge 6 topics or more. "
        "So far: The order of the systems is the same under A and B"
    )
    assert one.notes[0] == "3 pairs of 1 topic were judged by all groups"
    # Five topics that agree have an interval; by a sign test they could still be chance.
    five = few(5, [1, 0, 0])
    assert five.orders[0]["tau_low"] == 1.0
    assert five.sentence.startswith("Whether the order repeats cannot be told yet: ")
    assert few(6, [1, 0, 0]).sentence.startswith("The order of the systems is the same")


def test_an_order_that_differs_by_ties_only_is_not_called_the_same():
    # B finds two documents relevant: two systems that tie under A are apart under B, none swaps.
    found = few(6, [1, 0, 0, 0, 0], [1, 1, 0, 0, 0])
    row = next(row for row in found.orders if row["measure"] == "P@1")
    assert row["swapped"] == 0
    assert row["tau"] < 1
    assert "the same" not in found.sentence


def test_a_measure_by_which_all_tie_is_named():
    found = few(6, [1, 1, 1, 1, 1], [1, 0, 0, 0, 0])
    assert found.sentence.startswith("Nothing can be said of the order")
    runs = Runs(pl.concat([
        Runs.from_dict({f"q{t}": {"a": 3.0, "b": 2.0, "c": 1.0} for t in range(6)},
                       run_id="one").frame,
        Runs.from_dict({f"q{t}": {"a": 3.0, "c": 2.0, "b": 1.0} for t in range(6)},
                       run_id="two").frame,
    ]))  # fmt: skip
    qrels = Qrels.from_dict({f"q{t}": {"a": 1, "b": 1, "c": 0} for t in range(6)})
    both = compare_groups({"A": Group(qrels), "B": Group(qrels)}, runs, ["AP", "P@1"])
    assert "is the same under A and B (AP)." in both.sentence
    assert "By P@1 all systems tie" in both.sentence
