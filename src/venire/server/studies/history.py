"""Every event behind the grades of a topic or of one document, in the order of time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.base import split_rows
from venire.server.store.judging import Batch, Campaign, Event, Judgment, Lease
from venire.server.store.people import User
from venire.server.store.studies import Document, Gold, Pair, Topic
from venire.server.store.work import Decision
from venire.server.studies.listing import Row
from venire.server.studies.pairs import read_pair_names

# Order of events with equal times.
_ORDER = ("gold", "lease", "event", "judgment", "ended", "decision")


def read_history(
    session: Session, study_id: str, query_id: str, doc_id: str | None = None
) -> list[Row]:
    """Return what happened to the documents of a topic, or to one of them.

    Returns
    -------
    list of dict
        ``at`` (None for gold, whose time is not kept), ``what`` (``gold, lease, event, judgment,
        ended, decision``), ``doc_id`` (None where it is about a whole batch), ``who`` (name),
        ``annotator_id, batch_id, campaign``, ``text`` in words, ``facts``.

    Raises
    ------
    NotFound
        No such topic, or the topic has no such document.
    """
    topic = session.scalar(
        select(Topic).where(Topic.study_id == study_id, Topic.query_id == query_id)
    )
    if topic is None:
        raise NotFound("topic", query_id)
    chosen = select(Pair.id).where(Pair.study_id == study_id, Pair.topic_id == topic.id)
    if doc_id is not None:
        chosen = chosen.join(Document, Document.id == Pair.document_id).where(
            Document.doc_id == doc_id
        )
    pairs = list(session.scalars(chosen.order_by(Pair.id)))
    if doc_id is not None and not pairs:
        raise NotFound("document of this topic", doc_id)
    names = {pair: name for pair, (_, name) in read_pair_names(session, study_id, pairs).items()}
    rows: list[Row] = []
    batches: set[str] = set()
    for part in split_rows(pairs):
        rows += _list_gold(session, part, names)
        rows += _list_leases(session, Lease.pair_id.in_(part), names, batches)
        rows += _list_events(session, Lease.pair_id.in_(part), names)
        rows += _list_judgments(session, Judgment.pair_id.in_(part), names)
        subjects = [str(pair) for pair in part]
        rows += _list_decisions(session, study_id, "grade", subjects, names)
    for batch_ids in split_rows(sorted(batches)):
        for kind in ("batch", "payment"):
            rows += _list_decisions(session, study_id, kind, batch_ids, {})
    place = {what: order for order, what in enumerate(_ORDER)}
    never = min((row["at"] for row in rows if row["at"] is not None), default=None)
    rows.sort(key=lambda row: (row["at"] or never, place[row["what"]], row.pop("seq")))
    return rows


def _make_row(time: Any, what: str, text: str, seq: Any = 0, **values: Any) -> Row:
    row = dict.fromkeys(("doc_id", "who", "annotator_id", "batch_id", "campaign"))
    return {"at": time, "what": what, "text": text, **row, "facts": {}, "seq": seq, **values}


def _list_gold(session: Session, pairs: list[int], names: dict[int, str]) -> list[Row]:
    rows = session.scalars(select(Gold).where(Gold.pair_id.in_(pairs)).order_by(Gold.id))
    return [
        _make_row(
            None,
            "gold",
            f"gold, grade {gold.grade}" + ("" if gold.active else " (inactive)"),
            gold.id,
            doc_id=names[gold.pair_id],
            facts={"grade": gold.grade, "note": gold.note, "active": gold.active},
        )
        for gold in rows
    ]


def _list_leases(
    session: Session, where: ColumnElement[bool], names: dict[int, str], batches: set[str]
) -> list[Row]:
    rows: list[Row] = []
    leases = session.execute(
        select(Lease, Batch, Campaign.name, User.name)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .join(User, User.id == Lease.annotator_id)
        .where(where)
    )
    for lease, batch, campaign, name in leases:
        batches.add(batch.id)
        values = {
            "doc_id": names[lease.pair_id],
            "who": name,
            "annotator_id": lease.annotator_id,
            "batch_id": batch.id,
            "campaign": campaign,
        }
        action = "assigned as gold" if lease.gold_grade is not None else "assigned"
        facts = {"kind": batch.kind, "position": lease.position, "gold": lease.gold_grade}
        rows.append(
            _make_row(
                batch.opened_at, "lease", f"{action} in a batch", lease.id, facts=facts, **values
            )
        )
        if lease.state in ("expired", "returned") and lease.ended_at is not None:
            text = "time expired" if lease.state == "expired" else "returned without judgment"
            rows.append(_make_row(lease.ended_at, "ended", text, lease.id, **values))
    return rows


def _list_events(session: Session, where: ColumnElement[bool], names: dict[int, str]) -> list[Row]:
    events = session.execute(
        select(Event, Lease.pair_id, User.name)
        .join(Lease, Lease.id == Event.lease_id)
        .join(User, User.id == Event.annotator_id)
        .where(where)
    )
    return [
        _make_row(
            event.received_at,
            "event",
            f"action: {event.kind}, {event.outcome.get('status', '')}"
            + (f" ({event.outcome['reason']})" if event.outcome.get("reason") else ""),
            event.seq,
            doc_id=names[pair],
            who=name,
            annotator_id=event.annotator_id,
            batch_id=event.batch_id,
            facts={"kind": event.kind, **event.payload, "client_at": event.client_at},
        )
        for event, pair, name in events
    ]


def _list_judgments(
    session: Session, where: ColumnElement[bool], names: dict[int, str]
) -> list[Row]:
    judgments = session.execute(
        select(Judgment, Lease, Batch.valid, Campaign.name, User.name)
        .join(Lease, Lease.id == Judgment.lease_id)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Judgment.campaign_id)
        .join(User, User.id == Judgment.annotator_id)
        .where(where)
    )
    rows = []
    for judgment, lease, valid, campaign, name in judgments:
        stands = lease.judgment_seq == judgment.seq
        text = judgment.reason if judgment.label is None else f"label {judgment.label}"
        rows.append(
            _make_row(
                judgment.judged_at,
                "judgment",
                f"judgment: {text}" + ("" if stands else " (replaced)"),
                judgment.seq,
                doc_id=names[judgment.pair_id],
                who=name,
                annotator_id=judgment.annotator_id,
                batch_id=lease.batch_id,
                campaign=campaign,
                facts={
                    "label": judgment.label,
                    "reason": judgment.reason,
                    "active_ms": judgment.active_ms,
                    "idle_ms": judgment.idle_ms,
                    "state": lease.state if stands else "replaced",
                    "counts": stands and bool(valid) and lease.state == "judged",
                },
            )
        )
    return rows


def _list_decisions(
    session: Session, study_id: str, kind: str, subjects: list[str], names: dict[int, str]
) -> list[Row]:
    decisions = session.execute(
        select(Decision, User.name)
        .outerjoin(User, User.id == Decision.decided_by)
        .where(Decision.study_id == study_id, Decision.kind == kind)
        .where(Decision.subject.in_(subjects))
    )
    return [
        _make_row(
            decision.decided_at,
            "decision",
            f"{kind} {decision.verdict}" + (f": {decision.reason}" if decision.reason else ""),
            decision.seq,
            doc_id=names.get(int(decision.subject)) if kind == "grade" else None,
            who=name or "by rule",
            batch_id=None if kind == "grade" else decision.subject,
            facts={"kind": kind, "verdict": decision.verdict, **decision.facts},
        )
        for decision, name in decisions
    ]
