"""The parts of a collection folder, file by file, each with its line in the report."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import BadLine, DataError, MissingColumns, VenireError
from venire.formats import read_frame, read_qrels, read_runs
from venire.formats.collection import IMAGES, TOPICS, Collection, image_files
from venire.formats.rdf import SYNTAXES, best_label, entities, read_triples
from venire.formats.source import read_bytes, stem
from venire.formats.study_toml import parse_study_toml
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import Source, counted

KINDS = ("text", "html", "entity", "image")
DOCUMENTS = ("doc_id", "kind", "title", "body", "path")
TABLES = (".tsv", ".jsonl", ".csv", ".parquet")
QRELS = (".qrels", ".txt", *TABLES)
LONGEST_ID = 1_000
"""Most bytes of an id, so that every database can index it."""


@dataclass(frozen=True)
class Entry:
    """One line of the report.

    Attributes
    ----------
    file : str
        Path within the folder; a folder ends in ``/``.
    read : int
        Topics, documents, lines of a run or judged pairs that were read.
    left_out : int
        How many were not; 1 for a file that was not read at all.
    reason : str
        Why something was left out, or what else is to be known.
    """

    file: str
    read: int
    left_out: int = 0
    reason: str = ""


@dataclass
class Reading:
    """What has been read so far."""

    root: Path | None = None
    topics: pl.DataFrame | None = None
    documents: list[pl.DataFrame] = field(default_factory=list)
    runs: dict[str, Runs] = field(default_factory=dict)
    qrels: dict[str, Qrels] = field(default_factory=dict)
    gold: Qrels | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    report: list[Entry] = field(default_factory=list)

    @classmethod
    def of(cls, found: Collection, name: str) -> Reading:
        """Begin with a collection that has a format of its own."""
        out = cls()
        out.topics = found.topics.select(TOPICS)
        documents = found.documents.select("doc_id", "title", pl.col("text").alias("body"))
        out.documents = [as_documents(documents, "text")]
        out.qrels = dict(found.qrels)
        out.runs = {
            str(run): Runs(frame)
            for (run,), frame in found.runs.frame.partition_by("run_id", as_dict=True).items()
        }
        out.report = [
            Entry(name, out.documents[0].height, reason="; ".join(found.notes)),
            Entry("topics", out.topics.height),
            *(Entry(f"qrels {one}", len(grades)) for one, grades in out.qrels.items()),
            *(Entry(f"run {one}", len(run)) for one, run in out.runs.items()),
        ]
        return out

    def folder(self, root: Path, known: set[str]) -> None:
        """Read what is in a folder, each file by its name."""
        paths = sorted(root.iterdir(), key=lambda one: os.fsencode(one.name))
        # Settings first: they say whether documents are HTML, and in which languages.
        paths.sort(key=lambda one: one.name != "study.toml")
        for path in paths:
            name = path.name
            base, ending = stem(name), Path(stem(name, keep_kind=True)).suffix.lower()
            if name in known:
                continue
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                self.skip(name, "is a link or no plain file")
            elif path.is_dir() and name in ("runs", "qrels"):
                self.ranked(path)
            elif path.is_dir() and name == "images":
                self.images(path)
            elif path.is_dir():
                self.skip(f"{name}/", "is no folder that a study knows")
            elif name == "study.toml":
                self.settings = parse_study_toml(_decoded(path), name)
                self.report.append(Entry(name, len(self.settings)))
            elif base in ("topics", "queries") and ending in TABLES:
                self.read_topics(path)
            elif base == "documents" and ending in TABLES:
                self.read_documents(path)
            elif base == "entities" and ending in SYNTAXES:
                self.entities(path)
            elif base == "gold" and ending == ".qrels":
                self.gold = read_qrels(path)
                self.report.append(Entry(name, len(self.gold), reason="; ".join(self.gold.notes)))
            elif ending == ".qrels" or (base.startswith("qrels") and ending in QRELS):
                self.one(path, name, self.qrels, read_qrels)
            else:
                self.skip(name, "is no file that a study knows")

    def skip(self, name: str, reason: str) -> None:
        """Report a file that was not read."""
        self.report.append(Entry(_shown(name), 0, 1, reason))

    def ranked(self, folder: Path) -> None:
        """Read runs/ or qrels/."""
        runs = folder.name == "runs"
        endings = (".run", *TABLES) if runs else QRELS
        for path in sorted(folder.iterdir(), key=lambda one: os.fsencode(one.name)):
            name = f"{folder.name}/{path.name}"
            if path.is_symlink() or not path.is_file():
                self.skip(name, "is a link or no plain file")
            elif Path(stem(path.name, keep_kind=True)).suffix.lower() not in endings:
                self.skip(name, f"does not end in {' '.join(endings)} (.gz .xz .zst)")
            elif runs:
                self.one(path, name, self.runs, read_runs)
            else:
                self.one(path, name, self.qrels, read_qrels)

    def one(self, path: Path, name: str, into: dict[str, Any], read: Any) -> None:
        """Read one run or one file of qrels; leave it out where it cannot be read."""
        key = stem(path.name)
        try:
            key.encode()
            if key in into:
                raise DataError(f"a file named {key} was read before")
            table = read(path)
            check_ids(table.frame, name)
        except (VenireError, UnicodeEncodeError) as error:
            self.skip(name, str(error).replace(str(path), name))
            return
        into[key] = table
        self.report.append(Entry(name, len(table), reason="; ".join(table.notes)))

    def read_topics(self, path: Path) -> None:
        """Read the topics, also without a line of column names: id, tab, words."""
        if self.topics is not None:
            raise DataError(f"{path.parent}: holds {path.name} and other topics; which are they?")
        name, note = path.name, ""
        first = read_bytes(path).lstrip().split(b"\n", 1)[0].rstrip(b"\r").split(b"\t")
        if ".tsv" in name and len(first) == 2 and not {b"query_id", b"title"} & set(first):
            cells = [line.split("\t") for line in _decoded(path).splitlines()]
            bad = next((at for at, row in enumerate(cells, 1) if row != [""] and len(row) != 2), 0)
            if bad:
                raise BadLine(name, bad, "has not two cells, an id and the words of the topic")
            rows = [row for row in cells if row != [""]]
            frame = pl.DataFrame(rows, schema=["query_id", "title"], orient="row")
            source = Source(name)
            note = "no line of column names: the cells are read as query_id and title"
        else:
            frame, source = read_frame(path)
        self.topics, more = _texts(frame, source, TOPICS, ("query_id", "title"), "query_id")
        self.report.append(Entry(name, self.topics.height, reason=_joined(note, more)))

    def read_documents(self, path: Path) -> None:
        """Read the documents; a document may say its kind, and the path of its image."""
        frame, source = read_frame(path)
        if "body" not in frame.columns and "text" in frame.columns:
            frame = frame.rename({"text": "body"})
        if "path" not in frame.columns and "image" in frame.columns:
            frame = frame.rename({"image": "path"})
        default = str(self.settings.get("documents", "text"))
        frame, more = _texts(frame, source, DOCUMENTS, ("doc_id",), "doc_id")
        ids = frame["doc_id"].to_list()
        for row, kind in enumerate(frame["kind"].to_list()):
            if kind and kind not in KINDS:
                raise source.error(row, f"kind is {kind!r}, not one of {', '.join(KINDS)}")
        for row, place in enumerate(frame["path"].to_list()):
            if place and not inside(path.parent, place):
                said = f"path {place!r} of {ids[row]} is no file in the folder"
                raise source.error(row, said)
        kind = pl.when(pl.col("path").fill_null("") != "").then(pl.lit("image"))
        given = pl.when(pl.col("kind").fill_null("") != "").then("kind")
        frame = frame.with_columns(given.otherwise(kind.otherwise(pl.lit(default))).alias("kind"))
        self.documents.append(as_documents(frame, default))
        empty = frame.filter(
            (pl.col("body").fill_null("") == "") & (pl.col("kind") != "image")
        ).height
        more.append(f"{counted(empty, 'document')} without text" if empty else "")
        self.report.append(Entry(path.name, frame.height, reason=_joined(*more)))

    def entities(self, path: Path) -> None:
        """Read the entities, each with its best label as its title."""
        triples = read_triples(path)
        frame, notes = entities(triples)
        languages = self.settings.get("languages", ["en"])
        said: dict[str, list[Any]] = {}
        for subject, predicate, value in triples:
            if subject.kind == "uri":
                said.setdefault(subject.text, []).append((predicate.text, value))
        titles = [best_label(said[uri], languages) or "" for uri in frame["doc_id"]]
        frame = frame.rename({"triples": "body"}).with_columns(pl.Series("title", titles))
        check_ids(frame, path.name)
        self.documents.append(as_documents(frame, "entity"))
        self.report.append(Entry(path.name, frame.height, reason=_joined(*notes)))

    def images(self, folder: Path) -> None:
        """Take each image as a document, named by its path below images/ without the ending."""
        named = {one for frame in self.documents for one in frame["path"].drop_nulls()}
        taken, listed, skipped = image_files(folder, named)
        for name, reason in skipped:
            self.skip(name, reason)
        frame = pl.DataFrame({"doc_id": [*taken], "path": [*taken.values()]},
                             schema={"doc_id": pl.String, "path": pl.String})  # fmt: skip
        check_ids(frame, "images/")
        self.documents.append(as_documents(frame, "image"))
        note = f"{counted(listed, 'image')} described in documents" if listed else ""
        self.report.append(Entry("images/", frame.height + listed, reason=note))


def as_documents(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the five columns of documents, those that are not there empty."""
    filled: dict[str, pl.Expr] = {"kind": pl.lit(kind), "title": pl.lit("")}
    columns = []
    for name in DOCUMENTS:
        empty = filled.get(name, pl.lit(None, pl.String))
        there = pl.col(name) if name in frame.columns else empty
        columns.append(there.cast(pl.String).alias(name))
    if not frame.width:
        return pl.DataFrame(schema=dict.fromkeys(DOCUMENTS, pl.String))
    return frame.select(columns).with_columns(pl.col("title").fill_null(""))


