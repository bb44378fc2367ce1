"""``venire study export``: qrels, raw judgments and judgment lists of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from venire.cli.shared.database import DATABASE, media_of, open_store
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting


@click.command("export")
@click.argument("study")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Kind of file: qrels (the default), qrels-strata, raw-csv, raw-jsonl, raw-parquet, "
    "opensearch-json, opensearch-csv, quepid-csv, quepid-book-csv; or study alone. Repeatable.",
)
@click.option(
    "--grades", "grades_from", default="adjudicated", show_default=True, metavar="SOURCE",
    help="Source of the grades: majority, settled, adjudicated, job:ID or qrels:NAME.",
)  # fmt: skip
@click.option("--campaign", metavar="NAME", help="Export raw judgments of this campaign only.")
@click.option(
    "-o", "--output", required=True, metavar="DIR|ZIP", help="A new folder, or a .zip file."
)
@click.option(
    "--media",
    metavar="DIR",
    help="Folder of images; by default media/ in the folder of --database.",
)
@DATABASE
@FORMAT
def command(
    study: str,
    kinds: tuple[str, ...],
    grades_from: str,
    campaign: str | None,
    output: str,
    media: str | None,
    database: str,
    form: str,
) -> None:
    """Export the judgments of STUDY with a manifest: qrels, raw judgments, judgment lists.

    The kind study writes the whole study as a collection folder that venire study import reads.
    """
    from venire.formats.study_folder import write_study_folder
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.collection_folder import read_folder
    from venire.server.studies.exports import export_study
    from venire.server.studies.studies import find_study

    names = list(kinds or ("qrels",))
    if "study" in names and len(names) > 1:
        raise BadSetting("must be study alone, or other kinds", argument="kinds")
    with open_store(database) as store:
        with store.reading() as session:
            study_id = find_study(session, study).id
            campaign_id = (
                None if campaign is None else find_campaign(session, study_id, campaign).id
            )
        if names == ["study"]:
            with store.snapshot() as session:
                whole = read_folder(session, study_id, media_of(database, media))
            write_study_folder(whole, output)
            rows: list[dict[str, Any]] = [{"file": output}]
            notes: list[str] = []
        else:
            manifest = export_study(
                store,
                study_id,
                names,
                Path(output),
                grades_from=grades_from,
                campaign_id=campaign_id,
            ).manifest
            rows = [{"file": name, "sha256": sha} for name, sha in manifest["files"].items()]
            notes = manifest["notes"]
    settings = {"study": study, "kinds": names, "grades": grades_from, "campaign": campaign,
                "output": output, "database": database}  # fmt: skip
    emit("study export", rows, form=form, settings=settings, notes=notes)
