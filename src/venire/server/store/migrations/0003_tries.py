"""Add the number of tries of a job, and an index of practice and qualification batches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Change the database."""
    op.add_column(
        "job", sa.Column("tries", sa.Integer(), nullable=False, server_default=sa.text("0"))
    )
    op.create_index(
        "ix_batch_before_work",
        "batch",
        ["annotator_id", "campaign_id"],
        unique=False,
        sqlite_where=sa.text("kind <> 'work'"),
        postgresql_where=sa.text("kind <> 'work'"),
    )
    # Queries for documents that an annotator has seen go by task, or by pair for gold only.
    op.drop_index("ix_lease_annotator_pair", "lease")