def _texts(
    frame: pl.DataFrame, source: Source, columns: tuple[str, ...], needed: tuple[str, ...], key: str
) -> tuple[pl.DataFrame, list[str]]:
    """Return the columns of a table as text, and notes on what was changed or left out."""
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, source.name, renamed=False)
    other = [column for column in frame.columns if column not in columns]
    notes = [f"columns not used: {', '.join(other)}"] if other else []
    fill = None if "doc_id" in columns else ""
    frame = frame.select(
        (pl.col(one).cast(pl.String) if one in frame.columns else pl.lit(fill, pl.String)).alias(
            one
        )
        for one in columns
    )
    if fill is not None:
        frame = frame.with_columns(pl.all().fill_null(fill))
    empty = frame[key].fill_null("") == ""
    again = ~frame[key].is_first_distinct()
    for wrong, what in ((empty, "is empty"), (again, "stands there twice")):
        if wrong.any():
            row = int(wrong.arg_true()[0])
            raise source.error(row, f"{key} {frame[key][row] or ''!r} {what}")
    check_ids(frame, source.name)
    # PostgreSQL has no NUL in text.
    nul = frame.select(pl.any_horizontal(pl.all().str.contains("\x00", literal=True))).to_series()
    if nul.any():
        frame = frame.with_columns(pl.all().str.replace_all("\x00", "\u2400", literal=True))
        notes.append(f"NUL characters of {counted(int(nul.sum()), 'row')} are shown as \u2400")
    return frame, notes


def check_ids(frame: pl.DataFrame, name: str) -> None:
    """Refuse ids with control characters, and those too long for an index of a database."""
    for column in ("query_id", "doc_id"):
        if column in frame.columns:
            ids = frame[column]
            odd = ids.str.contains(r"[\x00-\x1f\x7f]") | (ids.str.len_bytes() > LONGEST_ID)
            if odd.any():
                raise DataError(
                    f"{name}: {column} {ids.filter(odd)[0]!r:.80} holds a control character or has "
                    f"more than {LONGEST_ID:,} bytes"
                )


def inside(root: Path, place: str) -> bool:
    """Tell whether a path names an image in the folder, and leads nowhere else."""
    parts = place.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\:\x00-\x1f]", place):
        return False
    path = root.joinpath(*parts)
    linked = any(root.joinpath(*parts[: at + 1]).is_symlink() for at in range(len(parts)))
    return not linked and path.is_file() and path.suffix.lower() in IMAGES


def _decoded(path: Path) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadLine(path.name, line, "is not UTF-8 text") from None


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _joined(*notes: Any) -> str:
    flat = [note for one in notes for note in ([one] if isinstance(one, str) else one)]
    return "; ".join(note for note in flat if note)
