"""Read and write a study's collection folder.

It holds topics, documents, images, entities, runs, qrels, gold and settings. Every file in the
folder has an entry in the report: how much was read, how much was left out, and why.
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
    DOCUMENT_COLUMNS,
    DOCUMENT_KINDS,
    Entry,
    Reading,
    as_documents,
    check_ids,
    is_image_inside,
)
from venire.formats.study_toml import write_study_toml
from venire.formats.trec import write_qrels, write_run
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import are_whole, express

__all__ = [
    "DOCUMENT_COLUMNS",
    "DOCUMENT_KINDS",
    "Entry",
    "StudyFolder",
    "read_study_folder",
    "unpack_study",
    "write_study_folder",
]


@dataclass(frozen=True)
class StudyFolder:
    """The content of a collection folder; missing parts are empty.

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
        Keys of study.toml, checked.
    report : tuple of Entry
    root : Path or None
        The folder of the images.
    """

    topics: pl.DataFrame
    documents: pl.DataFrame
    runs: Mapping[str, Runs]
    qrels: Mapping[str, Qrels]
    gold: Qrels | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: tuple[Entry, ...] = ()
    root: Path | None = None


def read_study_folder(path: str | Path, *, name: str | None = None) -> StudyFolder:
    """Read a collection folder, Cranfield as distributed, or ``irds:`` and an ir_datasets ID.

    The files are described in docs/reference/collection-folder.md. A run or a file of qrels that
    cannot be read is left out, and the report says why. Topics, documents, entities, gold and
    settings that cannot be read are errors. Documents that occur only in runs and qrels are added
    without text, and topics without a title if the folder has no topics. Messages call the folder
    ``name``, by default its path.

    Raises
    ------
    DataError, BadLine, BadSetting, MissingColumns
        With the file and the line.
    MissingExtra
        When rdflib or ir_datasets is needed and not installed.
    """
    if str(path).startswith("irds:"):
        dataset = str(path).removeprefix("irds:")
        return _finish(Reading.of(read_irds(dataset), f"irds:{dataset}"))
    root, name = Path(path), name or str(path)
    if not root.is_dir():
        if root.exists():
            raise DataError(f"{name}: is not a folder", hint="Unpack a zip archive first.")
        raise DataError(f"{name}: no such folder")
    if all((root / name).is_file() for name in CRANFIELD[:2]):
        reading = Reading.of(read_collection(root), CRANFIELD[0])
        reading.root, reading.name = root, name
        read_already = {*CRANFIELD, "runs"}
    else:
        reading, read_already = Reading(root, name), set()
    reading.read_folder(root, read_already)
    return _finish(reading)


def _finish(reading: Reading) -> StudyFolder:
    """Check the parts against each other, and add IDs that occur only in runs and qrels."""
    documents = pl.concat([as_documents(pl.DataFrame(), "text"), *reading.documents])
    repeated = documents.filter(~pl.col("doc_id").is_first_distinct())
    if repeated.height:
        raise DataError(f"document {repeated['doc_id'][0]!r} is in the folder twice")
    tables: dict[str, Runs | Qrels] = {
        **{f"run {key}": runs for key, runs in reading.runs.items()},
        **{f"qrels {key}": qrels for key, qrels in reading.qrels.items()},
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
            report.append(Entry("documents", len(new), reason="only in runs or qrels: IDs without "
                                "text"))  # fmt: skip
    topics = reading.topics
    if topics is None:
        ids = named["query_id"].unique().sort()
        blank = [pl.lit("").alias(column) for column in TOPICS[1:]]
        topics = pl.DataFrame({"query_id": ids}).with_columns(blank)
        report.append(Entry("topics", len(ids), reason="no topics in the folder: IDs from runs "
                            "and qrels, without titles"))  # fmt: skip
    for key, table in tables.items():
        far = table.frame.filter(~pl.col("query_id").is_in(topics["query_id"].implode()))
        if far.height:
            number = express(far["query_id"].n_unique(), "topic")
            report.append(Entry(key, 0, reason=f"{express(far.height, 'line')} of {number} that "
                                "the folder does not have"))  # fmt: skip
    if topics.is_empty() and documents.is_empty():
        raise DataError(
            f"{reading.name or 'study'}: contains no collection",
            hint="Add topics.tsv, and documents.jsonl, images/, entities.ttl, runs/*.run or "
            "qrels/*.qrels.",
        )
    return StudyFolder(
        topics, documents, MappingProxyType(reading.runs), MappingProxyType(reading.qrels),
        reading.gold, MappingProxyType(reading.settings), tuple(report), reading.root,
    )  # fmt: skip


def write_study_folder(study: StudyFolder, path: str | Path) -> None:
    """Write a collection folder, or a zip archive where the path ends in ``.zip``.

    Reading it returns the same topics, documents, runs, qrels, gold and settings. The bytes depend
    on these only: rows and files are sorted, and all times are 1 January 1980.

    Raises
    ------
    DataError
        The files cannot hold the study: an ID with a blank in a run or in qrels, two names that
        differ only in case, a name that is not a file name, a missing image. Or the target is not
        empty.
    """
    target = Path(path)
    if target.suffix == ".zip":
        if target.exists():
            raise DataError(f"{target}: already exists")
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
        raise DataError(f"{target}: must be a new or empty folder")
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
    documents = study.documents.select(DOCUMENT_COLUMNS).sort("doc_id")
    check_ids(topics, "topics")
    check_ids(documents, "documents")
    if topics.height:
        files["topics.jsonl"] = topics.write_ndjson().encode()
    if documents.height:
        files["documents.jsonl"] = documents.write_ndjson().encode()
    for place in documents["path"].drop_nulls():
        if study.root is None or not is_image_inside(study.root, place):
            raise DataError(f"{place!r}: no such image")
        files[place] = study.root / place
    for key, runs in study.runs.items():
        files[f"runs/{_file_name(key)}.run"] = write_run(
            runs.with_ranks(ties="file-order"), f"run {key}"
        )
    for key, qrels in study.qrels.items():
        name = f"qrels/{_file_name(key)}"
        if are_whole(qrels.frame["relevance"]) and "stratum" not in qrels.frame.columns:
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
            raise DataError(f"{name} and {other} are the same file on some systems. Rename one.")
    yield from sorted(files.items(), key=lambda item: item[0].encode())


def _qrels(qrels: Qrels, name: str) -> bytes:
    frame = qrels.frame.sort("query_id", "doc_id")
    return write_qrels(frame.with_columns(pl.col("relevance").cast(pl.Int64)), name)


def _file_name(key: str) -> str:
    """Return the name of a run or of qrels, if it can be the name of a file."""
    odd = not key or key[0] in ".-" or key != key.strip() or len(key.encode()) > 150
    if odd or re.search(r'[/\\:*?"<>|]', key) or not key.isprintable() or stem(f"{key}.run") != key:
        raise DataError(f"{key!r} cannot be the name of a file. Rename the run or the qrels.")
    return key
