"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from venire.errors import BadSetting

if TYPE_CHECKING:
    from venire.tables.judgments import Judgments

F = TypeVar("F", bound=Callable[..., Any])
REPEATS = ("last", "all", "first", "error")


def pairs(text: str | None, option: str) -> dict[str, str]:
    """Read ``a=b,c=d``."""
    out: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadSetting(f"{option} is written name=value,name=value; {part!r} is not")
        out[name.strip()] = value.strip()
    return out


def setting_value(text: str) -> Any:
    """Read a setting given on the command line: number, yes/no, none or text."""
    words = {"true": True, "yes": True, "false": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


SEED = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all chance."
)
COLUMNS = click.option(
    "--columns",
    metavar="OURS=THEIRS,...",
    help="Column names of the file, for example query_id=topicID,annotator_id=workerID.",
)
SCALE = click.option(
    "--scale", help="The whole scale, worst first: 0,1,2 or bad,fair,good or 0=bad,1=good."
)
DROP_LABELS = click.option(
    "--drop-label",
    "drop_labels",
    multiple=True,
    metavar="LABEL",
    help="A label that says 'cannot judge'; left out and counted. Repeatable.",
)


def reading(default: str) -> Callable[[F], F]:
    """Add the options that say how JUDGMENTS is read.

    Parameters
    ----------
    default : str
        What counts, without ``--repeats``, where an annotator judged a pair again; in words.
    """

    def add(function: F) -> F:
        repeats = click.option(
            "--repeats",
            type=click.Choice(REPEATS),
            help=f"Which judgment counts where an annotator judged a pair again. {default}",
        )
        for option in (repeats, DROP_LABELS, SCALE, COLUMNS):
            function = option(function)
        return function

    return add


def read_judgments(
    path: str,
    *,
    columns: str | None,
    scale: str | None,
    drop_labels: tuple[str, ...],
    repeats: str | None,
) -> Judgments:
    """Read JUDGMENTS as those options say; an empty table is an error."""
    from venire.formats import require_rows
    from venire.tables.judgments import Judgments

    table = Judgments.read(
        path,
        columns=pairs(columns, "--columns"),
        scale=scale,
        drop_labels=drop_labels,
        repeats=repeats,
    )
    return require_rows(table, path)
