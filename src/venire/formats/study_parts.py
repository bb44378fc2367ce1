"""Read the files of a collection folder one by one, each with an entry in the report."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import BadLine, DataError, MissingColumns, UnknownName, VenireError
from venire.formats import read_frame, read_qrels, read_runs
from venire.formats.collection import IMAGES, TOPICS, Collection, image_files
from venire.formats.rdf import SYNTAXES, best_label, entities, read_triples
from venire.formats.source import read_bytes, stem
from venire.formats.study_toml import parse_study_toml
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import Source, express

DOCUMENT_KINDS = ("text", "html", "entity", "image")
DOCUMENT_COLUMNS = ("doc_id", "kind", "title", "body", "path")
TABLE_ENDINGS = (".tsv", ".jsonl", ".csv", ".parquet")
QRELS_ENDINGS = (".qrels", ".txt", *TABLE_ENDINGS)
LONGEST_ID = 1_000
"""Maximum length of an ID in bytes, so that every database can index it."""


@dataclass(frozen=True)
class Entry:
    """An entry of the report.

    Attributes
    ----------
    file : str
        Path within the folder; a folder ends in ``/``.
    read : int
        Number of topics, documents, lines of a run or judged pairs that were read.
    left_out : int
        Number of those that were left out; 1 for a file that was not read.
    reason : str
        Why something was left out, or another remark.
    """

    file: str
    read: int
    left_out: int = 0
    reason: str = ""


@dataclass
class Reading:
    """The parts of a folder that have been read so far; messages call the folder ``name``."""

    root: Path | None = None
    name: str = ""
    topics: pl.DataFrame | None = None
    documents: list[pl.DataFrame] = field(default_factory=list)
    runs: dict[str, Runs] = field(default_factory=dict)
    qrels: dict[str, Qrels] = field(default_factory=dict)
    gold: Qrels | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    report: list[Entry] = field(default_factory=list)

    @classmethod
    def of(cls, collection: Collection, name: str) -> Reading:
        """Start from a collection in a format of its own."""
        out = cls()
        out.topics = collection.topics.select(TOPICS)
        documents = collection.documents.select("doc_id", "title", pl.col("text").alias("body"))
        out.documents = [as_documents(documents, "text")]
        out.qrels = dict(collection.qrels)
        out.runs = {
            str(run): Runs(frame)
            for (run,), frame in collection.runs.frame.partition_by("run_id", as_dict=True).items()
        }
        out.report = [
            Entry(name, out.documents[0].height, reason="; ".join(collection.notes)),
            Entry("topics", out.topics.height),
            *(Entry(f"qrels {key}", len(qrels)) for key, qrels in out.qrels.items()),
            *(Entry(f"run {key}", len(run)) for key, run in out.runs.items()),
        ]
        return out

    def read_folder(self, root: Path, read_already: set[str]) -> None:
        """Read the files of a folder, by their names."""
        paths = sorted(root.iterdir(), key=lambda path: os.fsencode(path.name))
        # Settings first: they decide whether documents are HTML, and the language of labels.
        paths.sort(key=lambda path: path.name != "study.toml")
        for path in paths:
            name = path.name
            base, ending = stem(name), Path(stem(name, keep_kind=True)).suffix.lower()
            if name in read_already:
                continue
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                self.skip(name, "is a link or not a regular file")
            elif path.is_dir() and name in ("runs", "qrels"):
                self.read_tables(path)
            elif path.is_dir() and name == "images":
                self.read_images(path)
            elif path.is_dir():
                self.skip(f"{name}/", "is not a folder of a collection")
            elif name == "study.toml":
                self.settings = parse_study_toml(_decode(path), name)
                self.report.append(Entry(name, len(self.settings)))
            elif base in ("topics", "queries") and ending in TABLE_ENDINGS:
                self.read_topics(path)
            elif base == "documents" and ending in TABLE_ENDINGS:
                self.read_documents(path)
            elif base == "entities" and ending in SYNTAXES:
                self.read_entities(path)
            elif base == "gold" and ending == ".qrels":
                self.gold = read_qrels(path, name=self.label(path))
                self.report.append(Entry(name, len(self.gold), reason="; ".join(self.gold.notes)))
            elif ending == ".qrels" or (base.startswith("qrels") and ending in QRELS_ENDINGS):
                self.read_table(path, name, self.qrels, read_qrels)
            else:
                self.skip(name, "is not a file of a collection")

    def label(self, path: Path) -> str:
        """Return what messages call a file of the folder."""
        return str(Path(self.name) / path.name)

    def skip(self, name: str, reason: str) -> None:
        """Report a file that was not read."""
        self.report.append(Entry(_escape(name), 0, 1, reason))

    def read_tables(self, folder: Path) -> None:
        """Read the folder of runs or of qrels."""
        runs = folder.name == "runs"
        endings = (".run", *TABLE_ENDINGS) if runs else QRELS_ENDINGS
        for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
            name = f"{folder.name}/{path.name}"
            if path.is_symlink() or not path.is_file():
                self.skip(name, "is a link or not a regular file")
            elif Path(stem(path.name, keep_kind=True)).suffix.lower() not in endings:
                self.skip(name, f"does not end in {' '.join(endings)} (.gz .xz .zst)")
            elif runs:
                self.read_table(path, name, self.runs, read_runs)
            else:
                self.read_table(path, name, self.qrels, read_qrels)

    def read_table(self, path: Path, name: str, tables: dict[str, Any], read: Any) -> None:
        """Read a run or a file of qrels; leave it out if it cannot be read."""
        key = stem(path.name)
        try:
            key.encode()
            if key in tables:
                raise DataError(f"another file named {key} was read before")
            table = read(path, name=name)
            check_ids(table.frame, name)
        except (VenireError, UnicodeEncodeError) as error:
            self.skip(name, str(error))
            return
        tables[key] = table
        self.report.append(Entry(name, len(table), reason="; ".join(table.notes)))

    def read_topics(self, path: Path) -> None:
        """Read the topics, also without a header line: ID, tab, title."""
        if self.topics is not None:
            raise DataError(
                f"{self.name}: contains {path.name} and other topics. Remove one of the files."
            )
        name, note = path.name, ""
        first = read_bytes(path).lstrip().split(b"\n", 1)[0].rstrip(b"\r").split(b"\t")
        if ".tsv" in name and len(first) == 2 and not {b"query_id", b"title"} & set(first):
            cells = [line.split("\t") for line in _decode(path).splitlines()]
            for line, row in enumerate(cells, 1):
                if row != [""] and len(row) != 2:
                    raise BadLine(name, line, "must have two cells, an ID and a title")
            rows = [row for row in cells if row != [""]]
            frame = pl.DataFrame(rows, schema=["query_id", "title"], orient="row")
            source = Source(name)
            note = "no header line: the columns are read as query_id and title"
        else:
            frame, source = read_frame(path, name=self.label(path))
        self.topics, notes = _as_texts(frame, source, TOPICS, ("query_id", "title"), "query_id")
        self.report.append(Entry(name, self.topics.height, reason=_join(note, *notes)))

    def read_documents(self, path: Path) -> None:
        """Read the documents; a document may have its kind, and the path of its image."""
        frame, source = read_frame(path, name=self.label(path))
        if "body" not in frame.columns and "text" in frame.columns:
            frame = frame.rename({"text": "body"})
        if "path" not in frame.columns and "image" in frame.columns:
            frame = frame.rename({"image": "path"})
        default = str(self.settings.get("documents", "text"))
        frame, notes = _as_texts(frame, source, DOCUMENT_COLUMNS, ("doc_id",), "doc_id")
        ids = frame["doc_id"].to_list()
        for row, kind in enumerate(frame["kind"].to_list()):
            if kind and kind not in DOCUMENT_KINDS:
                raise source.error(row, str(UnknownName("kind", kind, DOCUMENT_KINDS)))
        for row, place in enumerate(frame["path"].to_list()):
            if place and not is_image_inside(path.parent, place):
                raise source.error(
                    row, f"path {place!r} of {ids[row]} is not an image in the folder"
                )
        stated = pl.when(pl.col("kind").fill_null("") != "").then("kind")
        inferred = pl.when(pl.col("path").fill_null("") != "").then(pl.lit("image"))
        kind = stated.otherwise(inferred.otherwise(pl.lit(default)))
        frame = frame.with_columns(kind.alias("kind"))
        self.documents.append(as_documents(frame, default))
        empty = frame.filter(
            (pl.col("body").fill_null("") == "") & (pl.col("kind") != "image")
        ).height
        notes.append(f"{express(empty, 'document')} without text" if empty else "")
        self.report.append(Entry(path.name, frame.height, reason=_join(*notes)))

    def read_entities(self, path: Path) -> None:
        """Read the entities; the best label of an entity is its title."""
        triples = read_triples(path, name=self.label(path))
        frame, notes = entities(triples)
        languages = self.settings.get("languages", ["en"])
        statements: dict[str, list[Any]] = {}
        for subject, predicate, value in triples:
            if subject.kind == "uri":
                statements.setdefault(subject.text, []).append((predicate.text, value))
        titles = [best_label(statements[uri], languages) or "" for uri in frame["doc_id"]]
        frame = frame.rename({"triples": "body"}).with_columns(pl.Series("title", titles))
        check_ids(frame, path.name)
        self.documents.append(as_documents(frame, "entity"))
        self.report.append(Entry(path.name, frame.height, reason=_join(*notes)))

    def read_images(self, folder: Path) -> None:
        """Add each image as a document; its ID is the path below images/ without the ending."""
        paths = {path for frame in self.documents for path in frame["path"].drop_nulls()}
        images, listed, skipped = image_files(folder, paths)
        for name, reason in skipped:
            self.skip(name, reason)
        frame = pl.DataFrame({"doc_id": [*images], "path": [*images.values()]},
                             schema={"doc_id": pl.String, "path": pl.String})  # fmt: skip
        check_ids(frame, "images/")
        self.documents.append(as_documents(frame, "image"))
        note = f"{express(listed, 'image')} described in documents" if listed else ""
        self.report.append(Entry("images/", frame.height + listed, reason=note))


def as_documents(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the five columns of documents; missing ones are empty."""
    filled: dict[str, pl.Expr] = {"kind": pl.lit(kind), "title": pl.lit("")}
    columns = []
    for name in DOCUMENT_COLUMNS:
        empty = filled.get(name, pl.lit(None, pl.String))
        column = pl.col(name) if name in frame.columns else empty
        columns.append(column.cast(pl.String).alias(name))
    if not frame.width:
        return pl.DataFrame(schema=dict.fromkeys(DOCUMENT_COLUMNS, pl.String))
    return frame.select(columns).with_columns(pl.col("title").fill_null(""))


