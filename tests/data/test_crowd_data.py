"""Waves, assessors and numbers of judges on real data."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels
from venire.formats.collection import read_collection
from venire.formats.run_files import read_run_files
from venire.reliability.repeatability import Group, compare_groups
from venire.retrieval.systems import search_documents
from venire.simulation.campaigns.annotators_needed import annotators_needed
from venire.simulation.campaigns.designs import Crowd, forecast, grid
from venire.simulation.campaigns.next_best_trial import Trial, measure_saving, trial

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENIRE_DATA") or ROOT / ".." / "shared" / "data").resolve()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data: {DATA} (set VENIRE_DATA)"),
]


@pytest.fixture(scope="module")
def runs():
    return read_run_files(sorted((DATA / "trec-dl19" / "runs").iterdir()))


def test_dl19_runs_under_two_assessors_and_nist(runs):
    names = {"query_id": "topic", "doc_id": "docno", "annotator_id": "assessor", "label": "grade"}
    table = Judgments.read(DATA / "dl19-assessors" / "main_long.tsv", columns=names)
    frame = table.frame.sort("annotator_id").with_columns(
        at=pl.int_range(pl.len()).over("query_id", "doc_id")
    )
    groups = {
        f"assessor {at + 1}": Group(
            Qrels.of(frame.filter(pl.col("at") == at).select(
                "query_id", "doc_id", pl.col("label").alias("relevance")))
        )
        for at in (0, 1)
    }  # fmt: skip
    groups["NIST"] = Group(Qrels.read(DATA / "trec-dl19" / "qrels-pass.txt"))
    found = compare_groups(
        groups, runs, ["AP(rel=2)", "nDCG@10", "P(rel=2)@10"], relevant_from=2, bootstrap=200
    )
    assert len(found.orders) == 9
    # What the tests on trust found with other code: tau near .9, no swap that matters.
    assert all(row["tau"] > 0.85 and row["matter"] == 0 for row in found.orders)
    assert "NIST is the most lenient" in found.sentence


def test_rf10_with_one_to_four_judges_against_gold():
    names = {"query_id": "topicID", "doc_id": "docID", "annotator_id": "workerID"}
    table = Judgments.read(
        DATA / "trec-rf10" / "trec-rf10-data.txt.gz", columns=names, drop_labels=["-2"]
    )
    truth = table.gold("gold")
    counts = table.frame.group_by("query_id", "doc_id").len()
    enough = counts.filter(pl.col("len") >= 4)
    known = table.frame.join(truth.frame, on=["query_id", "doc_id"], how="semi").join(
        enough, on=["query_id", "doc_id"], how="semi"
    )
    result = annotators_needed(Judgments.of(known, scale=table.scale), truth=truth, seed=1)
    rows = result.truth[:4]
    accuracy = np.array([row["accuracy"] for row in rows])
    error = np.array([row["error"] for row in rows])
    spread = np.array([row["accuracy_sd"] for row in rows])
    print(result.pairs, accuracy, error, spread)
    assert (np.diff(error) < 0).all()
    assert spread[2] < spread[0]


def test_two_judgments_are_enough_for_the_order_of_dl19(runs):
    """The illustration of the procedure's notes: tau_rep .908, .922, .937 at 1, 2, 3 judges."""
    names = {"query_id": "topic", "doc_id": "docno", "annotator_id": "assessor", "label": "grade"}
    table = Judgments.read(DATA / "dl19-assessors" / "main_long.tsv", columns=names)
    result = annotators_needed(table, runs, ["nDCG@10"], seed=0)
    verdict = result.verdicts["nDCG@10"]
    assert (verdict["code"], verdict["enough"], verdict["possible"]) == ("enough", 2, 1)
    tau = [row["tau_rep"] for row in result.rows]
    assert tau[:3] == pytest.approx([0.908, 0.922, 0.937], abs=0.015)
    assert tau[6] == pytest.approx(0.956, abs=0.015)


@pytest.fixture(scope="module")
def cranfield():
    found = read_collection(DATA / "cranfield")
    (qrels,) = found.qrels.values()
    return qrels, search_documents(found.documents, found.topics)


def test_next_best_judgment_saves_a_quarter(cranfield):
    """Spam as in trec-rf10: 39% of the judgments, by the ordinal mixture."""
    qrels, runs = cranfield
    pool = runs.with_ranks().filter(pl.col("rank") <= 10).select("query_id", "doc_id").unique()
    for by in ("ranking", "grade"):
        rows = []
        for seed in range(6):
            setting = Trial(spam=0.39, accuracy=0.85, most=4, step=0.1, by=by)
            rows += trial(qrels, runs, pool.sort("query_id", "doc_id"), setting, seed=seed)
        found = {overlap: measure_saving(rows, overlap) for overlap in (2, 3, 4)}
        print(by, found)
        if by == "ranking":
            assert found[3][2] >= 0.25


def test_a_forecast_on_cranfield_holds_with_other_seeds(cranfield):
    qrels, runs = cranfield
    designs = grid(depth=[10], overlap=[1, 3])
    crowd = Crowd(spam=0.39, accuracy=0.85)
    expected = forecast(qrels, runs, designs, crowd, replays=10, seed=0).rows
    happened = forecast(qrels, runs, designs, crowd, replays=10, seed=500).rows
    for one, other in zip(expected, happened, strict=True):
        print({k: (one[k], other[k]) for k in ("money", "tau", "rejected", "kappa")})
        assert other["money"] == pytest.approx(one["money"], rel=0.1)
        assert other["tau"] == pytest.approx(one["tau"], abs=0.05)
