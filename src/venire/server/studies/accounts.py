"""Accounts: passwords, signing in, API tokens. Secrets are stored as hashes only."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, or_, select, update
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotAllowed, NotFound, StoreError, UnknownName
from venire.server.store.base import now
from venire.server.store.people import SCOPES, Membership, PasswordReset, SignIn, Token, User

if TYPE_CHECKING:
    from pwdlib import PasswordHash

SIGN_IN_TIME = timedelta(days=14)
RESET_TIME = timedelta(days=1)
TOKEN_DAYS = 90
"""Days until a token expires."""
MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 10, 1000
HASHES_AT_ONCE = 2
"""Passwords that one process hashes at the same time."""
TURN_SECONDS = 5.0
"""Seconds that a sign-in waits for its turn."""
BUSY = "sign-in-busy"
"""Code of the error where too many wait to sign in."""
_turns = threading.BoundedSemaphore(HASHES_AT_ONCE)
_PASSWORD_LENGTH = (
    f"The password must have {MIN_PASSWORD_LENGTH} to 1,000 characters. Enter another password."
)


def hash_secret(secret: str) -> str:
    """Return the hash under which a secret is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


@cache
def _get_hasher() -> PasswordHash:
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@contextmanager
def _take_turn() -> Iterator[None]:
    """Let few passwords be hashed at a time: each takes 64 MB.

    Raises
    ------
    StoreError
        Too many wait (code ``sign-in-busy``).
    """
    if not _turns.acquire(timeout=TURN_SECONDS):
        raise StoreError(
            "Too many people sign in at the moment. Try again in a few seconds.", code=BUSY
        )
    try:
        yield
    finally:
        _turns.release()


def _hash_password(password: str) -> str:
    with _take_turn():
        return _get_hasher().hash(password)


def _is_password(password: str, known: str) -> bool:
    if len(password) > MAX_PASSWORD_LENGTH:
        return False
    with _take_turn():
        return _get_hasher().verify(password, known)


@cache
def _get_dummy_hash() -> str:
    """Return a hash to compare with if there is no such user, so that both cases take as long."""
    return _hash_password(secrets.token_urlsafe(16))


def create_user(
    session: Session, name: str, login: str, password: str, *, may_create: bool = False
) -> User:
    """Create an account with a password.

    Raises
    ------
    BadSetting
        A short password, or no name.
    Conflict
        The login is taken.
    """
    name, login = name.strip()[:200], login.strip().casefold()[:200]
    if not name:
        raise BadSetting("is empty. Enter a name.", argument="name")
    if not login:
        raise BadSetting("is empty. Enter a login.", argument="login")
    if not MIN_PASSWORD_LENGTH <= len(password) <= 1000:
        raise BadSetting(_PASSWORD_LENGTH)
    if session.scalar(select(User.id).where(User.login == login)) is not None:
        raise Conflict("This login already exists. Choose another login.")
    user = User(
        name=name,
        login=login,
        password_hash=_hash_password(password),
        may_create=may_create,
    )
    session.add(user)
    session.flush()
    return user


def choose_owner(session: Session, login: str | None) -> str | None:
    """Return the owner of a new study: that account, else the only one that may create studies.

    Raises
    ------
    NotFound
        No such login.
    """
    if login is not None:
        return find_account(session, login).id
    makers = session.scalars(select(User.id).where(User.may_create).limit(2)).all()
    return makers[0] if len(makers) == 1 else None


def check_password(session: Session, login: str, password: str) -> User:
    """Return the user with that login and password; the error does not say which one is wrong."""
    user = session.scalar(select(User).where(User.login == login.strip().casefold()))
    known = user.password_hash if user is not None and user.password_hash else _get_dummy_hash()
    if not _is_password(password, known) or user is None:
        raise NotAllowed("Wrong login or password. Try again.", sign_in=True)
    return user


def change_password(session: Session, user_id: str, old: str, new: str) -> None:
    """Change the password of an account; sign out its browsers, revoke its tokens.

    Raises
    ------
    NotAllowed
        The old password is not right, or the account has none.
    BadSetting
        The new one is too short.
    """
    user = session.get(User, user_id)
    known = user.password_hash if user is not None and user.password_hash else _get_dummy_hash()
    if not _is_password(old, known) or user is None:
        raise NotAllowed("The current password is wrong. Try again.")
    if not MIN_PASSWORD_LENGTH <= len(new) <= 1000:
        raise BadSetting(_PASSWORD_LENGTH)
    _set_password(session, user, new)


def _set_password(session: Session, user: User, password: str) -> None:
    """Set a new password; sign out all browsers and revoke all tokens of the account."""
    user.password_hash = _hash_password(password)
    session.execute(delete(SignIn).where(SignIn.user_id == user.id))
    session.execute(
        update(Token)
        .where(Token.user_id == user.id, Token.revoked_at.is_(None))
        .values(revoked_at=now())
        .execution_options(synchronize_session=False)
    )
    session.flush()


