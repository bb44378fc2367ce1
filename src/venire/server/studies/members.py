"""Members of a study: list them, read their roles, pause annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.base import now
from venire.server.store.people import Membership, User
from venire.server.store.work import Decision

if TYPE_CHECKING:
    pass
from venire.server.studies.listing import Row


def list_members(session: Session, study_id: str) -> list[Row]:
    """Return all members of a study with their roles."""
    query = (
        select(User.id, User.name, User.login, Membership.role, Membership.joined_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.study_id == study_id)
        .order_by(Membership.role, User.name)
    )
    names = ("user_id", "name", "login", "role", "joined_at")
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


def find_role(session: Session, study_id: str, user_id: str) -> str | None:
    """Return the role of a user in a study (owner, annotator, viewer), or None."""
    member = session.get(Membership, (study_id, user_id))
    return None if member is None else member.role


def set_paused(
    session: Session, study_id: str, user_id: str, paused: bool, reason: str, by: str | None
) -> None:
    """Pause an annotator, or resume them; their judgments stay."""
    member = session.get(Membership, (study_id, user_id))
    if member is None or member.role == "viewer":
        raise NotFound("annotator", user_id)
    member.paused_at = now() if paused else None
    member.pause_reason = reason if paused else None
    session.add(
        Decision(
            study_id=study_id,
            kind="annotator",
            subject=user_id,
            verdict="paused" if paused else "resumed",
            reason=reason,
            facts={},
            decided_by=by,
        )
    )
    session.flush()
