"""Scores worked out by hand on three documents; N = 3, mean length 2, 6 terms in all."""

from math import log, log10, sqrt

import polars as pl
import pytest

from venire.errors import BadSetting
from venire.retrieval.analysis import Analyzer
from venire.retrieval.bm25 import Bm25
from venire.retrieval.index import Index
from venire.retrieval.query_likelihood import QueryLikelihood
from venire.retrieval.simple import BinaryIndependence, Coordination, RawCounts
from venire.retrieval.tfidf import TfIdf

DOCUMENTS = pl.DataFrame(
    {"doc_id": ["d1", "d2", "d3"], "text": ["wing lift wing", "wing drag", "drag"]}
)
INDEX = Index.of(DOCUMENTS, Analyzer(stemmer="none"))


def scores(model, query="wing lift"):
    topics = pl.DataFrame({"query_id": ["q"], "title": [query]})
    frame = INDEX.search(model, topics).frame
    return dict(frame.select("doc_id", "score").iter_rows())


def test_the_matrix():
    assert INDEX.terms.to_list() == ["drag", "lift", "wing"]
    assert INDEX.counts.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [2, 1, 0]]
    assert INDEX.lengths.tolist() == [3, 2, 1]
    assert INDEX.document_frequency.tolist() == [2, 1, 2]
    assert INDEX.collection_frequency.tolist() == [2, 1, 3]


def test_bm25():
    # wing: ln(1 + 1.5/2.5) = ln 1.6; lift: ln(1 + 2.5/1.5) = ln(8/3).
    # d1: length 3 of mean 2, so 1.2 * (0.25 + 0.75 * 1.5) = 1.65; d2: 1.2.
    d1 = log(1.6) * 2.2 * 2 / (2 + 1.65) + log(8 / 3) * 2.2 * 1 / (1 + 1.65)
    d2 = log(1.6) * 2.2 / 2.2
    assert scores(Bm25()) == pytest.approx({"d1": d1, "d2": d2})
    assert d1 == pytest.approx(1.3808, abs=1e-4)


def test_bm25_without_length_and_with_repeats_in_the_query():
    # b = 0: length does not matter; the query says wing twice.
    d1 = 2 * log(1.6) * 4 * 2 / (2 + 3)
    d2 = 2 * log(1.6) * 4 * 1 / (1 + 3)
    assert scores(Bm25(k1=3, b=0), "wing wing") == pytest.approx({"d1": d1, "d2": d2})


def test_tf_idf():
    wing, lift = log10(3 / 2), log10(3)
    query = sqrt(wing**2 + lift**2)
    twice = 1 + log10(2)
    d1 = (twice * wing + lift) / (query * sqrt(twice**2 + 1))
    d2 = wing / (query * sqrt(2))
    assert scores(TfIdf()) == pytest.approx({"d1": d1, "d2": d2})


def test_tf_idf_of_one_term_of_a_one_term_document_is_1():
    assert scores(TfIdf(), "drag")["d3"] == pytest.approx(1)


def test_query_likelihood():
    # p(wing) = 3/6, p(lift) = 1/6; less the score of a document of no terms.
    nothing = log(3 / 6) + log(1 / 6)
    d1 = log((2 + 50) / 103) + log((1 + 100 / 6) / 103) - nothing
    d2 = log((1 + 50) / 102) + log((100 / 6) / 102) - nothing
    assert scores(QueryLikelihood()) == pytest.approx({"d1": d1, "d2": d2})


def test_query_likelihood_leaves_out_words_nobody_has():
    assert scores(QueryLikelihood(), "wing lift zeppelin") == scores(QueryLikelihood())


def test_binary_independence_keeps_a_match_that_scores_zero():
    # wing: ln(1.5/2.5), lift: ln(2.5/1.5): together nothing.
    found = scores(BinaryIndependence())
    assert list(found) == ["d1", "d2"]
    assert found == pytest.approx({"d1": 0, "d2": log(0.6)}, abs=1e-12)


def test_a_term_that_all_documents_have_still_matches():
    index = Index.of(pl.DataFrame({"doc_id": ["a", "b"], "text": ["x", "x x"]}))
    topics = pl.DataFrame({"query_id": ["q"], "title": ["x"]})
    assert index.search(TfIdf(), topics).frame["score"].to_list() == [0, 0]


def test_coordination_counts_distinct_terms():
    assert scores(Coordination(), "wing wing lift") == {"d1": 2, "d2": 1}


def test_raw_counts():
    assert scores(RawCounts(), "wing wing lift") == {"d1": 2 * 2 + 1, "d2": 2}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Bm25(k1=-1), r"`k1` must be >= 0 \(got -1\)"),
        (lambda: Bm25(b=1.5), r"`b` must be between 0 and 1 \(got 1.5\)"),
        (lambda: Bm25(k1=float("nan")), r"`k1` must be >= 0 \(got nan\)"),
        (lambda: QueryLikelihood(mu=0), r"`mu` must be > 0 \(got 0\)"),
    ],
)
def test_wrong_settings(make, said):
    with pytest.raises(BadSetting, match=said):
        make()
