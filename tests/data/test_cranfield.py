"""The article's tables on pooling, from Cranfield as it is distributed, and the DL 2019 pool.

The table of pools is the article's ("Relevance Judgments, Pooling, and Agreement", section
"Pooling simulated on Cranfield"), and so are the MAPs it prints, to three digits; those to four
come from an independent computation of its twelve systems.
"""

import functools
import os
from pathlib import Path

import polars as pl
import pytest

from venire import Qrels, Runs
from venire.formats.collection import read_collection
from venire.formats.run_files import read_run_files
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK
from venire.pooling.statistics import summarise
from venire.retrieval.systems import list_systems, search_documents

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENIRE_DATA") or ROOT / ".." / "shared" / "data").resolve()

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data: {DATA} (set VENIRE_DATA)")

MAPS = {
    "bm25": 0.3066,
    "bm25-k1-3": 0.3113,
    "bm25-b-0": 0.2706,
    "bm25-stop-words": 0.3058,
    "bm25-unstemmed": 0.2822,
    "tf-idf": 0.2942,
    "tf-idf-unstemmed": 0.2739,
    "query-likelihood": 0.2770,
    "query-likelihood-unstemmed": 0.2549,
    "bim": 0.2203,
    "coordination": 0.1720,
    "raw-tf": 0.0288,
}
# depth, documents a query, % of 12 x depth, % of the collection, % found, % best single run
POOLS = [
    (1, 3.8, 32, 0.3, 11, 5),
    (5, 17.8, 30, 1.3, 34, 23),
    (10, 33.7, 28, 2.4, 45, 34),
    (20, 63.8, 27, 4.6, 56, 46),
    (50, 148.4, 25, 10.6, 70, 60),
    (100, 277.1, 23, 19.8, 80, 71),
]


@functools.cache
def cranfield():
    return read_collection(DATA / "cranfield")


@functools.cache
def lists():
    found = cranfield()
    # Ties by ascending document number: the order of the collection.
    runs = search_documents(found.documents, found.topics, ties="file-order")
    return Lists.of(runs, ties="file-order")


def average_precision(ranks, relevant):
    """Return AP by its definition, from the ranks of the relevant documents retrieved."""
    return sum(found / rank for found, rank in enumerate(sorted(ranks), 1)) / relevant


def test_the_collection():
    found = cranfield()
    assert found.documents.height == 1400
    empty = found.documents.filter(pl.col("text") == "")
    assert empty["doc_id"].to_list() == ["471", "995"]
    assert found.topics["query_id"].to_list() == [str(at) for at in range(1, 226)]
    assert found.topics["number"].to_list()[:4] == ["001", "002", "004", "008"]
    assert found.topics["number"][-1] == "365"
    assert found.topics["title"][2].startswith("what problems of heat conduction in composite")
    grades = found.qrels["cranqrel"].frame["relevance"]
    assert int((grades > 0).sum()) == 1612
    assert int((grades == 0).sum()) == 225
    # Code 1, the best, stands 128 times in the file.
    assert int((grades == 4).sum()) == 128
    assert any("(240, 576, 578)" in note for note in found.notes)


@pytest.mark.parametrize("system", list_systems())
def test_mean_average_precision(system):
    relevant = cranfield().qrels["cranqrel"].frame.filter(pl.col("relevance") > 0)
    known = dict(relevant.group_by("query_id").len().iter_rows())
    mine = lists().frame.filter(pl.col("run_id") == system)
    hits = mine.join(relevant, on=["query_id", "doc_id"]).group_by("query_id").agg("rank")
    total = sum(average_precision(ranks, known[query]) for query, ranks in hits.iter_rows())
    assert round(total / 225, 3) == round(MAPS[system], 3)


def test_bm25_as_trec_eval_scores_it():
    """The ranking goes to trec_eval's code as ranks, so that its own tie rule has no say."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run = {}
    mine = lists().frame.filter(pl.col("run_id") == "bm25")
    for query, doc, rank in mine.select("query_id", "doc_id", "rank").iter_rows():
        run.setdefault(query, {})[doc] = -float(rank)
    qrels = cranfield().qrels["cranqrel"].to_dict()
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    mean = sum(score["map"] for score in scores.values()) / 225
    assert round(mean, 4) == MAPS["bm25"]


@pytest.mark.parametrize(("depth", "per_query", "share", "collection", "found", "best"), POOLS)
def test_the_pool_table(depth, per_query, share, collection, found, best):
    row = summarise(
        DepthK(depth=depth).pool(lists()),
        lists(),
        qrels=cranfield().qrels["cranqrel"],
        collection_size=1400,
    )
    assert round(row["per_topic"], 1) == per_query
    assert round(100 * row["share_of_lists"]) == share
    assert round(100 * row["share_of_collection"], 1) == collection
    assert row["relevant"] == 1612
    assert round(100 * row["found_share"]) == found
    assert round(100 * row["best_run_share"]) == best


def test_sixteen_relevant_pairs_are_in_no_top_thousand():
    qrels = cranfield().qrels["cranqrel"]
    row = summarise(DepthK(depth=1000).pool(lists()), lists(), qrels=qrels)
    assert row["relevant"] - row["found"] == 16


def test_deep_learning_2019():
    runs = read_run_files([DATA / "trec-dl19" / "runs"])
    ranked = Lists.of(runs)
    assert len(ranked.runs) == 37
    assert len(ranked.topics) == 43
    qrels = Qrels.read(DATA / "trec-dl19" / "qrels-pass.txt")
    row = summarise(DepthK(depth=10).pool(ranked), ranked, qrels=qrels, relevant_from=2)
    assert row["pairs"] == 2495
    assert row["judged"] == 2494


def test_a_written_run_reads_back_the_same(tmp_path):
    found = cranfield()
    runs = search_documents(found.documents, found.topics, ["coordination"], ties="file-order")
    runs.write(tmp_path / "coordination.run")
    again = Runs.read(tmp_path / "coordination.run").with_ranks(ties="file-order")
    mine = lists().frame.filter(pl.col("run_id") == "coordination")
    assert again["doc_id"].equals(mine["doc_id"])
