"""A random sample for the audit of a judge: the pairs on which the runs differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from venire.pooling.base import Lists, Pool, Strategy
from venire.settings import setting
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, express


@dataclass(frozen=True, kw_only=True)
class AuditSample(Strategy):
    """Draw pairs in proportion to the variance over the runs of their weight.

    The weight of a pair for a run is 1 / log2(rank + 1) down to ``depth``, and 0 below. A pair that
    all runs treat alike cannot show whether a judge favours one of them. Pairs are drawn one after
    another without replacement. The draw looks at ranks only, so the test for a judge who favours a
    system stays valid and needs no probabilities.

    With ``outcomes`` only pairs that these qrels judge are drawn, as a judge is compared with them.
    The grades do not matter, and the pool is written without them.

    Examples
    --------
    >>> from venire import Runs
    >>> runs = pl.concat([
    ...     Runs.from_dict({"q": {"a": 2, "b": 1}}, run_id="x").frame,
    ...     Runs.from_dict({"q": {"a": 2, "c": 1}}, run_id="y").frame,
    ... ])
    >>> sorted(AuditSample(pairs=5).pool(Lists.of(Runs(runs))).frame["doc_id"].to_list())
    ['b', 'c']
    """

    name: ClassVar[str] = "audit"
    label: ClassVar[str] = "Audit: pairs on which the runs differ"
    description: ClassVar[str] = (
        "Draw pairs on which the runs differ, to test whether a judge favours a system."
    )
    position: ClassVar[int] = 8

    pairs: int = setting(1000, words="Number of pairs, over all topics.", label="Pairs", least=1)
    depth: int = setting(
        10, words="Number of documents of each run that are considered.", label="Depth", least=1
    )

    def pool(self, lists: Lists, *, outcomes: Qrels | None = None, seed: int = 0, **_: Any) -> Pool:
        """Return the drawn pairs, in random order within a topic."""
        weight = 1 / (pl.col("rank") + 1).log(2)
        size = len(lists.runs)
        near = lists.frame.filter(pl.col("rank") <= self.depth)
        candidates = near.group_by(PAIR).agg(
            pl.col("rank").min().cast(pl.Int64),
            (weight.pow(2).sum() / size - (weight.sum() / size).pow(2)).alias("variance"),
        )
        # Runs that agree on a pair differ by rounding at most.
        candidates = candidates.filter(pl.col("variance") > 1e-12)
        notes = []
        if outcomes is not None:
            graded = outcomes.frame.filter(pl.col("relevance") >= 0)
            known = candidates.join(graded, on=PAIR, how="semi")
            if known.height < candidates.height:
                missing = express(candidates.height - known.height, "pair")
                notes.append(f"{missing} without a grade in the qrels cannot be drawn")
            candidates = known
        if candidates.height < self.pairs:
            notes.append(
                f"only {express(candidates.height, 'pair')} can be drawn: the audit has all of them"
            )
        # In the order of the ids, so that the sample does not depend on the order of the rows.
        candidates = candidates.sort(PAIR)
        # The smallest of exponential times with rates w: successive draws in proportion to w
        # (Efraimidis and Spirakis 2006).
        time = np.random.default_rng(seed).exponential(size=candidates.height)
        drawn = candidates.with_columns(
            (pl.Series("time", time) / pl.col("variance")).alias("time"),
            pl.Series("order_key", time),
        ).bottom_k(self.pairs, by="time")
        frame = lists.sort_by_topic(drawn, "order_key").select(
            *PAIR, "order", "rank", pl.lit(None, pl.Float64).alias("probability")
        )
        settings = {"pairs": self.pairs, "depth": self.depth, "seed": seed}
        return Pool(frame, self.name, settings, self.depth, notes=tuple(notes), is_blind=True)
