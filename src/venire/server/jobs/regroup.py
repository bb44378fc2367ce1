"""The job ``regroup``: put the documents of every pool into groups, by one grouping setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from venire.errors import BadSetting
from venire.grouping.settings import ONE, Setting
from venire.grouping.vectors import Vectors
from venire.progress import Event, Progress
from venire.server.jobs.encode import HASH
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.queue import get_job
from venire.server.jobs.work import Work
from venire.server.studies.files import read_vectors
from venire.server.studies.groups import group_pools, put_groups
from venire.server.studies.pools import read_pools
from venire.settings import setting as declare
from venire.tables.schema import express


class RegroupResult(TypedDict):
    """One row: the numbers of documents, of groups, and of documents outside of groups."""

    rows: list[dict[str, Any]]
    notes: list[str]
    settings: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RegroupJob(JobKind):
    """Group the pools; one-at-a-time removes the groups."""

    setting: str = declare(
        ONE, words="Grouping setting, for example leader(cosine=0.8,cap=8).", label="Grouping"
    )
    encoder: str = declare(
        "", words="Encoder of the vectors; empty if the method compares none.", label="Encoder"
    )

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown setting, and one whose vectors the study does not have."""
        name = choose_vectors(Setting.parse(self.setting), self.encoder)
        if name:
            read_vectors(session, study_id, name)

    def run(self, work: Work, progress: Progress) -> RegroupResult:
        """Compute all groups, then write them in one transaction.

        Judgments and open batches stay as they are; the next batch has the new groups.
        """
        grouping = Setting.parse(self.setting)
        name = choose_vectors(grouping, self.encoder)
        with work.store.reading() as session:
            pools = read_pools(session, work.study_id, gold=True)
            by = get_job(session, work.id).created_by
            vectors = read_vectors(session, work.study_id, name)[0] if name else None
        notes: list[str] = []
        groups: dict[int, int] = {}
        if vectors is not None:
            groups = _group_by_vectors(pools, vectors, grouping, notes, progress)
        work.store.write(
            lambda session: put_groups(session, work.study_id, grouping, self.encoder, groups, by)
        )
        return {
            "rows": [
                {
                    "setting": str(grouping),
                    "documents": pools.height,
                    "groups": _count_groups(pools, groups),
                    "single": pools.height - len(groups),
                }
            ],
            "notes": notes,
            "settings": self.to_dict(),
        }


def choose_vectors(grouping: Setting, encoder: str) -> str:
    """Return the name of the vectors that a grouping compares; empty if it compares none."""
    needs = grouping.grouper.needs
    if needs == "vectors" and not encoder:
        raise BadSetting(
            f"is missing: {grouping.method} compares vectors. Choose an encoder.",
            argument="encoder",
        )
    return {"vectors": encoder, "hashes": HASH}.get(needs, "")


def _group_by_vectors(
    pools: pl.DataFrame, vectors: Vectors, grouping: Setting, notes: list[str], progress: Progress
) -> dict[int, int]:
    """Return the group of each grouped pair, by the id of the pair."""
    rows = vectors.rows(pools["doc_id"].to_list())
    missing = int((rows < 0).sum())
    if missing:
        notes.append(f"{express(missing, 'document')} without a vector: single")
    # Row -1, that of a document without a vector, is NaN.
    blank = np.full((1, vectors.dimension), np.nan, np.float32)
    array = np.concatenate([vectors.array, blank])[rows]
    topics = pools["query_id"].unique(maintain_order=True).to_list()
    query = pools["query_id"].to_numpy()
    groups: dict[int, int] = {}
    for number, topic in enumerate(topics, start=1):
        pool = np.flatnonzero(query == topic)
        groups |= group_pools(pools[pool.tolist()], grouping, array[pool])
        progress(Event("grouping pools", number, len(topics)))
    return groups


def _count_groups(pools: pl.DataFrame, groups: dict[int, int]) -> int:
    pairs = zip(pools["query_id"], pools["pair_id"], strict=True)
    return len({(query, groups[pair]) for query, pair in pairs if pair in groups})
