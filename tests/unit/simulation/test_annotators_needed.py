"""How many judgments per pair are enough: one answer, whatever else is asked."""

import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadSetting, DataError, UnknownName
from venire.evaluation.score import parse_measures, score_runs
from venire.simulation.campaigns.annotators_needed import annotators_needed
from venire.simulation.campaigns.judged_systems import JUDGES, JudgedSystems
from venire.simulation.campaigns.settled_grades import compare_by_judges, settle
from venire.simulation.campaigns.system_scores import SystemScorer
from venire.simulation.crowds.annotators import AnnotatorType, judge
from venire.simulation.crowds.collection import SCALE, make_collection
from venire.stats.rank_correlation import tau_b

WORKER = AnnotatorType("worker", sd=0.6, attention=0.95)
TWO = ("AP(rel=2)", "P(rel=2)@10")
QUICK = {"draws": 10}


@pytest.fixture(scope="module")
def known():
    return make_collection(seed=1, documents=120, depth=15)


@pytest.fixture(scope="module")
def pool(known):
    return known.truth.frame.join(known.pool, on=["query_id", "doc_id"])


@pytest.fixture(scope="module")
def crowd(pool):
    return judge(pool, SCALE, {f"w{n}": WORKER for n in range(60)}, overlap=5, seed=5)


@pytest.fixture(scope="module")
def result(crowd, known):
    return annotators_needed(crowd, known.runs, TWO, price=0.02, seed=1, **QUICK)


def of(result, measure, name):
    return [row[name] for row in result.rows if row["measure"] == measure]


def shown(result, measure=TWO[0]):
    return [row for row in result.rows if row["measure"] == measure]


def add_runs(runs, *frames):
    return Runs(pl.concat([runs.frame.select(frames[0].columns), *frames]))


def test_every_number_of_judges_has_its_estimates_and_intervals(result):
    for measure in TWO:
        assert of(result, measure, "judges") == list(JUDGES)
        for name in ("tau_rep", "tau_inf", "tau_ap", "sd"):
            for row in shown(result, measure):
                assert -1 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1
        # Nothing is 0 or 1 by construction where j is the number of judgments there are.
        assert of(result, measure, "sd")[4] > 0
        assert of(result, measure, "tau_rep")[4] < 1
        assert np.all(np.array(of(result, measure, "tau_inf")) > of(result, measure, "tau_rep"))
    assert of(result, TWO[0], "cost") == pytest.approx([0.02 * j * result.pairs for j in JUDGES])


def test_the_sd_falls_from_one_to_three_and_flattens(result):
    for measure in TWO:
        sd = of(result, measure, "sd")
        assert sd[2] < 0.8 * sd[0]
        # What two more judges save, from 1 to 3 and from 5 to 7.
        assert sd[4] - sd[5] < sd[0] - sd[2]


def test_precision_at_ten_needs_more_judges_than_map():
    known = make_collection(seed=1)
    pool = known.truth.frame.join(known.pool, on=["query_id", "doc_id"])
    labels = judge(pool, SCALE, {f"w{n}": WORKER for n in range(60)}, overlap=5, seed=5)
    needed = annotators_needed(
        labels, known.runs, TWO, target_tau=-1.0, target_sd=0.012, seed=1, **QUICK
    )
    ap, precision = (needed.verdicts[measure] for measure in TWO)
    assert precision["possible"] is None or precision["possible"] > ap["possible"]
    assert (np.array(of(needed, TWO[0], "sd")) < np.array(of(needed, TWO[1], "sd"))).all()


@pytest.mark.parametrize("most", [1, 3, 7])
def test_the_answer_does_not_depend_on_how_far_one_looks(crowd, known, result, most):
    other = annotators_needed(crowd, known.runs, TWO, most=most, seed=1, **QUICK)
    assert other.verdicts == result.verdicts
    for measure in TWO:
        for name in ("tau_rep", "tau_rep_low", "sd_high", "enough"):
            assert of(other, measure, name) == of(result, measure, name)[: len(shown(other))]


def test_nor_on_order_measures_price_or_known_grades(crowd, known, result):
    rows = np.random.default_rng(0).permutation(len(crowd))
    shuffled = Judgments(crowd.frame[rows], crowd.scale)
    runs = Runs(known.runs.frame.sample(fraction=1.0, shuffle=True, seed=3))
    other = annotators_needed(shuffled, runs, TWO[:1], truth=known.truth, seed=1, **QUICK)
    assert other.verdicts[TWO[0]] == result.verdicts[TWO[0]]
    for name in ("tau_rep", "tau_inf", "tau_ap", "sd"):
        assert of(other, TWO[0], name) == of(result, TWO[0], name)


