"""Options that several commands share."""

from __future__ import annotations

from typing import Any

import click

from venire.errors import BadSetting


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
