"""``venire study import``: topics, documents, runs, qrels and gold into a study."""

from __future__ import annotations

from pathlib import Path

import click

from venire.cli.shared.database import DATABASE, media_of, open_store
from venire.cli.shared.output import FORMAT, emit, show_progress
from venire.errors import DataError, NotFound


@click.command("import")
@click.argument("study")
@click.argument("source")
@click.option(
    "--media",
    metavar="DIR",
    help="Folder for images; by default media/ in the folder of --database.",
)
@DATABASE
@FORMAT
def command(study: str, source: str, media: str | None, database: str, form: str) -> None:
    """Import topics, documents, runs, qrels and gold from SOURCE into STUDY.

    SOURCE is a collection folder, a ZIP of one, or irds:ID with an ID of ir_datasets. STUDY is
    a name or an ID. Prints one row per file: what was read, and what was left out. Importing
    the same source again changes nothing.
    """
    import tempfile

    from venire.formats.study_folder import read_study_folder, unpack_study
    from venire.server.studies.collection_folder import import_folder
    from venire.server.studies.pictures import store_pictures
    from venire.server.studies.studies import find_study

    with tempfile.TemporaryDirectory(prefix="venire-") as scratch:
        path: str | Path = source
        if source.endswith(".zip") and Path(source).is_file():
            path = unpack_study(source, Path(scratch) / "study")
        with open_store(database) as store:
            with store.reading() as session:
                try:
                    study_id = find_study(session, study).id
                except NotFound as error:
                    raise DataError(
                        str(error), hint=f"Create it with: venire study new {study!r}"
                    ) from None
            folder = read_study_folder(path)
            media_folder = media_of(database, media)
            with show_progress() as progress:
                folder = store_pictures(folder, media_folder, progress)
            with store.writing() as session:
                rows = import_folder(session, study_id, folder, media=media_folder)
    settings = {"study": study, "source": source, "database": database}
    emit("study import", rows, form=form, settings=settings, notes=[])
