"""Users: accounts, signing in, invitations, roles, tokens. Secrets are kept as hashes only."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotAllowed, NotFound
from venire.server.store.base import now
from venire.server.store.judging import Campaign
from venire.server.store.people import ROLES, Invitation, Membership, SignIn, Token, User
from venire.server.store.studies import Study
from venire.server.store.work import Decision
from venire.server.studies.campaigns import get_campaign

if TYPE_CHECKING:
    from pwdlib import PasswordHash

SIGNED_IN = timedelta(days=14)
INVITED = timedelta(days=30)
FIRST = timedelta(days=1)
LEAST_PASSWORD = 10


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@cache
def _passwords() -> PasswordHash:
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def _nobody() -> str:
    """A hash to compare with where there is no user, so that both answers take as long."""
    return _passwords().hash(secrets.token_urlsafe(16))


def create_user(
    session: Session, name: str, login: str, password: str, *, may_create: bool = False
) -> User:
    """Make an account with a password.

    Raises
    ------
    BadSetting
        A short password, or no name.
    Conflict
        The login is taken.
    """
    name, login = name.strip()[:200], login.strip().casefold()[:200]
    if not name or not login:
        raise BadSetting("an account needs a name and a login")
    if not LEAST_PASSWORD <= len(password) <= 1000:
        raise BadSetting(f"a password has at least {LEAST_PASSWORD} characters")
    if session.scalar(select(User.id).where(User.login == login)) is not None:
        raise Conflict("this login is taken; choose another one")
    user = User(
        name=name,
        login=login,
        password_hash=_passwords().hash(password),
        may_create=may_create,
    )
    session.add(user)
    session.flush()
    return user


def maker(session: Session, login: str | None) -> str | None:
    """Who a new study belongs to: the account of that login, else the only one that may make one.

    Raises
    ------
    NotFound
        No such login.
    """
    if login is not None:
        found = session.scalar(select(User.id).where(User.login == login.strip().casefold()))
        if found is None:
            raise NotFound("account", login)
        return found
    makers = session.scalars(select(User.id).where(User.may_create).limit(2)).all()
    return makers[0] if len(makers) == 1 else None


def check_password(session: Session, login: str, password: str) -> User:
    """The user of that login and password; who is wrong is not told what was wrong."""
    user = session.scalar(select(User).where(User.login == login.strip().casefold()))
    known = user.password_hash if user is not None and user.password_hash else _nobody()
    if len(password) > 1000 or not _passwords().verify(password, known) or user is None:
        raise NotAllowed("login or password is not right", sign_in=True)
    return user


def change_password(session: Session, user_id: str, old: str, new: str) -> None:
    """Give an account another password; all its browsers are signed out.

    Raises
    ------
    NotAllowed
        The old password is not right, or the account has none.
    BadSetting
        The new one is too short.
    """
    user = session.get(User, user_id)
    known = user.password_hash if user is not None and user.password_hash else _nobody()
    if len(old) > 1000 or not _passwords().verify(old, known) or user is None:
        raise NotAllowed("the password you have now is not right")
    if not LEAST_PASSWORD <= len(new) <= 1000:
        raise BadSetting(f"a password has at least {LEAST_PASSWORD} characters")
    user.password_hash = _passwords().hash(new)
    session.execute(delete(SignIn).where(SignIn.user_id == user_id))
    session.flush()


def sign_in(session: Session, user_id: str, at: datetime | None = None) -> str:
    """A new secret for a browser's cookie; every sign-in makes its own."""
    secret = secrets.token_urlsafe(32)
    at = at or now()
    session.add(SignIn(token_hash=_hash(secret), user_id=user_id, expires_at=at + SIGNED_IN))
    session.execute(delete(SignIn).where(SignIn.expires_at < at))
    session.flush()
    return secret


def sign_out(session: Session, secret: str) -> None:
    """Forget a browser."""
    session.execute(delete(SignIn).where(SignIn.token_hash == _hash(secret)))


def user_of_cookie(session: Session, secret: str, at: datetime | None = None) -> User | None:
    """The user of a cookie, or None where it is unknown or has run out."""
    return session.scalar(_OF_COOKIE, {"token": _hash(secret), "at": at or now()})


