"""What the kinds of jobs share: settings read from JSON, tables kept as Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from venire.errors import BadSetting, DataError, UnknownName
from venire.server.store.session import Store
from venire.server.studies.results import judgments
from venire.tables.judgments import Judgments


def checked(settings: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with their defaults; unknown names and wrong types are refused in words."""
    for name in settings:
        if name not in known:
            raise UnknownName("setting", name, known)
    out = {**known, **settings}
    for name, default in known.items():
        value = out[name]
        if default is None or value is None:
            fits = default is None or value is default
        elif isinstance(default, float):
            fits = isinstance(value, int | float) and not isinstance(value, bool)
        else:
            fits = type(value) is type(default)
        if not fits:
            raise BadSetting(f"{name} is {value!r}; it must be like {default!r}")
    return out


def table_of(store: Store, study_id: str, campaign_id: str | None, *, gold: bool) -> Judgments:
    """The judgments that count; an error where there are none."""
    with store.reading() as session:
        table = judgments(session, study_id, campaign_id, gold=gold)
    if not len(table):
        raise DataError("there are no judgments that count yet")
    return table


def parquet(frame: pl.DataFrame) -> bytes:
    """A table as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def plain(value: Any) -> Any:
    """A value that JSON can hold; a number that is none is null."""
    return json.loads(json.dumps(value, default=_other), parse_constant=lambda _: None)


def _other(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)
