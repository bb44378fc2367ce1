"""Create campaigns, batches, events and judgments, and the append-only triggers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from venire.server.store.base import UtcTime
from venire.server.store.triggers import trigger_statements

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Change the database."""
    op.create_table(
        "campaign",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("wave", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("code_done", sa.String(), nullable=False),
        sa.Column("code_failed", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("opened_at", UtcTime(), nullable=True),
        sa.Column("closed_at", UtcTime(), nullable=True),
        sa.CheckConstraint("state IN ('draft', 'open', 'closed')", name=op.f("ck_campaign_state")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_campaign_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_campaign_study_id_name")),
    )
    op.create_table(
        "decision",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=True),
        sa.Column("decided_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["decided_by"], ["user.id"], name=op.f("fk_decision_decided_by")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_decision_study_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_decision")),
    )
    op.create_index(op.f("ix_decision_study_id"), "decision", ["study_id"], unique=False)
    op.create_index("ix_decision_subject", "decision", ["kind", "subject"], unique=False)
    op.create_table(
        "export",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("made_by", sa.String(), nullable=True),
        sa.Column("made_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["made_by"], ["user.id"], name=op.f("fk_export_made_by")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_export_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_export")),
    )
    op.create_index(op.f("ix_export_study_id"), "export", ["study_id"], unique=False)
    op.create_table(
        "job",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("stop", sa.Boolean(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("heartbeat_at", UtcTime(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=True),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'stopped')",
            name=op.f("ck_job_state"),
        ),
        sa.ForeignKeyConstraint(["created_by"], ["user.id"], name=op.f("fk_job_created_by")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_job_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    op.create_index("ix_job_state", "job", ["state", "heartbeat_at"], unique=False)
    op.create_index(op.f("ix_job_study_id"), "job", ["study_id"], unique=False)
    op.create_table(
        "batch",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("campaign_id", sa.String(), nullable=False),
        sa.Column("annotator_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=True),
        sa.Column("payment", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("gold_asked", sa.Integer(), nullable=False),
        sa.Column("gold_right", sa.Integer(), nullable=False),
        sa.Column("outside", sa.JSON(), nullable=True),
        sa.Column("opened_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('work', 'practice', 'qualification')", name=op.f("ck_batch_kind")
        ),
        sa.CheckConstraint(
            "payment IN ('open', 'approved', 'refused')", name=op.f("ck_batch_payment")
        ),
        sa.CheckConstraint(
            "state IN ('open', 'finished', 'expired', 'returned')", name=op.f("ck_batch_state")
        ),
        sa.ForeignKeyConstraint(["annotator_id"], ["user.id"], name=op.f("fk_batch_annotator_id")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_batch_campaign_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch")),
    )
    op.create_index(
        "ix_batch_annotator", "batch", ["annotator_id", "campaign_id", "opened_at"], unique=False
    )
    op.create_index(
        "ix_batch_campaign_state", "batch", ["campaign_id", "state", "expires_at"], unique=False
    )
    op.create_index(
        "ix_batch_one_open",
        "batch",
        ["campaign_id", "annotator_id"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "job_part",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("made_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_part_job_id")),
        sa.PrimaryKeyConstraint("job_id", "name", name=op.f("pk_job_part")),
    )
    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.String(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("ring", sa.Double(), nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.CheckConstraint("taken >= 0 AND taken <= overlap", name=op.f("ck_task_cap")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_task_campaign_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_task_pair_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("campaign_id", "pair_id", name=op.f("uq_task_campaign_id_pair_id")),
    )
    op.create_index(
        "ix_task_free",
        "task",
        ["campaign_id", "ring"],
        unique=False,
        sqlite_where=sa.text("taken < overlap"),
        postgresql_where=sa.text("taken < overlap"),
    )
    op.create_index(
        "ix_task_free_topic",
        "task",
        ["campaign_id", "topic_id", "ring"],
        unique=False,
        sqlite_where=sa.text("taken < overlap"),
        postgresql_where=sa.text("taken < overlap"),
    )
    op.create_index(op.f("ix_task_pair_id"), "task", ["pair_id"], unique=False)
    op.create_index(
        "ix_task_places", "task", ["campaign_id", "topic_id", "overlap", "taken"], unique=False
    )
    op.create_table(
        "lease",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("batch_id", sa.String(), nullable=False),
        sa.Column("annotator_id", sa.String(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=True),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("cluster", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("gold_grade", sa.Integer(), nullable=True),
        sa.Column("judgment_seq", sa.Integer(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.CheckConstraint(
            "state IN ('live', 'judged', 'cannot', 'skipped', 'expired', 'returned', 'rejected', 'surplus')",
            name=op.f("ck_lease_state"),
        ),
        sa.ForeignKeyConstraint(["annotator_id"], ["user.id"], name=op.f("fk_lease_annotator_id")),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name=op.f("fk_lease_batch_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_lease_pair_id")),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_lease_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease")),
        sa.UniqueConstraint("batch_id", "position", name=op.f("uq_lease_batch_id_position")),
    )
    op.create_index("ix_lease_annotator_pair", "lease", ["annotator_id", "pair_id"], unique=False)
    op.create_index(
        "ix_lease_gold",
        "lease",
        ["annotator_id", "pair_id"],
        unique=False,
        sqlite_where=sa.text("gold_grade IS NOT NULL"),
        postgresql_where=sa.text("gold_grade IS NOT NULL"),
    )
    op.create_index(
        "ix_lease_once",
        "lease",
        ["task_id", "annotator_id"],
        unique=True,
        sqlite_where=sa.text("state NOT IN ('expired', 'returned')"),
        postgresql_where=sa.text("state NOT IN ('expired', 'returned')"),
    )
    op.create_index(op.f("ix_lease_pair_id"), "lease", ["pair_id"], unique=False)
    op.create_table(
        "event",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("batch_id", sa.String(), nullable=False),
        sa.Column("lease_id", sa.String(), nullable=True),
        sa.Column("annotator_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.JSON(), nullable=False),
        sa.Column("client_at", UtcTime(), nullable=True),
        sa.Column("received_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["user.id"], name=op.f("fk_event_annotator_id")),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name=op.f("fk_event_batch_id")),
        sa.ForeignKeyConstraint(["lease_id"], ["lease.id"], name=op.f("fk_event_lease_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_event")),
        sa.UniqueConstraint("id", name=op.f("uq_event_id")),
    )
    op.create_index(op.f("ix_event_batch_id"), "event", ["batch_id"], unique=False)
    op.create_index(
        "ix_event_comment",
        "event",
        ["lease_id"],
        unique=False,
        sqlite_where=sa.text("kind = 'comment'"),
        postgresql_where=sa.text("kind = 'comment'"),
    )
    op.create_index(op.f("ix_event_lease_id"), "event", ["lease_id"], unique=False)
    op.create_table(
        "judgment",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("lease_id", sa.String(), nullable=False),
        sa.Column("annotator_id", sa.String(), nullable=False),
        sa.Column("campaign_id", sa.String(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("active_ms", sa.Integer(), nullable=True),
        sa.Column("idle_ms", sa.Integer(), nullable=True),
        sa.Column("judged_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["user.id"], name=op.f("fk_judgment_annotator_id")
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_judgment_campaign_id")
        ),
        sa.ForeignKeyConstraint(["lease_id"], ["lease.id"], name=op.f("fk_judgment_lease_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_judgment_pair_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_judgment")),
    )
    op.create_index(op.f("ix_judgment_event_id"), "judgment", ["event_id"], unique=False)
    op.create_index(op.f("ix_judgment_lease_id"), "judgment", ["lease_id"], unique=False)
    op.create_index(
        "ix_judgment_pace", "judgment", ["campaign_id", "judged_at", "active_ms"], unique=False
    )
    op.create_index(op.f("ix_judgment_pair_id"), "judgment", ["pair_id"], unique=False)
    op.create_index(
        "ix_judgment_work",
        "judgment",
        ["campaign_id", "annotator_id", "label", "active_ms"],
        unique=False,
    )
    for statement in trigger_statements(op.get_bind().dialect.name):
        op.execute(sa.text(statement))
