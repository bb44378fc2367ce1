"""Print results: a table for people, JSON or CSV for programs; notes; progress."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import click

from venire.formats.source import write_bytes
from venire.progress import Event, Progress
from venire.report.page import cell

Rows = Sequence[Mapping[str, Any]]
FORMATS = ("table", "json", "csv")
FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Format of the printed result.",
)


def emit(
    command: str,
    rows: Rows,
    *,
    form: str,
    settings: Mapping[str, Any],
    notes: Sequence[str],
    output: str | None = None,
    digits: int = 4,
    sections: Mapping[str, Any] | None = None,
    lead: Sequence[str] = (),
) -> None:
    """Print rows, or write them to a file; notes follow a table on standard error.

    ``sections`` are further parts of the JSON document, by name. ``lead`` are lines above a
    table: the decision.
    """
    if form == "json":
        document = {
            "command": command,
            "version": version("venire"),
            "settings": dict(settings),
            **(sections or {}),
            "rows": [dict(row) for row in rows],
            "notes": list(notes),
        }
        text = json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    elif form == "csv":
        text = _csv(rows)
    else:
        text = "".join(f"{line}\n" for line in lead) + ("\n" if lead else "")
        text += _table(rows, digits)
    if output is None or output == "-":
        click.echo(text, nl=False)
    else:
        write_bytes(output, text.encode())
    if form != "json":
        print_notes(notes)


def print_notes(notes: Sequence[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


def write_folder(result: Any, folder: str | None, form: str) -> list[str]:
    """Write the tables and the page of a result; return the note that says where they are."""
    if not folder:
        return []
    from venire.report.write_report import write_report

    page = write_report(result, folder)
    return [] if form == "json" else [f"written to {folder}; open {page}"]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _csv(rows: Rows) -> str:
    import csv

    out = io.StringIO()
    if rows:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow(["" if value is None else value for value in row.values()])
    return out.getvalue()


def _table(rows: Rows, digits: int) -> str:
    """Return aligned columns: text left, numbers right."""
    if not rows:
        return "(no rows)\n"
    heads = list(rows[0])
    cells = [[cell(row[head], digits) for head in heads] for row in rows]
    right = [all(not isinstance(row[head], str) for row in rows) for head in heads]
    columns = zip(heads, *cells, strict=True)
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for line in [heads, ["-" * width for width in widths], *cells]:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines) + "\n"


@contextmanager
def show_progress(*, enabled: bool | None = None) -> Iterator[Progress]:
    """Yield a progress callable that draws a bar on standard error, if that is a terminal.

    Elsewhere it prints a line per task of unknown length, such as the first compilation.
    """
    if enabled is None:
        enabled = sys.stderr.isatty()
    if not enabled:
        printed: set[str] = set()

        def print_line(event: Event) -> None:
            if event.total is None and event.task not in printed:
                printed.add(event.task)
                click.echo(f"{event.task} ...", err=True)

        yield print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}"),
        TextColumn("{task.fields[detail]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, Any] = {}

        def report(event: Event) -> None:
            if event.task not in tasks:
                tasks[event.task] = progress.add_task(event.task, total=event.total, detail="")
            progress.update(tasks[event.task], completed=event.done, detail=event.detail)

        yield report
