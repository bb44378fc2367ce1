import functools
import gzip
import os
from pathlib import Path

import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadLine, DataError

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENIRE_DATA") or ROOT / ".." / "shared" / "data").resolve()

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data: {DATA} (set VENIRE_DATA)")

RF10 = {
    "query_id": "topicID",
    "doc_id": "docID",
    "annotator_id": "workerID",
}


@functools.cache
def rf10(*, drop=()):
    path = DATA / "trec-rf10" / "trec-rf10-data.txt.gz"
    return Judgments.read(path, columns=RF10, drop_labels=drop, repeats="all")


def sizes(judgments):
    codes = judgments.codes
    return codes.n_judgments, codes.n_annotators, codes.n_items


def test_rf10_whole():
    judgments = rf10()
    assert sizes(judgments) == (98_453, 766, 20_232)
    assert judgments.frame["query_id"].n_unique() == 100
    assert "1,489 annotator-item pairs" in judgments.notes[0]
    assert "277 pairs with different labels" in judgments.notes[0]


def test_rf10_without_broken_links():
    judgments = rf10(drop=("-2",))
    assert sizes(judgments) == (91_783, 762, 20_026)
    notes = " | ".join(judgments.notes)
    assert "6,670 judgments with label -2" in notes
    assert "206 items" in notes
    assert "4 annotators" in notes


@pytest.mark.parametrize(("drop", "known"), [((), 3_277), (("-2",), 3_275)])
def test_rf10_gold(drop, known):
    qrels = rf10(drop=drop).gold("gold")
    assert len(qrels) == known
    assert set(qrels.frame["relevance"]) == {0, 1, 2}


def test_web_relevance():
    labels = pl.read_csv(DATA / "web-relevance" / "label.csv").with_columns(query=pl.lit("web"))
    columns = {"query_id": "query", "doc_id": "item", "annotator_id": "worker"}
    judgments = Judgments.of(labels, columns=columns, repeats="all")
    assert sizes(judgments) == (15_567, 177, 2_665)
    assert judgments.scale.values == (0, 1, 2, 3, 4)
    truth = pl.read_csv(DATA / "web-relevance" / "truth.csv").with_columns(query=pl.lit("web"))
    columns = {"query_id": "query", "doc_id": "item", "relevance": "truth"}
    assert len(Qrels.of(truth, columns=columns)) == 2_653


def test_cranfield_judgments_lack_a_column():
    with pytest.raises(BadLine) as caught:
        Qrels.read(DATA / "cranfield" / "cranqrel")
    assert caught.value.line == 1


def test_trec_eval_files():
    qrels = Qrels.read(DATA / "trec-eval" / "qrels.test")
    runs = Runs.read(DATA / "trec-eval" / "results.test")
    relevant = qrels.frame.filter(pl.col("relevance") > 0).join(
        runs.frame, on="query_id", how="semi"
    )
    assert len(runs) == 1_500
    assert runs.frame["query_id"].n_unique() == 3
    assert relevant.height == nist("out.test")["num_rel", "all"]
    assert set(runs.frame["run_id"]) == {"STANDARD"}


def test_trec_eval_run_with_junk_after_six_fields():
    runs = Runs.read(DATA / "trec-eval" / "results.trunc")
    expected = nist("out.test.aqc")
    assert len(runs) == expected["num_ret", "all"]
    for query, size in runs.frame["query_id"].value_counts().iter_rows():
        assert size == expected["num_ret", query]


def nist(name):
    """Whole numbers of NIST's own output, by measure and topic."""
    lines = (DATA / "trec-eval" / name).read_text().splitlines()
    cells = [line.split() for line in lines if line.startswith("num_")]
    return {(measure, topic): int(value) for measure, topic, value in cells}


@functools.cache
def dl19_runs():
    return [Runs.read(path) for path in sorted((DATA / "trec-dl19" / "runs").iterdir())]


@functools.cache
def dl19_qrels():
    return Qrels.read(DATA / "trec-dl19" / "qrels-pass.txt")


def test_dl19_sizes():
    qrels = dl19_qrels()
    assert len(qrels) == 9_260
    assert qrels.frame["query_id"].n_unique() == 43
    assert set(qrels.frame["relevance"]) == {0, 1, 2, 3}
    assert len(dl19_runs()) == 37
    assert sum(map(len, dl19_runs())) == 148_047


def test_dl19_pool():
    top = [runs.with_ranks().filter(pl.col("rank") <= 10) for runs in dl19_runs()]
    pool = pl.concat(top).select("query_id", "doc_id").unique()
    assert pool.height == 2_495
    assert pool.join(dl19_qrels().frame, on=["query_id", "doc_id"]).height == 2_494


def test_dl19_ranks_are_by_floats_except_in_three_lists():
    differ = 0
    for path, runs in zip(
        sorted((DATA / "trec-dl19" / "runs").iterdir()), dl19_runs(), strict=True
    ):
        ranks = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            query, _, doc, rank, _, _ = line.split()
            ranks.setdefault(query, []).append((int(rank), doc))
        ours = runs.with_ranks().group_by("query_id").agg("doc_id").iter_rows()
        differ += sum([doc for _, doc in sorted(ranks[query])] != docs for query, docs in ours)
    assert differ == 3


def test_dl19_assessors():
    columns = {
        "query_id": "topic",
        "doc_id": "docno",
        "annotator_id": "assessor",
        "label": "grade",
    }
    path = DATA / "dl19-assessors" / "main_long.tsv"
    judgments = Judgments.read(path, columns=columns, repeats="all")
    assert sizes(judgments) == (9_004, 8, 4_511)
    assert judgments.codes.annotators.to_list() == [f"A{at}" for at in range(1, 9)]


def test_llm_judges():
    path = DATA / "llm-judges-dl23" / "judges_wide.tsv.gz"
    wide = pl.read_csv(gzip.decompress(path.read_bytes()), separator="\t")
    long = wide.unpivot(
        index=["qid", "docid"], variable_name="judge", value_name="grade"
    ).drop_nulls()
    columns = {
        "query_id": "qid",
        "doc_id": "docid",
        "annotator_id": "judge",
        "label": "grade",
    }
    with pytest.raises(DataError, match=r"label '(5|10)' is not on the scale"):
        Judgments.of(long, columns=columns, scale="0,1,2,3")
    judgments = Judgments.of(long, columns=columns, scale="0,1,2,3", drop_labels=[5, 10])
    assert judgments.codes.n_items == 4_423
    assert judgments.codes.n_annotators == 34
    assert judgments.frame["query_id"].n_unique() == 25
    assert "2 judgments with label 5 left out" in judgments.notes
    assert "1 judgments with label 10 left out" in judgments.notes
    assert len(judgments) == long.height - 3
