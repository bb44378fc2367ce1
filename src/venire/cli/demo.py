"""``venire demo``: the whole chain on a small collection whose truth is known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from venire.cli.shared.options import SEED
from venire.cli.shared.output import FORMAT, emit, show_progress


@click.command("demo")
@click.argument("folder", default="venire-demo", metavar="[DIR]")
@SEED
@click.option(
    "--data",
    metavar="DIR",
    help="Folder with trec-rf10 for the second part; $VENIRE_DATA or ../shared/data by default.",
)
@FORMAT
def command(folder: str, seed: int, data: str | None, form: str) -> None:
    """Make a collection, let a noisy crowd judge it, infer grades, and see how near they come.

    Ends with DIR/report.html: how near each model came to the truth and what the crowd's
    noise does to the ranking of the systems; then the same on the TREC 2010 crowd data
    where it is present. DIR/study is a study that a crowd has judged: venire serve DIR/study.
    """
    from venire.demo.report import make_demo, write_demo

    root = Path(data or os.environ.get("VENIRE_DATA") or Path("..") / "shared" / "data")
    with show_progress() as progress:
        demo = make_demo(seed=seed, data=root, progress=progress)
        played, note, study = _played(Path(folder), demo.collection, seed, progress)
    page = write_demo(demo, Path(folder), played)
    after = [f"The report: {page}"]
    if study is not None:
        after.append(f"The study: open it with: venire serve {study}")
    notes = [*demo.notes, note, *(after if form != "table" else [])]
    emit("demo", demo.rows, form=form, settings={"seed": seed}, notes=notes)
    if form == "table":
        click.echo("\n" + "\n".join(after))


def _played(
    folder: Path, collection: Any, seed: int, progress: Any
) -> tuple[list[dict[str, Any]], str, Path | None]:
    """Play a campaign through the web application, where it is installed; else say so."""
    try:
        from venire.server.demo import play
    except ImportError as error:
        why = f"no campaign was played: {error.name} is missing (pip install 'venire[web]')"
        return [], why, None
    place = folder / "study"
    if (place / "venire.db").exists():
        return [], f"the study in {place} is kept as it is", place
    rows = play(place, collection, seed=seed, progress=progress)
    batches, out = sum(row["batches"] for row in rows), sum(row["rejected"] for row in rows)
    note = (
        f"a crowd of {sum(row['annotators'] for row in rows)} judged {batches} batches over HTTP, "
        f"{out} were rejected by their gold; the study is in {place}"
    )
    return rows, note, place
