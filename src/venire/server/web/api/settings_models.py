"""Build request models from settings classes, for requests that name only some settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, create_model

from venire.settings import Rule, Settings, rules


def make_model(
    kind: type[Settings],
    name: str,
    base: type[BaseModel],
    words: str,
    types: Mapping[str, Any] = MappingProxyType({}),
) -> type[BaseModel]:
    """Return a request model with a field per setting, each with its default.

    The model checks names and types, and describes ranges and choices in OpenAPI. The settings
    class checks them when the request is carried out, so that an error is the same everywhere.

    Parameters
    ----------
    kind : type of Settings
    name : str
        Name of the model in OpenAPI.
    base : type of BaseModel
    words : str
        Description of the model in OpenAPI.
    types : mapping of str to type
        Types of fields that have a model of their own.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from venire.settings import setting
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Sampling(Settings):
    ...     rate: float = setting(0.5, words="Share of the pairs to draw.", least=0, most=1)
    >>> model = make_model(Sampling, "Sampling", BaseModel, "How to draw.")
    >>> model().model_dump(), model().model_dump(exclude_unset=True)
    ({'rate': 0.5}, {})
    >>> model.model_json_schema()["properties"]["rate"]["maximum"]
    1
    """
    fields: dict[str, Any] = {}
    for rule in rules(kind):
        annotation = types.get(rule.name, rule.type | None if rule.optional else rule.type)
        default = ... if rule.default is MISSING else rule.default
        if rule.name in types and default is not ...:
            default = TypeAdapter(annotation).validate_python(default)
        fields[rule.name] = (
            annotation,
            Field(
                default,
                title=rule.label or None,
                description=rule.words,
                json_schema_extra=_describe(rule),
            ),
        )
    model: type[BaseModel] = create_model(name, __base__=base, __doc__=words, **fields)
    return model


def _describe(rule: Rule) -> dict[str, Any]:
    """Return what JSON Schema says about a setting beside its type."""
    limits = {
        "minimum": rule.least,
        "maximum": rule.most,
        "exclusiveMinimum": rule.above,
        "exclusiveMaximum": rule.below,
    }
    schema: dict[str, Any] = {name: end for name, end in limits.items() if end is not None}
    if rule.choices:
        schema["enum"] = list(rule.choices)
    if rule.default is not MISSING:
        schema["default"] = rule.default
    return schema
