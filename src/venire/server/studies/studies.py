"""Studies: made, changed, listed; their topics, documents, runs, qrels and gold put in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from venire.errors import Conflict, DataError, NotFound
from venire.formats.parquet import read_parquet, write_parquet
from venire.formats.study_settings import StudySettings
from venire.server.store.base import ROWS_PER_STATEMENT, now, split_rows
from venire.server.store.judging import Judgment
from venire.server.store.people import Membership
from venire.server.store.studies import Document, Gold, Pair, Study, StudyFile, Topic
from venire.server.store.work import Decision
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


def create_study(
    session: Session,
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    instructions: str = "",
    owner_id: str | None = None,
) -> Study:
    """Make a study; its maker is its owner."""
    if not name.strip():
        raise DataError("a study needs a name")
    checked = StudySettings.of(settings or {})
    study = Study(
        name=name.strip()[:200],
        settings=checked.to_dict(),
        instructions=instructions,
        created_by=owner_id,
    )
    session.add(study)
    session.flush()
    if owner_id is not None:
        session.add(Membership(study_id=study.id, user_id=owner_id, role="owner"))
        session.flush()
    return study


def get_study(session: Session, study_id: str) -> Study:
    """The study of that id."""
    study = session.get(Study, study_id)
    if study is None:
        raise NotFound("study", study_id)
    return study


def find_study(session: Session, name: str) -> Study:
    """The study of that id or name; a name that several have is refused."""
    found = session.scalars(select(Study).where((Study.id == name) | (Study.name == name))).all()
    if not found:
        raise NotFound("study", name)
    if len(found) > 1:
        ids = ", ".join(study.id for study in found)
        raise Conflict(f"{len(found)} studies are called {name!r}; name one by its id: {ids}")
    return found[0]


def list_studies(session: Session) -> list[dict[str, Any]]:
    """All studies of a database: ``study, id, created_at``, the newest first."""
    found = session.scalars(select(Study).order_by(Study.created_at.desc(), Study.id))
    return [{"study": one.name, "id": one.id, "created_at": one.created_at} for one in found]


def change_settings(
    session: Session,
    study_id: str,
    by: str | None,
    *,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    instructions: str | None = None,
) -> Study:
    """Change a study; the grades of a study with judgments stay as they were.

    Raises
    ------
    Conflict
        The values of the grades would change under judgments that were given on them, or gold
        would have a grade that is no longer on the scale.
    """
    study = get_study(session, study_id)
    if settings is not None:
        before = StudySettings.of(study.settings)
        after = StudySettings.of({**before.to_dict(), **settings})
        if after.values != before.values and _has_judgments(session, study_id):
            raise Conflict("the study has judgments: the values of its grades can no longer change")
        _refuse_strange_gold(session, study_id, after)
        study.settings = after.to_dict()
    if name is not None and name.strip():
        study.name = name.strip()[:200]
    if instructions is not None:
        study.instructions = instructions[:200_000]
    session.add(
        Decision(
            study_id=study_id,
            kind="settings",
            subject=study_id,
            verdict="changed",
            facts={"settings": study.settings},
            decided_by=by,
        )
    )
    session.flush()
    return study


def _refuse_strange_gold(session: Session, study_id: str, after: StudySettings) -> None:
    grades = session.scalars(
        select(Gold.grade)
        .where(Gold.study_id == study_id, Gold.grade.not_in(after.values))
        .order_by(Gold.grade)
    ).all()
    if grades:
        raise Conflict(
            f"{len(grades)} gold of this study have a grade that is not on the scale "
            f"{', '.join(map(str, after.values))}: {', '.join(map(str, dict.fromkeys(grades)))}; "
            "keep these grades, or put the gold in again with others first"
        )


def _has_judgments(session: Session, study_id: str) -> bool:
    query = select(Judgment.seq).join(Pair, Pair.id == Judgment.pair_id)
    return session.scalar(query.where(Pair.study_id == study_id).limit(1)) is not None


def put_topics(session: Session, study_id: str, topics: pl.DataFrame) -> dict[str, int]:
    """Add topics (``query_id, title, description, narrative``); known ones are renewed."""
    known = {
        topic.query_id: topic
        for topic in session.scalars(select(Topic).where(Topic.study_id == study_id))
    }
    counts = {"added": 0, "changed": 0, "unchanged": 0}
    new: list[dict[str, Any]] = []
    for row in topics.iter_rows(named=True):
        values = {part: row.get(part) or "" for part in ("title", "description", "narrative")}
        old = known.get(row["query_id"])
        if old is None:
            place = len(known) + len(new)
            new.append(
                {"study_id": study_id, "query_id": row["query_id"], "position": place, **values}
            )
        elif all(getattr(old, part) == value for part, value in values.items()):
            counts["unchanged"] += 1
        else:
            counts["changed"] += 1
            for part, value in values.items():
                setattr(old, part, value)
    _insert(session, Topic, new)
    counts["added"] = len(new)
    return counts


def put_documents(session: Session, study_id: str, documents: pl.DataFrame) -> dict[str, int]:
    """Add documents (``doc_id, kind, title, body, path``); text that changed is replaced.

    A document that comes as an id only never takes the text from one that has some.
    """
    counts = {"added": 0, "changed": 0, "unchanged": 0}
    for part in documents.iter_slices(ROWS_PER_STATEMENT):
        ids = part["doc_id"].to_list()
        rows = session.execute(
            select(
                Document.id,
                Document.doc_id,
                Document.kind,
                Document.title,
                Document.body,
                Document.media,
            ).where(Document.study_id == study_id, Document.doc_id.in_(ids))
        )
        known = {row.doc_id: row for row in rows}
        new: list[dict[str, Any]] = []
        for row in part.iter_rows(named=True):
            values = {
                "kind": row.get("kind") or "text",
                "title": row.get("title") or "",
                "body": row.get("body"),
                "media": row.get("path"),
            }
            old = known.get(row["doc_id"])
            if old is None:
                new.append({"study_id": study_id, "doc_id": row["doc_id"], **values})
            elif (
                all(getattr(old, name) == value for name, value in values.items())
                or (values["body"] is None and values["media"] is None)
            ):  # fmt: skip
                counts["unchanged"] += 1
            else:
                counts["changed"] += 1
                session.execute(update(Document).where(Document.id == old.id).values(**values))
        _insert(session, Document, new)
        counts["added"] += len(new)
    return counts


def put_file(
    session: Session, study_id: str, kind: str, name: str, frame: pl.DataFrame, notes: Sequence[str]
) -> str:
    """Keep a run, qrels or vectors as Parquet; say ``added``, ``changed`` or ``unchanged``."""
    content = write_parquet(frame, statistics=False)
    sha256 = hashlib.sha256(content).hexdigest()
    old = session.scalar(
        select(StudyFile).where(
            StudyFile.study_id == study_id, StudyFile.kind == kind, StudyFile.name == name
        )
    )
    if old is not None and old.sha256 == sha256:
        return "unchanged"
    if old is not None:
        old.content, old.sha256, old.rows = content, sha256, frame.height
        old.notes, old.added_at = list(notes), now()
        return "changed"
    session.add(
        StudyFile(
            study_id=study_id,
            kind=kind,
            name=name,
            content=content,
            rows=frame.height,
            sha256=sha256,
            notes=list(notes),
        )
    )
    session.flush()
    return "added"


def read_runs(session: Session, study_id: str, names: Iterable[str] | None = None) -> Runs:
    """All runs of a study as one table, or those named.

    Raises
    ------
    NotFound
        A named run is not there.
    DataError
        The study has no runs.
    """
    files = _files(session, study_id, "run", names)
    if not files:
        raise DataError("the study has no runs yet; upload some on the Data page")
    frames = [read_parquet(content) for _, content in files]
    return Runs(pl.concat(frames, how="diagonal_relaxed"))


def read_qrels(session: Session, study_id: str, name: str) -> Qrels:
    """Qrels that were put into a study."""
    ((_, content),) = _files(session, study_id, "qrels", [name])
    return Qrels(read_parquet(content))


def _files(
    session: Session, study_id: str, kind: str, names: Iterable[str] | None
) -> list[tuple[str, bytes]]:
    query = select(StudyFile.name, StudyFile.content).where(
        StudyFile.study_id == study_id, StudyFile.kind == kind
    )
    wanted = None if names is None else set(names)
    if wanted is not None:
        query = query.where(StudyFile.name.in_(wanted))
    found = [(name, content) for name, content in session.execute(query.order_by(StudyFile.name))]
    missing = (wanted or set()) - {name for name, _ in found}
    if missing:
        raise NotFound(kind, min(missing))
    return found


def put_gold(
    session: Session, study_id: str, gold: Qrels, notes: Mapping[tuple[str, str], str] | None = None
) -> dict[str, Any]:
    """Add gold; a pair whose topic or document the study has not is left out and named."""
    settings = StudySettings.of(get_study(session, study_id).settings)
    frame = gold.frame.select("query_id", "doc_id", "relevance")
    strange = frame.filter(
        ~pl.col("relevance").cast(pl.Float64).is_in([float(v) for v in settings.values])
    )
    if strange.height:
        row = strange.row(0, named=True)
        raise DataError(
            f"gold of {row['query_id']} {row['doc_id']} has grade {row['relevance']:g}, "
            f"which is not on the scale {', '.join(map(str, settings.values))}"
        )
    pairs, left = ensure_pairs(session, study_id, frame)
    known = {
        one.pair_id: one for one in session.scalars(select(Gold).where(Gold.study_id == study_id))
    }
    added = changed = 0
    for query_id, doc_id, relevance in frame.iter_rows():
        pair_id = pairs.get((query_id, doc_id))
        if pair_id is None:
            continue
        note = (notes or {}).get((query_id, doc_id), "")
        old = known.get(pair_id)
        if old is None:
            session.add(Gold(study_id=study_id, pair_id=pair_id, grade=int(relevance), note=note))
            added += 1
        elif old.grade != int(relevance) or (note and old.note != note) or not old.active:
            old.grade, old.active = int(relevance), True
            old.note = note or old.note
            changed += 1
    session.flush()
    return {"added": added, "changed": changed, "left_out": left}


def ensure_pairs(
    session: Session, study_id: str, frame: pl.DataFrame
) -> tuple[dict[tuple[str, str], int], int]:
    """Pair ids of (query_id, doc_id); pairs not there are made. Unknown ids are counted."""
    topics = dict(
        session.execute(select(Topic.query_id, Topic.id).where(Topic.study_id == study_id)).all()
    )
    wanted = frame.select("query_id", "doc_id").unique(maintain_order=True)
    doc_ids = wanted["doc_id"].unique().to_list()
    documents: dict[str, int] = {}
    for part in split_rows(doc_ids):
        documents |= dict(
            session.execute(
                select(Document.doc_id, Document.id).where(
                    Document.study_id == study_id, Document.doc_id.in_(part)
                )
            ).all()
        )
    known = {
        (topic, document): pair
        for topic, document, pair in session.execute(
            select(Pair.topic_id, Pair.document_id, Pair.id).where(Pair.study_id == study_id)
        )
    }
    keys = [
        (query_id, doc_id, topics.get(query_id), documents.get(doc_id))
        for query_id, doc_id in wanted.iter_rows()
    ]
    new = [
        {"study_id": study_id, "topic_id": topic, "document_id": document}
        for _, _, topic, document in keys
        if topic is not None and document is not None and (topic, document) not in known
    ]
    _insert(session, Pair, new)
    if new:
        known |= {
            (topic, document): pair
            for topic, document, pair in session.execute(
                select(Pair.topic_id, Pair.document_id, Pair.id).where(Pair.study_id == study_id)
            )
        }
    found = {
        (query_id, doc_id): known[topic, document]
        for query_id, doc_id, topic, document in keys
        if topic is not None and document is not None
    }
    return found, wanted.height - len(found)


def _insert(session: Session, table: Any, rows: list[dict[str, Any]]) -> None:
    for part in split_rows(rows):
        session.execute(insert(table), part)
    session.flush()


def counts(session: Session, study_id: str) -> dict[str, int]:
    """How many topics, documents, pairs in the pool, gold and files a study has."""

    def count(table: Any, *where: Any) -> int:
        query = select(func.count()).select_from(table).where(table.study_id == study_id, *where)
        return session.scalar(query) or 0

    return {
        "topics": count(Topic),
        "documents": count(Document),
        "pool": count(Pair, Pair.pooled),
        "gold": count(Gold, Gold.active),
        "runs": count(StudyFile, StudyFile.kind == "run"),
        "qrels": count(StudyFile, StudyFile.kind == "qrels"),
    }
