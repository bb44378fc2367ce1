"""``venire.simulate_pools``: systems scored by simulated pools, against known grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.arguments import check_arguments
from venire.errors import BadSetting, UnknownName
from venire.formats.load import RunsLike
from venire.measures import Measure, MeasureLike
from venire.short_repr import list_names, write_repr
from venire.simulation.known_truth import TruthLike, load_truth
from venire.simulation.pools.pool_simulator import PoolScores, PoolSimulator
from venire.tables.schema import express

DEPTHS = (10, 20, 50, 100)
POOL_VIEWS = ("depth", "run", "left-out")


@dataclass(frozen=True, eq=False)
class SimulatedPools:
    """Systems scored by simulated pools.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per depth, or per run; see
        :class:`venire.simulation.pools.pool_simulator.PoolSimulator`.
    depths : tuple of int
    members : tuple of str or None
        Runs that make the pool; None for all.
    runs : tuple of str
    measure : Measure
    notes : tuple of str
    """

    frame: pl.DataFrame
    depths: tuple[int, ...]
    members: tuple[str, ...] | None
    runs: tuple[str, ...]
    measure: Measure
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return write_repr(
            self,
            f"{express(len(self.runs), 'run')}, {self.measure}, depth {list_names(self.depths)}",
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table as rows."""
        return self.frame.to_dicts()


@check_arguments
def simulate_pools(
    truth: TruthLike,
    runs: RunsLike | None = None,
    *,
    depth: int | Sequence[int] | None = None,
    members: str | Sequence[str] | None = None,
    by: str = "depth",
    measure: MeasureLike = "AP",
    relevant_from: int = 1,
    ties: str = "trec",
) -> SimulatedPools:
    """Score systems by simulated pools, against the truth.

    Parameters
    ----------
    truth : collection, folder, Qrels, path or dataframe
        Qrels, or a collection with its qrels.
    runs : Runs, path, list of paths, or dataframe, optional
        By default the runs of the collection; without any, its documents are searched with the
        twelve systems of :func:`venire.retrieve`.
    depth : int or sequence of int, optional
        Depths of the pool; 10, 20, 50 and 100 by default.
    members : sequence of str, optional
        Runs that make the pool; all by default.
    by : "depth", "run" or "left-out"
        One row per depth; or one row per run, scored by one pool or as if it had not contributed.
    measure : str
        Measure of the systems.
    relevant_from : int
        Smallest relevant grade.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    if by not in POOL_VIEWS:
        raise UnknownName("view", by, POOL_VIEWS)
    depths = DEPTHS if depth is None else (depth,) if isinstance(depth, int) else tuple(depth)
    if not depths:
        raise BadSetting("must be at least one depth (got an empty list)", argument="depth")
    if by != "depth" and (depth is None or len(depths) > 1):
        listed = "" if depth is None else f" (got {','.join(map(str, depths))})"
        raise BadSetting(f"must be one number for a row per run{listed}", argument="depth")
    names = _read_members(members)
    if names and by == "left-out":
        raise BadSetting("cannot be set where each run is left out in turn", argument="members")
    known = load_truth(truth, runs, ties)
    pools = PoolSimulator.of(
        known.qrels,
        known.runs,
        deepest=max(depths),
        measure=str(measure),
        relevant_from=relevant_from,
        ties=ties,
    )
    notes = [*known.notes, *pools.notes]
    if by == "run":
        scores = pools.scores(depths[0], names)
        frame = scores.frame
        notes.append(_describe_order(scores))
    elif by == "left-out":
        frame = pools.leave_one_out(depths[0])
    elif names:
        columns = ("depth", "found_share", "tau", "swapped")
        scored = [pools.scores(number, names) for number in depths]
        frame = pl.DataFrame(
            [{name: getattr(scores, name) for name in columns} for scores in scored],
            infer_schema_length=None,
        )
    else:
        frame = pools.depths(depths, collection_size=known.collection_size)
    return SimulatedPools(
        frame=frame,
        depths=depths,
        members=None if names is None else tuple(names),
        runs=tuple(pools.table.runs),
        measure=pools.measure,
        notes=tuple(notes),
    )


def _read_members(members: str | Sequence[str] | None) -> list[str] | None:
    if members is None:
        return None
    parts = members.split(",") if isinstance(members, str) else members
    names = [name.strip() for name in parts if name.strip()]
    if not names:
        raise BadSetting("must name at least one run", argument="members")
    return names


def _describe_order(scores: PoolScores) -> str:
    """Return what a pool does to the order of the systems."""
    order = "tau is undefined"
    if scores.tau is not None:
        order = f"tau with the true order is {scores.tau:.4f}"
    text = f"{order}, {scores.swapped} pairs of systems change places"
    if scores.found_share is None:
        return text
    return f"{text}; the pool has {scores.found_share:.1%} of the relevant documents"
