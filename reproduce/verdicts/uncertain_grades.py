"""Grades are uncertain: the light beside tau of the order by likeliest grades with the true one.

Each pair of the depth-10 pool has a signal of its relevance, and the probability that follows from
it (Bayes). The true grades are therefore a draw from the probabilities. In the worlds "too sure"
the log odds are multiplied by two or four. False alarm of red: the true tau is .9 or more. Of
green: it is below .9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from verdict_pools import MEASURE, World, make_row, make_world

from venire import Qrels
from venire.evaluation.score import score
from venire.evaluation.uncertain import GradeProbabilities
from venire.reliability.top_order import estimate_top_order
from venire.reliability.uncertain_grades import rank_drawn_grades
from venire.reliability.verdict import GREEN, RED, assess_grades
from venire.stats.rank_correlation import tau_b

VERDICT = "grades are uncertain"
SURENESS = {"right probabilities": 1.0, "too sure, x2": 2.0, "too sure, x4": 4.0}
DISTANCES = (0.5, 1.0, 2.0, 4.0, 6.0)
"""Distances of the signal of relevant documents from that of the others, in standard deviations."""
DRAWS = 80


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for name, factor in SURENESS.items():
        lights, taus = [], []
        for simulation in range(4 if quick else 300):
            rng = np.random.default_rng([seed, 3, simulation])
            world = draw_world(rng)
            light, tau = observe(world, float(rng.choice(DISTANCES)), factor, rng)
            if tau is not None:
                lights.append(light)
                taus.append(tau)
        light, tau = np.array(lights), np.array(taus)
        rows += [
            make_row(f"{VERDICT}: red", f"{name}: true tau >= .9", tau >= 0.9, light == RED),
            make_row(
                f"{VERDICT}: red", f"{name}: true tau < .6", tau < 0.6, light == RED, power=True
            ),
            make_row(f"{VERDICT}: green", f"{name}: true tau < .9", tau < 0.9, light == GREEN),
            make_row(
                f"{VERDICT}: green", f"{name}: green, true tau < .9", light == GREEN, tau < 0.9
            ),
            make_row(
                f"{VERDICT}: green",
                f"{name}: true tau >= .9",
                tau >= 0.9,
                light == GREEN,
                power=True,
            ),
        ]
    return rows


def draw_world(rng: np.random.Generator) -> World:
    """Return eight runs."""
    return make_world(
        rng,
        runs=8,
        topics=int(rng.choice([10, 25])),
        skill=float(rng.choice([1.5, 2.0, 3.0])),
        spread=float(rng.choice([0.1, 0.3, 0.6, 1.0])),
    )


def observe(
    world: World, distance: float, factor: float, rng: np.random.Generator
) -> tuple[str, float | None]:
    """Return the light, and tau of the compared runs' order with that by the true grades."""
    pool = world.pool(world.table.runs, 10) >= 0
    truth = world.truth[pool]
    prior = np.clip(truth.mean(), 0.01, 0.99)
    signal = rng.normal(distance * (truth - 0.5), 1.0)
    odds = factor * (np.log(prior / (1 - prior)) + distance * signal)
    chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -50, 50)))
    pairs = world.table.pairs.filter(pl.Series(pool))
    uncertain = GradeProbabilities(pairs, np.stack([1 - chance, chance], axis=1), np.arange(2))
    table, likeliest = world.restrict(world.table.runs, _spread(chance > 0.5, pool))
    scores = score(table, likeliest, [MEASURE])
    top = estimate_top_order(scores.values[0], table.runs, splits=1)
    if not scores.mean[0].any() or len(top.top) < 2:
        return "not checked", None
    result = rank_drawn_grades(
        uncertain, world.runs, MEASURE, draws=DRAWS, systems=top.top, seed=int(rng.integers(2**31))
    )
    true = score(
        table, table.grades(Qrels(pairs.with_columns(relevance=pl.Series(truth)))), [MEASURE]
    )
    rows = [table.runs.index(name) for name in top.top]
    return assess_grades(result).light, tau_b(scores.mean[0][rows], true.mean[0][rows])


def _spread(values: np.ndarray[Any, Any], pool: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the values at the pairs of the pool; the other pairs have a negative number [P]."""
    result = np.full(len(pool), -1, dtype=np.int64)
    result[pool] = values
    return result
