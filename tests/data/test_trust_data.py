"""TREC DL 2019 under NIST and under eight other assessors, and Cranfield as in the article."""

import gzip
import os
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from venire import Judgments, Qrels, Runs
from venire.evaluation.score import rank, score, score_runs
from venire.formats.collection import read_collection
from venire.formats.run_files import read_run_files
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK
from venire.reliability.leave_one_out import leave_one_out
from venire.reliability.panels import Panel, compare_panels
from venire.reliability.summary import assess_ranking
from venire.reliability.top_order import estimate_top_order
from venire.reliability.unjudged import measure_unjudged
from venire.retrieval.systems import list_systems, search_documents
from venire.stats.rank_correlation import RankCorrelation

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENIRE_DATA") or ROOT / ".." / "shared" / "data").resolve()
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data: {DATA} (set VENIRE_DATA)")
MEASURE = "AP(rel=2)"
FAMILY = ("bm25", "bm25-k1-3", "bm25-b-0", "bm25-stop-words")
SYSTEMS = tuple(list_systems())


@pytest.fixture(scope="module")
def runs():
    return read_run_files(sorted((DATA / "trec-dl19" / "runs").iterdir()))


@pytest.fixture(scope="module")
def qrels():
    return Qrels.read(DATA / "trec-dl19" / "qrels-pass.txt")


@pytest.fixture(scope="module")
def table(qrels, runs):
    return rank(qrels, runs)


@pytest.fixture(scope="module")
def found(qrels, runs):
    names = {"query_id": "topic", "doc_id": "docno", "annotator_id": "assessor", "label": "grade"}
    path = DATA / "dl19-assessors" / "main_long.tsv"
    return assess_ranking(qrels, runs, MEASURE, judgments=Judgments.read(path, columns=names))


def test_unjudged_shares(table, qrels, runs):
    # Counted from the files by hand: lines sorted by score, falling, then by id, falling.
    judged = {(query, doc) for query, doc, _ in qrels.frame.iter_rows()}
    topics = set(qrels.frame["query_id"])
    expected = {}
    for path in sorted((DATA / "trec-dl19" / "runs").iterdir()):
        lists = {}
        with gzip.open(path, "rt") as lines:
            for line in lines:
                query, _, doc, _, score, name = line.split()
                lists.setdefault(query, []).append((float(score), doc))
        shares = [
            np.mean([(query, doc) not in judged for _, doc in sorted(ranked, reverse=True)[:10]])
            for query, ranked in lists.items()
            if query in topics
        ]
        expected[name] = np.mean(shares)
    shares = dict(measure_unjudged(table, table.grades(qrels)).frame.iter_rows())
    assert set(shares) == set(expected)
    for name, share in shares.items():
        assert share == pytest.approx(expected[name])
    # The data's README: one pair of the depth-10 pool has no grade.
    assert round(sum(share * 430 for share in shares.values()), 6) == 1


def test_leave_one_out_takes_less_than_a_second(table, qrels):
    grades = table.grades(qrels)
    begin = time.perf_counter()
    result = leave_one_out(table, grades, MEASURE)
    assert time.perf_counter() - begin < 1.0
    assert result.frame.height == 37


def test_leave_one_out_is_scoring_without_the_unique_pairs(table, qrels, runs):
    result = leave_one_out(table, table.grades(qrels), MEASURE)
    row = result.worst
    mine = pl.col("run_id") == row["run_id"]
    top = runs.ranks().filter(pl.col("rank") <= 10)
    pair = ["query_id", "doc_id"]
    others = top.filter(~mine).select(pair).unique()
    unique = top.filter(mine).select(pair).join(others, on=pair, how="anti")
    frame = qrels.frame.join(unique, on=pair, how="anti")
    assert qrels.frame.height - frame.height == row["unique"]
    scores = score_runs(Qrels(frame), runs, [MEASURE])
    at = scores.runs.index(row["run_id"])
    assert scores.mean[0][at] == pytest.approx(row["score_without"])
    assert 1 + (scores.mean[0] > scores.mean[0][at]).sum() == row["rank_without"]


