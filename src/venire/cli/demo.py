"""``venire demo``: the whole chain on a small collection whose truth is known."""

from __future__ import annotations

import os
from pathlib import Path

import click

from venire.terminal.options import SEED
from venire.terminal.output import FORMAT, bar, emit


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
    where it is present.
    """
    from venire.report.demo import make_demo, write_demo

    root = Path(data or os.environ.get("VENIRE_DATA") or Path("..") / "shared" / "data")
    with bar() as progress:
        demo = make_demo(seed=seed, data=root, progress=progress)
    page = write_demo(demo, Path(folder))
    notes = [*demo.notes, f"open {page}"]
    emit("demo", demo.rows, form=form, settings={"seed": seed}, notes=notes)
    if form == "table":
        click.echo(f"\nThe report: {page}")
