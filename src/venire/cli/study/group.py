"""``venire study``: create studies, fill them, follow them, export their judgments."""

from __future__ import annotations

import click

from venire.cli.study import (
    crowd,
    export_study,
    import_study,
    invite,
    new,
    next,
    reset_password,
    settle,
    status,
)


@click.group("study")
def group() -> None:
    """Create studies, import topics and documents, follow progress, export judgments."""


for module in (
    crowd, next, new, import_study, invite, reset_password, status, settle, export_study,
):  # fmt: skip
    group.add_command(module.command)