def test_rankings_under_nist_and_under_each_assessor(found, runs):
    assert [one.assessor for one in found.substitutions] == [f"A{at}" for at in range(1, 9)]
    frame = pl.read_csv(
        DATA / "dl19-assessors" / "main_long.tsv",
        separator="\t",
        schema_overrides={"topic": pl.String, "docno": pl.String},
    )
    for one in found.substitutions:
        mine = frame.filter(pl.col("assessor") == one.assessor)
        mean = []
        for column in ("nist_grade", "grade"):
            graded = mine.select(query_id="topic", doc_id="docno", relevance=column)
            scores = score_runs(Qrels.of(graded), runs, [MEASURE])
            mean.append(scores.mean[0])
        assert one.order.tau == pytest.approx(kendalltau(*mean).statistic)
        assert 0 < one.order.tau_ap < 1
        assert one.leniency == pytest.approx((mine["grade"] - mine["nist_grade"]).mean())
        assert one.stricter == one.assessor


def test_the_verdict(found):
    assert found["outsiders underrated"].light == "green"
    # The single assessors are within chance, and no swap is of runs that the topics tell apart: the
    # worst of eight correlations (A6, 78 swapped pairs) made this red in 0.1.0.
    risk = found["assessors disagree"]
    assert risk.light in ("amber", "green")
    assert "told apart by the 43 topics of the qrels: 0 of them" in risk.reason
    assert all(panel.p_corrected > 0.05 for panel in found.panels[1:])
    # "Green: no sign of it" by E rho^2, because one of the 37 runs is hopeless.
    assert found["too few topics"].light == "red"
    assert round(found["too few topics"].number, 3) == 0.648
    assert found["judge favours a system"].number is not None


def test_panels_are_those_of_the_notes(found, table, qrels):
    panels = [panel for panel in found.panels if panel.panel != "all annotators together"]
    assert [panel.topics for panel in panels] == [13, 13, 9, 9, 9, 9, 15, 15]
    # Pairs of all 37 runs that swap; counted by another program.
    grades = table.grades(qrels)
    frame = pl.read_csv(
        DATA / "dl19-assessors" / "main_long.tsv",
        separator="\t",
        schema_overrides={"topic": pl.String, "docno": pl.String},
    )
    panels = [
        Panel(name[0], table.grades(Qrels(rows.select(query_id="topic", doc_id="docno",
                                                      relevance="grade"))))
        for name, rows in sorted(frame.group_by("assessor"))
    ]  # fmt: skip
    results = compare_panels(table, grades, panels, MEASURE, exchanges=1)
    assert [result.systems_swapped for result in results] == [56, 60, 44, 57, 70, 78, 61, 75]


@pytest.mark.parametrize(
    ("measure", "tau"), [(MEASURE, 0.648), ("nDCG@10", 0.570), ("P(rel=2)@10", 0.543)]
)
def test_the_order_of_the_first_runs_on_other_topics(table, qrels, measure, tau):
    # Values of the prototype; the hopeless run and the copies change nothing.
    scores = score(table, table.grades(qrels), [measure])
    values, runs = scores.values[0], scores.runs
    assert round(estimate_top_order(values, runs).tau, 3) == tau
    rest = [place for place, run in enumerate(runs) if run != "UNH_exDL_bm25"]
    others = estimate_top_order(values[rest], [runs[place] for place in rest])
    assert round(others.tau, 3) == tau
    best = int(values.mean(axis=1).argmax())
    copied = np.vstack([values, np.tile(values[best], (3, 1))])
    assert round(estimate_top_order(copied, [*runs, "x", "y", "z"]).tau, 3) == tau


