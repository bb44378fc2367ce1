"""NIST's sample_eval is the oracle of the example; unbiasedness is by simulation."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom

from venire import Qrels, Runs
from venire.evaluation.score import score_runs

SAMPLED = {
    "d00": 2, "d01": 2, "d02": 0, "d03": 2, "d04": 1, "d05": 1, "d06": 1, "d07": 1, "d08": 1,
    "d09": 1, "d10": 1, "d11": 1, "d14": 1, "d19": 0, "d21": 1, "d22": 0, "d24": 1, "d25": 1,
    "d26": 0,
}  # fmt: skip
RUN = """
    d03 d00 d34 zz1 d09 d08 d28 d01 d33 d25 d35 d10 zz2 d31 d07 d26 d18 d20 d02 d21 d15 d17 d23
    d04 d27 d13 d06 d14 d05 d24 d11 d12 d37 d22 d38 d16 d19
""".split()  # noqa: SIM905


def ranked(names, query="q"):
    return Runs.from_dict({query: {name: float(-at) for at, name in enumerate(names)}})


def nist(path):
    lines = []
    for at in range(40):
        stratum = 1 if at < 10 else 2 if at < 30 else 3
        lines.append(f"q 0 d{at:02d} {stratum} {SAMPLED.get(f'd{at:02d}', -1)}\n")
    path.write_text("".join(lines))
    return Qrels.read(path)


def test_nists_example(tmp_path):
    qrels = nist(tmp_path / "sample.qrels")
    assert qrels.frame["stratum"].unique().sort().to_list() == ["1", "2", "3"]
    scores = score_runs(qrels, ranked(RUN), ["xinfAP", "infNDCG", "infNumRel"])
    assert scores.mean[:, 0] == pytest.approx([0.7265, 0.8795, 22.3333], abs=5e-5)
    assert any(
        "no document was sampled from 1 stratum of topic q, with 10 documents" in note
        for note in scores.notes
    )
    assert not any("sampled" in note for note in score_runs(qrels, ranked(RUN), ["AP"]).notes)


def test_two_topics_and_two_runs_do_not_mix(tmp_path):
    one = nist(tmp_path / "sample.qrels").frame
    other = one.with_columns(pl.lit("r").alias("query_id"), pl.col("relevance").clip(-1, 0))
    both = Qrels.of(pl.concat([other, one]))
    runs = pl.concat(
        [
            ranked(RUN, query).frame.with_columns(run_id=pl.lit(name))
            for name in ("a", "b")
            for query in ("q", "r")
        ]
    )
    scores = score_runs(both, Runs.of(runs), ["xinfAP", "infNDCG"])
    np.testing.assert_allclose(scores.values[0], [[0.7265, 0], [0.7265, 0]], atol=5e-5)
    np.testing.assert_allclose(scores.values[1], [[0.8795, 0], [0.8795, 0]], atol=5e-5)


def test_a_whole_sample_gives_the_plain_measures():
    names = [f"d{at}" for at in range(12)]
    grades = [2, 0, 1, 0, 0, 1, 0, 2, 0, 0, 1, 0]
    frame = pl.DataFrame(
        {"query_id": "q", "doc_id": names, "relevance": grades, "stratum": ["a", "b"] * 6}
    )
    scores = score_runs(
        Qrels.of(frame), ranked(names), ["xinfAP", "AP", "infNDCG", "nDCG", "infNumRel"]
    )
    xinfap, ap, infndcg, ndcg, number = scores.mean[:, 0]
    assert xinfap == pytest.approx(ap, abs=1e-4)
    assert infndcg == pytest.approx(ndcg)
    assert number == 5


def test_a_line_with_four_fields_among_five_is_refused(tmp_path):
    path = tmp_path / "sample.qrels"
    path.write_text("q 0 a 1 1\nq 0 b 1\n")
    with pytest.raises(ValueError, match="must have 5 fields"):
        Qrels.read(path)


SIZE, BOUNDS = 200, (20, 80, 200)


def truth_of(rng):
    """Return relevance and stratum of a pool whose relevant documents thin out from the top."""
    relevance = (rng.random(SIZE) < np.linspace(0.7, 0.1, SIZE)).astype(np.int64)
    return relevance, np.searchsorted(BOUNDS, np.arange(SIZE), side="right")


def sampling(shares, samples=2000, size=SIZE):
    """Return (mean - truth) / standard error of each measure, its bias as a share of the truth,
    and (mean, standard error) of infNDCG.

    Each sample is a topic of its own; the run ranks the pool.
    """
    rng = np.random.default_rng(11)
    relevance, stratum = truth_of(rng)
    names = np.array([f"d{at:03d}" for at in range(size)])
    chosen = np.zeros((samples, size), bool)
    for at, share in enumerate(shares):
        places = np.flatnonzero(stratum == at)
        order = np.argsort(rng.random((samples, places.size)), axis=1)
        drawn = places[order[:, : round(share * places.size)]]
        np.put_along_axis(chosen, drawn, values=True, axis=1)
    frame = pl.DataFrame(
        {
            "query_id": np.repeat([f"q{at:04d}" for at in range(samples)], size),
            "doc_id": np.tile(names, samples),
            "relevance": np.where(chosen, relevance, -1).reshape(-1),
            "stratum": np.tile(stratum.astype(str), samples),
            "score": np.tile(-np.arange(size, dtype=float), samples),
        }
    )
    measures = ["infNumRel", "xinfAP", "infNDCG", "xinfAP(corrected=True)", "infAP"]
    values = score_runs(Qrels.of(frame), Runs.of(frame), measures).values[:, 0]
    truth = pl.DataFrame({"query_id": "q", "doc_id": names, "relevance": relevance})
    true = score_runs(Qrels.of(truth), ranked(names), ["NumRel", "AP", "nDCG"]).mean[
        [0, 1, 2, 1, 1], 0
    ]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(samples)
    return (mean - true) / error, (mean - true) / true, (mean[2], error[2])


def expected_infndcg(shares):
    """Return the exact mean of infNDCG over all samples, and the nDCG that it estimates.

    The relevant documents sampled of a stratum, m of n, are hypergeometric, and given m each of
    its relevant documents is sampled equally often. So the sum over them has the mean
    ``N/n * m * (mean discount of the stratum's relevant documents)``, and the ideal is that of
    ``sum N/n * m`` documents, to the nearest whole number: a sum over all (m_1, m_2, m_3).
    """
    relevance, stratum = truth_of(np.random.default_rng(11))
    discount = 1.0 / np.log2(np.arange(2, SIZE + 2))
    ideal = np.cumsum(1.0 / np.log2(np.arange(2, 5 * SIZE)))
    parts = []
    for at, share in enumerate(shares):
        inside = stratum == at
        total, good = int(inside.sum()), int((inside & (relevance == 1)).sum())
        drawn = round(share * total)
        found = np.arange(max(0, drawn - total + good), min(drawn, good) + 1)
        chance = hypergeom(total, good, drawn).pmf(found)
        number = total / drawn * found
        parts.append((chance, number, number * discount[inside & (relevance == 1)].mean()))
    (p, n, g), (q, m, h), (r, o, i) = parts
    chance = p[:, None, None] * q[:, None] * r
    number = np.floor(n[:, None, None] + m[:, None] + o + 0.5).astype(int)
    gain = g[:, None, None] + h[:, None] + i
    value = np.where(number > 0, gain / ideal[np.maximum(number, 1) - 1], 0.0)
    whole = (relevance * discount).sum() / ideal[relevance.sum() - 1]
    return float((chance * value).sum()), float(whole)


@pytest.mark.parametrize(
    ("shares", "bound", "infndcg"),
    [
        ((1.0, 0.5, 0.2), 0.01, 0.00075),
        ((0.5, 0.5, 0.2), 0.01, 0.00037),
        ((1.0, 0.2, 0.1), 0.02, 0.00159),
    ],
)
def test_estimates_over_two_thousand_samples(shares, bound, infndcg):
    """infNumRel and the corrected xinfAP are within three standard errors of the truth.

    NIST's xinfAP, a ratio, is too low, by less than a bound of each design. infNDCG, a ratio too,
    is where its exact mean is, and that has a bias of its own.
    """
    errors, share, (mean, error) = sampling(shares)
    assert abs(errors[0]) < 3
    assert abs(errors[3]) < 3
    assert -bound < share[1] < 0
    expected, whole = expected_infndcg(shares)
    assert abs(mean - expected) < 3 * error
    assert expected / whole - 1 == pytest.approx(infndcg, abs=5e-5)
    if shares != (1.0, 0.2, 0.1):
        assert abs(errors[2]) < 3


def test_infap_over_two_thousand_samples():
    """infAP, for one rate over the pool, is a ratio too; corrected, xinfAP has no such bias."""
    errors, share, _ = sampling((0.4, 0.4, 0.4))
    assert abs(errors[3]) < 3
    assert -0.02 < share[4] < 0


def test_the_corrected_sum_of_precisions_is_exactly_unbiased():
    """Over all samples of a pool that keeps R known, the mean of xinfAP is AP itself.

    The relevant documents' number does not vary where the sampled stratum holds relevant
    documents only; then nothing is left but the sum, whose pairs are weighed by probability.
    """
    names = ["a", "b", "c", "d", "e", "f", "g"]
    strata = ["1", "2", "1", "2", "2", "1", "2"]
    relevance = [1, 1, 0, 1, 1, 0, 1]
    drawn = list(itertools.combinations([1, 3, 4, 6], 2))
    rows = [
        (f"q{at}", name, -1 if strata[i] == "2" and i not in chosen else relevance[i], strata[i])
        for at, chosen in enumerate(drawn)
        for i, name in enumerate(names)
    ]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance", "stratum"], orient="row")
    runs = pl.concat([ranked(names, f"q{at}").frame for at in range(len(drawn))])
    values = score_runs(Qrels.of(frame), Runs.of(runs), ["xinfAP(corrected=True)"]).values[0, 0]
    good = [i for i in range(7) if relevance[i]]
    ap = sum((at + 1) / (i + 1) for at, i in enumerate(good)) / len(good)
    assert values.std() > 0
    assert values.mean() == pytest.approx(ap, abs=1e-12)


def test_a_wholly_judged_pool_needs_no_correction():
    grades = [1, 0, 1, 0, 0, 1, 0, 1]
    names = [f"d{at}" for at in range(8)]
    frame = pl.DataFrame(
        {"query_id": "q", "doc_id": names, "relevance": grades, "stratum": ["a", "b"] * 4}
    )
    found = score_runs(Qrels.of(frame), ranked(names), ["xinfAP(corrected=True)", "AP"])
    assert found.mean[0, 0] == pytest.approx(found.mean[1, 0], abs=1e-12)


def test_one_document_of_a_stratum_is_said():
    frame = pl.DataFrame(
        {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, -1], "stratum": "1"}
    )
    found = score_runs(Qrels.of(frame), ranked(["a", "b"]), ["xinfAP(corrected=True)"])
    assert any(
        "1 stratum with a single sampled document out of several" in note for note in found.notes
    )
