"""Options that several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from venire.errors import BadSetting
from venire.evaluation.score import TOPICS as TOPIC_CHOICES
from venire.formats.reading_options import ReadingOptions
from venire.settings import rules
from venire.tables.runs import TIES as TIE_CHOICES

F = TypeVar("F", bound=Callable[..., Any])
READING = {rule.name: rule for rule in rules(ReadingOptions)}


def read_numbers(kind: type[int] | type[float] = int) -> Callable[..., Any]:
    """Return a callback that reads numbers with commas between them: ``10,50,100``.

    Raises
    ------
    BadSetting
        For other text, and for no number.
    """

    def read(
        context: click.Context, parameter: click.Parameter, text: str | None
    ) -> tuple[float, ...] | None:
        if text is None:
            return None
        try:
            numbers = tuple(kind(part) for part in text.split(",") if part.strip())
        except ValueError:
            numbers = ()
        if not numbers:
            kinds = "whole numbers" if kind is int else "numbers"
            raise BadSetting(
                f"must be {kinds} separated by commas, for example 1,3,5 (got {text!r})",
                argument=parameter.name or "",
                value=text,
            )
        return numbers

    return read


def join_numbers(numbers: tuple[float, ...] | None) -> str | None:
    """Return numbers as an option writes them."""
    return None if numbers is None else ",".join(map(str, numbers))


def read_settings(texts: tuple[str, ...]) -> dict[str, Any]:
    """Read ``NAME=VALUE,NAME=VALUE``, any number of times.

    A part without a name continues the value before it: ``members=mean,glad,restarts=3``.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        parts: list[str] = []
        for part in text.split(","):
            if parts and "=" not in part:
                parts[-1] = f"{parts[-1]},{part}"
            else:
                parts.append(part)
        for part in parts:
            name, equals, value = part.partition("=")
            if not equals or not name.strip() or not value.strip():
                raise BadSetting(f"must be NAME=VALUE (got {part!r})", argument="settings")
            settings[name.strip()] = read_value(value.strip())
    return settings


def read_value(text: str) -> Any:
    """Read the value of a setting: a number, true or false, or text."""
    truths = {"true": True, "yes": True, "false": False, "no": False}
    if text.lower() in truths:
        return truths[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


SEED = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random numbers.",
)


def none_if_empty(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Return the values of a repeatable option, or None where it was not used."""
    return values or None


def qrels_columns(name: str = "--columns", of: str = "QRELS") -> Callable[[F], F]:
    """Return the option that maps the column names of qrels."""
    return click.option(
        name,
        metavar="VENIRE=FILE,...",
        help=f"Map Venire's column names to those of {of}, for example doc_id=corpus. "
        "BEIR's are known.",
    )


MEASURES = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    callback=none_if_empty,
    metavar="M",
    help="Measure, in ir_measures notation: AP, nDCG@10, P(rel=2)@5. Repeatable.",
)
MEASURE = click.option(
    "-m",
    "--measure",
    default="AP",
    show_default=True,
    metavar="M",
    help="Measure of the systems, in ir_measures notation.",
)
TIES = click.option(
    "--ties",
    type=click.Choice(TIE_CHOICES),
    default="trec",
    show_default=True,
    help="Order of documents with equal scores.",
)
TOPICS = click.option(
    "--topics",
    type=click.Choice(TOPIC_CHOICES),
    default="qrels",
    show_default=True,
    help="Average over all topics of the qrels (a topic missing from a run counts as 0), or over "
    "the topics of the run.",
)
KEEP_GOING = click.option(
    "--keep-going", is_flag=True, help="Leave out run files that cannot be read, with a note."
)
POSTERIOR = click.option(
    "--posterior",
    metavar="DIR",
    help="Output folder of venire aggregate -o: adds the effect of uncertain grades.",
)
DRAWS = click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Number of qrels drawn from the posterior.",
)
RELEVANT_FROM = click.option(
    "--relevant-from", type=int, default=1, show_default=True, help="Smallest relevant grade."
)
OUTPUT_FILE = click.option("-o", "--output", metavar="FILE", help="Write the result to a file.")


def output_folder(contents: str) -> Callable[[F], F]:
    """Return the option ``-o DIR`` of a command that writes tables and a page."""
    return click.option("-o", "--output", metavar="DIR", help=f"Write {contents} to this folder.")


def reading(repeats: str) -> Callable[[F], F]:
    """Add the options of :class:`venire.formats.reading_options.ReadingOptions`.

    Parameters
    ----------
    repeats : str
        Sentence that says which judgment counts without ``--repeats``.
    """
    options = (
        click.option("--columns", metavar="VENIRE=FILE,...", help=READING["columns"].words),
        click.option("--scale", help=READING["scale"].words),
        click.option(
            "--drop-label",
            "drop_labels",
            multiple=True,
            metavar="LABEL",
            help=f"{READING['drop_labels'].words} Repeatable.",
        ),
        click.option(
            "--repeats",
            type=click.Choice(READING["repeats"].choices),
            help=f"{READING['repeats'].words} {repeats}",
        ),
    )

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


LAST_REPEAT = "Default: last, by judged_at if present, else by row order."
