"""``study.toml``: the settings of a study, each checked."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from venire.errors import BadLine, BadSetting
from venire.tables.scale import Scale

DOCUMENTS = ("text", "html")
Check = Callable[[Any], str | None]


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "a text in quotes"


def _texts(value: Any) -> str | None:
    good = isinstance(value, list) and value and all(isinstance(one, str) and one for one in value)
    return None if good and len(set(value)) == len(value) else 'a list such as ["a", "b"]'


def _numbers(value: Any) -> str | None:
    good = isinstance(value, list) and value and all(_is_number(one) for one in value)
    return None if good else "a list of numbers such as [0, 1, 2]"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(least: int, most: int) -> Check:
    def check(value: Any) -> str | None:
        good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if good else f"a whole number from {least} to {most:,}"

    return check


def _number(least: float, most: float) -> Check:
    def check(value: Any) -> str | None:
        good = _is_number(value) and least <= value <= most
        return None if good else f"a number from {least:g} to {most:g}"

    return check


def _one_of(*choices: str) -> Check:
    def check(value: Any) -> str | None:
        return None if value in choices else " or ".join(f'"{one}"' for one in choices)

    return check


KEYS: Mapping[str, Check | Mapping[str, Check]] = {
    "name": _text,
    "instructions": _text,
    "languages": _texts,
    "documents": _one_of(*DOCUMENTS),
    "cannot_judge": _texts,
    "show_links": lambda value: None if isinstance(value, bool) else "true or false",
    "scale": {
        "values": _numbers,
        "names": _texts,
        "definitions": lambda value: (
            None
            if isinstance(value, list) and all(isinstance(one, str) for one in value)
            else "a list of texts, one a grade"
        ),
        "relevant_from": lambda value: None if _is_number(value) else "a number",
    },
    "campaign": {
        "overlap": _whole(1, 1_000),
        "batch_size": _whole(1, 500),
        "gold_size": _whole(0, 100),
        "minutes": _whole(1, 43_200),
        "gold_errors": _whole(0, 100),
        "gold_match": _one_of("side", "exact", "near"),
        "min_seconds": _number(0, 3_600),
        "max_same_share": _number(0, 1),
        "topics": _one_of("auto", "one", "mixed"),
        "practice_size": _whole(0, 50),
        "qualification_size": _whole(0, 100),
        "qualification_needed": _whole(0, 100),
        "qualification_tries": _whole(1, 20),
        "pause_below": _number(0, 1),
        "pause_sure": _number(0.5, 1),
    },
}
"""Every key of study.toml, and what it must be; see docs/reference/collection-folder.md."""


def parse_settings(text: str, name: str = "study.toml") -> dict[str, Any]:
    """Read the settings; what the file does not say is not there.

    Raises
    ------
    BadLine
        Text that is no TOML, with its line.
    BadSetting
        A key that is not known, with the nearest one; a value that is not what it must be.

    Examples
    --------
    >>> parse_settings('name = "Pilot"')
    {'name': 'Pilot'}
    >>> parse_settings('nmae = "Pilot"')
    Traceback (most recent call last):
    venire.errors.BadSetting: study.toml: unknown key nmae. Did you mean 'name'?
    """
    try:
        settings = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        said = str(error) if isinstance(error, ValueError) else "it is nested too deep"
        place = re.search(r" \(at (?:line (\d+)|end of document)", said)
        line = int(place[1] or text.count("\n") + 1) if place else None
        reason = said[: place.start()] if place else said
        raise BadLine(name, line, f"is no TOML: {reason}") from None
    return check_settings(settings, name)


def check_settings(settings: Mapping[str, Any], name: str = "settings") -> dict[str, Any]:
    """Return the settings, each checked; see :func:`parse_settings`."""
    _check(settings, KEYS, name, "")
    out = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in settings.items()
    }
    if "scale" in out:
        out["scale"] = _scale(out["scale"], name)
    return out


def _check(values: Mapping[str, Any], known: Mapping[str, Any], name: str, within: str) -> None:
    for key, value in values.items():
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            nearest = f"Did you mean '{within}{close[0]}'?" if close else ""
            hint = nearest or f"Choose from {', '.join(known)}."
            raise BadSetting(f"{name}: unknown key {within}{key}. {hint}")
        check = known[key]
        if isinstance(check, Mapping):
            if not isinstance(value, Mapping):
                raise BadSetting(f"{name}: {key} is a table; write [{key}] and its keys below it")
            _check(value, check, name, f"{key}.")
        elif (wanted := check(value)) is not None:
            raise BadSetting(f"{name}: {within}{key} is {wanted}, not {value!r:.80}")


def _scale(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Complete a scale: its names, and what counts as relevant."""
    if "values" not in given:
        raise BadSetting(f"{name}: scale.values is missing; write values = [0, 1, 2]")
    try:
        scale = Scale(tuple(given["values"]), tuple(given.get("names", ())),
                      given.get("relevant_from"))  # fmt: skip
    except BadSetting as error:
        raise BadSetting(f"{name}: scale: {error}") from None
    definitions = given.get("definitions", [""] * scale.size)
    if len(definitions) != scale.size:
        raise BadSetting(
            f"{name}: scale.definitions has {len(definitions)} texts for {scale.size} grades"
        )
    if scale.relevant_from is not None and scale.relevant_from > scale.values[-1]:
        raise BadSetting(f"{name}: scale.relevant_from is above the highest grade")
    return {
        "values": list(given["values"]),
        "names": list(scale.names),
        "definitions": list(definitions),
        "relevant_from": given.get("relevant_from", scale.relevant_from),
    }


def write_settings(settings: Mapping[str, Any]) -> str:
    """Return the settings as TOML, keys in their fixed order.

    Examples
    --------
    >>> print(write_settings({"campaign": {"overlap": 3}, "name": "Pilot"}), end="")
    name = "Pilot"
    <BLANKLINE>
    [campaign]
    overlap = 3
    """
    checked = check_settings(settings)
    lines = [
        f"{key} = {_said(checked[key])}"
        for key, check in KEYS.items()
        if key in checked and not isinstance(check, Mapping)
    ]
    for table, keys in KEYS.items():
        if isinstance(keys, Mapping) and table in checked:
            lines += ["", f"[{table}]"] if lines else [f"[{table}]"]
            lines += [f"{key} = {_said(checked[table][key])}" for key in keys if key in
                      checked[table]]  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


_PLAIN = str.maketrans(
    {code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F)} | {'"': '\\"', "\\": "\\\\"}
)


def _said(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_said, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    if "\n" not in value:
        return f'"{value.translate(_PLAIN)}"'
    lines = (line.translate(_PLAIN) for line in value.split("\n"))
    return '"""\n' + "\n".join(lines) + '"""'
