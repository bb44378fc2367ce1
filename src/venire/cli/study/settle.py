"""``venire study settle``: decide grades on which annotators disagree."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting


@click.command("settle")
@click.argument("study")
@click.argument("query_id", required=False)
@click.argument("doc_id", required=False)
@click.argument("grade", type=int, required=False)
@click.option("--reason", default="", help="Reason, stored with the decision.")
@click.option("--undo", is_flag=True, help="Withdraw the decision; the history keeps it.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True,
    help="Maximum number of disagreements to list.",
)  # fmt: skip
@DATABASE
@FORMAT
def command(
    study: str,
    query_id: str | None,
    doc_id: str | None,
    grade: int | None,
    reason: str,
    undo: bool,
    limit: int,
    database: str,
    form: str,
) -> None:
    """Set the final GRADE of a document on which annotators disagree.

    With STUDY alone, list the disagreements. Judgments do not change. A later decision replaces
    an earlier one.
    """
    from venire.server.studies import adjudication, pairs
    from venire.server.studies.studies import find_study

    notes: list[str] = []
    with open_store(database) as store, store.writing() as session:
        study_id = find_study(session, study).id
        if query_id is None:
            rows, total = adjudication.list_disagreements(session, study_id, limit=limit)
            rows = [_shorten(row) for row in rows]
            notes.append(f"{len(rows)} of {total:,} pairs on which the labels differ")
        elif doc_id is None or (grade is None) is not undo:
            raise BadSetting("Pass QUERY_ID DOC_ID GRADE, or QUERY_ID DOC_ID --undo.")
        else:
            pair = pairs.find_pair(session, study_id, query_id, doc_id)
            if grade is None:
                decision = adjudication.unsettle(session, study_id, pair, None, reason)
            else:
                decision = adjudication.settle(session, study_id, pair, grade, None, reason)
            rows = [{"query_id": query_id, "doc_id": doc_id, "grade": grade,
                     "verdict": decision.verdict}]  # fmt: skip
    emit("study settle", rows, form=form, settings={"study": study, "database": database},
         notes=notes)  # fmt: skip


def _shorten(row: dict[str, Any]) -> dict[str, Any]:
    labels = " ".join(f"{label}:{n}" for label, n in row["labels"].items())
    names = ("query_id", "doc_id", "judgments")
    return {**{name: row[name] for name in names}, "labels": labels, "entropy": row["entropy"]}