# Made once: making a statement takes longer than running it, and every request asks this one.
_OF_COOKIE = (
    select(User)
    .join(SignIn, SignIn.user_id == User.id)
    .where(SignIn.token_hash == bindparam("token"), SignIn.expires_at > bindparam("at"))
)


def user_of_token(session: Session, secret: str) -> User | None:
    """The user of an API token, or None."""
    query = select(User).join(Token, Token.user_id == User.id)
    return session.scalar(
        query.where(Token.token_hash == _hash(secret), Token.revoked_at.is_(None))
    )


def make_token(session: Session, user_id: str, name: str) -> tuple[Token, str]:
    """An API token; its secret is shown this once."""
    secret = "venire_" + secrets.token_urlsafe(32)
    token = Token(token_hash=_hash(secret), user_id=user_id, name=name.strip()[:200] or "token")
    session.add(token)
    session.flush()
    return token, secret


def revoke_token(session: Session, user_id: str, token_id: str) -> None:
    """Make a token useless."""
    token = session.get(Token, token_id)
    if token is None or token.user_id != user_id:
        raise NotFound("token", token_id)
    token.revoked_at = token.revoked_at or now()


def tokens(session: Session, user_id: str) -> list[Token]:
    """A user's tokens that still work."""
    query = select(Token).where(Token.user_id == user_id, Token.revoked_at.is_(None))
    return list(session.scalars(query.order_by(Token.created_at)))


def role_in(session: Session, study_id: str, user_id: str) -> str | None:
    """What a user is in a study: owner, annotator, viewer, or nothing."""
    member = session.get(Membership, (study_id, user_id))
    return None if member is None else member.role


def first_link(session: Session) -> str | None:
    """The secret of the link that makes the first account; None where there is one already."""
    if session.scalar(select(func.count()).select_from(User).where(User.login.is_not(None))):
        return None
    session.execute(
        update(Invitation)
        .where(Invitation.kind == "first", Invitation.used_at.is_(None))
        .values(revoked_at=now())
    )
    return _invite(session, kind="first", role="owner", lasts=FIRST)


