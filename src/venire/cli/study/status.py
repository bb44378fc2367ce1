"""``venire study status``: the progress of a study."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit


@click.command("status")
@click.argument("study", required=False)
@DATABASE
@FORMAT
def command(study: str | None, database: str, form: str) -> None:
    """Show the progress of STUDY, one row per campaign; without STUDY, list the studies."""
    from venire.server.studies.overview import read_overview
    from venire.server.studies.studies import find_study, list_studies

    notes: list[str] = []
    with open_store(database) as store, store.reading() as session:
        if study is None:
            rows = [
                {**row, "created_at": row["created_at"].isoformat(timespec="seconds")}
                for row in list_studies(session)
            ]
        else:
            report = read_overview(session, find_study(session, study).id)
            rows = [_list_progress(row) for row in report["campaigns"]]
            notes = [f"{n:,} {what}" for what, n in report["counts"].items()]
            notes += [f"alarm: {alarm['text']}" for alarm in report["alarms"]]
    emit("study status", rows, form=form, settings={"study": study, "database": database},
         notes=notes, digits=2)  # fmt: skip


def _list_progress(row: dict[str, Any]) -> dict[str, Any]:
    pace = row["pace"]
    return {
        "campaign": row["campaign"],
        "state": row["state"],
        "documents": row["documents"],
        "done": row["done"],
        "places": row["asked"],
        "filled": row["filled"],
        "open": row["open"],
        "judgments": pace["judgments"],
        "per_hour": pace["per_hour"],
        "hours_left": pace["hours_left"],
        "rejected": row["rejected"]["value"],
    }
