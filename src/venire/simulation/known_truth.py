"""Load what a simulation starts from: known grades, and runs or documents to search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from venire.errors import BadSetting, DataError
from venire.formats.collection import Collection
from venire.formats.load import (
    RunsLike,
    TableType,
    is_path,
    load_collection,
    load_qrels,
    load_runs,
)
from venire.retrieval.systems import search_documents
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

TruthLike: TypeAlias = Annotated[Any, TableType(Qrels, others=(Collection,))]
"""A collection or its folder, or qrels."""


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """Known grades and the runs that are scored by them.

    Attributes
    ----------
    qrels : Qrels
    runs : Runs
    collection_size : int or None
        Number of documents, where it is known.
    notes : tuple of str
    """

    qrels: Qrels
    runs: Runs
    collection_size: int | None
    notes: tuple[str, ...]


def load_truth(truth: TruthLike, runs: RunsLike | None, ties: str) -> KnownTruth:
    """Return known grades and runs.

    Parameters
    ----------
    truth : collection, folder, Qrels, path or dataframe
        A collection without runs is searched with the twelve systems of :func:`venire.retrieve`.
    runs : Runs, path, list of paths or dataframe, optional
        By default the runs of the collection; needed with qrels.
    ties : str
        Order of documents with equal scores, where documents are searched.

    Raises
    ------
    BadSetting
        Qrels without runs.
    DataError
        A collection with no qrels, or several.
    """
    table = None if runs is None else load_runs(runs)
    if not isinstance(truth, Collection) and not (is_path(truth) and Path(truth).is_dir()):
        if table is None:
            raise BadSetting("must be passed with qrels, which contain no runs", argument="runs")
        qrels = load_qrels(truth)
        return KnownTruth(qrels, table, None, (*qrels.notes, *table.notes))
    collection = load_collection(truth)
    if len(collection.qrels) != 1:
        names = ", ".join(collection.qrels) or "none"
        place = f"{truth}:" if is_path(truth) else "The collection"
        raise DataError(f"{place} must have exactly one file of qrels (got {names})")
    (qrels,) = collection.qrels.values()
    notes = list(collection.notes)
    if table is None and len(collection.runs):
        table = collection.runs
    elif table is None:
        table = search_documents(collection.documents, collection.topics, ties=ties)
        notes.append("searched with the twelve systems of venire retrieve")
    size = collection.documents.height or None
    return KnownTruth(qrels, table, size, (*notes, *table.notes))
