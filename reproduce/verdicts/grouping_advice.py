"""Which grouping to judge with: "keeps recall within 2 points", and its intervals.

Queries of 30 to 300 images, 5 to 60 of them relevant; one image at a time finds .9 of these. Of two
groupings the faster (saves 40%) loses so many points of recall, the other (saves 20%) none; the
losses of a query vary by .03 around that. False alarms: the faster one is recommended although
its expected loss is above 2 points; "no caveat": and no caveat says that the loss may be more.
Power: it is recommended where its expected loss is 0. Coverage: 95% intervals of its loss and of
the share of time saved, and "told apart" where two groupings are equally fast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from venire.grouping.settings import ONE
from venire.simulation.grouping.recommend import Recommendation, recommend

FAST, SAFE = "leader(cosine=0.9)", "leader(cosine=0.95)"
QUERIES = (5, 10, 20, 50)
SPREAD = 0.03
"""Standard deviation of a query's loss of recall."""


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rng = np.random.default_rng(seed)
    times = 20 if quick else 300
    rows = []
    for queries in QUERIES:
        for loss in (0.0, 0.02, 0.03, 0.05):
            drawn = [_recommend(rng, queries, loss) for _ in range(times)]
            is_fast = np.array([advice.setting == FAST for advice in drawn])
            is_silent = np.array([not advice.unsure for advice in drawn])
            world = f"loses {100 * loss:g} points, {queries} queries"
            if loss > 0.02:
                rows.append(_make_row("recommended", world, "false_alarms", is_fast))
                silent = is_fast & is_silent
                rows.append(_make_row("recommended, no caveat", world, "false_alarms", silent))
            elif not loss:
                rows.append(_make_row("recommended", world, "power", is_fast))
                silent = is_fast & is_silent
                rows.append(_make_row("recommended, no caveat", world, "power", silent))
            losses = [_find_interval(advice.types, "loss") for advice in drawn]
            held = np.array([low <= loss <= high for low, high in losses])
            rows.append(_make_row("interval of the loss", world, "coverage", held))
            if not loss:
                saved = [_find_interval(advice.types, "saved") for advice in drawn]
                held = np.array([low <= 0.4 <= high for low, high in saved])
                rows.append(_make_row("interval of the time saved", world, "coverage", held))
        equal = [_recommend(rng, queries, -0.05, is_faster=False) for _ in range(times)]
        apart = np.array(
            [bool(advice.apart) and ONE not in (advice.setting, advice.runner_up)
             for advice in equal]
        )  # fmt: skip
        world = f"two equally fast, {queries} queries"
        rows.append(_make_row("faster beyond chance", world, "false_alarms", apart))
    return rows


def _recommend(
    rng: np.random.Generator, queries: int, loss: float, is_faster: bool = True
) -> Recommendation:
    """Return the recommendation for one sample of queries."""
    images = rng.integers(30, 301, queries)
    relevant = np.minimum(rng.integers(5, 61, queries), images)
    pace = 3.0 * rng.lognormal(0.0, 0.3, queries)
    frames = []
    for setting in (ONE, FAST, SAFE):
        lost = loss + SPREAD * rng.normal(size=queries) if setting == FAST else np.zeros(queries)
        saved = 0.0 if setting == ONE else 0.4 if setting == FAST and is_faster else 0.2
        hits = rng.binomial(relevant, np.clip(0.9 - lost, 0.0, 1.0))
        # Mean 1, so that the expected share of time saved is as stated.
        factor = rng.gamma(25.0, 1 / 25.0, queries) if saved else 1.0
        seconds = pace * images * (1.0 - saved) * factor
        zeros = np.zeros(queries)
        frames.append(
            pl.DataFrame(
                {
                    "query_id": [f"q{query:02}" for query in range(queries)],
                    "setting": setting,
                    "annotator": "typical",
                    "repetition": 0,
                    "images": images,
                    "relevant": relevant,
                    "seconds": seconds,
                    "recall": hits / relevant,
                    "precision": zeros + 0.9,
                    **dict.fromkeys(COUNTS, zeros),
                }
            )
        )
    seed = int(rng.integers(2**31))
    return recommend(pl.concat(frames), ["typical"], bootstrap=400, seed=seed)


COUNTS = (
    "never_looked", "judged", "labelled", "corrected", "split", "glances_relevant",
    "glances_not_relevant",
)  # fmt: skip


def _find_interval(types: pl.DataFrame, name: str) -> tuple[float, float]:
    row = types.filter(pl.col("setting") == FAST).row(0, named=True)
    return row[f"{name}_low"], row[f"{name}_high"]


def _make_row(
    verdict: str, world: str, column: str, values: np.ndarray[Any, Any]
) -> dict[str, Any]:
    share = float(values.mean())
    return {
        "verdict": f"grouping: {verdict}",
        "world": world,
        "simulations": values.size,
        column: share,
        "standard_error": math.sqrt(share * (1 - share) / values.size),
    }
