"""A test collection as a folder: topics, documents, runs and qrels."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from venire.errors import DataError, DuplicateRows, MissingColumns, MissingExtra
from venire.formats import read_frame, read_qrels
from venire.formats.run_files import read_run_files
from venire.formats.smart import read_codes, read_smart
from venire.formats.source import list_files, stem
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import Source, express, refuse_nul

TOPICS = ("query_id", "title", "description", "narrative")
DOCUMENTS = ("doc_id", "title", "text")
CRANFIELD = ("cran.all.1400", "cran.qry", "cranqrel")
IMAGES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif")
_TABLES = (".tsv", ".jsonl", ".csv", ".parquet")
_PACKED = ("", ".gz", ".xz", ".zst")
_IMAGES = {"doc_id": pl.String, "image": pl.String}


@dataclass(frozen=True)
class Collection:
    """Topics, documents, runs and qrels of one test collection; what is not there is empty.

    Attributes
    ----------
    topics : polars.DataFrame
        ``query_id, title, description, narrative``, all text; more columns are kept.
    documents : polars.DataFrame
        ``doc_id, title, text``, all text, in the order of the file; more columns are kept, as
        ``image``, the path of an image from the folder.
    runs : Runs
        All runs in one table, by ``run_id``.
    qrels : mapping of str to Qrels
        File name without ending -> its grades.
    notes : tuple of str
    """

    topics: pl.DataFrame
    documents: pl.DataFrame
    runs: Runs
    qrels: Mapping[str, Qrels]
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def read(cls, folder: str | Path) -> Collection:
        """Read a folder; see :func:`venire.read_collection`."""
        return read_collection(folder)


def read_collection(folder: str | Path) -> Collection:
    """Read a folder in Venire's layout, or Cranfield as it is distributed.

    Venire's layout: ``topics`` and ``documents`` as .tsv, .jsonl, .csv or .parquet (packed with
    gz, xz or zst where you like), ``runs/*.run`` and ``qrels/*.qrels``. Any of them may be missing.
    Without ``documents``, each image in ``images/`` is one; see
    :func:`venire.formats.collection.image_files`.

    Cranfield: ``cran.all.1400``, ``cran.qry`` and, where there is one, ``cranqrel``. Queries are
    numbered by their place, 1 to 225, as the judgments number them (the numbers after ``.I``
    have gaps and are kept in the column ``number``); the words of a query are its title.
    Codes become grades as in :func:`venire.formats.smart.read_codes`.

    Raises
    ------
    DataError
        No such folder; nothing in it that is known; a file that cannot be read.
    """
    root = Path(folder)
    if not root.is_dir():
        what = "is a file, not a folder" if root.exists() else "there is no such folder"
        raise DataError(f"{root}: {what}")
    if (root / CRANFIELD[0]).exists() and (root / CRANFIELD[1]).exists():
        return _cranfield(root)
    notes: list[str] = []
    topics = _find_table(root, "topics", TOPICS, notes)
    if (root / "images").is_dir() and not _list_tables(root, "documents"):
        taken, _, skipped = image_files(root / "images")
        empty = pl.lit("")
        documents = pl.DataFrame({"doc_id": [*taken], "image": [*taken.values()]}, _IMAGES).select(
            "doc_id", empty.alias("title"), empty.alias("text"), "image"
        )
        notes += [f"{name} {reason}; left out" for name, reason in skipped]
    else:
        documents = _find_table(root, "documents", DOCUMENTS, notes)
        notes += note_blank(documents)
    runs = read_run_files(list_files(root / "runs", ".run"))
    files = list_files(root / "qrels", ".qrels")
    qrels = {stem(path.name): read_qrels(path) for path in files}
    if topics.is_empty() and documents.is_empty() and not len(runs) and not qrels:
        raise DataError(
            f"{root}: holds no collection; it wants topics.tsv or .jsonl, documents.jsonl or "
            ".tsv or images/, runs/*.run, qrels/*.qrels (or Cranfield's cran.all.1400 and cran.qry)"
        )
    notes += [*runs.notes, *(note for grades in qrels.values() for note in grades.notes)]
    return Collection(topics, documents, runs, MappingProxyType(qrels), tuple(notes))


def image_files(
    folder: Path, described: Container[str] = ()
) -> tuple[dict[str, str], int, list[tuple[str, str]]]:
    """Return the images below a folder by document id, how many are described, what is left out.

    The id is the path below the folder without the ending; the path given starts with the
    folder's own name, as ``images/cats/1.jpg``. Paths that are ``described`` elsewhere are only
    counted. What is left out has its reason. Links are not followed.
    """
    taken: dict[str, str] = {}
    skipped: list[tuple[str, str]] = []
    counted_only = 0
    for path in sorted(folder.rglob("*"), key=os.fsencode):
        name = path.relative_to(folder.parent).as_posix()
        if path.is_dir() and not path.is_symlink():
            continue
        doc_id = path.relative_to(folder).with_suffix("").as_posix()
        if path.is_symlink() or not path.is_file():
            skipped.append((name, "is a link or no plain file"))
        elif path.suffix.lower() not in IMAGES:
            skipped.append((name, f"does not end in {' '.join(IMAGES)}"))
        elif not _is_utf8(name):
            skipped.append((name, "has a name that is not UTF-8"))
        elif name in described:
            counted_only += 1
        elif doc_id in taken:
            skipped.append((name, f"gives the id {doc_id} a second time"))
        else:
            taken[doc_id] = name
    return taken, counted_only, skipped


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list_tables(root: Path, name: str) -> list[Path]:
    """Return the files that can be a table of the collection."""
    return [
        path
        for ending in _TABLES
        for packed in _PACKED
        if (path := root / f"{name}{ending}{packed}").exists()
    ]


def _find_table(root: Path, name: str, columns: tuple[str, ...], notes: list[str]) -> pl.DataFrame:
    """Read topics or documents of a folder; empty, with a note, where it has none."""
    paths = _list_tables(root, name)
    if not paths:
        notes.append(f"no {name} in {root}")
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if len(paths) > 1:
        both = " and ".join(path.name for path in paths)
        raise DataError(f"{root}: holds {both}; which are the {name}?")
    return read_topics(paths[0]) if name == "topics" else read_documents(paths[0])


def read_topics(path: str | Path, *, name: str | None = None) -> pl.DataFrame:
    """Read a file of topics; messages call it ``name``, by default its path."""
    frame, source = read_frame(path, name=name)
    return _complete(frame, source, TOPICS, ("query_id", "title"))


def read_documents(path: str | Path, *, name: str | None = None) -> pl.DataFrame:
    """Read a file of documents; messages call it ``name``, by default its path."""
    frame, source = read_frame(path, name=name)
    # The names that a study's folder has for them.
    also = {"path": "image", "body": "text"}
    frame = frame.rename({a: b for a, b in also.items() if a in frame and b not in frame})
    needed = ("doc_id",) if "image" in frame.columns else ("doc_id", "text")
    return _complete(frame, source, DOCUMENTS, needed)


def _complete(
    frame: pl.DataFrame, source: Source, columns: tuple[str, ...], needed: tuple[str, ...]
) -> pl.DataFrame:
    """Check a table and its ids; text columns that it does not have are empty text."""
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, source.name, renamed=False)
    for column in columns:
        if column in frame.columns and frame.schema[column].is_nested():
            raise DataError(
                f"{source.name}: column {column} holds {frame.schema[column]}, not text"
            )
    frame = frame.with_columns(
        (pl.col(column).cast(pl.String) if column in frame.columns else pl.lit(None, pl.String))
        .fill_null("")
        .alias(column)
        for column in columns
    )
    _check_ids(frame[columns[0]], source)
    return frame.select(*columns, *(other for other in frame.columns if other not in columns))


def _check_ids(ids: pl.Series, source: Source) -> None:
    empty = ids == ""
    if empty.any():
        raise source.error(int(empty.arg_true()[0]), f"{ids.name} is empty")
    refuse_nul(ids, source)
    again = ~ids.is_first_distinct()
    if again.any():
        row = int(again.arg_true()[0])
        raise DuplicateRows((ids[row],), *source.place(row), f"stands twice as {ids.name}")


def note_blank(documents: pl.DataFrame) -> list[str]:
    """Return a note that counts the documents without text and names some, if there are any."""
    blank = documents.filter(pl.concat_str("title", "text").str.strip_chars() == "")["doc_id"]
    if blank.is_empty():
        return []
    rest = f" and {len(blank) - 5:,} more" if len(blank) > 5 else ""
    named = f"{', '.join(blank.head(5))}{rest}"
    return [f"{express(len(blank), 'document')} without text ({named}) kept"]


def _cranfield(root: Path) -> Collection:
    documents = read_smart(root / CRANFIELD[0]).rename({"id": "doc_id"})
    queries = read_smart(root / CRANFIELD[1])
    topics = queries.with_row_index("place", offset=1).select(
        pl.col("place").cast(pl.String).alias("query_id"),
        pl.col("text").str.replace_all(r"\s+", " ").alias("title"),
        pl.lit("").alias("description"),
        pl.lit("").alias("narrative"),
        pl.col("id").alias("number"),
    )
    _check_ids(documents["doc_id"], Source(str(root / CRANFIELD[0])))
    qrels = {}
    notes = ["queries are numbered by their place in cran.qry, not by .I"]
    if (root / CRANFIELD[2]).exists():
        qrels["cranqrel"] = read_codes(root / CRANFIELD[2])
        notes.append("codes 1 (best) to 4 are grades 4 to 1; code -1 is grade 0, not relevant")
    odd = documents.filter(pl.col("repeats"))["doc_id"]
    if len(odd):
        notes.append(
            f"{express(len(odd), 'document')} repeat a field marker ({', '.join(odd)}): the "
            "lines under it are added to the field it names"
        )
    notes += note_blank(documents)
    documents = documents.select(*DOCUMENTS, "author", "source")
    runs = read_run_files(list_files(root / "runs", ".run"))
    return Collection(topics, documents, runs, MappingProxyType(qrels), tuple(notes))


def read_irds(name: str) -> Collection:
    """Read a dataset of ir_datasets, ``cranfield`` or ``msmarco-passage/trec-dl-2019/judged``.

    Its documents are read whole; a document's text is what ir_datasets gives as its default
    text, without the title. What the package must download it downloads, as it always does.

    Raises
    ------
    MissingExtra
        When ir_datasets is not installed.
    DataError
        When it has no such dataset, or the dataset has no documents and no queries.
    """
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra("ir_datasets", "irds", f"Reading irds:{name}") from None
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise DataError(f"irds:{name}: ir_datasets has no dataset of that name") from None
    topics = pl.DataFrame(
        [_irds_topic(query) for query in dataset.queries_iter()] if dataset.has_queries() else [],
        schema=dict.fromkeys(TOPICS, pl.String),
        orient="row",
    )
    documents = pl.DataFrame(
        [_irds_document(document) for document in dataset.docs_iter()]
        if dataset.has_docs()
        else [],
        schema=dict.fromkeys(DOCUMENTS, pl.String),
        orient="row",
    )
    if topics.is_empty() and documents.is_empty():
        raise DataError(f"irds:{name}: has neither documents nor queries")
    qrels = {}
    if dataset.has_qrels():
        rows = [(row.query_id, row.doc_id, row.relevance) for row in dataset.qrels_iter()]
        schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
        qrels[name.replace("/", "-")] = Qrels.of(pl.DataFrame(rows, schema=schema, orient="row"))
    return Collection(topics, documents, Runs.empty(), MappingProxyType(qrels))


def _irds_topic(query: Any) -> tuple[str, str, str, str]:
    title = getattr(query, "title", None)
    if title is None:
        title = query.default_text()
    parts = (str(getattr(query, part, None) or "") for part in TOPICS[2:])
    return (query.query_id, title, *parts)


def _irds_document(document: Any) -> tuple[str, str, str]:
    title = str(getattr(document, "title", None) or "")
    text = getattr(document, "text", None)
    return document.doc_id, title, document.default_text() if text is None else text
