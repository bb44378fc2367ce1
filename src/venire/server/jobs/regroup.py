"""The job ``regroup``: every pool of the study put in the groups of one setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from venire.errors import BadSetting
from venire.grouping.settings import ONE, Setting
from venire.progress import Event, Progress
from venire.server.jobs.encode import HASH
from venire.server.jobs.inputs import checked
from venire.server.jobs.queue import Work, get_job
from venire.server.store.session import Store
from venire.server.studies.pools import group_pools, pooled, put_groups, read_vectors
from venire.tables.schema import counted

SETTINGS: dict[str, Any] = {"setting": ONE, "encoder": ""}


def check(session: Any, study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse a setting that is none, and one whose vectors the study has not."""
    given = checked(settings, SETTINGS)
    setting = Setting.parse(given["setting"])
    name = vectors_for(setting, given["encoder"])
    if name:
        read_vectors(session, study_id, name)


def vectors_for(setting: Setting, encoder: str) -> str:
    """The name of the vectors that a setting compares; empty where it compares none."""
    needs = setting.grouper.needs
    if needs == "vectors" and not encoder:
        raise BadSetting(f"{setting.method} compares vectors; name the encoder they are of")
    return {"vectors": encoder, "hashes": HASH}.get(needs, "")


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Group by ``setting`` on the vectors of ``encoder``; one-at-a-time takes the groups away.

    Nothing is written before all is computed, and then all at once. Judgments and batches that
    are open stay as they are; the next batch is given out in the new groups.
    """
    given = checked(job.settings, SETTINGS)
    setting = Setting.parse(given["setting"])
    name = vectors_for(setting, given["encoder"])
    notes: list[str] = []
    groups: dict[int, int] = {}
    with store.reading() as session:
        pools = pooled(session, job.study_id, gold=True)
        by = get_job(session, job.id).created_by
        vectors = read_vectors(session, job.study_id, name)[0] if name else None
    if vectors is not None:
        at = vectors.rows(pools["doc_id"].to_list())
        if (at < 0).any():
            notes.append(f"{counted(int((at < 0).sum()), 'document')} without a vector: single")
        blank = np.full((1, vectors.dimension), np.nan, np.float32)
        rows = np.concatenate([vectors.array, blank])[at]
        topics = pools["query_id"].unique(maintain_order=True).to_list()
        query = pools["query_id"].to_numpy()
        for number, topic in enumerate(topics, start=1):
            mine = np.flatnonzero(query == topic)
            groups |= group_pools(pools[mine.tolist()], setting, rows[mine])
            progress(Event("grouping pools", number, len(topics)))
    store.write(lambda s: put_groups(s, job.study_id, setting, given["encoder"], groups, by))
    number = _groups(pools, groups)
    return {
        "rows": [
            {
                "setting": str(setting),
                "documents": pools.height,
                "groups": number,
                "single": pools.height - len(groups),
            }
        ],
        "notes": notes,
        "settings": given,
    }


def _groups(pools: Any, groups: Mapping[int, int]) -> int:
    """How many groups there are."""
    pairs = zip(pools["query_id"], pools["pair_id"], strict=True)
    return len({(query, groups[pair]) for query, pair in pairs if pair in groups})


run.check = check  # type: ignore[attr-defined]
