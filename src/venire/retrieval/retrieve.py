"""``venire.retrieve``: search a collection with classical systems."""

from __future__ import annotations

from collections.abc import Sequence

from venire.arguments import check_arguments
from venire.errors import BadSetting
from venire.formats.load import CollectionLike, load_collection
from venire.retrieval.systems import find_systems, search_documents
from venire.tables.runs import Runs
from venire.tables.schema import express


@check_arguments
def retrieve(
    collection: CollectionLike,
    systems: str | Sequence[str] = "all",
    *,
    depth: int = 1000,
    ties: str = "trec",
    fields: str | Sequence[str] = "title",
) -> Runs:
    """Search the documents of a collection for its topics with classical systems.

    Parameters
    ----------
    collection : collection or path
        A folder with topics and documents; see :func:`venire.read_collection`.
    systems : str or sequence of str
        Names of systems, ``"bm25,tf-idf"`` or a list; ``all`` for every one.
    depth : int
        Documents per topic.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores; file-order is that of the collection.
    fields : str or sequence of str
        Columns of the topics that make up the query.

    Returns
    -------
    Runs
        One run per system, named by the system.

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    names = parse_systems(systems)
    columns = split_names(fields)
    if not columns:
        raise BadSetting("must name at least one column of the topics", argument="fields")
    source = load_collection(collection)
    runs = search_documents(
        source.documents, source.topics, names, depth=depth, ties=ties, fields=columns
    )
    notes = [
        f"{express(source.documents.height, 'document')}, {express(source.topics.height, 'topic')}",
        *source.notes,
        *runs.notes,
    ]
    if ties != "trec":
        notes.append(
            f"documents with equal scores are in the order {ties}; read the runs with the same rule"
        )
    return Runs(runs.frame, tuple(notes))


def parse_systems(systems: str | Sequence[str]) -> list[str]:
    """Return the names of systems; ``all`` stands for every one.

    Raises
    ------
    UnknownName
    """
    return list(find_systems(split_names(systems)))


def split_names(names: str | Sequence[str]) -> list[str]:
    """Return names from a list, or from text with commas between them."""
    parts = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in parts if name.strip()]
