"""Invitation links: for a person, for the workers of a crowd platform, for the first account."""

from __future__ import annotations

import secrets
from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotFound, UnknownName
from venire.server.store.base import now
from venire.server.store.people import ROLES, Invitation, Membership, User
from venire.server.store.studies import Study
from venire.server.studies.accounts import create_user, hash_secret
from venire.server.studies.campaigns import get_campaign
from venire.server.studies.members import find_role

INVITATION_TIME = timedelta(days=30)
FIRST_LINK_TIME = timedelta(days=1)


def create_first_link(session: Session) -> str | None:
    """Return the secret of the link that creates the first account; None if there is one."""
    if session.scalar(select(func.count()).select_from(User).where(User.login.is_not(None))):
        return None
    session.execute(
        update(Invitation)
        .where(Invitation.kind == "first", Invitation.used_at.is_(None))
        .values(revoked_at=now())
    )
    return _add_invitation(session, kind="first", role="owner", lasts=FIRST_LINK_TIME)


def create_invitation(
    session: Session,
    study_id: str,
    role: str,
    *,
    name: str = "",
    campaign_id: str | None = None,
    by: str | None = None,
) -> str:
    """Return the secret of a new invitation link.

    With a campaign it is a link for a crowd platform: each worker ID becomes one annotator.
    Without, it lets in one person, once.
    """
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    if campaign_id is not None:
        get_campaign(session, campaign_id, study_id)
        if role != "annotator":
            raise BadSetting(
                f"must be annotator for a campaign link (got {role})", argument="role", value=role
            )
    return _add_invitation(
        session,
        kind="person" if campaign_id is None else "campaign",
        signing_key=None if campaign_id is None else secrets.token_hex(24),
        role=role,
        study_id=study_id,
        campaign_id=campaign_id,
        name=name.strip()[:200],
        created_by=by,
    )


def read_signing_key(session: Session, secret: str) -> str | None:
    """Return the key with which a platform signs the links of workers; None for other links."""
    return find_invitation(session, secret).signing_key


def _add_invitation(
    session: Session, *, lasts: timedelta = INVITATION_TIME, **values: str | None
) -> str:
    secret = secrets.token_urlsafe(24)
    session.add(Invitation(token_hash=hash_secret(secret), expires_at=now() + lasts, **values))
    session.flush()
    return secret


def find_invitation(session: Session, secret: str, *, lock: bool = False) -> Invitation:
    """Return the invitation of a link that can still be used."""
    query = select(Invitation).where(Invitation.token_hash == hash_secret(secret))
    invitation = session.scalar(query.with_for_update() if lock else query)
    if invitation is None or invitation.revoked_at is not None:
        reason = "This link is incomplete or was revoked. Ask for a new link."
        raise NotFound("invitation", "", reason)
    if invitation.used_at is not None and invitation.kind != "campaign":
        raise Conflict("This link was already used. Sign in, or ask for a new link.")
    if invitation.expires_at < now():
        raise Conflict("This link has expired. Ask for a new link.")
    return invitation


def accept_invitation(session: Session, secret: str, name: str, login: str, password: str) -> User:
    """Create an account by an invitation; the link cannot be used again."""
    invitation = find_invitation(session, secret, lock=True)
    if invitation.kind == "campaign":
        raise Conflict("This link is for workers of a crowd platform. Open it from the platform.")
    user = create_user(session, name, login, password, may_create=invitation.role == "owner")
    invitation.used_at = now()
    if invitation.study_id is not None:
        session.add(Membership(study_id=invitation.study_id, user_id=user.id, role=invitation.role))
    if invitation.kind == "first":
        _take_unowned_studies(session, user.id)
    session.flush()
    return user


def _take_unowned_studies(session: Session, user_id: str) -> None:
    """Give all studies without an owner (from the command line) to the first account."""
    owned = select(Membership.study_id).where(Membership.role == "owner")
    for study_id in session.scalars(select(Study.id).where(Study.id.not_in(owned))):
        session.add(Membership(study_id=study_id, user_id=user_id, role="owner"))


def join_study(session: Session, secret: str, user_id: str) -> str | None:
    """Add a user with an account to a study by an invitation; return the ID of the study."""
    invitation = find_invitation(session, secret, lock=True)
    if invitation.kind != "person" or invitation.study_id is None:
        raise Conflict("This link creates a new account. Sign out, then open it again.")
    if (role := find_role(session, invitation.study_id, user_id)) is not None:
        raise Conflict(f"You are already in this study (role: {role}). Give the link to others.")
    session.add(Membership(study_id=invitation.study_id, user_id=user_id, role=invitation.role))
    invitation.used_at = now()
    session.flush()
    return invitation.study_id


def list_invitations(session: Session, study_id: str) -> list[Invitation]:
    """Return the links of a study that can still be used."""
    query = select(Invitation).where(
        Invitation.study_id == study_id,
        Invitation.revoked_at.is_(None),
        Invitation.expires_at > now(),
    )
    return [
        invitation
        for invitation in session.scalars(query.order_by(Invitation.created_at))
        if invitation.kind == "campaign" or invitation.used_at is None
    ]


def revoke_invitation(session: Session, study_id: str, invitation_id: str) -> None:
    """Revoke a link."""
    invitation = session.get(Invitation, invitation_id)
    if invitation is None or invitation.study_id != study_id:
        raise NotFound("invitation", invitation_id)
    invitation.revoked_at = invitation.revoked_at or now()
