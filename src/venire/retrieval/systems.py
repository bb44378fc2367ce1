"""The twelve classical systems, and the search of a collection with systems by name.

A package adds a system with an entry point in the group ``venire.systems``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from venire import plugins
from venire.errors import BadSetting, UnknownName
from venire.retrieval.analysis import Analyzer
from venire.retrieval.bm25 import Bm25
from venire.retrieval.index import Index, Model
from venire.retrieval.query_likelihood import QueryLikelihood
from venire.retrieval.simple import BinaryIndependence, Coordination, RawCounts
from venire.retrieval.tfidf import TfIdf
from venire.tables.runs import Runs

ALL = "all"
"""Name that stands for every system."""


@dataclass(frozen=True, kw_only=True)
class System:
    """A retrieval model with the analysis of its text.

    Attributes
    ----------
    name : str
        What users type: the name of the entry point, and of the run.
    model : Model
    analyzer : Analyzer
    description : str
        The score and the text that it sees, in a few words.
    position : int
        Place in lists of systems; lower numbers first.
    """

    name: str
    model: Model
    analyzer: Analyzer = field(default_factory=Analyzer)
    description: str = ""
    position: int = 100


_UNSTEMMED = Analyzer(stemmer="none")
_WITH_STOP_WORDS = Analyzer(stop_words=())
_EVERY_WORD = Analyzer(stemmer="none", stop_words=())

BM25 = System(
    name="bm25",
    model=Bm25(),
    description="BM25, k1 = 1.2, b = 0.75; without stop words, stemmed",
    position=1,
)
BM25_K1_3 = System(
    name="bm25-k1-3",
    model=Bm25(k1=3.0),
    description="BM25, k1 = 3; without stop words, stemmed",
    position=2,
)
BM25_B_0 = System(
    name="bm25-b-0",
    model=Bm25(b=0.0),
    description="BM25, b = 0 (ignores document length); without stop words, stemmed",
    position=3,
)
BM25_STOP_WORDS = System(
    name="bm25-stop-words",
    model=Bm25(),
    analyzer=_WITH_STOP_WORDS,
    description="BM25; with stop words, stemmed",
    position=4,
)
BM25_UNSTEMMED = System(
    name="bm25-unstemmed",
    model=Bm25(),
    analyzer=_UNSTEMMED,
    description="BM25; without stop words, not stemmed",
    position=5,
)
TF_IDF = System(
    name="tf-idf",
    model=TfIdf(),
    description="TF-IDF with cosine, lnc.ltc; without stop words, stemmed",
    position=6,
)
TF_IDF_UNSTEMMED = System(
    name="tf-idf-unstemmed",
    model=TfIdf(),
    analyzer=_UNSTEMMED,
    description="TF-IDF with cosine, lnc.ltc; without stop words, not stemmed",
    position=7,
)
QUERY_LIKELIHOOD = System(
    name="query-likelihood",
    model=QueryLikelihood(),
    description="query likelihood, Dirichlet smoothing, mu = 100; without stop words, stemmed",
    position=8,
)
QUERY_LIKELIHOOD_UNSTEMMED = System(
    name="query-likelihood-unstemmed",
    model=QueryLikelihood(),
    analyzer=_UNSTEMMED,
    description="query likelihood, Dirichlet smoothing, mu = 100; without stop words, not stemmed",
    position=9,
)
BIM = System(
    name="bim",
    model=BinaryIndependence(),
    description="binary independence model; without stop words, stemmed",
    position=10,
)
COORDINATION = System(
    name="coordination",
    model=Coordination(),
    description="number of query terms in the document; without stop words, stemmed",
    position=11,
)
RAW_TF = System(
    name="raw-tf",
    model=RawCounts(),
    analyzer=_EVERY_WORD,
    description="sum of term counts, weak on purpose; with stop words, not stemmed",
    position=12,
)


def list_systems() -> dict[str, System]:
    """Return every system by name, in the order in which they are shown."""
    systems = plugins.load_all("system")
    return dict(sorted(systems.items(), key=lambda item: (item[1].position, item[0])))


def find_systems(names: Iterable[str]) -> dict[str, System]:
    """Return systems by name; ``all`` stands for every system.

    Raises
    ------
    UnknownName
        With the nearest known name.
    BadSetting
        Without any name.
    """
    systems: dict[str, System] = {}
    for name in names:
        if name == ALL:
            systems |= list_systems()
        elif name in plugins.names("system"):
            systems[name] = plugins.load("system", name)
        else:
            raise UnknownName("system", name, [*plugins.names("system"), ALL])
    if not systems:
        raise BadSetting(
            "must name at least one system, or all", argument="systems", value=tuple(systems)
        )
    return systems


def search_documents(
    documents: pl.DataFrame,
    topics: pl.DataFrame,
    systems: Iterable[str] = (ALL,),
    *,
    depth: int = 1000,
    ties: str = "trec",
    fields: Sequence[str] = ("title",),
) -> Runs:
    """Search a collection with systems by name; each run has the name of its system.

    Systems with the same text analysis share one index. The settings are those of
    :meth:`venire.retrieval.index.Index.search`.

    Examples
    --------
    >>> documents = pl.DataFrame({"doc_id": ["a", "b"], "text": ["a wing", "a body and a wing"]})
    >>> topics = pl.DataFrame({"query_id": ["q1"], "title": ["wing"]})
    >>> search_documents(documents, topics, ["bm25"]).frame["doc_id"].to_list()
    ['a', 'b']
    """
    indexes: dict[Analyzer, Index] = {}
    frames = []
    notes = []
    for name, system in find_systems(systems).items():
        if system.analyzer not in indexes:
            indexes[system.analyzer] = Index.of(documents, system.analyzer)
        run = indexes[system.analyzer].search(
            system.model, topics, depth=depth, ties=ties, fields=fields, run_id=name
        )
        frames.append(run.frame)
        notes += [f"{name}: {note}" for note in run.notes]
    return Runs(pl.concat(frames), tuple(notes))
