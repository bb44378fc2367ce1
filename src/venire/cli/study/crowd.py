"""``venire study crowd``: batches out to a crowd platform, its results in, what to pay for."""

from __future__ import annotations

from pathlib import Path

import click

from venire import plugins
from venire.cli.shared.database import DATABASE, opened
from venire.cli.shared.options import pairs
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting

CAMPAIGN = click.option("--campaign", required=True, metavar="NAME", help="The campaign.")
PLATFORM = click.option(
    "--platform", type=click.Choice(plugins.names("platform")), required=True, help="Whose files."
)
COLUMNS = click.option(
    "--columns", metavar="THEIRS=FILE,...",
    help="Where columns were renamed: the platform's name and the file's.",
)  # fmt: skip


@click.group("crowd")
def group() -> None:
    """Run a campaign on a crowd platform by files, without the web."""


@group.command("export")
@click.argument("study")
@CAMPAIGN
@PLATFORM
@click.option(
    "-o", "--output", "folder", required=True, metavar="DIR", help="Where the files go; new."
)
@click.option(
    "--days", type=click.IntRange(1, 365), default=14, show_default=True,
    help="How long the places are kept.",
)  # fmt: skip
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="HITs at most.")
@DATABASE
@FORMAT
def export_command(
    study: str,
    campaign: str,
    platform: str,
    folder: str,
    days: int,
    most: int | None,
    database: str,
    form: str,
) -> None:
    """Take the free places of a campaign of STUDY, and write batches with their layout."""
    from venire.formats.source import write_bytes
    from venire.server.platforms.task_export import export_tasks
    from venire.server.store.base import now
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise BadSetting(f"{folder} is there already; -o names a new folder")
    with opened(database) as store, store.writing() as session:
        wave = find_campaign(session, find_study(session, study).id, campaign).id
        made = export_tasks(session, wave, platform, now(), days=days, most=most)
        place.mkdir(parents=True, exist_ok=True)
        # Within the transaction: where a file cannot be written, no place is taken.
        for name, content in made.files.items():
            write_bytes(place / name, content)
    settings = {"study": study, "campaign": campaign, "platform": platform, "days": days,
                "most": most, "output": folder, "database": database}  # fmt: skip
    notes = [*made.notes, f"written to {folder}: {', '.join(sorted(made.files))}"]
    emit("study crowd export", made.rows, form=form, settings=settings, notes=notes)


@group.command("import")
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
    """Take a platform's file of RESULTS into a campaign of STUDY; again, it changes nothing.

    What is not used is named with its line and counted.
    """
    from venire.server.platforms.result_import import import_results
    from venire.server.store.base import now
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    with opened(database) as store, store.writing() as session:
        wave = find_campaign(session, find_study(session, study).id, campaign).id
        done = import_results(
            session, wave, platform, results, now(), columns=pairs(columns, "--columns")
        )
    settings = {"study": study, "results": results, "campaign": campaign, "platform": platform,
                "columns": columns, "database": database}  # fmt: skip
    notes = [f"line {row['line']}: {row['kind']}: {row['text']}" for row in done.problems]
    emit("study crowd import", [done.counts], form=form, settings=settings, notes=notes)


@group.command("decisions")
@click.argument("study")
@click.argument("results")
@CAMPAIGN
@PLATFORM
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the decisions go.")
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
    """Write what to approve and what to reject of RESULTS, for the platform to read.

    What the file says nothing of is counted, with the reason.
    """
    from collections import Counter

    from venire.formats.source import write_bytes
    from venire.server.platforms.decisions import decide_assignments
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    with opened(database) as store, store.reading() as session:
        wave = find_campaign(session, find_study(session, study).id, campaign).id
        done = decide_assignments(
            session, wave, platform, results, columns=pairs(columns, "--columns")
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
            f"{len(done.undecided)} in neither: {listed}; decide on the platform what it has not "
            "decided"
        )
    notes += [
        f"line {row['line']}: {row['kind']}: {row['assignment'] or 'nobody'}: {row['text']}"
        for row in done.undecided
    ]
    emit("study crowd decisions", done.rows, form=form, settings=settings, notes=notes)
