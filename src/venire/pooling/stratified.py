"""A random sample by strata, with the probability of every document stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.errors import BadSetting
from venire.pooling.base import Lists, Pool, at_least
from venire.tables.schema import PAIR

Cell = ["query_id", "stratum"]


@dataclass(frozen=True, kw_only=True)
class Stratified:
    """Cut the pool into strata by best rank and sample each (Yilmaz, Kanoulas and Aslam 2008).

    Stratum 1 holds the pairs whose best rank in any run is at most the first bound, stratum 2
    those up to the second, and so on. Within a topic and stratum of N pairs, n are drawn without
    replacement, each with probability n / N. So an estimate weighs each judged pair by N / n.

    Attributes
    ----------
    bounds : tuple of int
        Lowest rank of each stratum, rising.
    rates : tuple of float, optional
        Share of each stratum to draw; n is rounded up, so that no stratum goes without.
    budget : int, optional
        Instead of rates: documents a topic. It is shared out evenly from stratum 1 down, and
        what a small stratum cannot use goes to those below it, and then up again.

    Without either, rates of 1 for the first stratum and half the one before for each other.
    """

    bounds: tuple[int, ...] = (10, 50, 100)
    rates: tuple[float, ...] | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        """Refuse settings that make no strata."""
        rising = all(low < high for low, high in zip(self.bounds, self.bounds[1:], strict=False))
        if not self.bounds or self.bounds[0] < 1 or not rising:
            raise BadSetting(f"strata are rising ranks such as 10,50,100, not {self.bounds}")
        if self.rates is not None and self.budget is not None:
            raise BadSetting("give rates or a budget, not both")
        if self.budget is not None:
            at_least("budget", self.budget, len(self.bounds))
        if self.rates is not None:
            if len(self.rates) != len(self.bounds):
                raise BadSetting(
                    f"there are {len(self.bounds)} strata and {len(self.rates)} rates; "
                    "give one rate a stratum"
                )
            if not all(0 < rate <= 1 for rate in self.rates):
                raise BadSetting("a rate lies above 0 and is at most 1")

    def pool(self, lists: Lists, *, seed: int = 0, **_: Any) -> Pool:
        """Return all pairs of the strata, with ``stratum``, ``probability`` and ``sampled``."""
        pairs = lists.to_depth(self.bounds[-1]).pairs().sort(PAIR)
        # In the order of the ids, so that the sample does not depend on the order of the rows.
        draw = np.random.default_rng(seed).random(pairs.height)
        stratum = np.searchsorted(self.bounds, pairs["rank"].to_numpy()) + 1
        pairs = pairs.with_columns(pl.Series("stratum", stratum, pl.Int64), pl.Series("draw", draw))
        size = pairs.group_by(Cell).agg(pl.len().cast(pl.Int64).alias("size"))
        size = size.with_columns(self._numbers(size))
        frame = (
            pairs.join(size, on=Cell)
            .with_columns(
                (pl.col("draw").rank("ordinal").over(Cell) <= pl.col("n")).alias("sampled"),
                (pl.col("n") / pl.col("size")).alias("probability"),
            )
        )  # fmt: skip
        frame = lists.ordered(frame, "stratum", "draw")
        columns = [*PAIR, "order", "rank", "stratum", "probability", "sampled"]
        settings = {
            "strata": list(self.bounds),
            "rates": list(self.rates or ()) or None,
            "budget": self.budget,
            "seed": seed,
        }
        empty = size.filter(pl.col("n") == 0)
        notes = (
            (f"{empty.height:,} strata of topics have nothing sampled: not estimated there",)
            if empty.height
            else ()
        )
        return Pool(frame.select(columns), "stratified", settings, self.bounds[-1], notes=notes)

    def _numbers(self, size: pl.DataFrame) -> pl.Series:
        """Return n of each topic and stratum."""
        if self.budget is None:
            default = tuple(0.5**at for at in range(len(self.bounds)))
            rate = np.array(self.rates or default)[size["stratum"].to_numpy() - 1]
            # 0.1 * 30 is a little more than 3; that is no reason for a fourth.
            return pl.Series("n", np.ceil(rate * size["size"].to_numpy() - 1e-9).astype(np.int64))
        wide = size.pivot("stratum", index="query_id", values="size").fill_null(0)
        strata = [str(at) for at in range(1, len(self.bounds) + 1) if str(at) in wide.columns]
        room = wide.select(strata).to_numpy()
        given = allot(room, self.budget)
        long = pl.concat(
            wide.select("query_id").with_columns(
                pl.lit(int(strata[at])).cast(pl.Int64).alias("stratum"),
                pl.Series("n", given[:, at], pl.Int64),
            )
            for at in range(len(strata))
        )
        return size.join(long, on=Cell, how="left", maintain_order="left")["n"]


def allot(room: np.ndarray[Any, Any], budget: int) -> np.ndarray[Any, Any]:
    """Share a budget out evenly over strata with limited room.

    Parameters
    ----------
    room : int [topics, strata]
    budget : int

    Returns
    -------
    int [topics, strata]

    Examples
    --------
    >>> allot(np.array([[2, 30, 30]]), 20).tolist()
    [[2, 9, 9]]
    """
    given = np.zeros_like(room)
    while True:
        left = budget - given.sum(axis=1)
        space = (room - given) > 0
        takers = space.sum(axis=1)
        if not ((left > 0) & (takers > 0)).any():
            return given
        share, rest = np.divmod(np.maximum(left, 0), np.maximum(takers, 1))
        # One more for the first strata, once there is less left than one each.
        extra = (np.cumsum(space, axis=1) <= rest[:, None]) & (share == 0)[:, None]
        want = np.where(space, share[:, None] + extra, 0)
        given = given + np.minimum(want, room - given)