def test_nor_on_a_hopeless_run_or_a_copy(crowd, known, result):
    frame = known.runs.frame
    copy = frame.filter(pl.col("run_id") == "atlas").with_columns(run_id=pl.lit("zeta"))
    hopeless = frame.filter(pl.col("run_id") == "birch").with_columns(
        doc_id="x" + pl.col("doc_id"), run_id=pl.lit("hopeless")
    )
    other = annotators_needed(
        crowd, add_runs(known.runs, copy, hopeless), TWO, price=0.02, seed=1, **QUICK
    )
    assert other.verdicts == result.verdicts
    assert other.rows == result.rows
    assert other.compared == result.compared
    assert any("zeta (as atlas)" in note for note in other.notes)
    assert any("far below all others left out of the order (hopeless)" in n for n in other.notes)


def test_the_sd_is_that_of_new_crowds_of_the_same_kind(pool, known, result):
    people = {f"w{n}": WORKER for n in range(60)}
    for place, judges in ((0, 1), (2, 3)):
        scores = []
        for seed in range(25):
            labels = judge(pool, SCALE, people, overlap=judges, seed=1000 + seed)
            scores.append(score_runs(settled_qrels(labels), known.runs, TWO).mean)
        sd = np.std(scores, axis=0, ddof=1).mean(axis=1)
        for measure, true in zip(TWO, sd, strict=True):
            assert 0.6 < of(result, measure, "sd")[place] / true < 1.6


def settled_qrels(judgments):
    """The grade nearest to the mean label, the lower one of ties."""
    grades = judgments.frame.group_by("query_id", "doc_id").agg(
        (pl.col("label").mean() - 0.5 - 1e-9).ceil().cast(pl.Int64).alias("relevance")
    )
    return Qrels(grades.with_columns(pl.col("relevance").clip(0)))


def test_a_range_holds_what_new_crowds_need(pool, known, result):
    """Quick simulation with known truth: the interval of tau_rep holds the tau of new crowds."""
    people = {f"w{n}": WORKER for n in range(60)}
    scores = [
        score_runs(
            settled_qrels(judge(pool, SCALE, people, overlap=3, seed=2000 + seed)), known.runs, TWO
        ).mean
        for seed in range(16)
    ]
    for m, measure in enumerate(TWO):
        taus = [tau_b(scores[i][m], scores[j][m]) for i in range(16) for j in range(i)]
        row = shown(result, measure)[2]
        # The mean of 120 taus of 16 crowds has an error of about .02.
        assert row["tau_rep_low"] - 0.04 < np.mean(taus) < row["tau_rep_high"] + 0.04


def test_the_targets_decide(crowd, known):
    def verdict(**targets):
        return annotators_needed(crowd, known.runs, TWO[:1], **targets, **QUICK).verdicts[TWO[0]]

    easy = verdict(target_tau=-1.0)
    assert (easy["code"], easy["enough"], easy["possible"]) == ("enough", 1, 1)
    hard = verdict(target_tau=-1.0, target_sd=1e-9)
    assert (hard["code"], hard["enough"], hard["possible"]) == ("more", None, None)
    both = verdict(target_tau=-1.0, target_sd=0.02)
    assert both["enough"] is None or both["enough"] > 1


def test_too_few_judgments_are_not_checked(pool, known):
    single = judge(pool, SCALE, {f"w{n}": WORKER for n in range(9)}, overlap=1, seed=1)
    unchecked = annotators_needed(single, known.runs, ["AP"])
    assert unchecked.rows == []
    assert unchecked.verdicts["AP"]["code"] == "not-checked"
    assert unchecked.verdicts["AP"]["reason"] == "most pairs have fewer than 2 judgments"


def test_labels_that_order_nothing_are_not_checked(crowd, known):
    flat = Judgments(crowd.frame.with_columns(label=pl.lit(0)), crowd.scale)
    verdict = annotators_needed(flat, known.runs, ["AP"], **QUICK).verdicts["AP"]
    assert (verdict["code"], verdict["reason"]) == (
        "not-checked", "all systems tie under the labels",
    )  # fmt: skip
    copies = Runs(pl.concat([
        known.runs.frame.filter(pl.col("run_id") == "atlas").with_columns(run_id=pl.lit(name))
        for name in "ab"
    ]))  # fmt: skip
    verdict = annotators_needed(crowd, copies, ["AP"], **QUICK).verdicts["AP"]
    assert verdict["reason"] == "fewer than two runs rank the judged pairs differently"


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "P@10", "Bpref", "NumRet", "RR"])
def test_many_sets_of_grades_are_scored_as_each_alone(crowd, known, measure):
    systems = JudgedSystems(crowd, known.runs, "mean", "trec")
    parsed = parse_measures([measure])[0]
    scorer = SystemScorer(systems.table, parsed, systems.grades, systems.settled)
    settled = np.random.default_rng(0).integers(-1, 4, (19, len(systems.table.pairs)))
    scores = scorer.score_many(settled)
    for row in (0, 15, 18):
        grades = systems.table.pairs.with_columns(relevance=pl.Series(scorer.grades[settled[row]]))
        expected = score_runs(Qrels(grades), known.runs, [measure]).mean[0]
        assert scores[row] == pytest.approx(expected, abs=1e-12)