@pytest.fixture(scope="module")
def cranfield():
    found = read_collection(DATA / "cranfield")
    # Ties by ascending document number: the order of the collection.
    runs = search_documents(found.documents, found.topics, ties="file-order")
    return runs, found.qrels["cranqrel"]


def pooled(cranfield, depth, systems=SYSTEMS):
    """Return what a depth-k pool of some runs would have judged: all of it, by the full qrels."""
    runs, qrels = cranfield
    some = Runs(runs.frame.filter(pl.col("run_id").is_in(systems)))
    pool = DepthK(depth=depth).pool(Lists.of(some, depth=depth, ties="file-order")).frame
    pair = ["query_id", "doc_id"]
    graded = pool.select(pair).join(qrels.frame, on=pair, how="left")
    return Qrels(graded.with_columns(pl.col("relevance").fill_null(0)))


def means(cranfield, qrels):
    scores = score_runs(qrels, cranfield[0], ["AP"], ties="file-order")
    return dict(zip(scores.runs, scores.mean[0], strict=True))


def order(cranfield, qrels):
    true, found = means(cranfield, cranfield[1]), means(cranfield, qrels)
    names = list(true)
    return RankCorrelation.of(names, list(true.values()), [found[name] for name in names])


def test_the_depth_10_pool_of_the_article(cranfield):
    ten = pooled(cranfield, 10)
    # "BM25 goes from 0.307 to 0.439"; "tau = 0.97 (one swapped pair), and 1.0 at depth 20".
    assert round(means(cranfield, cranfield[1])["bm25"], 3) == 0.307
    # Ours is .43847; the article's last digit may be rounded twice.
    assert means(cranfield, ten)["bm25"] == pytest.approx(0.439, abs=6e-4)
    assert round(order(cranfield, ten).tau, 2) == 0.97
    assert len(order(cranfield, ten).swapped) == 1
    assert order(cranfield, pooled(cranfield, 20)).tau == 1.0


@pytest.mark.parametrize(("depth", "moved"), [(10, 1), (20, 0), (50, 0)])
def test_leave_one_out_of_the_article(cranfield, depth, moved):
    # "The largest drop in MAP was 0.0065, for the weakest run; one system lost a place at depth
    # 10, and none moved at depths 20 or 50."
    qrels = pooled(cranfield, depth)
    table = rank(qrels, cranfield[0], ties="file-order")
    result = leave_one_out(table, table.grades(qrels), "AP", depth=depth)
    # The article scores only the left-out run again.
    lost = result.frame["rank_alone"] - result.frame["rank"]
    assert (lost > 0).sum() == moved
    assert lost.max() == moved
    if depth == 10:
        least = result.frame.sort("change").row(0, named=True)
        assert (least["run_id"], round(-least["change"], 4)) == ("raw-tf", 0.0065)
    assert not result.notes


@pytest.mark.slow
def test_the_pool_of_one_family_of_the_article(cranfield):
    qrels = pooled(cranfield, 10, FAMILY)
    table = rank(qrels, cranfield[0], ties="file-order")
    shares = dict(measure_unjudged(table, table.grades(qrels)).frame.iter_rows())
    expected = {
        "tf-idf": 13, "bm25-unstemmed": 21, "query-likelihood": 16, "tf-idf-unstemmed": 29,
        "query-likelihood-unstemmed": 32, "bim": 23, "coordination": 38, "raw-tf": 88,
        **dict.fromkeys(FAMILY, 0),
    }  # fmt: skip
    assert {name: round(100 * share) for name, share in shares.items()} == expected
    found = order(cranfield, qrels)
    assert round(found.tau, 2) == 0.94
    assert set(found.swapped) == {
        ("bm25", "bm25-stop-words"), ("tf-idf-unstemmed", "bm25-b-0"),
    }  # fmt: skip
    # "with a depth-5 pool it falls to 0.88"
    assert round(order(cranfield, pooled(cranfield, 5, FAMILY)).tau, 2) == 0.88
