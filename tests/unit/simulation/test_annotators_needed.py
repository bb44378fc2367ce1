from itertools import combinations

import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadSetting, DataError
from venire.evaluation.score import score_runs
from venire.simulation.campaigns.annotators_needed import annotators_needed
from venire.simulation.campaigns.label_samples import settle
from venire.simulation.crowds.annotators import AnnotatorType, judge
from venire.simulation.crowds.collection import SCALE, make_collection

WORKER = AnnotatorType("worker", sd=0.6, attention=0.95)
TWO = ("AP(rel=2)", "P(rel=2)@10")


@pytest.fixture(scope="module")
def known():
    return make_collection(seed=1)


@pytest.fixture(scope="module")
def crowd(known):
    people = {f"w{at}": WORKER for at in range(60)}
    pool = known.truth.frame.join(known.pool, on=["query_id", "doc_id"])
    return judge(pool, SCALE, people, overlap=15, seed=5)


def of(found, measure, name):
    return [row[name] for row in found.rows if row["measure"] == measure]


def test_the_sd_falls_from_one_to_three_and_flattens(known, crowd):
    found = annotators_needed(crowd, known.runs, TWO, most=7, draws=60, truth=known.truth)
    for measure in TWO:
        sd = of(found, measure, "sd")
        assert sd[2] < 0.8 * sd[0]
        # What two more judges save, from 1 to 3 and from 5 to 7.
        assert sd[4] - sd[6] < sd[0] - sd[2]
    # 15 labels a pair: the sd of 7 is not 0 by construction.
    assert sd[6] > 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_precision_at_ten_needs_more_judges_than_map(crowd, known, seed):
    found = annotators_needed(
        crowd, known.runs, TWO, most=7, draws=60, target_sd=0.012, truth=known.truth, seed=seed
    )
    ap, precision = (found.recommended[measure] for measure in TWO)
    assert ap == 3
    assert precision is None or precision >= 5


def test_one_of_three_judgments_is_enumerated():
    # Two pairs, three labels each: the score of every combination of single labels.
    labels = {"a": [1, 1, 0], "b": [0, 0, 1]}
    frame = {"query_id": ["q"] * 6, "doc_id": list("aaabbb"), "annotator_id": list("xyzxyz"),
             "label": labels["a"] + labels["b"]}  # fmt: skip
    runs = Runs(pl.concat([
        Runs.from_dict({"q": {"a": 2.0, "b": 1.0}}, run_id="one").frame,
        Runs.from_dict({"q": {"b": 2.0, "a": 1.0}}, run_id="two").frame,
    ]))  # fmt: skip
    found = annotators_needed(Judgments.from_dict(frame), runs, ["P@1"], most=3, draws=4000, seed=2)
    chance = {}
    for a in labels["a"]:
        for b in labels["b"]:
            scores = score_runs(Qrels.from_dict({"q": {"a": a, "b": b}}), runs, ["P@1"]).mean[0]
            chance[tuple(scores)] = chance.get(tuple(scores), 0) + 1 / 9
    mean = sum(p * np.array(scores) for scores, p in chance.items())
    sd = np.sqrt(sum(p * (np.array(scores) - mean) ** 2 for scores, p in chance.items())).mean()
    assert of(found, "P@1", "sd")[0] == pytest.approx(sd, rel=0.03)
    assert of(found, "P@1", "sd")[2] == 0.0


@pytest.mark.slow
def test_two_of_four_are_all_pairs_equally_often():
    labels = [0, 0, 1, 1]
    table = Judgments.from_dict({"query_id": ["q"] * 4, "doc_id": ["a"] * 4,
                                 "annotator_id": list("wxyz"), "label": labels})  # fmt: skip
    found = annotators_needed(
        table, most=4, draws=4000, rule="mean", truth=Qrels.from_dict({"q": {"a": 1}})
    )
    # Relevant only where both labels are: a tie goes to the lower grade.
    expected = np.mean([a + b == 2 for a, b in combinations(labels, 2)])
    assert found.truth[1]["accuracy"] == pytest.approx(expected, abs=0.02)


def test_the_posterior_gives_what_new_annotators_would(known, crowd):
    pool = known.truth.frame.join(known.pool, on=["query_id", "doc_id"])
    people = {f"w{at}": WORKER for at in range(60)}
    few = judge(pool, SCALE, people, overlap=3, seed=7)
    real = annotators_needed(crowd, known.runs, TWO, most=5, draws=60, truth=known.truth)
    made = annotators_needed(few, known.runs, TWO, most=5, draws=60, source="posterior")
    for measure in TWO:
        ratio = np.array(of(made, measure, "sd")) / np.array(of(real, measure, "sd"))
        # 3 of 15 vary less than 3 of all there are, by sqrt(1 - 3/15) = .89.
        assert 0.8 < ratio[0] < 1.3
        assert 0.8 < ratio[2] < 1.5


def test_cost_and_targets(known, crowd):
    found = annotators_needed(crowd, known.runs, ["AP"], most=3, draws=5, price=0.02)
    assert of(found, "AP", "cost") == pytest.approx([0.02 * n * found.pairs for n in (1, 2, 3)])
    hard = annotators_needed(crowd, known.runs, ["AP"], most=2, draws=5, target_sd=1e-9)
    assert hard.recommended == {"AP": None}


def test_settling_labels():
    counts = np.array([[1, 1, 0], [1, 0, 2], [0, 2, 2]])
    grades = np.array([0.0, 1.0, 2.0])
    assert settle(counts, grades, "majority").tolist() == [0, 2, 1]
    assert settle(counts, grades, "mean").tolist() == [0, 1, 1]


def test_wrong_input_is_told(known, crowd):
    with pytest.raises(DataError, match="no pair has 16 judgments"):
        annotators_needed(crowd, known.runs, most=16)
    with pytest.raises(BadSetting, match="Neither runs nor known grades are set"):
        annotators_needed(crowd)
    with pytest.raises(BadSetting, match="rule"):
        annotators_needed(crowd, known.runs, rule="median")
    with pytest.raises(BadSetting, match="source"):
        annotators_needed(crowd, known.runs, source="air")


def test_words_and_tables_fit_one_judgment_and_no_price(known, crowd):
    from venire.report.annotators_needed import describe_judgments_needed, hide_missing_costs

    found = annotators_needed(crowd, known.runs, ["AP"], most=2, draws=3, target_tau=-1.0)
    assert describe_judgments_needed(found) == ["AP: 1 judgment per pair is enough for a tau of -1"]
    assert "cost" in found.rows[0]
    assert "cost" not in hide_missing_costs(found.rows)[0]