def test_grades_of_two_of_four_are_all_pairs_equally_often():
    # Relevant only where both labels are: a tie goes to the lower grade. 1 of 6 pairs.
    rows = compare_by_judges(
        np.arange(0, 2001, 4), np.tile([0, 0, 1, 1], 500).astype(np.int16), np.ones(500),
        np.ones(500, bool), np.array([0.0, 1.0]), "mean", np.random.default_rng(0),
    )  # fmt: skip
    assert [row["accuracy"] for row in rows] == pytest.approx([1 / 2, 1 / 6, 1 / 2, 0], abs=0.01)
    assert rows[3]["accuracy_sd"] == 0.0
    assert [row["pairs"] for row in rows] == [500] * 4


def test_known_grades_do_not_depend_on_how_far_one_looks(crowd, known):
    whole = annotators_needed(crowd, truth=known.truth)
    assert [row["judges"] for row in whole.truth] == [1, 2, 3, 4, 5]
    assert annotators_needed(crowd, truth=known.truth, most=2).truth == whole.truth
    assert whole.truth[4]["error"] < whole.truth[0]["error"]
    some = Qrels(known.truth.frame.filter(pl.col("query_id") == "t01"))
    assert any("have no known grade" in n for n in annotators_needed(crowd, truth=some).notes)


def test_settling_labels():
    counts = np.array([[1, 1, 0], [1, 0, 2], [0, 2, 2]])
    grades = np.array([0.0, 1.0, 2.0])
    assert settle(counts, grades, "majority").tolist() == [0, 2, 1]
    assert settle(counts, grades, "mean").tolist() == [0, 1, 1]


def test_wrong_input_is_refused(crowd, known):
    with pytest.raises(BadSetting, match="Neither runs nor known grades are set"):
        annotators_needed(crowd)
    with pytest.raises(UnknownName, match="rule"):
        annotators_needed(crowd, known.runs, rule="median")
    with pytest.raises(UnknownName, match="source"):
        annotators_needed(crowd, known.runs, source="posterior")
    with pytest.raises(BadSetting, match=r"`most` must be between 1 and 10 \(got 16\)"):
        annotators_needed(crowd, known.runs, most=16)
    with pytest.raises(BadSetting, match=r"`target_tau` must be between -1 and 1 \(got 2\)"):
        annotators_needed(crowd, known.runs, target_tau=2)
    with pytest.raises(DataError, match="none of the pairs used has a known grade"):
        annotators_needed(crowd, truth=Qrels.from_dict({"other": {"d": 1}}))
    lone = Runs(known.runs.frame.filter(pl.col("run_id") == "atlas"))
    with pytest.raises(BadSetting, match="at least two runs"):
        annotators_needed(crowd, lone)


def test_words_and_tables(crowd, known, result):
    from venire.report.annotators_needed import (
        advise_on_judgments,
        annotators_page,
        describe_judgments_needed,
        describe_verdict,
        hide_missing_costs,
        join_intervals,
    )

    easy = annotators_needed(crowd, known.runs, ["AP"], most=2, target_tau=-1.0, **QUICK)
    assert describe_judgments_needed(easy) == ["AP: 1 judgment per pair is enough for a tau of -1"]
    assert "cost" in easy.rows[0]
    assert "cost" not in hide_missing_costs(easy.rows)[0]
    assert "cost" in join_intervals(result.rows)[0]
    assert "another crowd" in advise_on_judgments(easy)[0]
    targets = {"target_tau": 0.9, "target_sd": 0.01}
    verdict = {"code": "enough", "enough": 3, "possible": 2, "reason": ""}
    assert describe_verdict(verdict, targets) == (
        "3 judgments per pair are enough for a tau of 0.9 and a standard deviation of 0.01; 2 may "
        "be enough"
    )
    page = annotators_page(result).render()
    assert page.index(describe_judgments_needed(result)[0]) < page.index("<table")
    assert "0.020 (" in page or "0.0" in page
    assert "tau_inf" in " ".join(result.notes)
    assert any("more people with the same load" in note for note in result.notes)


@pytest.mark.slow
def test_intervals_cover_and_enough_is_seldom_too_small():
    """Two of the worlds of ``reproduce/verdicts``: a known confusion, and 30% hard pairs."""
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[3] / "reproduce"))
    from verdicts import annotators_needed as simulation

    records = []
    for number, world in enumerate(simulation.WORLDS[:2]):
        for seed in range(10):
            records += simulation.simulate(world, [7, number, seed])
    rows = {row["verdict"]: row for row in simulation.summarise("both", records)}
    assert rows["interval of tau_rep"]["coverage"] > 0.88
    assert rows["judgments enough for tau 0.8"]["false_alarms"] < 0.15
