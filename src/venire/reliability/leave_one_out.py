"""What would have happened to a run had it not fed the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.errors import BadSetting, UnknownName
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import score
from venire.measures import Measure, parse
from venire.stats.rank_correlation import places
from venire.tables.schema import counted


@dataclass(frozen=True)
class LeaveOneOut:
    """Every run scored with and without the documents that only its group brought.

    Attributes
    ----------
    frame : polars.DataFrame
        One row a run, most places lost first: ``run_id, group, unique`` (judged pairs that only
        the group has in its first documents), ``unique_relevant, score, score_without, change,
        rank, rank_without`` (all runs scored again), ``rank_alone`` (only the left-out runs
        scored again, the others as they were), ``places_lost`` (``rank_without - rank``).
    measure : Measure
    depth : int
        Of the pool.
    leaders : tuple of str
        Groups without which another run comes first.
    notes : tuple of str
    """

    frame: pl.DataFrame
    measure: Measure
    depth: int
    leaders: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> dict[str, Any]:
        """The row of the run that loses most places, and most of its score among those."""
        return self.frame.row(0, named=True)


def leave_one_out(
    table: RankTable,
    grades: Longs,
    measure: str | Measure = "AP",
    *,
    depth: int = 10,
    groups: Mapping[str, str] | None = None,
    topics: str = "qrels",
) -> LeaveOneOut:
    """Leave each run, or each group of runs, out of a depth-k pool and score again.

    Judged pairs that only the left-out runs have in their first k become unjudged; all runs are
    scored again and ranked (Zobel, SIGIR 1998). Fewer relevant documents raise most scores, so
    that ranking the left-out run among the others' old scores, as some studies do,
    flatters it; ``rank_alone`` is there to compare with such figures. Pairs outside every first k
    were judged for another reason and stay judged. Averages are over the same topics before and
    after.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
    measure : str or Measure
    depth : int
        k of the pool.
    groups : mapping, optional
        Run to group: runs of one group hide each other's unique documents, so they are left out
        together. A run it does not name is a group of its own.
    topics : "qrels" or "run"
        As in :func:`venire.evaluation.score.score_runs`.

    Raises
    ------
    BadSetting
        For a depth below 1.
    UnknownName
        For a group of a run that is not there.
    """
    if depth < 1:
        raise BadSetting(f"depth is at least 1, not {depth}")
    for name in groups or {}:
        if name not in table.runs:
            raise UnknownName("run", name, table.runs)
    of_run = [(groups or {}).get(name, name) for name in table.runs]
    names = sorted(set(of_run))
    member = np.array([names.index(group) for group in of_run], dtype=np.int64)
    owner, pooled = _owners(table, member, len(names), depth)
    owner[grades == ABSENT] = -1
    measure = parse(measure) if isinstance(measure, str) else measure
    base = score(table, grades, [measure], topics=topics)
    before = base.mean[0]
    rank = places(before)
    rel = dict(measure.parameters).get("rel") or 1
    rows: list[dict[str, Any]] = []
    leaders = []
    for at, group in enumerate(names):
        unique = owner == at
        after = before
        if unique.any():
            scores = score(table, np.where(unique, ABSENT, grades), [measure], topics=topics)
            after = replace(scores, counted=base.counted).mean[0]
        ranks = places(after)
        if not np.array_equal(rank == 1, ranks == 1):
            leaders.append(group)
        alone = places(np.where(member == at, after, before))
        rows += [
            {
                "run_id": table.runs[run],
                "group": group,
                "unique": int(unique.sum()),
                "unique_relevant": int((unique & (grades >= rel)).sum()),
                "score": float(before[run]),
                "score_without": float(after[run]),
                "change": float(after[run] - before[run]),
                "rank": int(rank[run]),
                "rank_without": int(ranks[run]),
                "rank_alone": int(alone[run]),
                "places_lost": int(ranks[run] - rank[run]),
            }
            for run in np.flatnonzero(member == at)
        ]
    rows.sort(key=lambda row: (-row["places_lost"], row["change"], row["run_id"]))
    outside = int((~pooled & (grades != ABSENT)).sum())
    notes = []
    if outside:
        notes.append(
            f"{counted(outside, 'judged pair')} outside the first {depth} of every run: "
            "stay judged whoever is left out"
        )
    if groups is not None and len(groups) < len(table.runs):
        notes.append(
            f"{counted(len(table.runs) - len(groups), 'run')} without a group: "
            "left out one at a time"
        )
    return LeaveOneOut(pl.DataFrame(rows), measure, depth, tuple(leaders), tuple(notes))


def _owners(
    table: RankTable, member: Longs, groups: int, depth: int
) -> tuple[Longs, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return the only group with a pair in its first k [P], or -1, and what any run has there."""
    near = table.rank <= depth
    pair = table.pair[near]
    group = member[table.segment[near] // max(len(table.topics), 1)]
    both = np.unique(pair * groups + group)
    held, holder = both // groups, both % groups
    count = np.bincount(held, minlength=len(table.pairs))
    owner = np.full(len(table.pairs), -1, dtype=np.int64)
    alone = count[held] == 1
    owner[held[alone]] = holder[alone]
    return owner, count > 0