def create_password_reset(session: Session, user_id: str, by: str | None) -> str:
    """Return the secret of a link with which an account gets a new password, once.

    An owner (``by``) can do so for accounts that are only in studies that they own: a link to
    another account would open studies that are not theirs.

    Raises
    ------
    NotFound
        No such account with a password.
    NotAllowed
        The account is also in a study of others (code ``other-study``).
    """
    user = session.get(User, user_id)
    if user is None or user.login is None:
        raise NotFound("account", user_id)
    if by is not None:
        owned = select(Membership.study_id).where(
            Membership.user_id == by, Membership.role == "owner", Membership.paused_at.is_(None)
        )
        elsewhere = select(Membership.study_id).where(
            Membership.user_id == user_id, Membership.study_id.not_in(owned)
        )
        if session.scalar(elsewhere.limit(1)) is not None:
            raise NotAllowed(
                f"{user.name} is also in a study that you do not own. Ask whoever runs the server "
                "for a link.",
                code="other-study",
            )
    secret = secrets.token_urlsafe(24)
    time = now()
    session.execute(
        update(PasswordReset)
        .where(PasswordReset.user_id == user_id, PasswordReset.used_at.is_(None))
        .values(used_at=time)
        .execution_options(synchronize_session=False)
    )
    session.add(
        PasswordReset(
            token_hash=hash_secret(secret),
            user_id=user_id,
            created_by=by,
            expires_at=time + RESET_TIME,
        )
    )
    session.flush()
    return secret


def find_password_reset(session: Session, secret: str, *, lock: bool = False) -> PasswordReset:
    """Return the reset of a link that can still be used.

    Raises
    ------
    NotFound
        The link is unknown.
    Conflict
        The link was used, replaced by another one, or has expired.
    """
    query = select(PasswordReset).where(PasswordReset.token_hash == hash_secret(secret))
    reset = session.scalar(query.with_for_update() if lock else query)
    if reset is None:
        raise NotFound("link", "", "This link is incomplete. Ask for a new link.")
    if reset.used_at is not None or reset.expires_at < now():
        raise Conflict("This link was used or has expired. Ask for a new link.")
    return reset


def reset_password(session: Session, secret: str, password: str) -> User:
    """Set the password of an account by a link; the link cannot be used again."""
    reset = find_password_reset(session, secret, lock=True)
    if not MIN_PASSWORD_LENGTH <= len(password) <= 1000:
        raise BadSetting(_PASSWORD_LENGTH)
    user = session.get_one(User, reset.user_id)
    reset.used_at = now()
    _set_password(session, user, password)
    return user


def find_account(session: Session, login: str) -> User:
    """Return the account with that login.

    Raises
    ------
    NotFound
    """
    user = session.scalar(select(User).where(User.login == login.strip().casefold()))
    if user is None:
        raise NotFound("account", login)
    return user


def sign_in(session: Session, user_id: str, time: datetime | None = None) -> str:
    """Return a new secret for the cookie of a browser."""
    secret = secrets.token_urlsafe(32)
    time = time or now()
    session.add(
        SignIn(token_hash=hash_secret(secret), user_id=user_id, expires_at=time + SIGN_IN_TIME)
    )
    session.execute(delete(SignIn).where(SignIn.expires_at < time))
    session.flush()
    return secret


def sign_out(session: Session, secret: str) -> None:
    """Sign out a browser."""
    session.execute(delete(SignIn).where(SignIn.token_hash == hash_secret(secret)))


def find_user_by_cookie(session: Session, secret: str, time: datetime | None = None) -> User | None:
    """Return the user of a cookie, or None if it is unknown or has expired."""
    return session.scalar(_BY_COOKIE, {"token": hash_secret(secret), "at": time or now()})


# Built once: building a statement takes longer than running it, and every request runs this one.
_BY_COOKIE = (
    select(User)
    .join(SignIn, SignIn.user_id == User.id)
    .where(SignIn.token_hash == bindparam("token"), SignIn.expires_at > bindparam("at"))
)


def find_user_by_token(
    session: Session, secret: str, time: datetime | None = None
) -> tuple[User, str] | None:
    """Return the user of an API token and its scope, or None if it is unknown or has expired."""
    row = session.execute(
        select(User, Token.scope)
        .join(Token, Token.user_id == User.id)
        .where(
            Token.token_hash == hash_secret(secret),
            Token.revoked_at.is_(None),
            or_(Token.expires_at.is_(None), Token.expires_at > (time or now())),
        )
    ).first()
    return None if row is None else (row[0], row[1])


def create_token(
    session: Session, user_id: str, name: str, *, scope: str = "own", days: int = TOKEN_DAYS
) -> tuple[Token, str]:
    """Create an API token; return it with its secret, which is not stored.

    Parameters
    ----------
    scope : "read", "judge" or "own"
        What a program may do with it: read; judge too; or what its user may do.
    days : int
        Days until it expires.
    """
    if scope not in SCOPES:
        raise UnknownName("scope", scope, SCOPES)
    secret = "venire_" + secrets.token_urlsafe(32)
    token = Token(
        token_hash=hash_secret(secret),
        user_id=user_id,
        name=name.strip()[:200] or "token",
        scope=scope,
        expires_at=now() + timedelta(days=days),
    )
    session.add(token)
    session.flush()
    return token, secret


def revoke_token(session: Session, user_id: str, token_id: str) -> None:
    """Revoke an API token."""
    token = session.get(Token, token_id)
    if token is None or token.user_id != user_id:
        raise NotFound("token", token_id)
    token.revoked_at = token.revoked_at or now()


def list_tokens(session: Session, user_id: str) -> list[Token]:
    """Return the tokens of a user that are not revoked."""
    query = select(Token).where(Token.user_id == user_id, Token.revoked_at.is_(None))
    return list(session.scalars(query.order_by(Token.created_at)))