def invite(
    session: Session,
    study_id: str,
    role: str,
    *,
    name: str = "",
    campaign_id: str | None = None,
    by: str | None = None,
) -> str:
    """The secret of an invitation link.

    With a campaign it is a link for a crowd platform: each worker id becomes one annotator.
    Without, it lets in one person, once.
    """
    if role not in ROLES:
        raise BadSetting(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    if campaign_id is not None:
        get_campaign(session, campaign_id, study_id)
        if role != "annotator":
            raise BadSetting("a campaign link lets in annotators only")
    return _invite(
        session,
        kind="person" if campaign_id is None else "campaign",
        role=role,
        study_id=study_id,
        campaign_id=campaign_id,
        name=name.strip()[:200],
        created_by=by,
    )


def _invite(session: Session, *, lasts: timedelta = INVITED, **values: str | None) -> str:
    secret = secrets.token_urlsafe(24)
    session.add(Invitation(token_hash=_hash(secret), expires_at=now() + lasts, **values))
    session.flush()
    return secret


def invitation(session: Session, secret: str, *, lock: bool = False) -> Invitation:
    """The invitation of a link that still works."""
    query = select(Invitation).where(Invitation.token_hash == _hash(secret))
    found = session.scalar(query.with_for_update() if lock else query)
    if found is None or found.revoked_at is not None:
        why = "this link leads nowhere: a part of it is missing, or it was taken back"
        raise NotFound("invitation", "", f"{why}; ask for a new one")
    if found.used_at is not None and found.kind != "campaign":
        raise Conflict("this link was used already; sign in, or ask for a new one")
    if found.expires_at < now():
        raise Conflict("this link has run out; ask for a new one")
    return found


def accept(session: Session, secret: str, name: str, login: str, password: str) -> User:
    """Make an account by an invitation; the link works no more."""
    found = invitation(session, secret, lock=True)
    if found.kind == "campaign":
        raise Conflict("this link is for workers of a crowd platform")
    user = create_user(session, name, login, password, may_create=found.role == "owner")
    found.used_at = now()
    if found.study_id is not None:
        session.add(Membership(study_id=found.study_id, user_id=user.id, role=found.role))
    if found.kind == "first":
        _own_the_unowned(session, user.id)
    session.flush()
    return user


def _own_the_unowned(session: Session, user_id: str) -> None:
    """Studies made on the command line have no owner: they become the first account's."""
    owned = select(Membership.study_id).where(Membership.role == "owner")
    for study_id in session.scalars(select(Study.id).where(Study.id.not_in(owned))):
        session.add(Membership(study_id=study_id, user_id=user_id, role="owner"))


def join(session: Session, secret: str, user_id: str) -> str | None:
    """Let a user who has an account into a study by an invitation; the study's id."""
    found = invitation(session, secret, lock=True)
    if found.kind != "person" or found.study_id is None:
        raise Conflict("this link makes a new account; open it where nobody is signed in")
    if (there := role_in(session, found.study_id, user_id)) is not None:
        raise Conflict(f"you are in this study already, as {there}; the link can go to others")
    session.add(Membership(study_id=found.study_id, user_id=user_id, role=found.role))
    found.used_at = now()
    session.flush()
    return found.study_id


def worker(session: Session, secret: str, worker_id: str) -> tuple[User, str]:
    """The annotator behind a platform's worker id, and the campaign; the same id, the same user."""
    found = invitation(session, secret)
    if found.kind != "campaign" or found.campaign_id is None or found.study_id is None:
        raise Conflict("this link is for one person, not for a crowd platform")
    if not worker_id.strip() or len(worker_id) > 200:
        raise BadSetting("the platform gave no worker id; open the link from the platform")
    if _UNFILLED.fullmatch(worker_id.strip()):
        raise BadSetting(
            f"this link has {worker_id.strip()!r} where your worker id should be: the platform did "
            "not fill it in. Open the task from the platform; if it says this again, tell the "
            "requester that the link must be entered where the platform fills in such placeholders"
        )
    campaign = get_campaign(session, found.campaign_id)
    return worker_user(session, campaign, worker_id), campaign.id


# A placeholder that no platform has filled in, as {{%PROLIFIC_PID%}}, ${workerId}, %workerId%,
# {{workerId}}, [workerId], <workerId>, $workerId or …; the bare name of one; MTurk's of a preview.
_UNFILLED = re.compile(
    r"""\{.*\} | \$.* | %.*% | \[.*\] | <.*> | \.{3} | … | ASSIGNMENT_ID_NOT_AVAILABLE
    | (?:(?:assignment|annotator|participant|prolific)[ _-]?)? (?:worker|user|pid) (?:[ _-]?id)?
    | (?:worker|participant|annotator|assignment)[ _-]?id""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def worker_user(session: Session, campaign: Campaign, worker_id: str) -> User:
    """The annotator behind a platform's worker id in a campaign, made where there is none."""
    user = session.scalar(
        select(User).where(User.campaign_id == campaign.id, User.worker == worker_id)
    )
    if user is None:
        user = User(name=f"worker {worker_id}", campaign_id=campaign.id, worker=worker_id)
        session.add(user)
        session.flush()
        session.add(Membership(study_id=campaign.study_id, user_id=user.id, role="annotator"))
        session.flush()
    return user


def invitations(session: Session, study_id: str) -> list[Invitation]:
    """Links of a study that still work."""
    query = select(Invitation).where(
        Invitation.study_id == study_id,
        Invitation.revoked_at.is_(None),
        Invitation.expires_at > now(),
    )
    return [
        one
        for one in session.scalars(query.order_by(Invitation.created_at))
        if one.kind == "campaign" or one.used_at is None
    ]


def revoke_invitation(session: Session, study_id: str, invitation_id: str) -> None:
    """Make a link useless."""
    found = session.get(Invitation, invitation_id)
    if found is None or found.study_id != study_id:
        raise NotFound("invitation", invitation_id)
    found.revoked_at = found.revoked_at or now()


def pause(
    session: Session, study_id: str, user_id: str, paused: bool, reason: str, by: str | None
) -> None:
    """Give an annotator no more batches, or again; what they did stays."""
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
