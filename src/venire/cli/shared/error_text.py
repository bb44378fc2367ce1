"""Errors in the words of the terminal: options in place of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from venire.errors import MissingColumns

if TYPE_CHECKING:
    import click

    from venire.errors import VenireError


@dataclass(frozen=True)
class Hint:
    """What to do about an error in the terminal.

    Attributes
    ----------
    text : callable
        Takes the error and returns the sentence.
    needs : tuple of str
        Names of the arguments whose options the sentence names.
    """

    text: Callable[[Any], str]
    needs: tuple[str, ...] = ()


def _map_columns(error: Any) -> str:
    option = f"--{error.mapping.replace('_', '-')}"
    return f"Map column names with {option} {error.column}=NAME{error.constant}."


HINTS: dict[str, tuple[Hint, ...]] = {
    "unknown-label": (
        Hint(
            lambda error: (
                f"Leave it out with --drop-label {error.label}, or pass the whole scale, for "
                "example --scale 0,1,2."
            ),
            ("drop_labels", "scale"),
        ),
    ),
    "missing-label": (
        Hint(lambda error: "Leave such rows out with --drop-label ''.", ("drop_labels",)),
    ),
    "large-label": (
        Hint(
            lambda error: "Check the label column, or pass the scale, for example --scale 0,1,2.",
            ("scale",),
        ),
    ),
    "word-label": (
        Hint(
            lambda error: (
                f"Leave it out with --drop-label {error.label}, or pass the whole scale, for "
                "example --scale 0,1,2."
                if error.has_numbers
                else f"Pass them worst first, for example --scale {','.join(error.words)}."
            ),
            ("drop_labels", "scale"),
        ),
    ),
    "missing-result-columns": (
        Hint(
            lambda error: (
                f"This looks like a result file of {error.likely_label}: use --platform "
                f"{error.likely_platform}."
                if error.likely_platform
                else f"Map renamed columns with --columns {error.missing[0]}=NAME."
            ),
            ("platform", "columns"),
        ),
    ),
    "no-grade-probabilities": (
        Hint(
            lambda error: "Pass the folder that venire aggregate -o wrote, or items.parquet in it."
        ),
    ),
    "repeated-judgment": (
        Hint(lambda error: "Choose which one counts, for example --repeats last.", ("repeats",)),
    ),
    "no-query-text": (Hint(lambda error: "Choose other columns with --fields.", ("fields",)),),
    "no-judgments": (Hint(lambda error: "Pass them with --judgments.", ("judgments",)),),
    "no-single-qrels": (
        Hint(lambda error: "Name one with --truth, or pass --pilot.", ("truth", "pilot")),
    ),
    "no-runs-or-truth": (Hint(lambda error: "Pass RUN..., --truth QRELS or both.", ("truth",)),),
    "fractional-grades": (
        Hint(lambda error: "Write the qrels with venire aggregate --rule mode."),
    ),
    "grade-off-scale": (
        Hint(lambda error: "Pass the whole scale, for example --scale 0,1,2.", ("scale",)),
    ),
    "unknown-scale": (
        Hint(lambda error: "Pass the scale, for example --scale 0,1,2.", ("scale",)),
    ),
}
"""Hints by the code of the error, where the Python hint names an argument.

The first hint whose options the command has is shown; where there is none, no hint is shown.
"""


def render(error: VenireError, command: click.Command | None) -> str:
    """Return an error as one line that names the options of the command."""
    options = option_names(command)
    settings = "model_settings" in options or "settings" in options

    def name_of(argument: str) -> str:
        if argument in options:
            return options[argument]
        return f"--set {argument}" if settings else f"`{argument}`"

    return " ".join(error.render(name_of, choose_hint(error, options)).split())


def choose_hint(error: VenireError, options: Mapping[str, str]) -> str | None:
    """Return what to do in the words of a command; None for the error's own hint.

    Parameters
    ----------
    error : VenireError
    options : mapping of str to str
        Options that the command has, by the name of the argument.
    """
    if isinstance(error, MissingColumns) and error.code == MissingColumns.code:
        if error.renamed and error.mapping in options:
            return _map_columns(error)
        return "Rename the columns in the file." if error.renamed else None
    if error.code not in HINTS:
        return None
    return next(
        (
            hint.text(error)
            for hint in HINTS[error.code]
            if all(options.get(name, "").startswith("--") for name in hint.needs)
        ),
        "",
    )


def option_names(command: click.Command | None) -> dict[str, str]:
    """Return the spelling on the command line of each parameter of a command."""
    if command is None:
        return {}
    return {
        parameter.name: max(parameter.opts, key=len)
        if parameter.param_type_name == "option"
        else str(parameter.human_readable_name).strip("[]")
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
