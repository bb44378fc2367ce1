"""``venire demo``: the whole chain on a small collection whose truth is known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from venire.cli.shared.options import SEED
from venire.cli.shared.output import FORMAT, emit, show_progress
from venire.errors import DataError


@click.command("demo")
@click.argument("folder", default="venire-demo", metavar="[DIR]")
@SEED
@click.option(
    "--data",
    metavar="DIR",
    help="Folder with the TREC 2010 crowd data (trec-rf10), for the second part; $VENIRE_DATA by "
    "default. Without the data, the second part is left out.",
)
@FORMAT
def command(folder: str, seed: int, data: str | None, form: str) -> None:
    """Simulate a collection and a noisy crowd, infer grades, and compare them with the truth.

    Writes DIR/report.html: the error of each model, and the effect of the crowd's noise on the
    ranking of the systems; then the same for the TREC 2010 crowd data if available.
    DIR/study is a study that a simulated crowd has judged: venire serve DIR/study.
    """
    from venire.demo.report import make_demo, write_demo

    if Path(folder).exists() and not Path(folder).is_dir():
        raise DataError(f"{folder}: is a file, not a folder")
    root = Path(data or os.environ.get("VENIRE_DATA") or Path("..") / "shared" / "data")
    with show_progress() as progress:
        demo = make_demo(seed=seed, data=root, progress=progress)
        batches, note, study = _play_campaign(Path(folder), demo.collection, seed, progress)
    page = write_demo(demo, Path(folder), batches)
    results = [f"The report: {page}"]
    if study is not None:
        results.append(f"The study: open it with: venire serve {study}")
    notes = [*demo.notes, note, *(results if form != "table" else [])]
    emit("demo", demo.rows, form=form, settings={"seed": seed}, notes=notes)
    if form == "table":
        click.echo("\n" + "\n".join(results))


def _play_campaign(
    folder: Path, collection: Any, seed: int, progress: Any
) -> tuple[list[dict[str, Any]], str, Path | None]:
    """Run a campaign through the web application, where it is installed; return rows and a note."""
    try:
        from venire.server.demo import play
    except ImportError as error:
        note = f"no campaign was run: {error.name} is missing (pip install 'venire[web]')"
        return [], note, None
    study = folder / "study"
    if (study / "venire.db").exists():
        return [], f"the study in {study} exists already and was not changed", study
    rows = play(study, collection, seed=seed, progress=progress)
    batches = sum(row["batches"] for row in rows)
    rejected = sum(row["rejected"] for row in rows)
    note = (
        f"a crowd of {sum(row['annotators'] for row in rows)} judged {batches} batches over HTTP, "
        f"{rejected} were rejected by their gold; the study is in {study}"
    )
    return rows, note, study
