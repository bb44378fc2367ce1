"""What to approve and what to reject of a platform's results, and what is left to its owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from venire.server.judging.review import explain_rejection
from venire.server.platforms.answers import NAMELESS, Assignment, Problems, once
from venire.server.platforms.importing import WRITERS, Desk, read_results


@dataclass(frozen=True)
class Decisions:
    """What to approve and reject.

    Attributes
    ----------
    file : bytes
        As the platform reads it.
    rows : list of dict
        ``assignment, worker, approve, counts, reason`` (for the owner), ``told`` (what the worker
        reads of a rejection).
    left : list of dict
        ``assignment, line, kind, text``: those of the result file that ``file`` says nothing of,
        and why.
    """

    file: bytes
    rows: list[dict[str, Any]]
    left: list[dict[str, Any]]


def decisions(
    session: Session,
    campaign_id: str,
    platform: str,
    path: str,
    *,
    columns: Mapping[str, str] | None = None,
) -> Decisions:
    """Decide on every assignment of a result file, or say why not.

    Payment that an owner decided comes first; else work is approved where its batch counts. What
    was paid or refused already on the platform is left out, and so is what was never imported.
    Workers are told the kind of reason only: nothing of gold.

    Parameters
    ----------
    session : Session
    campaign_id : str
    platform : "mturk" or "toloka"
    path : str
        The result file.
    columns : mapping, optional
        The platform's name of a column -> its name in the file.
    """
    campaign, problems, found = read_results(session, campaign_id, platform, path, columns)
    read = once(found, problems)
    desk = Desk(session, campaign, platform, Problems(), Counter(), campaign.created_at)
    made: dict[str, tuple[bool, str]] = {}
    rows: list[dict[str, Any]] = []
    left = [
        {"assignment": key, "line": line, "kind": "conflicting assignment",
         "text": "its rows contradict each other"}
        for key, line in problems.unread.items()
    ]  # fmt: skip
    left += [
        {"assignment": None, "line": row["line"], "kind": row["kind"], "text": row["text"]}
        for row in problems.rows
        if row["kind"] == NAMELESS
    ]
    for one in read:
        why = _left(desk, one)
        if why is not None:
            left.append({"assignment": one.id, "line": one.line, "kind": why[0], "text": why[1]})
            continue
        batch = desk.done[one.id]
        approve = batch.payment == "approved" or (batch.payment == "open" and bool(batch.valid))
        words = "" if approve else explain_rejection(batch)
        made[one.id] = (approve, words)
        rows.append(
            {
                "assignment": one.id,
                "worker": (batch.outside or {}).get("worker"),
                "approve": approve,
                "counts": batch.valid,
                "reason": batch.reason,
                "told": words,
            }
        )
    return Decisions(WRITERS[platform](path, columns or {}, made), rows, left)


def _left(desk: Desk, one: Assignment) -> tuple[str, str] | None:
    """The kind and the words of why nothing is decided of an assignment."""
    if one.status in ("approved", "rejected"):
        return f"{one.status} before", "the platform knows its decision already"
    if one.status != "submitted":
        return desk.refused(one)
    batch = desk.done.get(one.id)
    if batch is None:
        return desk.refused(one) or ("not imported", "import the file first")
    if batch.valid is None:
        return "not reviewed", "nothing in it was answered"
    return None