def _as_texts(
    frame: pl.DataFrame, source: Source, columns: tuple[str, ...], needed: tuple[str, ...], key: str
) -> tuple[pl.DataFrame, list[str]]:
    """Return the columns of a table as text, and notes on what was changed or left out."""
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, source.name, renamed=False)
    other = [column for column in frame.columns if column not in columns]
    notes = [f"unused columns: {', '.join(other)}"] if other else []
    fill = None if "doc_id" in columns else ""
    present = frame.columns
    frame = frame.select(
        (pl.col(name).cast(pl.String) if name in present else pl.lit(fill, pl.String)).alias(name)
        for name in columns
    )
    if fill is not None:
        frame = frame.with_columns(pl.all().fill_null(fill))
    empty = frame[key].fill_null("") == ""
    repeated = ~frame[key].is_first_distinct()
    for wrong, reason in ((empty, "is empty"), (repeated, "occurs twice")):
        if wrong.any():
            row = int(wrong.arg_true()[0])
            raise source.error(row, f"{key} {frame[key][row] or ''!r} {reason}")
    check_ids(frame, source.name)
    # PostgreSQL cannot store NUL in text.
    nul = frame.select(pl.any_horizontal(pl.all().str.contains("\x00", literal=True))).to_series()
    if nul.any():
        frame = frame.with_columns(pl.all().str.replace_all("\x00", "\u2400", literal=True))
        notes.append(f"NUL characters of {express(int(nul.sum()), 'row')} are shown as \u2400")
    return frame, notes


def check_ids(frame: pl.DataFrame, name: str) -> None:
    """Refuse IDs with control characters, and those too long for the index of a database."""
    for column in ("query_id", "doc_id"):
        if column in frame.columns:
            ids = frame[column]
            bad = ids.str.contains(r"[\x00-\x1f\x7f]") | (ids.str.len_bytes() > LONGEST_ID)
            if bad.any():
                raise DataError(
                    f"{name}: {column} {ids.filter(bad)[0]!r:.80} contains a control character or "
                    f"is longer than {LONGEST_ID:,} bytes"
                )


def is_image_inside(root: Path, place: str) -> bool:
    """Return whether a path names an image in the folder, without a way out of it."""
    parts = place.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\:\x00-\x1f]", place):
        return False
    path = root.joinpath(*parts)
    linked = any(root.joinpath(*parts[:depth]).is_symlink() for depth in range(1, len(parts) + 1))
    return not linked and path.is_file() and path.suffix.lower() in IMAGES


def _decode(path: Path) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadLine(path.name, line, "is not UTF-8 text") from None


def _escape(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _join(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
