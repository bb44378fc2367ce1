"""Exports: qrels, raw judgments, judgment lists for search tools, each with a manifest."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, DataError, UnknownName
from venire.formats.judgment_lists import (
    write_opensearch_csv,
    write_opensearch_json,
    write_quepid_book_csv,
    write_quepid_csv,
)
from venire.formats.source import pack
from venire.formats.study_settings import StudySettings
from venire.formats.trec import write_qrels
from venire.pooling.base import Lists
from venire.pooling.strategies import build_strategy
from venire.server.store.judging import Campaign, Judgment
from venire.server.store.session import Store
from venire.server.store.studies import StudyFile
from venire.server.store.work import Decision, Export, Job
from venire.server.studies.files import read_runs
from venire.server.studies.grades import read_grades, read_settled_qrels
from venire.server.studies.judgments import read_judgments, write_raw
from venire.server.studies.pools import find_current_pool
from venire.server.studies.studies import get_study
from venire.server.studies.topics import read_titles
from venire.tables.qrels import Qrels

EXPORT_KINDS = {
    "qrels": "settled grades as TREC qrels",
    "qrels-strata": "qrels of a stratified pool, five columns",
    "raw-csv": "every judgment, as CSV",
    "raw-jsonl": "every judgment, as JSON Lines",
    "raw-parquet": "every judgment, as Parquet",
    "opensearch-json": "judgment list for OpenSearch, as a request body",
    "opensearch-csv": "judgment list for OpenSearch, as a file to upload",
    "quepid-csv": "ratings of a Quepid case",
    "quepid-book-csv": "judgments of a Quepid book",
}
_FILES = {
    "qrels": "study.qrels",
    "qrels-strata": "study-strata.qrels",
    "raw-csv": "judgments.csv",
    "raw-jsonl": "judgments.jsonl",
    "raw-parquet": "judgments.parquet",
    "opensearch-json": "opensearch.json",
    "opensearch-csv": "opensearch.csv",
    "quepid-csv": "quepid.csv",
    "quepid-book-csv": "quepid-book.csv",
}
MANIFEST = "manifest.json"


def export_study(
    store: Store,
    study_id: str,
    kinds: Sequence[str],
    target: Path,
    *,
    grades_from: str = "adjudicated",
    campaign_id: str | None = None,
    by: str | None = None,
) -> Export:
    """Write an export into a new or empty folder, or a zip archive where the path says .zip.

    With any kind that has grades, the raw judgments go too (as CSV, unless named otherwise): an
    aggregate alone cannot be checked. The manifest names settings, versions, the last judgment
    and decision that are in it, and the hash of every file; it has no time of the export, so
    that a second export of the same data is the same, byte for byte.

    Parameters
    ----------
    store : Store
        Read in one snapshot, without a lock: people judge on while an export is made.
    study_id : str
    kinds : sequence of str
        Of ``EXPORT_KINDS``.
    target : Path
    grades_from : str
        See :func:`venire.server.studies.grades.read_grades`.
    campaign_id : str, optional
        Raw judgments of this campaign only.
    by : str, optional

    Returns
    -------
    Export
        Its ``manifest`` names settings, versions and files.

    Raises
    ------
    UnknownName
        An unknown kind.
    BadSetting
        No kind.
    DataError
        There is nothing to export, or the target is not empty.
    """
    wanted = sorted(set(kinds))
    for kind in wanted:
        if kind not in EXPORT_KINDS:
            raise UnknownName("export kind", kind, EXPORT_KINDS)
    if not wanted:
        raise BadSetting("must have at least one export kind (got none)", argument="kinds")
    if not any(kind.startswith("raw-") for kind in wanted):
        wanted.append("raw-csv")
    if target.exists() and (target.is_file() or any(target.iterdir())):
        raise DataError(f"{target} already exists and is not empty. Choose a new folder or file.")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that what is written is moved, and never half there.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as place:
        folder = Path(place)
        with store.snapshot() as session:
            notes = _write_files(session, study_id, wanted, folder, grades_from, campaign_id)
            manifest = _make_manifest(
                session, study_id, wanted, folder, grades_from, campaign_id, notes
            )
        text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
        (folder / MANIFEST).write_bytes(f"{text}\n".encode())
        files = sorted(folder.iterdir())
        if target.suffix == ".zip":
            staged = folder / ".zip"
            pack([(path.name, path) for path in files], staged)
            staged.replace(target)
        else:
            target.mkdir(exist_ok=True)
            for path in files:
                path.replace(target / path.name)
    made = Export(
        study_id=study_id,
        kind=" ".join(wanted),
        settings=manifest["settings"],
        manifest=manifest,
        made_by=by,
    )
    with store.writing() as session:
        session.add(made)
    return made


def list_exports(session: Session, study_id: str) -> list[Export]:
    """Return the exports of a study, newest first."""
    query = select(Export).where(Export.study_id == study_id)
    return list(session.scalars(query.order_by(Export.made_at.desc(), Export.id)))


def _write_files(
    session: Session,
    study_id: str,
    kinds: Sequence[str],
    folder: Path,
    grades_from: str,
    campaign_id: str | None,
) -> list[str]:
    study = get_study(session, study_id)
    notes: list[str] = []
    qrels: Qrels | None = None
    topics = read_titles(session, study_id)
    for kind in kinds:
        path = folder / _FILES[kind]
        if kind.startswith("raw-"):
            write_raw(session, study_id, path, campaign_id)
            continue
        if kind == "quepid-book-csv":
            notes += write_quepid_book_csv(
                read_judgments(session, study_id, campaign_id), topics, path
            )
            continue
        if qrels is None:
            qrels = read_grades(session, study_id, grades_from)
            notes += qrels.notes
        if kind == "qrels":
            mark = (
                qrels.adaptive
                if grades_from.startswith("qrels:")
                else _find_adaptive_strategy(session, study_id)
            )
            frame = qrels.frame.sort("query_id", "doc_id")
            path.write_bytes(write_qrels(frame, path.name, mark))
        elif kind == "qrels-strata":
            path.write_bytes(_encode_strata(session, study_id, qrels, notes))
        elif kind == "opensearch-json":
            notes += write_opensearch_json(qrels, topics, path, name=study.name)
        elif kind == "opensearch-csv":
            notes += write_opensearch_csv(qrels, topics, path)
        else:
            notes += write_quepid_csv(qrels, topics, path)
    return list(dict.fromkeys(notes))


def _find_adaptive_strategy(session: Session, study_id: str) -> str:
    """Return the strategy of an adaptive pool; empty for any other pool."""
    built = find_current_pool(session, study_id)
    return str(built["strategy"]) if built is not None and built.get("biased") else ""


def _encode_strata(session: Session, study_id: str, qrels: Qrels, notes: list[str]) -> bytes:
    """``topic 0 document stratum grade``: the pool drawn again, -1 where nobody judged.

    The draw is the same, by the settings and the seed that were put on record with the pool.
    """
    built = find_current_pool(session, study_id)
    if built is None or built.get("strategy") != "stratified":
        raise DataError("The current pool has no strata. Build it with the strategy stratified.")
    settings = {key: value for key, value in built["settings"].items() if value not in (None, "")}
    runs = read_runs(session, study_id, settings.pop("runs", None))
    lists = Lists.of(runs, depth=settings.get("depth"))
    relevant_from = StudySettings.of(get_study(session, study_id).settings).relevant_from
    stratified = build_strategy("stratified", settings)
    pool = stratified.pool(lists, relevant_from=relevant_from, seed=built["seed"])
    frame = pool.frame.join(qrels.frame, on=["query_id", "doc_id"], how="left")
    left = qrels.frame.join(pool.frame, on=["query_id", "doc_id"], how="anti").height
    if left:
        notes.append(f"{left:,} grades of pairs outside the strata were left out")
    # A grade of an unsampled pair would get the weight of a sampled one.
    lucky = frame.filter(~pl.col("sampled") & pl.col("relevance").is_not_null()).height
    if lucky:
        notes.append(f"{lucky:,} grades of pairs that were not sampled count as unjudged")
    grade = pl.when("sampled").then(pl.col("relevance")).fill_null(-1)
    lines = frame.sort("query_id", "doc_id").select(
        "query_id", pl.lit("0").alias("iteration"), "doc_id", "stratum", grade.alias("relevance")
    )
    write_qrels(qrels.frame, "qrels")  # refuse IDs that a qrels file cannot hold
    text = lines.write_csv(include_header=False, separator=" ", quote_style="never")
    return text.encode()


def _make_manifest(
    session: Session,
    study_id: str,
    kinds: Sequence[str],
    folder: Path,
    grades_from: str,
    campaign_id: str | None,
    notes: Sequence[str],
) -> dict[str, Any]:
    study = get_study(session, study_id)
    ours = select(Campaign.id).where(Campaign.study_id == study_id)
    count, first, last, seq = session.execute(
        select(
            func.count(),
            func.min(Judgment.judged_at),
            func.max(Judgment.judged_at),
            func.max(Judgment.seq),
        ).where(Judgment.campaign_id.in_(ours))
    ).one()
    decided_at, decision = session.execute(
        select(func.max(Decision.decided_at), func.max(Decision.seq)).where(
            Decision.study_id == study_id
        )
    ).one()
    campaigns = session.scalars(
        select(Campaign).where(Campaign.study_id == study_id).order_by(Campaign.wave, Campaign.id)
    )
    files = session.execute(
        select(StudyFile.kind, StudyFile.name, StudyFile.sha256)
        .where(StudyFile.study_id == study_id)
        .order_by(StudyFile.kind, StudyFile.name)
    )
    pool = find_current_pool(session, study_id)
    return {
        "study": study.name,
        "study_id": study_id,
        "settings": {
            "kinds": list(kinds),
            "grades_from": grades_from,
            "campaign_id": campaign_id,
        },
        "grades_by": _describe_grades(session, study_id, grades_from),
        "study_settings": study.settings,
        "campaigns": [
            {
                "id": campaign.id,
                "name": campaign.name,
                "wave": campaign.wave,
                "settings": campaign.settings,
                "opened_at": _format_time(campaign.opened_at),
                "closed_at": _format_time(campaign.closed_at),
            }
            for campaign in campaigns
        ],
        "pool": None
        if pool is None
        else {
            "at": _format_time(pool["at"]),
            **{key: pool[key] for key in ("settings", "seed", "pairs")},
        },
        "data": {
            "judgments": count,
            "first_judgment_at": _format_time(first),
            "last_judgment_at": _format_time(last),
            "last_judgment": seq,
            "last_decision_at": _format_time(decided_at),
            "last_decision": decision,
            "adjudicated": len(read_settled_qrels(session, study_id)),
        },
        "inputs": [{"kind": kind, "name": name, "sha256": sha} for kind, name, sha in files],
        "files": {path.name: _hash_file(path) for path in sorted(folder.iterdir())},
        "notes": list(notes),
        "versions": {name: version(name) for name in ("venire", "polars", "numpy")},
    }


def _describe_grades(session: Session, study_id: str, source: str) -> Mapping[str, Any]:
    """Return the source of the grades; for a job its model, settings, seed and version."""
    kind, _, name = source.partition(":")
    job = session.get(Job, name) if kind == "job" else None
    if job is None or job.study_id != study_id:
        return {"source": source}
    result = job.result or {}
    named = ("model", "settings", "seed", "version", "converged")
    return {"source": source, **{key: result.get(key) for key in named}}


def _format_time(time: Any) -> str | None:
    return None if time is None else time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _hash_file(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
