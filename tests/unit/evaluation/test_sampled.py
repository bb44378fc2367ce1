"""Intervals of estimates from a sample: the textbook's variance, coverage, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, DataError
from venire.evaluation.sampled import sampling_error
from venire.evaluation.score import score_runs


def strata_of(size, drawn, found):
    """Return qrels of one topic: each stratum's size, documents drawn, relevant ones of those."""
    rows = [
        ("q", f"s{at}d{i}", 1 if i < m else 0 if i < n else -1, str(at))
        for at, (N, n, m) in enumerate(zip(size, drawn, found, strict=True))
        for i in range(N)
    ]
    return Qrels.of(
        pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance", "stratum"], orient="row")
    )


def in_order(qrels):
    score = pl.Series("score", -np.arange(len(qrels), dtype=float))
    return Runs.of(qrels.frame.select("query_id", "doc_id", score))


def test_the_number_of_relevant_documents_has_the_textbook_variance():
    """sum_c N^2 (1 - n/N) s^2 / n with s^2 = n p (1 - p) / (n - 1): Cochran, 5.3."""
    size, drawn, found = (10, 30, 50), (10, 12, 8), (6, 5, 2)
    qrels = strata_of(size, drawn, found)
    variance = sum(
        N**2 * (1 - n / N) / n * (n / (n - 1) * (m / n) * (1 - m / n))
        for N, n, m in zip(size, drawn, found, strict=True)
    )
    error = sampling_error(qrels, in_order(qrels), ["infNumRel"]).error[0, 0]
    assert error == pytest.approx(math.sqrt(variance), rel=1e-9)


def test_topics_are_averaged_as_independent():
    one = strata_of((10, 30), (5, 6), (3, 2))
    other = one.frame.with_columns(pl.lit("r").alias("query_id"))
    both = Qrels.of(pl.concat([one.frame, other]))
    runs = in_order(both)
    alone = sampling_error(one, in_order(one)).error
    assert sampling_error(both, runs).error == pytest.approx(alone / math.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(1.0, 0.5, 0.2), (0.5, 0.5, 0.3)])
def test_intervals_cover(shares):
    """Of 95% intervals, 92 to 98% hold the truth: 2,000 samples of four topics."""
    rng = np.random.default_rng(5)
    size, bounds, samples, topics = 200, (20, 80, 200), 2000, 4
    stratum = np.searchsorted(bounds, np.arange(size), side="right")
    names = [f"d{at:03d}" for at in range(size)]
    relevance = rng.random((topics, size)) < np.linspace(0.7, 0.1, size)
    rank = np.arange(1, size + 1)
    truth = np.mean(
        (relevance * np.cumsum(relevance, axis=1) / rank).sum(axis=1) / relevance.sum(axis=1)
    )
    # A sample's topics are topics of one table here, so that all are estimated in one pass.
    total = samples * topics
    chosen = np.zeros((total, size), bool)
    for at, share in enumerate(shares):
        places = np.flatnonzero(stratum == at)
        order = np.argsort(rng.random((total, places.size)), axis=1)
        np.put_along_axis(chosen, places[order[:, : round(share * places.size)]], True, axis=1)
    values, errors = [], []
    for part in np.array_split(np.arange(total), 10):
        grades = np.where(chosen[part], np.tile(relevance, (samples, 1))[part], -1)
        frame = pl.DataFrame(
            {
                "query_id": np.repeat([f"q{at:06d}" for at in part], size),
                "doc_id": np.tile(names, part.size),
                "relevance": grades.reshape(-1),
                "stratum": np.tile(stratum.astype(str), part.size),
                "score": np.tile(-np.arange(size, dtype=float), part.size),
            }
        )
        found = sampling_error(Qrels.of(frame), Runs.of(frame))
        values.append(found.scores.values[0, 0])
        errors.append(found.by_topic[0, 0])
    value = np.concatenate(values).reshape(samples, topics)
    error = np.concatenate(errors).reshape(samples, topics)
    wide = 1.96 * np.sqrt((error**2).sum(axis=1)) / topics
    mean = value.mean(axis=1)
    assert 0.92 <= np.mean(np.abs(mean - truth) <= wide) <= 0.98
    assert abs(mean.mean() - truth) < 3 * mean.std() / math.sqrt(samples)


def test_what_is_no_estimate_is_refused():
    qrels = strata_of((10,), (5,), (3,))
    with pytest.raises(BadSetting, match="AP is not an estimate from a sample"):
        sampling_error(qrels, in_order(qrels), ["AP"])
    whole = strata_of((10,), (10,), (3,))
    with pytest.raises(DataError, match="no pair of the pool is unsampled"):
        sampling_error(whole, in_order(whole))


def test_a_single_document_of_a_stratum_is_counted():
    qrels = strata_of((10, 10), (5, 1), (3, 1))
    assert any("1 stratum" in note for note in sampling_error(qrels, in_order(qrels)).notes)


@pytest.mark.parametrize("measure", ["xinfAP", "xinfAP(corrected=True)", "infAP", "infNDCG"])
def test_adaptive_qrels_are_refused(measure):
    qrels = replace(strata_of((10,), (5,), (3,)), adaptive="bandit-max-mean")
    for ask in (score_runs, sampling_error):
        with pytest.raises(DataError, match=r"adaptive pool \(bandit-max-mean\)"):
            ask(qrels, in_order(qrels), [measure])


def test_plain_measures_of_adaptive_qrels_carry_a_note():
    qrels = replace(strata_of((10,), (5,), (3,)), adaptive="move-to-front")
    found = score_runs(qrels, in_order(qrels), ["AP"])
    assert any("adaptive pool (move-to-front)" in note for note in found.notes)
    plain = score_runs(replace(qrels, adaptive=""), in_order(qrels), ["AP"]).notes
    assert not any("adaptive" in note for note in plain)


def test_plain_measures_of_a_sample_carry_a_note():
    qrels = strata_of((10,), (5,), (3,))
    notes = score_runs(qrels, in_order(qrels), ["AP", "Bpref", "infAP"]).notes
    assert any("and AP takes its 5 pairs without a grade for not relevant" in x for x in notes)
    assert not score_runs(qrels, in_order(qrels), ["Bpref", "infAP", "Judged@5"]).notes
