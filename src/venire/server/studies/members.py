"""Members of a study: list them, read and change their roles, pause and remove them."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict, NotFound, UnknownName
from venire.server.store.base import now
from venire.server.store.people import ROLES, Membership, User
from venire.server.store.work import Decision
from venire.server.studies.listing import Row


def list_members(session: Session, study_id: str) -> list[Row]:
    """Return all members of a study with their roles."""
    query = (
        select(
            User.id,
            User.name,
            User.login,
            Membership.role,
            Membership.joined_at,
            Membership.paused_at,
        )
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.study_id == study_id)
        .order_by(Membership.role, User.name)
    )
    names = ("user_id", "name", "login", "role", "joined_at", "paused_at")
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


def find_role(session: Session, study_id: str, user_id: str) -> str | None:
    """Return the role of a user in a study (owner, annotator, viewer), or None."""
    member = session.get(Membership, (study_id, user_id))
    return None if member is None else member.role


def find_access(session: Session, study_id: str, user_id: str) -> str | None:
    """Return the role of a user in a study, or None; also None for a paused owner or viewer.

    A paused annotator keeps the role, so that the pages can say that the work is paused.
    """
    member = session.get(Membership, (study_id, user_id))
    if member is None or (member.paused_at is not None and member.role != "annotator"):
        return None
    return member.role


def set_paused(
    session: Session, study_id: str, user_id: str, paused: bool, reason: str, by: str | None
) -> None:
    """Pause a member, or resume them; their judgments stay.

    A paused annotator sees no document and can hand in nothing; a paused owner or viewer sees
    nothing of the study.

    Raises
    ------
    NotFound
        No such member.
    Conflict
        The member is the last owner (code ``last-owner``).
    """
    member = _get_member(session, study_id, user_id)
    if paused:
        _keep_an_owner(session, study_id, user_id)
    member.paused_at = now() if paused else None
    member.pause_reason = reason if paused else None
    kind = "annotator" if member.role == "annotator" else "member"
    _decide(session, study_id, user_id, kind, "paused" if paused else "resumed", reason, by)


def set_role(session: Session, study_id: str, user_id: str, role: str, by: str | None) -> None:
    """Give a member another role.

    Raises
    ------
    UnknownName
        No such role.
    NotFound
        No such member.
    Conflict
        The member is the last owner (code ``last-owner``).
    """
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    member = _get_member(session, study_id, user_id)
    if role != "owner":
        _keep_an_owner(session, study_id, user_id)
    member.role = role
    _decide(session, study_id, user_id, "member", role, "", by)


def remove_member(session: Session, study_id: str, user_id: str, by: str | None) -> None:
    """Remove a member from a study; their judgments stay.

    Raises
    ------
    NotFound
        No such member.
    Conflict
        The member is the last owner (code ``last-owner``).
    """
    member = _get_member(session, study_id, user_id)
    _keep_an_owner(session, study_id, user_id)
    session.delete(member)
    _decide(session, study_id, user_id, "member", "removed", "", by)


def _get_member(session: Session, study_id: str, user_id: str) -> Membership:
    member = session.get(Membership, (study_id, user_id))
    if member is None:
        raise NotFound("member", user_id)
    return member


def _keep_an_owner(session: Session, study_id: str, user_id: str) -> None:
    """Refuse to take the last owner, who is not paused, from a study."""
    # The rows are locked, so that two owners cannot remove each other at once.
    owners = session.scalars(
        select(Membership)
        .where(Membership.study_id == study_id, Membership.role == "owner")
        .order_by(Membership.user_id)
        .with_for_update()
    ).all()
    others = [owner for owner in owners if owner.user_id != user_id and owner.paused_at is None]
    if not others and any(owner.user_id == user_id for owner in owners):
        raise Conflict(
            "This is the last owner of the study. Make somebody else an owner first.",
            code="last-owner",
        )


def _decide(
    session: Session,
    study_id: str,
    user_id: str,
    kind: str,
    verdict: str,
    reason: str,
    by: str | None,
) -> None:
    """Write a decision about a member down."""
    session.add(
        Decision(
            study_id=study_id,
            kind=kind,
            subject=user_id,
            verdict=verdict,
            reason=reason,
            facts={},
            decided_by=by,
        )
    )
    session.flush()
