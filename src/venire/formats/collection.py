"""A test collection as a folder: topics, documents, runs and qrels."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from venire.arguments import check_arguments
from venire.errors import DataError, DuplicateRows, MissingColumns, MissingExtra
from venire.formats import read_frame, read_qrels
from venire.formats.file_format import list_table_endings
from venire.formats.run_files import read_run_files
from venire.formats.smart import read_codes, read_smart
from venire.formats.source import list_files, stem
from venire.short_repr import list_names, write_repr
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import Source, express, refuse_nul

TOPICS = ("query_id", "title", "description", "narrative")
DOCUMENTS = ("doc_id", "title", "text")
CRANFIELD = ("cran.all.1400", "cran.qry", "cranqrel")
IMAGES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif")
_COMPRESSIONS = ("", ".gz", ".xz", ".zst")
_IMAGES = {"doc_id": pl.String, "image": pl.String}


@dataclass(frozen=True)
class Collection:
    """Topics, documents, runs and qrels of a test collection; missing parts are empty.

    Attributes
    ----------
    topics : polars.DataFrame
        ``query_id, title, description, narrative``, all text; other columns are kept.
    documents : polars.DataFrame
        ``doc_id, title, text``, all text, in file order; other columns are kept, for example
        ``image``, the path of an image within the folder.
    runs : Runs
        All runs in one table, with ``run_id``.
    qrels : mapping of str to Qrels
        Maps a file name without ending to its qrels.
    notes : tuple of str
    """

    topics: pl.DataFrame
    documents: pl.DataFrame
    runs: Runs
    qrels: Mapping[str, Qrels]
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(self.topics.height, "topic"),
            express(self.documents.height, "document"),
            express(self.runs.frame["run_id"].n_unique(), "run"),
            f"qrels {list_names(list(self.qrels)) or 'none'}",
        )

    @classmethod
    def read(cls, folder: str | Path) -> Collection:
        """Read a folder; see :func:`venire.read_collection`."""
        return read_collection(folder)


@check_arguments
def read_collection(folder: str | Path) -> Collection:
    """Read a folder in Venire's layout, or Cranfield as it is distributed.

    Venire's layout: ``topics`` and ``documents`` as .tsv, .jsonl, .csv or .parquet (optionally
    compressed with gz, xz or zst), ``runs/*.run`` and ``qrels/*.qrels``. Each of them is optional.
    Without ``documents``, each image in ``images/`` is a document; see
    :func:`venire.formats.collection.image_files`.

    Cranfield: ``cran.all.1400``, ``cran.qry`` and, if present, ``cranqrel``. Query IDs are the
    positions in the file, 1 to 225, as in the judgments. The numbers after ``.I`` have gaps; they
    are kept in the column ``number``. The text of a query is its title. Codes become grades as in
    :func:`venire.formats.smart.read_codes`.

    Raises
    ------
    DataError
        The folder does not exist or contains no part of a collection, or a file cannot be read.
    """
    root = Path(folder)
    if not root.is_dir():
        reason = "is a file, not a folder" if root.exists() else "no such folder"
        raise DataError(f"{root}: {reason}")
    if (root / CRANFIELD[0]).exists() and (root / CRANFIELD[1]).exists():
        return _cranfield(root)
    notes: list[str] = []
    topics = _find_table(root, "topics", TOPICS, notes)
    if (root / "images").is_dir() and not _list_tables(root, "documents"):
        images, _, skipped = image_files(root / "images")
        empty = pl.lit("")
        frame = pl.DataFrame({"doc_id": [*images], "image": [*images.values()]}, _IMAGES)
        documents = frame.select("doc_id", empty.alias("title"), empty.alias("text"), "image")
        notes += [f"{name} {reason}; left out" for name, reason in skipped]
    else:
        documents = _find_table(root, "documents", DOCUMENTS, notes)
        notes += note_blank(documents)
    runs = read_run_files(list_files(root / "runs", ".run"))
    files = list_files(root / "qrels", ".qrels")
    qrels = {stem(path.name): read_qrels(path) for path in files}
    if topics.is_empty() and documents.is_empty() and not len(runs) and not qrels:
        raise DataError(
            f"{root}: contains no collection",
            hint="Add topics.tsv, documents.jsonl or images/, runs/*.run or qrels/*.qrels.",
        )
    notes += [*runs.notes, *(note for grades in qrels.values() for note in grades.notes)]
    return Collection(topics, documents, runs, MappingProxyType(qrels), tuple(notes))


def image_files(
    folder: Path, described: Container[str] = ()
) -> tuple[dict[str, str], int, list[tuple[str, str]]]:
    """List the images below a folder; links are not followed.

    Parameters
    ----------
    folder : Path
    described : container of str
        Paths of images that the documents file already describes; these are counted, not listed.

    Returns
    -------
    images : dict of str to str
        Maps document IDs to paths. The ID is the path below the folder without the ending; the
        path starts with the name of the folder, for example ``images/cats/1.jpg``.
    n_described : int
    skipped : list of (str, str)
        Path and reason of each file that was left out.
    """
    images: dict[str, str] = {}
    skipped: list[tuple[str, str]] = []
    n_described = 0
    for path in sorted(folder.rglob("*"), key=os.fsencode):
        name = path.relative_to(folder.parent).as_posix()
        if path.is_dir() and not path.is_symlink():
            continue
        doc_id = path.relative_to(folder).with_suffix("").as_posix()
        if path.is_symlink() or not path.is_file():
            skipped.append((name, "is a link or not a regular file"))
        elif path.suffix.lower() not in IMAGES:
            skipped.append((name, f"does not end in {' '.join(IMAGES)}"))
        elif not _is_utf8(name):
            skipped.append((name, "has a name that is not UTF-8"))
        elif name in described:
            n_described += 1
        elif doc_id in images:
            skipped.append((name, f"has the same ID as another image, {doc_id}"))
        else:
            images[doc_id] = name
    return images, n_described, skipped


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list_tables(root: Path, name: str) -> list[Path]:
    """Return the files of a table of the collection, whatever their ending."""
    return [
        path
        for ending in sorted(list_table_endings(), reverse=True)
        for compression in _COMPRESSIONS
        if (path := root / f"{name}{ending}{compression}").exists()
    ]


def _find_table(root: Path, name: str, columns: tuple[str, ...], notes: list[str]) -> pl.DataFrame:
    """Read the topics or documents of a folder; a missing file is an empty table with a note."""
    paths = _list_tables(root, name)
    if not paths:
        notes.append(f"no {name} in {root}")
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if len(paths) > 1:
        files = " and ".join(path.name for path in paths)
        raise DataError(
            f"{root}: has several files of {name}: {files}", hint="Keep only one of them."
        )
    return read_topics(paths[0]) if name == "topics" else read_documents(paths[0])


def read_topics(path: str | Path, *, name: str | None = None) -> pl.DataFrame:
    """Read a file of topics; messages call it ``name``, by default its path."""
    frame, source = read_frame(path, name=name)
    return _complete_columns(frame, source, TOPICS, ("query_id", "title"))


def read_documents(path: str | Path, *, name: str | None = None) -> pl.DataFrame:
    """Read a file of documents; messages call it ``name``, by default its path."""
    frame, source = read_frame(path, name=name)
    # Column names in the folder of a study.
    aliases = {"path": "image", "body": "text"}
    frame = frame.rename({a: b for a, b in aliases.items() if a in frame and b not in frame})
    required = ("doc_id",) if "image" in frame.columns else ("doc_id", "text")
    return _complete_columns(frame, source, DOCUMENTS, required)


def _complete_columns(
    frame: pl.DataFrame, source: Source, columns: tuple[str, ...], required: tuple[str, ...]
) -> pl.DataFrame:
    """Check a table and its IDs, and add missing text columns as empty text."""
    missing = [column for column in required if column not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, source.name, renamed=False)
    for column in columns:
        if column in frame.columns and frame.schema[column].is_nested():
            raise DataError(
                f"{source.name}: column {column} must be text (got {frame.schema[column]})"
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
    is_repeat = ~ids.is_first_distinct()
    if is_repeat.any():
        row = int(is_repeat.arg_true()[0])
        raise DuplicateRows((ids[row],), *source.place(row), f"is a repeated {ids.name}")


def note_blank(documents: pl.DataFrame) -> list[str]:
    """Return a note with the number and the first IDs of documents without text, if any."""
    blank = documents.filter(pl.concat_str("title", "text").str.strip_chars() == "")["doc_id"]
    if blank.is_empty():
        return []
    others = f" and {len(blank) - 5:,} more" if len(blank) > 5 else ""
    ids = f"{', '.join(blank.head(5))}{others}"
    return [f"{express(len(blank), 'document')} without text ({ids}) kept"]


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
    notes = ["query IDs are positions in cran.qry, not the numbers after .I"]
    if (root / CRANFIELD[2]).exists():
        qrels["cranqrel"] = read_codes(root / CRANFIELD[2])
        notes.append("codes 1 (best) to 4 are grades 4 to 1; code -1 is grade 0, not relevant")
    repeating = documents.filter(pl.col("repeats"))["doc_id"]
    if len(repeating):
        notes.append(
            f"{express(len(repeating), 'document')} with a repeated field marker "
            f"({', '.join(repeating)}): the lines are added to that field"
        )
    notes += note_blank(documents)
    documents = documents.select(*DOCUMENTS, "author", "source")
    runs = read_run_files(list_files(root / "runs", ".run"))
    return Collection(topics, documents, runs, MappingProxyType(qrels), tuple(notes))


def read_irds(name: str) -> Collection:
    """Read a dataset of ir_datasets, for example ``msmarco-passage/trec-dl-2019/judged``.

    All documents are read. The text of a document is its field ``text``, else the default text
    of ir_datasets. The package downloads the data if necessary.

    Raises
    ------
    MissingExtra
        ir_datasets is not installed.
    DataError
        The dataset does not exist, or has neither documents nor queries.
    """
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra("ir_datasets", "irds", f"Reading irds:{name}") from None
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise DataError(f"irds:{name}: ir_datasets has no dataset with this name") from None
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
