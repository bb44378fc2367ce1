"""A random sample by strata, with the probability of every document recorded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.errors import BadSetting
from venire.pooling.base import Lists, Pool, Strategy, require_at_least
from venire.settings import setting
from venire.tables.schema import PAIR

_CELL = ["query_id", "stratum"]


@dataclass(frozen=True, kw_only=True)
class Stratified(Strategy):
    """Cut the pool into strata by best rank and sample each (Yilmaz, Kanoulas and Aslam 2008).

    Stratum 1 holds the pairs whose best rank in any run is at most the first bound, stratum 2
    those up to the second, and so on. From a topic's stratum of N pairs, n are drawn without
    replacement, each with probability n / N. An estimate weights each judged pair by N / n.

    Without rates and budget, the rates are 1 for the first stratum and half the previous rate for
    each other.
    """

    name: ClassVar[str] = "stratified"
    label: ClassVar[str] = "Stratified: random sample by rank"
    description: ClassVar[str] = "Cut the pool into strata by best rank and sample each."
    position: ClassVar[int] = 7

    strata: tuple[int, ...] = setting(
        (10, 50, 100),
        words="Lowest rank of each stratum, in increasing order, for example 10,50,100.",
        label="Strata",
    )
    rates: tuple[float, ...] | None = setting(
        None,
        words="Sampling rate of each stratum; the number drawn is rounded up.",
        label="Sampling rates",
    )
    budget: int | None = setting(
        None,
        words="Documents per topic instead of rates, shared evenly over the strata; what a small "
        "stratum cannot use goes to the strata below it, then to those above.",
        label="Budget",
        least=1,
    )

    def __post_init__(self) -> None:
        """Check the settings one by one and together."""
        super().__post_init__()
        object.__setattr__(self, "strata", tuple(self.strata))
        increasing = all(low < high for low, high in pairwise(self.strata))
        if not self.strata or self.strata[0] < 1 or not increasing:
            raise BadSetting(
                "must be increasing ranks, for example 10,50,100 "
                f"(got {','.join(map(str, self.strata)) or 'none'})",
                argument="strata",
                value=self.strata,
            )
        if self.budget is not None:
            require_at_least("budget", self.budget, len(self.strata))
        if self.rates is None:
            return
        object.__setattr__(self, "rates", tuple(self.rates))
        if self.budget is not None:
            raise BadSetting(
                "cannot be combined with rates", argument="budget", value=self.budget,
                hint="Set one of the two.",
            )  # fmt: skip
        if len(self.rates) != len(self.strata):
            raise BadSetting(
                f"must have one rate per stratum, {len(self.strata)} (got {len(self.rates)})",
                argument="rates",
                value=self.rates,
            )
        for rate in self.rates:
            if not 0 < rate <= 1:
                raise BadSetting(
                    f"must be > 0 and <= 1 (got {rate:g})", argument="rates", value=self.rates
                )

    def pool(self, lists: Lists, *, seed: int = 0, **_: Any) -> Pool:
        """Return all pairs of the strata, with ``stratum``, ``probability`` and ``sampled``."""
        pairs = lists.to_depth(self.strata[-1]).list_pairs().sort(PAIR)
        # In the order of the ids, so that the sample does not depend on the order of the rows.
        draw = np.random.default_rng(seed).random(pairs.height)
        stratum = np.searchsorted(self.strata, pairs["rank"].to_numpy()) + 1
        pairs = pairs.with_columns(pl.Series("stratum", stratum, pl.Int64), pl.Series("draw", draw))
        size = pairs.group_by(_CELL).agg(pl.len().cast(pl.Int64).alias("size"))
        size = size.with_columns(self._count_draws(size))
        frame = (
            pairs.join(size, on=_CELL)
            .with_columns(
                (pl.col("draw").rank("ordinal").over(_CELL) <= pl.col("n")).alias("sampled"),
                (pl.col("n") / pl.col("size")).alias("probability"),
            )
        )  # fmt: skip
        frame = lists.sort_by_topic(frame, "stratum", "draw")
        columns = [*PAIR, "order", "rank", "stratum", "probability", "sampled"]
        settings = {
            "strata": list(self.strata),
            "rates": list(self.rates or ()) or None,
            "budget": self.budget,
            "seed": seed,
        }
        empty = size.filter(pl.col("n") == 0).height
        notes = (
            (f"{empty:,} strata of topics have no sampled document and are not estimated",)
            if empty
            else ()
        )
        return Pool(frame.select(columns), self.name, settings, self.strata[-1], notes=notes)

    def _count_draws(self, size: pl.DataFrame) -> pl.Series:
        """Return n, the number of pairs to draw from each topic and stratum."""
        if self.budget is None:
            default = tuple(0.5**index for index in range(len(self.strata)))
            rate = np.array(self.rates or default)[size["stratum"].to_numpy() - 1]
            # 0.1 * 30 is slightly more than 3 in floating point and must not be rounded up to 4.
            return pl.Series("n", np.ceil(rate * size["size"].to_numpy() - 1e-9).astype(np.int64))
        wide = size.pivot("stratum", index="query_id", values="size").fill_null(0)
        numbers = range(1, len(self.strata) + 1)
        strata = [str(number) for number in numbers if str(number) in wide.columns]
        draws = share_budget(wide.select(strata).to_numpy(), self.budget)
        long = pl.concat(
            wide.select("query_id").with_columns(
                pl.lit(int(stratum)).cast(pl.Int64).alias("stratum"),
                pl.Series("n", draws[:, index], pl.Int64),
            )
            for index, stratum in enumerate(strata)
        )
        return size.join(long, on=_CELL, how="left", maintain_order="left")["n"]


def share_budget(room: Longs, budget: int) -> Longs:
    """Share a budget evenly over strata of limited size.

    Parameters
    ----------
    room : int64 [topics, strata]
        Size of each stratum.
    budget : int
        Documents per topic.

    Returns
    -------
    int64 [topics, strata]

    Examples
    --------
    >>> share_budget(np.array([[2, 30, 30]]), 20).tolist()
    [[2, 9, 9]]
    """
    shares = np.zeros_like(room)
    while True:
        left = budget - shares.sum(axis=1)
        space = (room - shares) > 0
        takers = space.sum(axis=1)
        if not ((left > 0) & (takers > 0)).any():
            return shares
        share, rest = np.divmod(np.maximum(left, 0), np.maximum(takers, 1))
        # If less than one per stratum is left, the first strata get one each.
        extra = (np.cumsum(space, axis=1) <= rest[:, None]) & (share == 0)[:, None]
        wanted = np.where(space, share[:, None] + extra, 0)
        shares = shares + np.minimum(wanted, room - shares)
