"""Types of values: whether a value has the type of an annotation, and types in words."""

from __future__ import annotations

import numbers
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
}
_PLURALS = {
    int: "whole numbers",
    float: "numbers",
    str: "texts",
    list: "lists",
    dict: "tables",
    Path: "paths",
}
_UNIONS = (types.UnionType, typing.Union)


def has_type(kind: Any, value: Any) -> bool:
    """Tell whether a value has the type of an annotation.

    ``bool`` is no number here, numbers of numpy are numbers, and text is no list. The elements of
    lists and mappings are checked; a generator is not used up for it. A type with
    ``Annotated[..., check]`` is checked by ``check.accepts(value)``.
    """
    origin = typing.get_origin(kind) or kind
    arguments = typing.get_args(kind)
    if origin is typing.Annotated:
        return bool(arguments[1].accepts(value))
    if origin in _UNIONS:
        return any(has_type(member, value) for member in arguments)
    if origin is type(None):
        return value is None
    if origin is Any or not isinstance(origin, type):
        return True
    if origin is bool or isinstance(value, bool):
        return origin in (bool, object) and (origin is object or isinstance(value, bool))
    if origin in (int, float):
        # The abstract types, so that numbers of numpy are taken too.
        return isinstance(value, numbers.Integral if origin is int else numbers.Real)
    if origin in (list, tuple):
        return isinstance(value, list | tuple) and _have_types(arguments, value)
    if issubclass(origin, Mapping):
        key, element = arguments or (Any, Any)
        return isinstance(value, dict if origin is dict else Mapping) and all(
            has_type(key, k) and has_type(element, v) for k, v in value.items()
        )
    if issubclass(origin, Iterable) and origin.__module__ == "collections.abc":
        return _is_list(origin, arguments, value)
    return isinstance(value, origin)


def _have_types(kinds: tuple[Any, ...], values: Collection[Any]) -> bool:
    """Tell whether the elements of a list or tuple have the types of its annotation."""
    if not kinds:
        return True
    if len(kinds) == 1 or kinds[1] is Ellipsis:
        return all(has_type(kinds[0], value) for value in values)
    return len(kinds) == len(values) and all(map(has_type, kinds, values))


def _is_list(origin: type, arguments: tuple[Any, ...], value: Any) -> bool:
    """Tell whether a value is a list, tuple, set, array or the like, with the right elements."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return False
    if not isinstance(value, Collection):
        return not issubclass(origin, Collection)
    return not arguments or all(has_type(arguments[0], element) for element in value)


def describe_type(kind: Any, nothing: str = "None") -> str:
    """Return a type in words; ``nothing`` is what the reader calls None.

    Examples
    --------
    >>> describe_type(int | list[int] | None)
    'a whole number or a list of whole numbers or None'
    """
    origin = typing.get_origin(kind) or kind
    arguments = typing.get_args(kind)
    if origin is typing.Annotated:
        return str(arguments[1].words)
    if origin in _UNIONS:
        members = [member for member in arguments if member is not type(None)]
        if Path in members:
            members.remove(str)
        words = [describe_type(member, nothing) for member in members]
        words += [nothing] if len(arguments) > len(members) and type(None) in arguments else []
        joiner = ", or " if any(" or " in word for word in words) else " or "
        return joiner.join(dict.fromkeys(words))
    if kind in _WORDS:
        return _WORDS[kind]
    if not isinstance(origin, type):
        return "any value"
    if issubclass(origin, Mapping):
        return _describe_container("a table" if origin is dict else "a mapping", kind)
    if origin in (list, tuple) or origin.__module__ == "collections.abc":
        if not issubclass(origin, Iterable):
            return "a function"
        return _describe_container("a list", kind)
    return name_type(origin)


def _describe_container(words: str, kind: Any) -> str:
    elements = _describe_elements(kind)
    return f"{words} of {elements}" if elements else words


def _describe_elements(kind: Any) -> str:
    """Return the elements of a list, or the values of a table, in the plural; "" if of any type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    is_table = isinstance(origin, type) and issubclass(origin, Mapping)
    element = (arguments[1:] if is_table else arguments)[:1]
    if not element:
        return ""
    element_origin = typing.get_origin(element[0]) or element[0]
    if element_origin in _UNIONS and Path in typing.get_args(element[0]):
        element_origin = Path
    name = _PLURALS.get(element_origin, "")
    inner = _describe_elements(element[0])
    return f"{name} of {inner}" if name and inner else name


def describe_value(value: Any) -> str:
    """Return a value as errors show it: short values as they are, others by their type."""
    if value is None or isinstance(value, str | numbers.Number | list | tuple | set | Mapping):
        text = repr(value)
        if len(text) <= _LONGEST:
            return text
        if isinstance(value, str):
            return f"{text[: _LONGEST - 3]}..."
    return name_type(type(value))


_LONGEST = 80


def advise(kind: Any, value: Any) -> str:
    """Return what to pass instead of a value, where the check of an annotation knows it."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return str(getattr(arguments[1], "advise", lambda _: "")(value))
    if origin in _UNIONS:
        return next(filter(None, (advise(member, value) for member in arguments)), "")
    return ""


def name_type(kind: type) -> str:
    """Return the name of a type with its article: ``an int``, ``Runs``."""
    name = kind.__name__
    if name.endswith("s"):
        return name
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
