"""Facts about a study, read the same way by version 0.1.0 and by the code of today.

`make_old_study.py` writes them beside the database that it makes, and
`tests/server/store/test_old_study.py` reads them again after the migration. Nothing is imported
from Venire here: the caller passes its own models and functions.
"""

import hashlib
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

NOW = datetime(2026, 1, 6, 12, tzinfo=UTC)
"""The time at which alarms are read."""

TABLES = ("Campaign", "Task", "Batch", "Lease", "Event", "Judgment", "Decision", "Job", "JobPart")
EXPORTS = ("qrels", "raw-csv", "raw-jsonl", "opensearch-csv", "quepid-csv", "quepid-book-csv")


def read_facts(store: Any, study_id: str, room: SimpleNamespace, folder: Any) -> dict[str, Any]:
    """Return every row that people or owners made, and what is computed from them.

    `room` holds the models by name, the modules `results`, `overview` and `exports`, and
    `is_held`, which tells whether a batch is held.
    """
    with store.reading() as session:
        tables = {name: _rows(session, getattr(room, name)) for name in TABLES}
        held = [batch.id for batch in session.query(room.Batch) if room.is_held(batch)]
        alarms = [
            [alarm["kind"], alarm["campaign_id"]]
            for alarm in room.overview.overview(session, study_id, NOW)["alarms"]
        ]
        judgments = room.results.judgments(session, study_id, gold=True).frame
        grades = {
            source: room.results.grades(session, study_id, source).frame
            for source in ("majority", "settled", "adjudicated")
        }
    kinds = [kind for kind in EXPORTS if kind in room.exports.KINDS]
    room.exports.export(store, study_id, kinds, folder)
    files = {path.name: path.read_text() for path in sorted(folder.iterdir())}
    files.pop("manifest.json")
    return {
        "tables": tables,
        "held": sorted(held),
        "alarms": sorted(alarms),
        "judgments": _plain(judgments.rows(named=True)),
        "grades": {
            source: _plain(frame.sort("query_id", "doc_id").rows(named=True))
            for source, frame in grades.items()
        },
        "export": files,
    }


def _rows(session: Any, model: Any) -> list[dict[str, Any]]:
    """Return all rows of a table, in the order of their keys."""
    names = [column.name for column in model.__table__.columns]
    keys = [column.name for column in model.__table__.primary_key]
    query = session.query(*(getattr(model, name) for name in names))
    rows = [dict(zip(names, row, strict=True)) for row in query]
    rows.sort(key=lambda row: [row[key] for key in keys])
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """Return a value as JSON says it; the content of a file as its hash."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
