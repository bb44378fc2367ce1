"""Create users, studies and the parts of studies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from venire.server.store.base import UtcTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Change the database."""
    op.create_table(
        "user",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("login", sa.String(), nullable=True),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("campaign_id", sa.String(), nullable=True),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("may_create", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user")),
        sa.UniqueConstraint("campaign_id", "worker", name=op.f("uq_user_campaign_id_worker")),
        sa.UniqueConstraint("login", name=op.f("uq_user_login")),
    )
    op.create_table(
        "sign_in",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_sign_in_user_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sign_in")),
    )
    op.create_index(op.f("ix_sign_in_user_id"), "sign_in", ["user_id"], unique=False)
    op.create_table(
        "study",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("instructions", sa.Text(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["user.id"], name=op.f("fk_study_created_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("revoked_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_token_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_token_token_hash")),
    )
    op.create_index(op.f("ix_token_user_id"), "token", ["user_id"], unique=False)
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("doc_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("media", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('text', 'html', 'entity', 'image')", name=op.f("ck_document_kind")
        ),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_document_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("study_id", "doc_id", name=op.f("uq_document_study_id_doc_id")),
    )
    op.create_table(
        "invitation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=True),
        sa.Column("campaign_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("used_at", UtcTime(), nullable=True),
        sa.Column("revoked_at", UtcTime(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('first', 'person', 'campaign')", name=op.f("ck_invitation_kind")
        ),
        sa.ForeignKeyConstraint(["created_by"], ["user.id"], name=op.f("fk_invitation_created_by")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_invitation_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitation_token_hash")),
    )
    op.create_index(op.f("ix_invitation_study_id"), "invitation", ["study_id"], unique=False)
    op.create_table(
        "membership",
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("paused_at", UtcTime(), nullable=True),
        sa.Column("pause_reason", sa.String(), nullable=True),
        sa.Column("joined_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "role IN ('owner', 'annotator', 'viewer')", name=op.f("ck_membership_role")
        ),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_membership_study_id")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_membership_user_id")),
        sa.PrimaryKeyConstraint("study_id", "user_id", name=op.f("pk_membership")),
    )
    op.create_index(op.f("ix_membership_user_id"), "membership", ["user_id"], unique=False)
    op.create_table(
        "study_file",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("added_at", UtcTime(), nullable=False),
        sa.CheckConstraint("kind IN ('run', 'qrels', 'vectors')", name=op.f("ck_study_file_kind")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_file_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_file")),
        sa.UniqueConstraint(
            "study_id", "kind", "name", name=op.f("uq_study_file_study_id_kind_name")
        ),
    )
    op.create_table(
        "topic",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("narrative", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_topic_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic")),
        sa.UniqueConstraint("study_id", "query_id", name=op.f("uq_topic_study_id_query_id")),
    )
    op.create_table(
        "pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("pooled", sa.Boolean(), nullable=False),
        sa.Column("cluster", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_pair_document_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_pair_study_id")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_pair_topic_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pair")),
        sa.UniqueConstraint("topic_id", "document_id", name=op.f("uq_pair_topic_id_document_id")),
    )
    op.create_index(op.f("ix_pair_study_id"), "pair", ["study_id"], unique=False)
    op.create_table(
        "gold",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_gold_pair_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_gold_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gold")),
        sa.UniqueConstraint("pair_id", name=op.f("uq_gold_pair_id")),
    )
