"""Score runs as if they had not contributed to the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting, UnknownName
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import parse_measures, score, smallest_relevant
from venire.measures import Measure
from venire.reliability.pool_effect import score_masked
from venire.tables.schema import express


@dataclass(frozen=True)
class LeaveOneOut:
    """Every run scored with and without the documents that only its group retrieved.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per run, most ranks lost first: ``run_id, group``; ``unique`` and
        ``unique_relevant``, the judged pairs that only its group has in the first k documents;
        ``score, score_without, change``; ``rank``; ``rank_without``, with all runs scored again;
        ``rank_alone``, with only the left-out runs scored again; ``places_lost``
        (``rank_without - rank``).
    measure : Measure
    depth : int
        Depth of the pool.
    leaders : tuple of str
        Groups without which another run ranks first.
    notes : tuple of str
    """

    frame: pl.DataFrame
    measure: Measure
    depth: int
    leaders: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> dict[str, Any]:
        """The row of the run that loses most ranks, and most of its score among those."""
        return self.frame.row(0, named=True)


def leave_one_out(
    table: RankTable,
    grades: Longs,
    measure: str | Measure = "AP",
    *,
    depth: int = 10,
    groups: Mapping[str, str] | None = None,
    copies: Mapping[str, str] | None = None,
    topics: str = "qrels",
) -> LeaveOneOut:
    """Leave each run, or each group of runs, out of a depth-k pool, and score again.

    Judged pairs that only the left-out runs have in their first k documents become unjudged. Then
    all runs are scored and ranked again (Zobel, SIGIR 1998). Fewer relevant documents raise most
    scores. Some studies rank the left-out run among the old scores of the others, which flatters
    it; ``rank_alone`` is that rank, to compare with such figures. Judged pairs outside the first k
    documents of every run were judged for another reason and stay judged. Averages are over the
    same topics before and after.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
    measure : str or Measure
    depth : int
        Depth k of the pool.
    groups : mapping, optional
        Run to group. Runs of one group hide each other's unique documents, so they are left out
        together. A run that is not named is a group of its own.
    copies : mapping, optional
        Run to the run that it scores like. A copy is in the group of that run unless ``groups``
        says otherwise, and ranks count it as no run.
    topics : "qrels", "run" or "all"
        As in :func:`venire.evaluation.score.score_runs`.

    Raises
    ------
    BadSetting
        For a depth below 1.
    UnknownName
        For a group of an unknown run.
    """
    if depth < 1:
        raise BadSetting(f"must be >= 1 (got {depth})", argument="depth", value=depth)
    group_of_run = _name_groups(table, groups, copies or {})
    is_ranked = np.array([name not in (copies or {}) for name in table.runs])
    names = sorted(set(group_of_run))
    group = np.array([names.index(name) for name in group_of_run], dtype=np.int64)
    owner, is_pooled = _find_owners(table, group, len(names), depth)
    owner[grades == ABSENT] = -1
    (parsed,) = parse_measures([measure])
    base = score(table, grades, [parsed], topics=topics)
    before = base.mean[0]
    is_first = rank_among(before, is_ranked) == 1
    rows: list[dict[str, Any]] = []
    leaders = []
    for number, name in enumerate(names):
        is_unique = owner == number
        after = before
        if is_unique.any():
            after = score_masked(table, grades, ~is_unique, parsed, base.counted)
        if not np.array_equal(is_first, rank_among(after, is_ranked) == 1):
            leaders.append(name)
        unique = {
            "group": name,
            "unique": int(is_unique.sum()),
            "unique_relevant": int((is_unique & (grades >= smallest_relevant(parsed))).sum()),
        }
        rows += _compare_runs(table.runs, group == number, is_ranked, before, after, unique)
    rows.sort(key=lambda row: (-row["places_lost"], row["change"], row["run_id"]))
    outside = int((~is_pooled & (grades != ABSENT)).sum())
    single = 0 if groups is None else len(table.runs) - len(groups)
    return LeaveOneOut(
        pl.DataFrame(rows), parsed, depth, tuple(leaders), _describe(outside, depth, single)
    )


def rank_among(scores: Floats, is_ranked: Mask) -> Longs:
    """Return the rank of each run among the ranked ones, as :func:`rank_scores` does.

    Parameters
    ----------
    scores : float64 [R]
    is_ranked : bool [R]
    """
    better: Longs = (scores[is_ranked][None, :] > scores[:, None]).sum(axis=1)
    return better + 1


def _name_groups(
    table: RankTable, groups: Mapping[str, str] | None, copies: Mapping[str, str]
) -> list[str]:
    """Return the name of each run's group."""
    groups = groups or {}
    for name in groups:
        if name not in table.runs:
            raise UnknownName("run", name, table.runs)
    originals = [name if name in groups else copies.get(name, name) for name in table.runs]
    return [groups.get(name, name) for name in originals]


def _compare_runs(
    runs: list[str],
    left_out: Mask,
    is_ranked: Mask,
    before: Floats,
    after: Floats,
    unique: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return one row per left-out run; see :class:`LeaveOneOut`."""
    rank, rank_without = rank_among(before, is_ranked), rank_among(after, is_ranked)
    rank_alone = rank_among(np.where(left_out, after, before), is_ranked)
    return [
        {
            "run_id": runs[run],
            **unique,
            "score": float(before[run]),
            "score_without": float(after[run]),
            "change": float(after[run] - before[run]),
            "rank": int(rank[run]),
            "rank_without": int(rank_without[run]),
            "rank_alone": int(rank_alone[run]),
            "places_lost": int(rank_without[run] - rank[run]),
        }
        for run in np.flatnonzero(left_out)
    ]


def _describe(outside: int, depth: int, single: int) -> tuple[str, ...]:
    """Return notes on pairs outside the pool, and on runs without a group."""
    notes = []
    if outside:
        notes.append(
            f"{express(outside, 'judged pair')} outside the first {depth} of every run: "
            "stay judged whoever is left out"
        )
    if single:
        notes.append(f"{express(single, 'run')} without a group: left out one at a time")
    return tuple(notes)


def _find_owners(table: RankTable, group: Longs, groups: int, depth: int) -> tuple[Longs, Mask]:
    """Return the only group with a pair in its first k, or -1, and whether any has it [P].

    Parameters
    ----------
    table : RankTable
    group : int64 [R]
        Group of each run.
    groups : int
        Number of groups.
    depth : int
    """
    near = table.rank <= depth
    # Each combination of a pair and a group once.
    both = np.unique(table.pair[near] * groups + group[table.run[near]])
    pair, holder = both // groups, both % groups
    count = np.bincount(pair, minlength=len(table.pairs))
    owner = np.full(len(table.pairs), -1, dtype=np.int64)
    is_only = count[pair] == 1
    owner[pair[is_only]] = holder[is_only]
    return owner, count > 0
