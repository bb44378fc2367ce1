"""Settings as frozen dataclasses: words, range, choices and default are said once, on the field.

Forms, file formats, command options and reference pages are derived from the fields; see
:func:`rules`.

Examples
--------
>>> @dataclass(frozen=True, kw_only=True)
... class Sampling(Settings):
...     rate: float = setting(0.5, words="Share of the pairs to draw.", least=0, most=1)
>>> Sampling.of({"rate": 2})
Traceback (most recent call last):
venire.errors.BadSetting: `rate` must be between 0 and 1 (got 2)
>>> Sampling.of({"rat": 0.1})
Traceback (most recent call last):
venire.errors.UnknownName: Unknown setting 'rat'. Choose from rate. Did you mean 'rate'?
"""

from __future__ import annotations

import dataclasses
import numbers
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from venire import value_types
from venire.errors import BadSetting, UnknownName

_RULE = "venire.rule"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a setting means and may be.

    Parameters
    ----------
    name : str
        Name of the field.
    type : type
        Type of a value, without None.
    optional : bool
        Whether None is allowed.
    default : object
        Value where none is set; ``MISSING`` of :mod:`dataclasses` where one must be.
    words : str
        One sentence for forms and reference pages.
    label : str
        Short label for forms; the name where none is set.
    group : str
        Heading of the form under which the setting stands.
    least, most : float or None
        Allowed range, ends included.
    above, below : float or None
        Allowed range, ends excluded.
    choices : tuple of str
        Allowed texts; empty where any text is allowed.
    """

    name: str
    type: Any
    optional: bool = False
    default: Any = dataclasses.MISSING
    words: str = ""
    label: str = ""
    group: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()


def setting(
    default: Any = dataclasses.MISSING,
    *,
    words: str,
    label: str = "",
    group: str = "",
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    default_factory: Callable[[], Any] | None = None,
) -> Any:
    """Return a dataclass field that carries its rule; the arguments are those of :class:`Rule`."""
    metadata = {
        _RULE: {
            "words": words,
            "label": label,
            "group": group,
            "least": least,
            "most": most,
            "above": above,
            "below": below,
            "choices": tuple(choices),
        }
    }
    if default_factory is not None:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def rules(kind: type[Any]) -> tuple[Rule, ...]:
    """Return the rule of every field of a settings class, in order."""
    return _read_rules(kind)  # type: ignore[arg-type]  # a class is hashable


@cache
def _read_rules(kind: Any) -> tuple[Rule, ...]:
    hints = typing.get_type_hints(kind)
    return tuple(_rule(field, hints[field.name]) for field in dataclasses.fields(kind))


def _rule(field: dataclasses.Field[Any], hint: Any) -> Rule:
    members = [part for part in typing.get_args(hint) if part is not type(None)]
    is_union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    optional = is_union and len(members) < len(typing.get_args(hint))
    if is_union and len(members) == 1:
        hint = members[0]
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return Rule(
        name=field.name,
        type=hint,
        optional=optional,
        default=default,
        **field.metadata.get(_RULE, {}),
    )


def check_value(rule: Rule, value: Any) -> None:
    """Refuse a value that the rule does not allow.

    Raises
    ------
    BadSetting
        Wrong type, or outside the range.
    UnknownName
        A text that is not one of the choices.
    """
    if value is None and rule.optional:
        return
    if not value_types.has_type(rule.type, value):
        raise BadSetting(
            f"must be {describe_type(rule)} (got {value!r:.80})", argument=rule.name, value=value
        )
    if rule.choices and value not in rule.choices:
        raise UnknownName(rule.name, value, rule.choices)
    if isinstance(value, numbers.Real) and not _is_in_range(rule, value):
        raise BadSetting(
            f"must be {describe_range(rule)} (got {value!r})", argument=rule.name, value=value
        )


def _is_in_range(rule: Rule, value: Any) -> bool:
    return bool(
        (rule.least is None or value >= rule.least)
        and (rule.most is None or value <= rule.most)
        and (rule.above is None or value > rule.above)
        and (rule.below is None or value < rule.below)
    )


def describe_type(rule: Rule) -> str:
    """Return what a value must be, in words, with its range."""
    words = value_types.describe_type(rule.type, "null")
    bounds = describe_range(rule)
    if rule.type in (int, float) and bounds:
        words = f"{words} {bounds}"
    if rule.optional and not value_types.has_type(rule.type, None):
        words = f"{words} or null"
    return words


def describe_range(rule: Rule) -> str:
    """Return the allowed range in words, empty where there is none."""
    if rule.least is not None and rule.most is not None:
        return f"between {_write_number(rule.least)} and {_write_number(rule.most)}"
    bounds = ((">=", rule.least), (">", rule.above), ("<=", rule.most), ("<", rule.below))
    return " and ".join(
        f"{sign} {_write_number(bound)}" for sign, bound in bounds if bound is not None
    )


def _write_number(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,g}"


class Settings:
    """Base of settings classes: made from a mapping, checked when made, plain values out."""

    def __post_init__(self) -> None:
        """Check every field by its rule."""
        for rule in rules(type(self)):
            check_value(rule, getattr(self, rule.name))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return settings from a mapping; what it does not name has its default.

        Raises
        ------
        UnknownName
            A name that is no setting.
        BadSetting
            A value that is not allowed, or none where one must be.
        """
        known = {rule.name: rule for rule in rules(cls)}
        for name in values:
            if name not in known:
                raise UnknownName("setting", name, known)
        for name, rule in known.items():
            if rule.default is dataclasses.MISSING and name not in values:
                raise BadSetting("is missing", argument=name)
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, for JSON."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


def check_seed(seed: Any) -> None:
    """Refuse a seed that is not a whole number >= 0.

    Raises
    ------
    BadSetting
    """
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise BadSetting(
            f"must be a whole number >= 0 (got {seed!r:.80})", argument="seed", value=seed
        )
