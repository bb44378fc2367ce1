"""Arguments of the verbs, checked by their annotations before any work begins."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from venire.errors import BadSetting
from venire.settings import check_seed
from venire.value_types import advise, describe_type, describe_value, has_type

P = ParamSpec("P")
R = TypeVar("R")


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a verb: an argument that has not the type of its annotation is a ``BadSetting``.

    The seed is checked first.

    Examples
    --------
    >>> @check_arguments
    ... def choose(depth: int | None = None) -> int:
    ...     return depth or 10
    >>> choose(depth=2.5)
    Traceback (most recent call last):
    venire.errors.BadSetting: `depth` must be a whole number or None (got 2.5)
    """
    signature = inspect.signature(function)

    @functools.cache
    def read_types() -> dict[str, Any]:
        return typing.get_type_hints(function, include_extras=True)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            values = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # Python's own error names the function
        if "seed" in values:
            check_seed(values["seed"])
        kinds = read_types()
        for name, value in values.items():
            if not has_type(kinds[name], value):
                raise BadSetting(
                    f"must be {describe_type(kinds[name])} (got {describe_value(value)})",
                    argument=name,
                    value=value,
                    hint=advise(kinds[name], value),
                )
        return function(*args, **kwargs)

    return call
