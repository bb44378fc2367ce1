"""Results print what they hold in a line or a few, whatever their size."""

import sys

import polars as pl
import pytest

import venire
from venire.progress import Event, tell_reader

QUERIES, DOCS = 30, 40
LABELS = {
    "query_id": [f"q{topic}" for topic in range(QUERIES) for _ in range(DOCS)] * 2,
    "doc_id": [f"d{doc}" for _ in range(QUERIES) for doc in range(DOCS)] * 2,
    "annotator_id": ["x"] * QUERIES * DOCS + ["y"] * QUERIES * DOCS,
    "label": [doc % 3 for _ in range(QUERIES) for doc in range(DOCS)] * 2,
}
QRELS = {f"q{topic}": {f"d{doc}": doc % 2 for doc in range(DOCS)} for topic in range(QUERIES)}
RUNS = venire.Runs(
    pl.concat(
        venire.Runs.from_dict(
            {query: {doc: float(sign * place) for place, doc in enumerate(docs)}
             for query, docs in QRELS.items()},
            run_id=name,
        ).frame
        for name, sign in (("up", 1), ("down", -1))
    )
)  # fmt: skip


def list_results():
    aggregation = venire.aggregate(LABELS, "majority")
    trust = venire.trust(QRELS, RUNS, permutations=10)
    comparisons = venire.compare(QRELS, RUNS, permutations=10, posterior=aggregation)
    pool = venire.pool(RUNS)
    return [
        (aggregation, "2,400 judgments; 1,200 items; by majority"),
        (aggregation.posterior, "majority; 1,200 items; 2 annotators; grades 0, 1, 2"),
        (venire.evaluate(QRELS, RUNS, "AP"), "2 runs; 30 topics; AP"),
        (comparisons, "2 runs; 30 topics; AP"),
        (comparisons.scores, "2 runs; 30 topics; AP"),
        (comparisons.draws, "200 draws of 2 runs; AP; seed 0"),
        (venire.measure_agreement(LABELS, bootstrap=0), "Krippendorff's alpha (ordinal) is 1.00"),
        (trust, f"{trust.risks[0].name} {trust.risks[0].light}"),
        (pool, "depth; 1,200 pairs to judge; 2 runs; 30 topics"),
        (pool.pool, "depth; 1,200 pairs to judge"),
        (pool.lists, "2 runs; 30 topics; 2,400 documents"),
        (venire.simulate_pools(QRELS, RUNS, depth=[5, 9]), "2 runs, AP, depth 5, 9"),
        (venire.simulate_assessors(QRELS, RUNS, keep=0.9, seeds=2), "2 runs; 2 simulations"),
        (venire.simulate_campaign(QRELS, RUNS, replays=2), "Take pool depth"),
    ]  # fmt: skip


def test_results_say_what_they_hold_in_a_few_lines():
    for result, text in list_results():
        printed = repr(result)
        assert printed.startswith(f"<{type(result).__name__}: "), printed
        assert text in printed
        assert len(printed) < 400, printed


@pytest.mark.parametrize(("is_terminal", "lines"), [(True, 1), (False, 0)])
def test_compilation_is_announced_once_where_somebody_reads(
    capsys, monkeypatch, is_terminal, lines
):
    monkeypatch.setattr("venire.progress._written", set())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for _ in range(2):
        tell_reader(Event("compiling, once", 0, None))
    assert capsys.readouterr().err == "venire: compiling, once (about a minute) ...\n" * lines
