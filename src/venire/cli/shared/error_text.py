"""Errors in the words of the terminal: options in place of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

    from venire.errors import VenireError

HINTS: dict[str, Callable[[Any], str]] = {
    "unknown-label": lambda error: (
        f"Leave it out with --drop-label {error.label}, or pass the whole scale, for example "
        "--scale 0,1,2."
    ),
    "missing-columns": lambda error: (
        "Map column names with --columns query_id=NAME (a gold file: --gold-columns); ':all' as "
        "a name puts that text in every row."
        if error.renamed
        else error.hint
    ),
    "missing-result-columns": lambda error: (
        f"This looks like a result file of {error.likely_label}: use --platform "
        f"{error.likely_platform}."
        if error.likely_platform
        else f"Map renamed columns with --columns {error.missing[0]}=NAME."
    ),
    "no-query-text": lambda error: "Choose other columns with --fields.",
    "no-judgments": lambda error: "Pass them with --judgments.",
    "no-single-qrels": lambda error: "Name one with --truth, or pass --pilot.",
    "no-runs-or-truth": lambda error: "Pass RUN..., --truth QRELS or both.",
    "fractional-grades": lambda error: "Write the qrels with venire aggregate --rule mode.",
    "grade-off-scale": lambda error: "Pass the whole scale, for example --scale 0,1,2.",
    "unknown-scale": lambda error: "Pass the scale, for example --scale 0,1,2.",
}
"""What to do about an error, by its code, where the Python hint names an argument."""


def render(error: VenireError, command: click.Command | None) -> str:
    """Return an error as one line that names the options of the command."""
    options = option_names(command)
    settings = "model_settings" in options or "settings" in options

    def name_of(argument: str) -> str:
        if argument in options:
            return options[argument]
        return f"--set {argument}" if settings else f"`{argument}`"

    hint = HINTS[error.code](error) if error.code in HINTS else None
    return " ".join(error.render(name_of, hint).split())


def option_names(command: click.Command | None) -> dict[str, str]:
    """Return the spelling on the command line of each parameter of a command."""
    if command is None:
        return {}
    return {
        parameter.name: max(parameter.opts, key=len)
        if parameter.param_type_name == "option"
        else str(parameter.human_readable_name)
        for parameter in command.params
        if parameter.name
    }


def find_command(group: click.Command, argv: Sequence[str]) -> click.Command | None:
    """Return the command that a command line names, the group itself where it names none."""
    import click

    command: click.Command | None = group
    for word in argv:
        if not isinstance(command, click.Group):
            break
        if word.startswith("-"):
            continue
        inner = command.get_command(click.Context(command), word)
        if inner is None:
            break
        command = inner
    return command
