"""Groups of similar documents in the pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import bindparam, update
from sqlalchemy.orm import Session

from venire.arrays import Float32s
from venire.grouping.settings import ONE, Setting
from venire.server.store.base import split_rows
from venire.server.store.studies import Pair
from venire.server.studies.studies import change_study


def put_groups(
    session: Session,
    study_id: str,
    setting: Setting,
    encoder: str,
    groups: Mapping[int, int],
    by: str | None = None,
) -> dict[str, int]:
    """Store the groups of all pools; judgments and open batches stay as they are.

    Parameters
    ----------
    groups : mapping
        Pair id to the number of its group within the topic; all other pairs are single.
    """
    table: Any = Pair.__table__
    session.execute(update(table).where(table.c.study_id == study_id).values(cluster=None))
    statement = (
        update(table)
        .where(table.c.id == bindparam("pair"), table.c.study_id == study_id)
        .values(cluster=bindparam("number"))
    )
    rows = [{"pair": pair, "number": number} for pair, number in groups.items()]
    for part in split_rows(rows):
        session.connection().execute(statement, part)
    session.expire_all()
    ungrouped = setting.method == ONE
    chosen = {} if ungrouped else {"encoder": encoder, "setting": str(setting)}
    change_study(session, study_id, by, settings={"grouping": chosen})
    return {"grouped": len(rows)}


def group_pools(pools: pl.DataFrame, setting: Setting, rows: Float32s) -> dict[int, int]:
    """Return the group of each pair; pairs without a group are not included.

    Parameters
    ----------
    pools : polars.DataFrame
        As :func:`pooled` gives them.
    rows : float32 [n, d]
        The vector of each row of ``pools``, NaN where there is none.
    """
    out: dict[int, int] = {}
    place = pools.with_row_index("at")
    for part in place.partition_by("query_id", maintain_order=True):
        labels = setting.group(rows[part["at"].to_numpy()])
        pairs = part["pair_id"].to_numpy()
        grouped = labels >= 0
        out |= dict(zip(pairs[grouped].tolist(), labels[grouped].tolist(), strict=True))
    return out
