"""NIST trec_eval's own test files, and the TREC 2019 runs beside pytrec_eval."""

import os
from pathlib import Path

import numpy as np
import pytest

from venire import Qrels, Runs
from venire.evaluation.score import score_runs

DATA = Path(os.environ.get("VENIRE_DATA", Path(__file__).parents[3] / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not (DATA / "trec-eval").exists(), reason=f"no public data at {DATA}; set VENIRE_DATA"
)

PLAIN = {
    "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRet(rel=1)", "map": "AP",
    "Rprec": "Rprec", "bpref": "Bpref", "recip_rank": "RR", "infAP": "infAP", "ndcg": "nDCG",
    "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "rbp": "RBP(p=0.9)",
    "rbp_resid": "RBPResidual(p=0.9)",
}  # fmt: skip
NAMES = PLAIN | {
    f"{theirs}_{k}": f"{ours}@{k}"
    for theirs, ours in (("P", "P"), ("recall", "R"), ("ndcg_cut", "nDCG"), ("map_cut", "AP"))
    for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)
}
NAMES |= {f"iprec_at_recall_{at / 10:.2f}": f"IPrec@{at / 10}" for at in range(11)}
NAMES |= {f"success_{k}": f"Success@{k}" for k in (1, 5, 10)}
NAMES |= {f"unj_{k}": f"Unjudged@{k}" for k in (5, 10, 20)}

# Measures of the expected output that Venire has not: geometric means, binG and G, normalised
# and relative variants, utility, relstring.
ABSENT = {
    "runid", "num_q", "gm_map", "gm_bpref", "utility", "11pt_avg", "binG", "G", "ndcg_rel",
    "Rndcg", "set_map", "set_relative_P", "num_nonrel_judged_ret", "relstring", "relstring_20",
    *(f"Rprec_mult_{at / 5:.2f}" for at in range(1, 11)),
    *(f"relative_P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
}  # fmt: skip
# trec_eval's RBP weighs a grade of 1 by a quarter where grades go to 2; Venire's is binary.
DIFFERENT = {("out.test.aql", "301", "rbp"), ("out.test.aql", "all", "rbp")}


def at_level_2(measure):
    if measure.startswith(("nDCG", "Unjudged", "RBPResidual")) or measure == "NumRet":
        return measure
    if "(rel=1)" in measure:
        return measure.replace("rel=1", "rel=2")
    if measure.startswith("RBP"):
        return "RBP(p=0.9,rel=2)"
    name, at, number = measure.partition("@")
    return f"{name}(rel=2){at}{number}"


@pytest.mark.parametrize(
    ("output", "qrels", "run", "topics"),
    [
        ("out.test.a", "qrels.test", "results.test", "run"),
        ("out.test.aq", "qrels.test", "results.test", "run"),
        ("out.test.aqc", "qrels.test", "results.trunc", "qrels"),
        ("out.test.aql", "qrels.rel_level", "results.test", "run"),
    ],
)
def test_trec_evals_expected_output(output, qrels, run, topics):
    folder = DATA / "trec-eval"
    names = list(NAMES)
    measures = [at_level_2(NAMES[name]) if output.endswith("l") else NAMES[name] for name in names]
    scores = score_runs(
        Qrels.read(folder / qrels), Runs.read(folder / run), measures, topics=topics
    )
    compared = 0
    for line in (folder / output).read_text().splitlines():
        name, topic, value = (cell.strip() for cell in line.split("\t"))
        if name not in NAMES:
            assert name in ABSENT
            continue
        if (output, topic, name) in DIFFERENT:
            continue
        at = names.index(name)
        if topic == "all":
            found = scores.mean[at, 0]
        else:
            found = scores.values[at, 0, scores.topics.index(topic)]
        assert found == pytest.approx(float(value), abs=5.1e-5), (name, topic)
        compared += 1
    assert compared >= 65


MEASURES = {
    "map": "AP", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10", "P_10": "P@10", "Rprec": "Rprec",
    "recip_rank": "RR", "bpref": "Bpref", "infAP": "infAP",
}  # fmt: skip
# Lists in which two scores are equal as 32-bit numbers and not as 64-bit: pytrec_eval ties them.
FLOAT32 = 3


@pytest.mark.parametrize("rel", [1, 2])
def test_trec_dl19_agrees_with_pytrec_eval(rel):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is missing")
    import polars as pl

    qrels = Qrels.read(DATA / "trec-dl19" / "qrels-pass.txt")
    paths = sorted((DATA / "trec-dl19" / "runs").glob("*.gz"))
    runs = Runs(pl.concat([Runs.read(path).frame for path in paths]))
    measures = [
        name if name.startswith("nDCG") or rel == 1 else
        f"{name.partition('@')[0]}(rel={rel}){''.join(name.partition('@')[1:])}"
        for name in MEASURES.values()
    ]  # fmt: skip
    scores = score_runs(qrels, runs, measures)
    oracle = pytrec_eval.RelevanceEvaluator(qrels.to_dict(), set(MEASURES), relevance_level=rel)
    differing = set()
    for at, name in enumerate(scores.runs):
        run = {}
        frame = runs.frame.filter(pl.col("run_id") == name)
        for query, doc, score in frame.select("query_id", "doc_id", "score").iter_rows():
            run.setdefault(query, {})[doc] = score
        for query, values in oracle.evaluate(run).items():
            topic = scores.topics.index(query)
            theirs = np.array([values[key] for key in MEASURES])
            if np.abs(scores.values[:, at, topic] - theirs).max() > 1e-6:
                differing.add((name, query))
    assert len(scores.runs) == 37
    assert len(differing) <= FLOAT32, sorted(differing)
    for name, query in differing:
        frame = runs.frame.filter((pl.col("run_id") == name) & (pl.col("query_id") == query))
        score = frame["score"].to_numpy()
        assert np.unique(score.astype(np.float32)).size < np.unique(score).size
