"""Add why a batch counts or not as a code; until now only a sentence said it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

CODES = ("", "practice", "qualification", "gold-right", "no-gold", "gold-wrong", "too-fast",
         "one-label", "held", "owner", "platform")  # fmt: skip
HELD = "held: it ended before any of its gold was judged"
SENTENCES = {HELD: "held", "gold right": "gold-right", "no gold was asked": "no-gold"}
RULES = {"gold": "gold-wrong", "speed": "too-fast", "one label": "one-label"}


def upgrade() -> None:
    """Change the database."""
    codes = ", ".join(f"'{code}'" for code in CODES)
    # Alembic would add the CHECK in a statement of its own, which SQLite does not have.
    op.execute(
        sa.text(
            "ALTER TABLE batch ADD COLUMN reason_code VARCHAR DEFAULT '' NOT NULL "
            f"CONSTRAINT ck_batch_reason_code CHECK (reason_code IN ({codes}))"
        )
    )
    connection = op.get_bind()
    batch = sa.table("batch", *map(sa.column, ("id", "kind", "valid", "reason", "reason_code")))
    decision = sa.table("decision", *map(sa.column, ("seq", "kind", "subject", "decided_by")),
                        sa.column("facts", sa.JSON))  # fmt: skip
    decisions = connection.execute(
        sa.select(decision.c.subject, decision.c.decided_by, decision.c.facts)
        .where(decision.c.kind == "batch")
        .order_by(decision.c.seq)
    )
    last = {subject: (decided_by, facts) for subject, decided_by, facts in decisions}
    ids: dict[str, list[str]] = defaultdict(list)
    for batch_id, kind, valid, reason in connection.execute(
        sa.select(batch.c.id, batch.c.kind, batch.c.valid, batch.c.reason)
    ).all():
        ids[find_code(kind, valid, reason, last.get(batch_id))].append(batch_id)
    ids.pop("", None)
    for code, batches in ids.items():
        for start in range(0, len(batches), 5_000):
            part = batches[start : start + 5_000]
            connection.execute(
                sa.update(batch).where(batch.c.id.in_(part)).values(reason_code=code)
            )


def find_code(kind: str, valid: bool | None, reason: str, decision: Any) -> str:
    """Return the code of a batch from its sentence and the last decision about it."""
    if decision is None:
        return "practice" if kind == "practice" and valid is not None else ""
    decided_by, facts = decision
    if decided_by is not None:
        return "owner"
    rule = (facts or {}).get("rule", "")
    if rule in RULES:
        return RULES[rule]
    if reason in SENTENCES:
        return SENTENCES[reason]
    return "qualification" if kind == "qualification" else "platform"
