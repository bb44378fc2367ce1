"""A grouping setting as a value: method, parameter, cap. It parses, prints and hashes as itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from venire import plugins
from venire.arrays import Float32s, Longs
from venire.errors import BadSetting, UnknownName
from venire.grouping.base import Grouper, finish

ONE = "one-at-a-time"
NONE = "none"
_SPELLED = re.compile(r"\s*([\w-]+)\s*(?:\(([^()]*)\))?\s*")


@dataclass(frozen=True)
class Setting:
    """A grouping method with its values.

    Attributes
    ----------
    method : str
        The name of a grouper.
    values : tuple of (str, float)
        Its settings.
    cap : int or None
        Maximum size of a group.

    Examples
    --------
    >>> setting = Setting.parse("leader(cosine=0.9,cap=16)")
    >>> setting.cap, str(setting)
    (16, 'leader(cosine=0.9,cap=16)')
    """

    method: str
    values: tuple[tuple[str, float], ...] = ()
    cap: int | None = None

    @classmethod
    def parse(cls, text: str) -> Setting:
        """Read what ``str`` writes; values that are not named have the grouper's defaults.

        Raises
        ------
        UnknownName, BadSetting
        """
        method, values, caps = _read(text)
        kind: Any = plugins.load("grouper", method)
        defaults = {field.name: (float(getattr(kind(), field.name)),) for field in fields(kind)}
        complete = {name: values.get(name, default) for name, default in defaults.items()}
        complete |= {name: tried for name, tried in values.items() if name not in complete}
        if any(len(tried) != 1 for tried in complete.values()) or len(caps or [None]) != 1:
            raise BadSetting(f"{text!r} has several values, but a single setting is needed")
        pairs = tuple((name, tried[0]) for name, tried in complete.items())
        return cls(method, pairs, (caps or [None])[0]).check()

    def __str__(self) -> str:
        parts = [f"{name}={value:g}" for name, value in self.values]
        if self.cap is not None:
            parts.append(f"cap={self.cap}")
        return f"{self.method}({','.join(parts)})" if parts else self.method

    @property
    def uncapped(self) -> Setting:
        """The same without a cap: what is computed once for all caps."""
        return Setting(self.method, self.values)

    @cached_property
    def grouper(self) -> Grouper:
        """The grouper, with its settings."""
        kind = plugins.load("grouper", self.method)
        known = {field.name: getattr(kind(), field.name) for field in fields(kind)}
        settings: dict[str, Any] = {}
        for name, value in self.values:
            if name not in known:
                raise UnknownName(f"setting of {self.method}", name, [*known, "cap"])
            whole = isinstance(known[name], int)
            if whole and value != int(value):
                raise BadSetting(f"{self.method}: {name} must be a whole number (got {value:g})")
            settings[name] = int(value) if whole else float(value)
        try:
            made: Grouper = kind(**settings)
        except BadSetting as error:
            raise BadSetting(f"{self.method}: {error}") from None
        return made

    def check(self) -> Setting:
        """Return self, or say what is wrong with it."""
        if self.cap is not None and self.cap < 2:
            raise BadSetting(f"cap must be >= 2, or none (got {self.cap})")
        if self.method == ONE and self.cap is not None:
            raise BadSetting(f"{ONE} has no groups, so it takes no cap")
        _ = self.grouper
        return self

    def group(self, vectors: Float32s) -> Longs:
        """Return the group of each document of a pool, -1 where it is single [n].

        Parameters
        ----------
        vectors : float32 [n, d]
            Unit vectors in the order of the pool. A document without a vector has a row of NaN;
            it is single.
        """
        known = np.isfinite(vectors).all(axis=1)
        labels = np.full(vectors.shape[0], -1, np.int64)
        if known.any():
            labels[known] = self.grouper.group(vectors[known])
        return finish(labels, self.cap)


def parse_methods(text: str, caps: Sequence[int | None] = (None,)) -> list[Setting]:
    """Read ``leader,k-means(size=4|8,cap=16)``: methods with the values to try.

    A method without values stands for its whole grid; ``|`` stands between values; ``cap`` is
    16, none, or several. Each combination is one setting; none comes twice.

    Parameters
    ----------
    text : str
    caps : sequence of int or None
        For methods that name no ``cap``.

    Raises
    ------
    UnknownName
        For a method or a parameter.
    BadSetting
        For what is not so written.

    Examples
    --------
    >>> [str(one) for one in parse_methods("k-means(size=4|8),one-at-a-time")]
    ['k-means(size=4)', 'k-means(size=8)', 'one-at-a-time']
    >>> len(parse_methods("leader,average-linkage", caps=[8, None]))
    22
    """
    out: dict[Setting, None] = {}
    for part in re.split(r",(?![^()]*\))", text):
        if not part.strip():
            continue
        method, values, own = _read(part)
        kind = plugins.load("grouper", method)
        for name, tried in kind.grid.items():
            values.setdefault(name, tried)
        chosen = [None] if method == ONE and own is None else (own or list(caps))
        names = list(values)
        for numbers in product(*values.values()):
            for cap in chosen:
                setting = Setting(method, tuple(zip(names, map(float, numbers), strict=True)), cap)
                out[setting.check()] = None
    if not out:
        raise BadSetting(
            "must name at least one method",
            argument="methods",
            value=text,
            hint=f"Choose from {', '.join(plugins.names('grouper'))}.",
        )
    return list(out)


def grid(methods: Sequence[str], caps: Sequence[int | None] = (None,)) -> list[Setting]:
    """Return the whole grid of some methods: each parameter value with each cap."""
    return parse_methods(",".join(methods), caps)


def read_caps(text: str) -> list[int | None]:
    """Read ``8,16,none``.

    Examples
    --------
    >>> read_caps("8,none")
    [8, None]
    """
    caps = [_cap(part) for part in text.split(",") if part.strip()]
    if not caps:
        raise BadSetting(
            f"caps must be group sizes, or none (got {text!r})", hint="For example 8,16,none."
        )
    return caps


def _cap(text: str) -> int | None:
    if text.strip() == NONE:
        return None
    try:
        return int(text)
    except ValueError:
        raise BadSetting(f"cap must be a whole number or none (got {text.strip()!r})") from None


def _read(text: str) -> tuple[str, dict[str, tuple[float, ...]], list[int | None] | None]:
    """Return the method, the values of each parameter, and the caps (None if not given)."""
    match = _SPELLED.fullmatch(text)
    if match is None:
        raise BadSetting(
            f"{text!r} is not a method of grouping",
            hint="Write NAME or NAME(setting=VALUE), for example "
            "average-linkage(distance=0.2|0.3,cap=8|none).",
        )
    values: dict[str, tuple[float, ...]] = {}
    caps: list[int | None] | None = None
    for item in (match[2] or "").split(","):
        if not item.strip():
            continue
        name, equals, listed = (word.strip() for word in item.partition("="))
        if not equals or not listed:
            raise BadSetting(
                f"{match[1]}: cannot read {item.strip()!r}",
                hint="Write name=value or name=value|value.",
            )
        if name == "cap":
            caps = [_cap(text) for text in listed.split("|")]
            continue
        try:
            values[name] = tuple(float(text) for text in listed.split("|"))
        except ValueError:
            raise BadSetting(f"{match[1]}: {name} must be numbers (got {listed})") from None
    return match[1], values, caps


def describe_setting(setting: Setting, current: Setting | None = None) -> str:
    """Return the setting as text for sentences.

    Examples
    --------
    >>> describe_setting(Setting.parse("average-linkage(distance=0.2,cap=16)"))
    'average linkage at 0.2, groups of at most 16'
    """
    text = setting.method.replace("-", " ") if setting.method not in _KEPT else setting.method
    values: Mapping[str, float] = dict(setting.values)
    if values:
        text += " at " + ", ".join(f"{value:g}" for value in values.values())
    if setting.cap is not None:
        text += f", groups of at most {setting.cap}"
    return text + (" (the current setting)" if setting == current else "")


_KEPT = ("k-means",)
