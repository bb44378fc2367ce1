"""Pool too shallow: the light of a pool beside what its judgments do to the order of runs.

Some runs make a pool of depth 1 to 20, and four new runs of the same kind are scored by it. The
truth: tau between the order of the compared runs by the pool and by all judgments, and the places
that a new run loses among them. A pool is deep enough where tau is .9 or more and no new run loses
two places; too shallow where tau is below .8, or a new run loses a place or more on average.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from verdict_pools import (
    MEASURE,
    World,
    make_row,
    make_world,
    read_collections,
    sample_collection,
)

from venire import Qrels, Runs
from venire.evaluation.score import score
from venire.reliability.depth_curve import compare_half_depth
from venire.reliability.leave_one_out import leave_one_out
from venire.reliability.top_order import estimate_top_order
from venire.reliability.verdict import GREEN, RED, assess_pool
from venire.stats.rank_correlation import tau_b

NEW = 4
DEPTHS = (1, 2, 3, 5, 10, 20)
VERDICT = "pool too shallow"


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = _try_worlds("made-up runs", draw_world, 10 if quick else 600, seed)
    for name, runs, qrels, ties in read_collections():

        def draw(
            rng: np.random.Generator, runs: Runs = runs, qrels: Qrels = qrels, ties: str = ties
        ) -> World:
            return sample_collection(runs, qrels, 12, 25, ties, rng)

        rows += _try_worlds(name, draw, 4 if quick else 400, seed)
    return rows


def draw_world(rng: np.random.Generator) -> World:
    """Return 5, 8 or 16 runs and four new ones."""
    return make_world(
        rng,
        runs=int(rng.choice([5, 8, 16])) + NEW,
        topics=int(rng.choice([12, 25])),
        skill=float(rng.choice([1.5, 2.0, 3.0])),
        spread=float(rng.choice([0.1, 0.3, 0.6, 1.0])),
    )


def _try_worlds(
    name: str, draw: Callable[[np.random.Generator], World], times: int, seed: int
) -> list[dict[str, Any]]:
    lights, taus, means, mosts = [], [], [], []
    for simulation in range(times):
        rng = np.random.default_rng([seed, 1, simulation])
        world = draw(rng)
        light, tau, lost = observe(world, int(rng.choice(DEPTHS)), rng)
        lights.append(light)
        taus.append(1.0 if tau is None else tau)
        means.append(np.mean(lost))
        mosts.append(max(lost))
    light, tau, mean, most = (np.array(values) for values in (lights, taus, means, mosts))
    is_deep = (tau >= 0.9) & (most <= 1)
    is_shallow = (tau < 0.8) | (mean >= 1)
    deep, shallow = f"{name}: deep enough", f"{name}: too shallow"
    return [
        make_row(f"{VERDICT}: red", deep, is_deep, light == RED),
        make_row(f"{VERDICT}: red", shallow, is_shallow, light == RED, power=True),
        make_row(f"{VERDICT}: green", shallow, is_shallow, light == GREEN),
        make_row(f"{VERDICT}: green", f"{name}: tau below .8", tau < 0.8, light == GREEN),
        make_row(f"{VERDICT}: green", deep, is_deep, light == GREEN, power=True),
    ]


def observe(
    world: World, depth: int, rng: np.random.Generator
) -> tuple[str, float | None, list[int]]:
    """Return the light of a pool, tau with the true order, and the places that new runs lose."""
    names = rng.permutation(world.table.runs).tolist()
    members, new = names[:-NEW], names[-NEW:]
    table, grades = world.restrict(members, world.pool(members, depth))
    scores = score(table, grades, [MEASURE])
    top = estimate_top_order(scores.values[0], table.runs, splits=1)
    result = leave_one_out(table, grades, MEASURE, depth=depth, copies=dict(top.copies))
    half = compare_half_depth(table, grades, scores, top.top, depth)
    light = assess_pool(result, top.top, 1, half).light
    pooled, true = world.score(world.pool(members, depth)), world.scores.mean[0]
    place = {name: row for row, name in enumerate(world.table.runs)}
    rows = [place[name] for name in top.top]
    lost = [
        int((pooled[rows] > pooled[place[run]]).sum() - (true[rows] > true[place[run]]).sum())
        for run in new
    ]
    return light, tau_b(pooled[rows], true[rows]), lost
