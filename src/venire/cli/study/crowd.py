"""``venire study crowd``: export batches to a crowd platform, import results, write decisions."""

from __future__ import annotations

from pathlib import Path

import click

from venire import plugins
from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting
from venire.formats.reading_options import parse_columns

CAMPAIGN = click.option("--campaign", required=True, metavar="NAME", help="Name of the campaign.")
PLATFORM = click.option(
    "--platform",
    type=click.Choice(plugins.names("platform")),
    required=True,
    help="Crowd platform.",
)
COLUMNS = click.option(
    "--columns", metavar="PLATFORM=FILE,...",
    help="Map the platform's column names to those of the file, for example WorkerId=who.",
)  # fmt: skip


@click.group("crowd")
def command() -> None:
    """Exchange files with a crowd platform: export batches, import results, write decisions."""


@command.command("export")
@click.argument("study")
@CAMPAIGN
@PLATFORM
@click.option("-o", "--output", required=True, metavar="DIR", help="New folder for the files.")
@click.option(
    "--days", type=click.IntRange(1, 365), default=14, show_default=True,
    help="Number of days for which the exported documents are reserved.",
)  # fmt: skip
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of batches (HITs); all by default.",
)
@DATABASE
@FORMAT
def export_command(
    study: str,
    campaign: str,
    platform: str,
    output: str,
    days: int,
    most: int | None,
    database: str,
    form: str,
) -> None:
    """Export documents of a campaign of STUDY as batches, with the layout of the platform.

    The documents are reserved until the results are imported or --days are over.
    """
    from venire.formats.source import write_bytes
    from venire.server.platforms.task_export import export_tasks
    from venire.server.store.base import now
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadSetting(f"must be a new folder ({output} exists)", argument="output")
    with open_store(database) as store, store.writing() as session:
        campaign_id = find_campaign(session, find_study(session, study).id, campaign).id
        made = export_tasks(session, campaign_id, platform, now(), days=days, most=most)
        target.mkdir(parents=True, exist_ok=True)
        # Within the transaction: where a file cannot be written, no document is reserved.
        for name, content in made.files.items():
            write_bytes(target / name, content)
    settings = {"study": study, "campaign": campaign, "platform": platform, "days": days,
                "most": most, "output": output, "database": database}  # fmt: skip
    notes = [*made.notes, f"written to {output}: {', '.join(sorted(made.files))}"]
    emit("study crowd export", made.rows, form=form, settings=settings, notes=notes)


@command.command("import")
@click.argument("study")
@click.argument("results")
@CAMPAIGN
@PLATFORM
@COLUMNS
@DATABASE
@FORMAT
def import_command(
    study: str,
    results: str,
    campaign: str,
    platform: str,
    columns: str | None,
    database: str,
    form: str,
) -> None:
    """Import the platform's RESULTS file into a campaign of STUDY.

    Unused rows are counted, and listed with their line. Importing a file again changes nothing.
    """
    from venire.server.platforms.result_import import import_results
    from venire.server.store.base import now
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    with open_store(database) as store, store.writing() as session:
        campaign_id = find_campaign(session, find_study(session, study).id, campaign).id
        done = import_results(
            session, campaign_id, platform, results, now(), columns=parse_columns(columns)
        )
    settings = {"study": study, "results": results, "campaign": campaign, "platform": platform,
                "columns": columns, "database": database}  # fmt: skip
    notes = [f"line {row['line']}: {row['kind']}: {row['text']}" for row in done.problems]
    emit("study crowd import", [done.counts], form=form, settings=settings, notes=notes)


@command.command("decisions")
@click.argument("study")
@click.argument("results")
@CAMPAIGN
@PLATFORM
@click.option("-o", "--output", required=True, metavar="FILE", help="File for the decisions.")
@COLUMNS
@DATABASE
@FORMAT
def decisions_command(
    study: str,
    results: str,
    campaign: str,
    platform: str,
    output: str,
    columns: str | None,
    database: str,
    form: str,
) -> None:
    """Write a file for the platform: which assignments of RESULTS to approve and to reject.

    Assignments without a decision are counted, with the reason.
    """
    from collections import Counter

    from venire.formats.source import write_bytes
    from venire.server.platforms.decisions import decide_assignments
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    with open_store(database) as store, store.reading() as session:
        campaign_id = find_campaign(session, find_study(session, study).id, campaign).id
        done = decide_assignments(
            session, campaign_id, platform, results, columns=parse_columns(columns)
        )
    write_bytes(output, done.file)
    approved = sum(row["approve"] for row in done.rows)
    settings = {"study": study, "results": results, "campaign": campaign, "platform": platform,
                "output": output, "columns": columns, "database": database}  # fmt: skip
    notes = [f"{approved} to approve, {len(done.rows) - approved} to reject; written to {output}"]
    if done.undecided:
        kinds = Counter(row["kind"] for row in done.undecided)
        listed = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        notes.append(
            f"{len(done.undecided)} without a decision: {listed}. Decide open ones on the platform."
        )
    notes += [
        f"line {row['line']}: {row['kind']}: {row['assignment'] or 'nobody'}: {row['text']}"
        for row in done.undecided
    ]
    emit("study crowd decisions", done.rows, form=form, settings=settings, notes=notes)
