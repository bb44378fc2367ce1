"""Text that enters and leaves the database: what cannot be written again is mended.

Half of a surrogate pair (U+D800) is no character: no file, page or database can hold it, and
PostgreSQL holds no NUL. Such text comes from broken programs and from attackers. It is mended where
it enters the server, where it enters the database, and, in events of studies that hold it already,
where it is read: rows of events are never changed.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, String, Text
from sqlalchemy.types import TypeDecorator

REPLACEMENT = "\ufffd"


def mend_text(text: str) -> str:
    """Return text that can be stored and written: halves of surrogate pairs become U+FFFD.

    Examples
    --------
    >>> mend_text("bad " + chr(0xD800) + " NUL" + chr(0)) == "bad " + REPLACEMENT + " NUL"
    True
    """
    if "\x00" in text:
        text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two halves that make a pair become its character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def mend_value(value: Any) -> Any:
    """Return plain data (of JSON) with every text mended, keys too."""
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, dict):
        return {mend_value(key): mend_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mend_value(item) for item in value]
    return value


class StoredString(TypeDecorator[str]):
    """Text of a column, mended before it is stored or compared."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Return the text as it is stored."""
        return mend_text(value) if isinstance(value, str) else value


class StoredText(StoredString):
    """Long text of a column, mended before it is stored or compared."""

    impl = Text
    cache_ok = True


class StoredJson(TypeDecorator[Any]):
    """Plain data of a column, mended before it is stored and after it is read."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> Any:
        """Return the data as they are stored."""
        return mend_value(value)

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        """Return the data as they can be written."""
        return mend_value(value)
