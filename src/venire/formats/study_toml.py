"""Read and write ``study.toml``, the settings in a collection folder."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from venire.errors import BadLine, BadSetting, UnknownName
from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.settings import Rule, Settings, check_value, rules, setting
from venire.tables.scale import Scale


@dataclass(frozen=True, kw_only=True)
class ScaleTable(Settings):
    """The table ``[scale]``. A study needs whole numbers; other users of a folder do not."""

    values: list[float] = setting(words="Grades, from lowest to highest.")
    names: list[str] = setting(
        default_factory=list, words="One name per grade; the value by default."
    )
    definitions: list[str] = setting(
        default_factory=list, words="One line per grade; empty by default."
    )
    relevant_from: float | None = setting(
        None,
        words="Lowest grade that counts as relevant; by default the first above zero.",
    )


@dataclass(frozen=True, kw_only=True)
class FolderSettings(Settings):
    """The keys of study.toml that are not settings of a study."""

    name: str = setting("", words="Name of the study.")
    instructions: str = setting("", words="Instructions for annotators, in Markdown.")
    documents: str = setting(
        "text",
        words="Kind of the documents that do not state one.",
        choices=("text", "html"),
    )


def _list_keys() -> dict[str, Rule | dict[str, Rule]]:
    folder = {rule.name: rule for rule in rules(FolderSettings)}
    study = {rule.name: rule for rule in rules(StudySettings)}
    return {
        "name": folder["name"],
        "instructions": folder["instructions"],
        "languages": study["languages"],
        "documents": folder["documents"],
        "cannot_judge": study["cannot_judge"],
        "show_links": study["show_links"],
        "scale": {rule.name: rule for rule in rules(ScaleTable)},
        "campaign": {rule.name: rule for rule in rules(CampaignSettings)},
    }


KEYS = _list_keys()
"""Every key of study.toml with its rule, tables within; see docs/reference/collection-folder.md."""
_EMPTY_ALLOWED = ("definitions",)


def parse_study_toml(text: str, name: str = "study.toml") -> dict[str, Any]:
    """Return the settings of a file, checked; keys that the file does not have are left out.

    Raises
    ------
    BadLine
        The text is not TOML, with the line.
    BadSetting
        An unknown key, with the nearest known one; a value that is not allowed.

    Examples
    --------
    >>> parse_study_toml('name = "Pilot"')
    {'name': 'Pilot'}
    >>> parse_study_toml('nmae = "Pilot"')
    Traceback (most recent call last):
    venire.errors.BadSetting: study.toml: unknown key nmae. Did you mean 'name'?
    """
    try:
        settings = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        message = str(error) if isinstance(error, ValueError) else "nested too deeply"
        # Python 3.11 gives the place of the error in the message only.
        place = re.search(r" \(at (?:line (\d+)|end of document)", message)
        line = int(place[1] or text.count("\n") + 1) if place else None
        reason = message[: place.start()] if place else message
        raise BadLine(name, line, f"is not TOML: {reason}") from None
    return check_study_toml(settings, name)


def check_study_toml(settings: Mapping[str, Any], name: str = "settings") -> dict[str, Any]:
    """Return the settings, checked; the arguments and errors of :func:`parse_study_toml`."""
    _check_keys(settings, KEYS, name, "")
    checked = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in settings.items()
    }
    if "scale" in checked:
        checked["scale"] = _complete_scale(checked["scale"], name)
    return checked


def _check_keys(values: Mapping[str, Any], known: Mapping[str, Any], name: str, table: str) -> None:
    for key, value in values.items():
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            nearest = f"Did you mean '{table}{close[0]}'?" if close else ""
            hint = nearest or f"Choose from {', '.join(known)}."
            raise BadSetting(f"{name}: unknown key {table}{key}", hint=hint)
        rule = known[key]
        if not isinstance(rule, Mapping):
            _check_value(rule, value, name, f"{table}{key}")
        elif isinstance(value, Mapping):
            _check_keys(value, rule, name, f"{key}.")
        else:
            raise BadSetting(
                f"{name}: {key} must be a table (got {value!r:.80})",
                hint=f"Write [{key}] and its keys below it.",
            )


def _check_value(rule: Rule, value: Any, name: str, key: str) -> None:
    try:
        check_value(rule, value)
    except UnknownName as error:
        raise BadSetting(f"{name}: {UnknownName(key, value, error.known)}", value=value) from None
    except BadSetting as error:
        raise BadSetting(f"{name}: {key} {error.reason}", value=value) from None
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise BadSetting(f"{name}: {key} must be a number (got {value!r})", value=value)
    if not isinstance(value, list | tuple) or rule.name in _EMPTY_ALLOWED:
        return
    if not value or "" in value or len(set(value)) != len(value):
        raise BadSetting(
            f"{name}: {key} must be a list of different values, none of them empty "
            f"(got {value!r:.80})",
            value=value,
        )


def _complete_scale(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a scale with its names, its definitions, and its lowest relevant grade."""
    if "values" not in table:
        raise BadSetting(
            f"{name}: scale.values is missing", hint="Write, for example, values = [0, 1, 2]."
        )
    try:
        scale = Scale(
            tuple(table["values"]), tuple(table.get("names", ())), table.get("relevant_from")
        )
    except BadSetting as error:
        raise BadSetting(f"{name}: scale: {error}") from None
    definitions = table.get("definitions", [""] * scale.size)
    if len(definitions) != scale.size:
        raise BadSetting(
            f"{name}: scale.definitions must have one text per grade, {scale.size} in all "
            f"(got {len(definitions)})"
        )
    if scale.relevant_from is not None and scale.relevant_from > scale.values[-1]:
        raise BadSetting(
            f"{name}: scale.relevant_from must be <= the highest grade, {scale.values[-1]:g} "
            f"(got {scale.relevant_from:g})"
        )
    return {
        "values": list(table["values"]),
        "names": list(scale.names),
        "definitions": list(definitions),
        "relevant_from": table.get("relevant_from", scale.relevant_from),
    }


def write_study_toml(settings: Mapping[str, Any]) -> str:
    """Return the settings as TOML, keys in a fixed order.

    Examples
    --------
    >>> print(write_study_toml({"campaign": {"overlap": 3}, "name": "Pilot"}), end="")
    name = "Pilot"
    <BLANKLINE>
    [campaign]
    overlap = 3
    """
    checked = check_study_toml(settings)
    lines = [
        f"{key} = {_write_value(checked[key])}"
        for key, rule in KEYS.items()
        if key in checked and not isinstance(rule, Mapping)
    ]
    for table, keys in KEYS.items():
        if isinstance(keys, Mapping) and table in checked:
            lines += ["", f"[{table}]"] if lines else [f"[{table}]"]
            values = checked[table]
            lines += [f"{key} = {_write_value(values[key])}" for key in keys if key in values]
    return "".join(f"{line}\n" for line in lines)


_ESCAPES = str.maketrans(
    {code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F)} | {'"': '\\"', "\\": "\\\\"}
)


def _write_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    if "\n" not in value:
        return f'"{value.translate(_ESCAPES)}"'
    lines = (line.translate(_ESCAPES) for line in value.split("\n"))
    return '"""\n' + "\n".join(lines) + '"""'
