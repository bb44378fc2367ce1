"""Tables of users: their roles in studies, sign-ins, API tokens, invitations."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from venire.server.store.base import Base, is_one_of, new_id, now

ROLES = ("owner", "annotator", "viewer")
SCOPES = ("read", "judge", "own")
"""What a token may do: read, judge too, or everything its user may do."""


class User(Base):
    """A person with a password, from an invitation, or a worker of a crowd platform.

    ``worker`` is the worker ID of the platform; it is unique within a campaign. ``browser_hash``
    is that of the cookie of the browser that holds the ID, ``address_hash`` that of the address
    from which it first came.
    """

    __tablename__ = "user"
    __table_args__ = (
        UniqueConstraint("campaign_id", "worker"),
        Index("ix_user_address", "campaign_id", "address_hash", "created_at"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    login: Mapped[str | None] = mapped_column(unique=True)
    password_hash: Mapped[str | None]
    campaign_id: Mapped[str | None]
    worker: Mapped[str | None]
    browser_hash: Mapped[str | None] = mapped_column(String(64))
    address_hash: Mapped[str | None] = mapped_column(String(64))
    may_create: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Membership(Base):
    """The role of a user in a study. An annotator can be paused."""

    __tablename__ = "membership"
    __table_args__ = (CheckConstraint(is_one_of("role", ROLES), name="role"),)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    role: Mapped[str]
    paused_at: Mapped[datetime | None]
    pause_reason: Mapped[str | None]
    joined_at: Mapped[datetime] = mapped_column(default=now)


class SignIn(Base):
    """A signed-in browser. The cookie holds the token, the table its hash."""

    __tablename__ = "sign_in"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]


class PasswordTry(Base):
    """A try of a password, not known to be right; ``key`` is the hash of what it counts for."""

    __tablename__ = "password_try"
    __table_args__ = (Index("ix_password_try_key", "key", "tried_at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(64))
    tried_at: Mapped[datetime]


class Token(Base):
    """An API token of a user; only its hash is stored."""

    __tablename__ = "token"
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"), index=True)
    name: Mapped[str]
    scope: Mapped[str] = mapped_column(
        CheckConstraint(is_one_of("scope", SCOPES), name="scope"),
        default="own",
        server_default=text("'own'"),
    )
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class PasswordReset(Base):
    """A link with which a user sets a new password, once."""

    __tablename__ = "password_reset"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("user.id"), index=True)
    created_by: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Invitation(Base):
    """An invitation link.

    ``kind`` is ``first`` (creates the first account), ``person`` (one annotator, viewer or owner)
    or ``campaign`` (workers of a crowd platform, one user per worker ID). With ``signing_key`` a
    platform signs the address of a worker.
    """

    __tablename__ = "invitation"
    __table_args__ = (CheckConstraint("kind IN ('first', 'person', 'campaign')", name="kind"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str]
    role: Mapped[str]
    study_id: Mapped[str | None] = mapped_column(ForeignKey("study.id"), index=True)
    campaign_id: Mapped[str | None]
    name: Mapped[str] = mapped_column(default="")
    signing_key: Mapped[str | None] = mapped_column(String(64))
    created_by: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
