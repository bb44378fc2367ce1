import numpy as np
import polars as pl
import pytest
from scipy import sparse

from venire.errors import BadSetting, DataError, MissingColumns, UnknownName
from venire.retrieval import index as index_module
from venire.retrieval.index import Index, multiply
from venire.retrieval.simple import Coordination
from venire.retrieval.systems import find_systems, list_systems, search_documents

# "10" < "2" < "9" by bytes; all match alike.
DOCUMENTS = pl.DataFrame({"doc_id": ["2", "10", "9"], "text": ["wing", "wing", "wing"]})
TOPICS = pl.DataFrame({"query_id": ["q1", "q2"], "title": ["wing", "zeppelin"]})


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("trec", ["9", "2", "10"]),
        ("docid-ascending", ["10", "2", "9"]),
        ("file-order", ["2", "10", "9"]),
    ],
)
def test_ties_decide_order_and_what_the_depth_cuts(ties, order):
    index = Index.of(DOCUMENTS)
    runs = index.search(Coordination(), TOPICS, ties=ties)
    assert runs.frame["doc_id"].to_list() == order
    assert runs.with_ranks(ties=ties)["doc_id"].to_list() == order
    cut = index.search(Coordination(), TOPICS, ties=ties, depth=2)
    assert cut.frame["doc_id"].to_list() == order[:2]


def test_topics_without_a_match_are_counted():
    runs = Index.of(DOCUMENTS).search(Coordination(), TOPICS)
    assert runs.notes == ("1 topic matches no document",)


def test_title_and_text_make_a_document_and_empty_ones_stay():
    documents = pl.DataFrame(
        {"doc_id": ["a", "b"], "title": ["wing", ""], "text": ["wing lift", None]}
    )
    index = Index.of(documents)
    assert index.size == 2
    assert index.lengths.tolist() == [3, 0]


def test_fields_of_the_topics():
    topics = pl.DataFrame({"query_id": ["q"], "title": ["drag"], "description": ["wing"]})
    index = Index.of(DOCUMENTS)
    assert len(index.search(Coordination(), topics)) == 0
    assert len(index.search(Coordination(), topics, fields=["title", "description"])) == 3
    with pytest.raises(UnknownName, match="narrative"):
        index.search(Coordination(), topics, fields=["narrative"])


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    words = np.array([f"w{at}" for at in range(30)])
    texts = [" ".join(rng.choice(words, 8)) for _ in range(40)]
    documents = pl.DataFrame({"doc_id": [f"d{at}" for at in range(40)], "text": texts})
    topics = pl.DataFrame({"query_id": [f"q{at}" for at in range(9)], "title": texts[:9]})
    whole = search_documents(documents, topics)
    monkeypatch.setattr(index_module, "_BLOCK", 80)
    assert search_documents(documents, topics).frame.equals(whole.frame)


def test_twelve_systems_by_name():
    assert len(list_systems()) == 12
    assert list(find_systems(["all"])) == list(list_systems())
    runs = search_documents(DOCUMENTS, TOPICS, ["bm25", "raw-tf"])
    assert runs.frame["run_id"].unique().sort().to_list() == ["bm25", "raw-tf"]


def test_wrong_input():
    index = Index.of(DOCUMENTS)
    with pytest.raises(BadSetting, match=r"`depth` must be >= 1 \(got 0\)"):
        index.search(Coordination(), TOPICS, depth=0)
    with pytest.raises(UnknownName, match=r"Unknown tie rule 'random'\. Choose from"):
        index.search(Coordination(), TOPICS, ties="random")
    with pytest.raises(DataError, match="no documents"):
        Index.of(DOCUMENTS.clear())
    with pytest.raises(DataError, match="no topics"):
        index.search(Coordination(), TOPICS.clear())
    with pytest.raises(MissingColumns, match="text"):
        Index.of(DOCUMENTS.drop("text"))
    with pytest.raises(UnknownName, match="Did you mean 'bm25'"):
        find_systems(["bm52"])
    with pytest.raises(BadSetting, match="at least one system, or all"):
        find_systems([])


def test_the_product_keeps_every_match():
    rng = np.random.default_rng(4)
    # Small whole numbers of both signs cancel often.
    left = sparse.csr_array(rng.integers(0, 3, (20, 12)).astype(float))
    right = sparse.csr_array(rng.integers(-2, 3, (12, 30)).astype(float))
    found = multiply(left, right)
    assert np.array_equal(found.toarray(), left.toarray() @ right.toarray())
    matches = (left.toarray() != 0).astype(int) @ (right.toarray() != 0).astype(int)
    assert found.nnz == (matches > 0).sum()
    assert (found.data == 0).any()


@pytest.mark.parametrize("texts", [["", None], ["the", "of a"]])
def test_a_collection_without_a_term_gives_an_empty_run(texts):
    documents = pl.DataFrame({"doc_id": ["a", "b"], "text": texts})
    runs = search_documents(documents, TOPICS)
    # Stop words are terms of two systems, but no topic asks for them.
    assert len(runs) == 0
    assert "bm25: 2 topics match no document" in runs.notes
