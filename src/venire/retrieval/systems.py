"""Twelve named systems, and how a collection is searched with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from venire.errors import BadSetting, UnknownName
from venire.retrieval.analysis import Analyzer
from venire.retrieval.bm25 import Bm25
from venire.retrieval.index import Index, Model
from venire.retrieval.query_likelihood import QueryLikelihood
from venire.retrieval.simple import BinaryIndependence, Coordination, RawCounts
from venire.retrieval.tfidf import TfIdf
from venire.tables.runs import Runs

UNSTEMMED = Analyzer(stemmer="none")
WITH_STOP_WORDS = Analyzer(stop_words=())


@dataclass(frozen=True, kw_only=True)
class System:
    """A model with the analysis of its text."""

    model: Model
    analyzer: Analyzer = field(default_factory=Analyzer)


SYSTEMS: dict[str, System] = {
    "bm25": System(model=Bm25()),
    "bm25-k1-3": System(model=Bm25(k1=3.0)),
    "bm25-b-0": System(model=Bm25(b=0.0)),
    "bm25-stop-words": System(model=Bm25(), analyzer=WITH_STOP_WORDS),
    "bm25-unstemmed": System(model=Bm25(), analyzer=UNSTEMMED),
    "tf-idf": System(model=TfIdf()),
    "tf-idf-unstemmed": System(model=TfIdf(), analyzer=UNSTEMMED),
    "query-likelihood": System(model=QueryLikelihood()),
    "query-likelihood-unstemmed": System(model=QueryLikelihood(), analyzer=UNSTEMMED),
    "bim": System(model=BinaryIndependence()),
    "coordination": System(model=Coordination()),
    "raw-tf": System(model=RawCounts(), analyzer=Analyzer(stemmer="none", stop_words=())),
}
"""Name -> system: the twelve that make a pool the way the participants of a track do."""


def named(names: Iterable[str]) -> dict[str, System]:
    """Return the systems of those names; ``all`` stands for every one.

    Raises
    ------
    UnknownName
        With the nearest name there is.
    """
    chosen: dict[str, System] = {}
    for name in names:
        if name == "all":
            chosen |= SYSTEMS
        elif name in SYSTEMS:
            chosen[name] = SYSTEMS[name]
        else:
            raise UnknownName("system", name, [*SYSTEMS, "all"])
    if not chosen:
        raise BadSetting("name at least one system, or all")
    return chosen


def search_documents(
    documents: pl.DataFrame,
    topics: pl.DataFrame,
    systems: Iterable[str] = ("all",),
    *,
    depth: int = 1000,
    ties: str = "trec",
    fields: Sequence[str] = ("title",),
) -> Runs:
    """Search a collection with named systems; the runs bear the systems' names.

    Systems with the same analysis share one index. See :meth:`venire.retrieval.index.Index.search`
    for the settings.

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
    for name, system in named(systems).items():
        if system.analyzer not in indexes:
            indexes[system.analyzer] = Index.of(documents, system.analyzer)
        run = indexes[system.analyzer].search(
            system.model, topics, depth=depth, ties=ties, fields=fields, run_id=name
        )
        frames.append(run.frame)
        notes += [f"{name}: {note}" for note in run.notes]
    return Runs(pl.concat(frames), tuple(notes))
