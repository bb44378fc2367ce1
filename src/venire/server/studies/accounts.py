"""Accounts: passwords, signing in, API tokens. Secrets are stored as hashes only."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotAllowed, NotFound
from venire.server.store.base import now
from venire.server.store.people import SignIn, Token, User

if TYPE_CHECKING:
    from pwdlib import PasswordHash

SIGN_IN_TIME = timedelta(days=14)
MIN_PASSWORD_LENGTH = 10
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


@cache
def _get_dummy_hash() -> str:
    """Return a hash to compare with if there is no such user, so that both cases take as long."""
    return _get_hasher().hash(secrets.token_urlsafe(16))


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
        password_hash=_get_hasher().hash(password),
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
        user_id = session.scalar(select(User.id).where(User.login == login.strip().casefold()))
        if user_id is None:
            raise NotFound("account", login)
        return user_id
    makers = session.scalars(select(User.id).where(User.may_create).limit(2)).all()
    return makers[0] if len(makers) == 1 else None


def check_password(session: Session, login: str, password: str) -> User:
    """Return the user with that login and password; the error does not say which one is wrong."""
    user = session.scalar(select(User).where(User.login == login.strip().casefold()))
    known = user.password_hash if user is not None and user.password_hash else _get_dummy_hash()
    if len(password) > 1000 or not _get_hasher().verify(password, known) or user is None:
        raise NotAllowed("Wrong login or password. Try again.", sign_in=True)
    return user


def change_password(session: Session, user_id: str, old: str, new: str) -> None:
    """Change the password of an account, and sign out all its browsers.

    Raises
    ------
    NotAllowed
        The old password is not right, or the account has none.
    BadSetting
        The new one is too short.
    """
    user = session.get(User, user_id)
    known = user.password_hash if user is not None and user.password_hash else _get_dummy_hash()
    if len(old) > 1000 or not _get_hasher().verify(old, known) or user is None:
        raise NotAllowed("The current password is wrong. Try again.")
    if not MIN_PASSWORD_LENGTH <= len(new) <= 1000:
        raise BadSetting(_PASSWORD_LENGTH)
    user.password_hash = _get_hasher().hash(new)
    session.execute(delete(SignIn).where(SignIn.user_id == user_id))
    session.flush()


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


def find_user_by_token(session: Session, secret: str) -> User | None:
    """Return the user of an API token, or None."""
    query = select(User).join(Token, Token.user_id == User.id)
    return session.scalar(
        query.where(Token.token_hash == hash_secret(secret), Token.revoked_at.is_(None))
    )


def create_token(session: Session, user_id: str, name: str) -> tuple[Token, str]:
    """Create an API token; return it with its secret, which is not stored."""
    secret = "venire_" + secrets.token_urlsafe(32)
    token = Token(
        token_hash=hash_secret(secret), user_id=user_id, name=name.strip()[:200] or "token"
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
