"""Models by name, and their settings as users write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from venire import plugins
from venire.errors import BadSetting, UnknownName
from venire.settings import Rule, check_value, describe_range, rules

DEFAULT = "committee"
ALL_MODELS = "all"
MIXTURE = "ordinal-mixture"
DIFFICULTIES = ("none", "query", "item")


def build(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the model of a name with some settings.

    Raises
    ------
    UnknownName
        For the name of the model or of a setting, with the nearest known name.
    BadSetting
        For a value that is not allowed.

    Examples
    --------
    >>> build("dawid-skene", {"strength": 2}).strength
    2.0
    """
    kind = plugins.load("aggregator", name)
    known = {rule.name: rule for rule in rules(kind)}
    values = {}
    for setting, value in (settings or {}).items():
        if not known:
            raise BadSetting(f"is not a setting: {name} has none", argument=setting, value=value)
        if setting not in known:
            raise UnknownName(f"setting of {name}", setting, known)
        values[setting] = convert_value(known[setting], value)
    return kind(**values)


def convert_value(rule: Rule, value: Any) -> Any:
    """Return a value in the type of its setting: 2 as 2.0, and numbers as text.

    Raises
    ------
    BadSetting, UnknownName
    """
    if rule.type is float and type(value) is int:
        value = float(value)
    elif rule.type is str and value is not None:
        value = str(value)
    check_value(rule, value)
    return value


def select_models(name: str, settings: Mapping[str, Any] | None = None) -> list[tuple[str, Any]]:
    """Return (label, model) of one model, or of every model for the name ``all``.

    Of all models, each takes the settings that it has; the ordinal mixture is taken once per
    difficulty, unless ``difficulty`` is set.

    Raises
    ------
    UnknownName
        For a setting that no model has.
    """
    settings = dict(settings or {})
    if name != ALL_MODELS:
        return [(name, build(name, settings))]
    models: list[tuple[str, Any]] = []
    known: set[str] = set()
    for model_name in plugins.names("aggregator"):
        names = {rule.name for rule in rules(plugins.load("aggregator", model_name))}
        known |= names
        model = build(model_name, {key: settings[key] for key in settings if key in names})
        if model_name == MIXTURE and "difficulty" not in settings:
            models += [
                (f"{model_name} ({level})", replace(model, difficulty=level))
                for level in DIFFICULTIES
            ]
        else:
            models.append((model_name, model))
    unknown = sorted(set(settings) - known)
    if unknown:
        raise UnknownName("setting", unknown[0], known)
    return models


def describe_settings(name: str) -> list[dict[str, str]]:
    """Return ``setting, default, meaning`` of each setting of a model, for reference pages."""
    return [
        {
            "setting": rule.name,
            "default": repr(rule.default),
            "meaning": " ".join(filter(None, [rule.words, _describe_limits(rule)])),
        }
        for rule in rules(plugins.load("aggregator", name))
    ]


def _describe_limits(rule: Rule) -> str:
    """Return the range or the choices, as far as the words of the setting do not say them."""
    if any(choice not in rule.words for choice in rule.choices):
        return f"Choose from {', '.join(rule.choices)}."
    limits = describe_range(rule)
    return f"Must be {limits}." if limits else ""
