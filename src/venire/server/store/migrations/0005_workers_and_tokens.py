"""Add practice gold, the browser and address of workers, signing keys, scopes, password resets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from venire.server.store.base import UtcTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Change the database."""
    op.add_column(
        "gold", sa.Column("practice", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    for name in ("browser_hash", "address_hash"):
        op.add_column("user", sa.Column(name, sa.String(64), nullable=True))
    op.create_index("ix_user_address", "user", ["campaign_id", "address_hash", "created_at"])
    op.add_column("invitation", sa.Column("signing_key", sa.String(64), nullable=True))
    # Alembic would add the CHECK in a statement of its own, which SQLite does not have.
    op.execute(
        sa.text(
            "ALTER TABLE token ADD COLUMN scope VARCHAR DEFAULT 'own' NOT NULL "
            "CONSTRAINT ck_token_scope CHECK (scope IN ('read', 'judge', 'own'))"
        )
    )
    op.add_column("token", sa.Column("expires_at", UtcTime(), nullable=True))
    op.create_table(
        "password_reset",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("used_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["user.id"], name="fk_password_reset_created_by"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_password_reset_user_id"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_password_reset"),
    )
    op.create_index("ix_password_reset_user_id", "password_reset", ["user_id"])
