"""Agreement of real assessors and a real crowd."""

import os
import time
from pathlib import Path

import krippendorff
import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels
from venire.agreement.alpha import LEVELS, krippendorff_alpha
from venire.agreement.pairs import Pair
from venire.agreement.summary import measure_agreement

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENIRE_DATA") or ROOT / ".." / "shared" / "data").resolve()

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data: {DATA} (set VENIRE_DATA)")

DL19 = DATA / "dl19-assessors" / "main_long.tsv"
COLUMNS = {"query_id": "topic", "doc_id": "docno", "annotator_id": "assessor", "label": "grade"}


def counts_of(judgments):
    """Items x grades, by polars; what the krippendorff package calls value counts."""
    wide = judgments.frame.pivot(
        "label", index=["query_id", "doc_id"], values="annotator_id", aggregate_function="len"
    )
    grades = sorted(judgments.frame["label"].unique())
    return wide.select([str(g) for g in grades]).fill_null(0).to_numpy(), grades


def test_dl19_assessors():
    judgments = Judgments.read(DL19, columns=COLUMNS)
    codes = judgments.codes
    assert (codes.n_judgments, codes.n_items, codes.n_annotators) == (9_004, 4_511, 8)
    result = measure_agreement(judgments, relevant_from=2, bootstrap=200)
    assert result.topics.height == 43
    counts, grades = counts_of(judgments)
    for level in LEVELS[:3]:
        expected = krippendorff.alpha(
            value_counts=counts, value_domain=grades, level_of_measurement=level
        )
        assert result[f"alpha-{level}"].value == pytest.approx(expected, abs=1e-12)
    for value in result.values:
        assert value.low < value.value < value.high


def test_dl19_wide_round_of_eight():
    wide = pl.read_csv(DATA / "dl19-assessors" / "agreement_round_wide.tsv", separator="\t")
    assert wide.height == 188
    people = [f"A{n}" for n in range(1, 9)]
    long = wide.unpivot(people, index=["topic", "docno"], variable_name="who", value_name="grade")
    judgments = Judgments.of(long, columns={**COLUMNS, "annotator_id": "who"})
    for level in LEVELS:
        expected = krippendorff.alpha(
            reliability_data=wide.select(people).to_numpy().T.astype(float),
            level_of_measurement=level,
        )
        assert krippendorff_alpha(judgments, level=level).value == pytest.approx(expected)
    assert measure_agreement(judgments, bootstrap=0).annotators["items"].to_list() == [188] * 8


def test_dl19_an_assessor_beside_nist():
    frame = pl.read_csv(DL19, separator="\t").filter(pl.col("assessor") == "A1")
    mine, nist = (
        Qrels.of(frame, columns={"query_id": "topic", "doc_id": "docno", "relevance": grade})
        for grade in ("grade", "nist_grade")
    )
    from sklearn.metrics import cohen_kappa_score

    values = Pair.of_qrels(mine, nist, relevant_from=2).values()
    for name, weights in (("cohen-kappa", None), ("quadratic-kappa", "quadratic")):
        expected = cohen_kappa_score(frame["grade"], frame["nist_grade"], weights=weights)
        assert values[name].value == pytest.approx(expected, abs=1e-12)
    both = [set(frame.filter(pl.col(g) >= 2)["docno"]) for g in ("grade", "nist_grade")]
    assert values["overlap"].value == pytest.approx(len(both[0] & both[1]) / len(both[0] | both[1]))


def test_a_crowd_in_two_seconds():
    judgments = Judgments.read(
        DATA / "trec-rf10" / "trec-rf10-data.txt.gz",
        columns={"query_id": "topicID", "doc_id": "docID", "annotator_id": "workerID"},
        drop_labels=["-2"],
        repeats="all",
    )
    assert len(judgments) == 91_783
    start = time.perf_counter()
    value = krippendorff_alpha(judgments)
    assert time.perf_counter() - start < 2
    counts, grades = counts_of(judgments)
    expected = krippendorff.alpha(
        value_counts=counts, value_domain=np.array(grades), level_of_measurement="ordinal"
    )
    assert value.value == pytest.approx(expected, abs=1e-12)
