"""A study's collection folder: topics, documents, images, entities, runs, qrels, gold, settings.

Every file in the folder has its line in the report: how much was read, how much was left out,
and why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from venire.errors import DataError
from venire.formats.collection import CRANFIELD, TOPICS, read_collection, read_irds
from venire.formats.source import EPOCH, pack, stem, unpack_study
from venire.formats.study_parts import (
    DOCUMENTS,
    KINDS,
    Entry,
    Reading,
    as_documents,
    check_ids,
    inside,
)
from venire.formats.study_toml import write_study_toml
from venire.formats.trec import write_qrels, write_run
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import counted, whole

__all__ = [
    "DOCUMENTS",
    "KINDS",
    "Entry",
    "StudyFolder",
    "read_study_folder",
    "unpack_study",
    "write_study_folder",
]


@dataclass(frozen=True)
class StudyFolder:
    """What a collection folder holds; what is not there is empty.

    Attributes
    ----------
    topics : polars.DataFrame
        ``query_id, title, description, narrative``, all text.
    documents : polars.DataFrame
        ``doc_id, kind`` (text, html, entity or image), ``title, body`` (text, HTML or N-Triples;
        null where the folder has only the id), ``path`` (of an image, within the folder).
    runs : mapping of str to Runs
        File name without ending -> its run.
    qrels : mapping of str to Qrels
    gold : Qrels or None
    settings : mapping of str to Any
        What study.toml says, checked.
    report : tuple of Entry
    root : Path or None
        Where the images are.
    """

    topics: pl.DataFrame
    documents: pl.DataFrame
    runs: Mapping[str, Runs]
    qrels: Mapping[str, Qrels]
    gold: Qrels | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: tuple[Entry, ...] = ()
    root: Path | None = None


def read_study_folder(path: str | Path) -> StudyFolder:
    """Read a collection folder, Cranfield as distributed, or ``irds:`` and an ir_datasets id.

    The files are those of docs/reference/collection-folder.md. A run or a file of qrels that
    cannot be read is left out whole, and the report says why; topics, documents, entities, gold
    and settings that cannot be read are errors. Documents and topics that only runs and qrels
    name are added: a document without text, and, where the folder has no topics, topics without
    a title.

    Raises
    ------
    DataError, BadLine, BadSetting, MissingColumns
        With the file and the line.
    MissingExtra
        When rdflib or ir_datasets is needed and not installed.
    """
    if str(path).startswith("irds:"):
        name = str(path).removeprefix("irds:")
        return _finished(Reading.of(read_irds(name), f"irds:{name}"))
    root = Path(path)
    if not root.is_dir():
        what = "is a file; a zip archive is unpacked first" if root.exists() else "is not there"
        raise DataError(f"{root}: {what}; a study wants a folder")
    if all((root / name).is_file() for name in CRANFIELD[:2]):
        reading = Reading.of(read_collection(root), CRANFIELD[0])
        reading.root = root
        known = {*CRANFIELD, "runs"}
    else:
        reading, known = Reading(root), set()
    reading.folder(root, known)
    return _finished(reading)


def _finished(reading: Reading) -> StudyFolder:
    """Check the parts against each other, and add what only runs and qrels name."""
    documents = pl.concat([as_documents(pl.DataFrame(), "text"), *reading.documents])
    again = documents.filter(~pl.col("doc_id").is_first_distinct())
    if again.height:
        raise DataError(f"document {again['doc_id'][0]!r} is in the folder twice")
    tables: dict[str, Runs | Qrels] = {
        **{f"run {key}": one for key, one in reading.runs.items()},
        **{f"qrels {key}": one for key, one in reading.qrels.items()},
    }
    if reading.gold is not None:
        tables["gold.qrels"] = reading.gold
    pairs = [table.frame.select("query_id", "doc_id") for table in tables.values()]
    named = pl.concat(pairs) if pairs else pl.DataFrame(schema=dict.fromkeys(TOPICS[:1], pl.String))
    report = list(reading.report)
    if pairs:
        new = named["doc_id"].unique().sort()
        new = new.filter(~new.is_in(documents["doc_id"].implode()))
        if len(new):
            documents = pl.concat([documents, as_documents(pl.DataFrame({"doc_id": new}), "text")])
            report.append(Entry("documents", len(new), reason="named by runs or qrels only: an id "
                                "and no text"))  # fmt: skip
    topics = reading.topics
    if topics is None:
        ids = named["query_id"].unique().sort()
        blank = [pl.lit("").alias(one) for one in TOPICS[1:]]
        topics = pl.DataFrame({"query_id": ids}).with_columns(blank)
        report.append(Entry("topics", len(ids), reason="there are no topics; those that runs and "
                            "qrels name have no title"))  # fmt: skip
    for key, table in tables.items():
        far = table.frame.filter(~pl.col("query_id").is_in(topics["query_id"].implode()))
        if far.height:
            number = counted(far["query_id"].n_unique(), "topic")
            report.append(Entry(key, 0, reason=f"{counted(far.height, 'line')} of {number} that "
                                "the topics do not have"))  # fmt: skip
    if topics.is_empty() and documents.is_empty():
        raise DataError(
            f"{reading.root or 'study'}: holds no collection; it wants topics.tsv or .jsonl, and "
            "documents.jsonl, images/, entities.ttl, runs/*.run or qrels/*.qrels"
        )
    return StudyFolder(
        topics, documents, MappingProxyType(reading.runs), MappingProxyType(reading.qrels),
        reading.gold, MappingProxyType(reading.settings), tuple(report), reading.root,
    )  # fmt: skip


def write_study_folder(study: StudyFolder, path: str | Path) -> None:
    """Write a collection folder, or a zip archive where the path ends in ``.zip``.

    Reading it gives the same topics, documents, runs, qrels, gold and settings. The bytes depend
    on these only: rows and files are sorted, and times are those of 1 January 1980.

    Raises
    ------
    DataError
        What the files cannot say: an id with a blank in a run or in qrels, two names that differ
        only in case, a name that is no file name, an image that is not there; a folder that
        holds something.
    """
    target = Path(path)
    if target.suffix == ".zip":
        if target.exists():
            raise DataError(f"{target}: is there already")
        files = list(_files(study))
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = target.with_name(f".{target.name}.part")
        try:
            pack(files, staged)
            staged.replace(target)
        finally:
            staged.unlink(missing_ok=True)
        return
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(f"{target}: is not a new or empty folder")
    for name, content in list(_files(study)):
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_bytes(content.read_bytes())
        os.utime(file, (_TIME, _TIME))


_TIME = datetime(*EPOCH, tzinfo=UTC).timestamp()


def _files(study: StudyFolder) -> Iterator[tuple[str, bytes | Path]]:
    """Yield (name, content) of every file, sorted by name."""
    files: dict[str, bytes | Path] = {}
    topics = study.topics.select(TOPICS).sort("query_id")
    documents = study.documents.select(DOCUMENTS).sort("doc_id")
    check_ids(topics, "topics")
    check_ids(documents, "documents")
    if topics.height:
        files["topics.jsonl"] = topics.write_ndjson().encode()
    if documents.height:
        files["documents.jsonl"] = documents.write_ndjson().encode()
    for place in documents["path"].drop_nulls():
        if study.root is None or not inside(study.root, place):
            raise DataError(f"{place!r}: there is no such image to write")
        files[place] = study.root / place
    for key, runs in study.runs.items():
        files[f"runs/{_file_name(key)}.run"] = write_run(
            runs.ranked(ties="file-order"), f"run {key}"
        )
    for key, qrels in study.qrels.items():
        name = f"qrels/{_file_name(key)}"
        if whole(qrels.frame["relevance"]) and "stratum" not in qrels.frame.columns:
            files[f"{name}.qrels"] = _qrels(qrels, f"qrels {key}")
        else:
            frame = qrels.frame.sort("query_id", "doc_id")
            files[f"{name}.jsonl"] = frame.write_ndjson().encode()
    if study.gold is not None:
        files["gold.qrels"] = _qrels(study.gold, "gold")
    if study.settings:
        files["study.toml"] = write_study_toml(study.settings).encode()
    folded: dict[str, str] = {}
    for name in files:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            raise DataError(f"{name} and {other} are one file on some systems; rename one")
    yield from sorted(files.items(), key=lambda one: one[0].encode())


def _qrels(qrels: Qrels, name: str) -> bytes:
    frame = qrels.frame.sort("query_id", "doc_id")
    return write_qrels(frame.with_columns(pl.col("relevance").cast(pl.Int64)), name)


def _file_name(key: str) -> str:
    """Return the name of a run or of qrels, if it can be a file's."""
    odd = not key or key[0] in ".-" or key != key.strip() or len(key.encode()) > 150
    if odd or re.search(r'[/\\:*?"<>|]', key) or not key.isprintable() or stem(f"{key}.run") != key:
        raise DataError(f"{key!r} cannot be the name of a file; rename the run or the qrels")
    return key
