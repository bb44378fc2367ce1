"""Add the table of wrong passwords, so that all processes count them together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from venire.server.store.base import UtcTime

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Change the database."""
    op.create_table(
        "password_try",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("tried_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_password_try"),
    )
    op.create_index("ix_password_try_key", "password_try", ["key", "tried_at"])
