"""Every row of the table of evaluation semantics, measured with NIST trec_eval as the oracle."""

import pytest

from venire import Qrels, Runs
from venire.errors import DataError, NoOverlap
from venire.evaluation.score import score_runs


def qrels(text):
    return Qrels.from_dict({"q": {name: int(g) for name, g in _pairs(text, "=")}})


def run(text):
    """``b:1 c:1`` are scores; without them the order is the ranking."""
    names = text.split()
    if ":" in text:
        return Runs.from_dict({"q": {name: float(score) for name, score in _pairs(text, ":")}})
    return Runs.from_dict({"q": {name: float(len(names) - at) for at, name in enumerate(names)}})


def _pairs(text, mark):
    return [part.split(mark) for part in text.split()]


ROWS = {
    1: ("b=1 a=0 c=0", "b:1 c:1", {"AP": 0.5, "P@1": 0, "RR": 0.5}),
    2: ("d10=1", "d10:1 d9:1", {"RR": 0.5}),
    3: ("a=1", "a:.1 b:.9", {"RR": 0.5}),
    4: ("a=1", "a:.93000000001 b:.93", {"RR": 1.0}),
    5: ("a=1", "a:1.2e-3 b:5E-4 c:-1e2", {"RR": 1.0}),
    6: (
        "n1=0 n2=0 n3=0 r1=1 r2=1 r3=1 r4=1",
        "n1 r1 u1 n2 r2 n3 r3",
        {"Bpref": 0.25, "AP": 0.3321, "infAP": 0.3321},
    ),
    7: (
        "n1=-1 n2=0 n3=0 r1=1 r2=1 r3=1 r4=1",
        "n1 r1 u1 n2 r2 n3 r3",
        {"Bpref": 0.375, "infAP": 0.4375, "AP": 0.3321},
    ),
    8: ("r1=1 r2=1", "n1 r1 u1 n2 r2 n3 r3", {"Bpref": 1.0, "infAP": 0.45}),
    9: (
        "n1=0 n2=0 n3=0 n4=0 r1=1 r2=1 r3=1 r4=1 r5=1 r6=1",
        "n1 r1 r2 r3 r4",
        {"Bpref": 0.5},
    ),
    10: (
        "r1=1 r2=1 n1=0 p1=-1 p2=-1",
        "p1 n1 z1 r1 p2 r2",
        {"infAP": 0.375, "AP": 0.2917, "Bpref": 0, "P@5": 0.2, "nDCG": 0.4825, "Unjudged@5": 0.6},
    ),
    11: (
        "a=1 b=2 c=3 d=0",
        "d a c b",
        {
            "AP": 0.6389,
            "AP(rel=2)": 0.4167,
            "AP(rel=3)": 0.3333,
            "nDCG": 0.6284,
            "nDCG@2": 0.1480,
            "nDCG(dcg='exp-log2')@2": 0.0709,
        },
    ),
    12: ("a=1 n=0 m=-1", "u m a n", {"AP": 0.3333, "AP(judged_only=True)": 1.0}),
    13: ("a=1 b=1", "a", {"P@10": 0.1, "R@10": 0.5, "Rprec": 0.5, "nDCG@10": 0.6131}),
    16: (
        "d1=1 d2=-1 d3=0 d4=1 d5=-1 d6=0 d7=1 d9=-1 d11=1 d12=0",
        "d3 d1 dX d2 d4 d5 d6 dY d7 d9 d11",
        {"infAP": 0.4929304701773116, "AP": 0.3992424242, "Bpref": 0.5},
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_row(row):
    judged, ranked, expected = ROWS[row]
    scores = score_runs(qrels(judged), run(ranked), list(expected))
    digits = 1e-9 if row == 16 else 5e-5
    found = dict(zip(expected, scores.mean[:, 0], strict=True))
    assert found == pytest.approx(expected, abs=digits)


def test_row_14_a_topic_without_relevant_documents_counts_zero_and_is_named():
    judged = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 0}})
    scores = score_runs(judged, Runs.from_dict({"q1": {"a": 1}, "q2": {"b": 1}}), ["AP"])
    assert scores.mean.tolist() == [[0.5]]
    assert "no document is relevant for topic q2: counted as 0" in scores.notes


def test_row_15_untidy_files_are_read(tmp_path):
    judged = tmp_path / "qrels"
    judged.write_bytes("\ufeff  q\t0  a\u00a0b 1\r\nq 0 c\t\t0".encode())
    ranked = tmp_path / "run"
    ranked.write_bytes("q Q0 c 1 2.0 r\r\n\r\n\tq\tQ0\ta\u00a0b  2 1.0 r".encode())
    assert score_runs(Qrels.read(judged), Runs.read(ranked), ["RR"]).mean.tolist() == [[0.5]]


def test_the_average_is_over_the_qrels_or_over_the_run():
    judged = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 1}})
    ranked = Runs.from_dict({"q1": {"a": 1.0}})
    all_topics = score_runs(judged, ranked, ["AP", "NumRel"])
    assert all_topics.mean[:, 0].tolist() == [0.5, 2.0]
    assert "run run has no documents for topic q2: each counts as 0" in all_topics.notes
    assert score_runs(judged, ranked, ["AP", "NumRel"], topics="run").mean[:, 0].tolist() == [1, 1]


def test_ties_by_every_rule():
    judged = Qrels.from_dict({"q": {"b": 1}})
    ranked = Runs.from_dict({"q": {"b": 1.0, "c": 1.0, "a": 1.0}})
    found = {
        ties: score_runs(judged, ranked, ["RR"], ties=ties).mean[0, 0]
        for ties in ("trec", "docid-ascending", "file-order")
    }
    assert found == {"trec": 0.5, "docid-ascending": 0.5, "file-order": 1.0}


def test_nothing_in_common_names_a_few_of_each():
    with pytest.raises(NoOverlap, match="topics of the qrels: q1; topics of the runs: Q1"):
        score_runs(Qrels.from_dict({"q1": {"a": 1}}), Runs.from_dict({"Q1": {"a": 1}}), ["AP"])


def test_decimal_grades_are_refused():
    with pytest.raises(DataError, match="whole numbers"):
        score_runs(Qrels.from_dict({"q": {"a": 0.5}}), Runs.from_dict({"q": {"a": 1}}), ["AP"])
