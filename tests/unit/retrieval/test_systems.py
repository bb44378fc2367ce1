"""Retrieval systems: declared once, and open to packages."""

import polars as pl
import pytest

from plugin_for_tests import installed
from venire.errors import UnknownName
from venire.retrieval.systems import find_systems, list_systems, search_documents

CODE = """
from dataclasses import dataclass

from venire.retrieval.analysis import Analyzer
from venire.retrieval.index import multiply
from venire.retrieval.systems import System
from venire.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class Scaled(Settings):
    factor: float = setting(2.0, words="Factor of every count.", above=0)

    def make_scorer(self, index):
        weights = index.replace_counts(self.factor * index.counts.data)
        return lambda queries: multiply(queries, weights)


DOUBLE = System(name="double", model=Scaled(), analyzer=Analyzer(stemmer="none"))
"""
DOCUMENTS = pl.DataFrame({"doc_id": ["a", "b"], "text": ["wing wing", "wing"]})
TOPICS = pl.DataFrame({"query_id": ["q"], "title": ["wing"]})


def test_a_package_adds_a_system(tmp_path):
    with installed(tmp_path, "venire.systems", {"double": "DOUBLE"}, CODE):
        assert list(list_systems())[-1] == "double"
        runs = search_documents(DOCUMENTS, TOPICS, ["double"])
        assert runs.frame.select("run_id", "score").rows() == [("double", 4.0), ("double", 2.0)]
        assert "double" in find_systems(["all"])
    with pytest.raises(UnknownName, match="Unknown system 'double'"):
        find_systems(["double"])


@pytest.mark.parametrize("name", list_systems())
def test_a_system_declares_its_name_and_words(name):
    system = list_systems()[name]
    assert system.name == name
    assert system.description


def test_the_order_is_that_of_the_declarations():
    names = list(list_systems())
    assert names[0] == "bm25"
    assert names[-1] == "raw-tf"
    assert len(names) == 12
