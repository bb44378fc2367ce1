"""Outsiders underrated: the light beside the places that runs lose by what was not judged.

Eight runs make a pool of depth 2 to 20; a ninth run of another family is scored by it. In some
worlds the ninth run finds other relevant documents more easily than the eight. The truth: the place
of every run by all judgments. False alarm of red: no run loses a place by the pool. Of green: a run
loses two or more.
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
from venire.measures import Measure, parse
from venire.reliability.depth_curve import compare_half_depth
from venire.reliability.leave_one_out import leave_one_out
from venire.reliability.top_order import estimate_top_order
from venire.reliability.unjudged import measure_unjudged
from venire.reliability.verdict import GREEN, RED, assess_pool, assess_unjudged

DEPTHS = (2, 5, 10, 20)
NOVELTY = (0.0, 0.3, 0.6)
SHALLOW = parse("nDCG@10")
VERDICT = "outsiders underrated"


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for novelty in NOVELTY:
        rows += _try_worlds(
            f"made-up runs, {novelty:.0%} new",
            lambda rng, novelty=novelty: draw_world(rng, novelty),
            6 if quick else 300,
            seed,
        )
    for name, runs, qrels, ties in read_collections():
        for measure in (MEASURE, SHALLOW):

            def draw(
                rng: np.random.Generator,
                runs: Runs = runs,
                qrels: Qrels = qrels,
                ties: str = ties,
                measure: Measure = measure,
            ) -> World:
                return sample_collection(runs, qrels, 9, 25, ties, rng, measure)

            rows += _try_worlds(f"{name}, {measure}", draw, 4 if quick else 300, seed)
    return rows


def draw_world(rng: np.random.Generator, novelty: float) -> World:
    """Return eight runs and one of another family."""
    return make_world(
        rng,
        runs=8,
        outsiders=1,
        topics=int(rng.choice([12, 25])),
        skill=float(rng.choice([1.5, 2.0, 3.0])),
        spread=float(rng.choice([0.1, 0.3, 0.6, 1.0])),
        novelty=novelty,
    )


def _try_worlds(
    name: str, draw: Callable[[np.random.Generator], World], times: int, seed: int
) -> list[dict[str, Any]]:
    lights, pools, losses = [], [], []
    for simulation in range(times):
        rng = np.random.default_rng([seed, 2, simulation])
        light, pool, lost = observe(draw(rng), int(rng.choice(DEPTHS)))
        lights.append(light)
        pools.append(pool)
        losses.append(lost)
    light, pool, lost = np.array(lights), np.array(pools), np.array(losses)
    is_clear = (light == GREEN) & (pool == GREEN)
    none, two = f"{name}: no run loses a place", f"{name}: a run loses 2 or more"
    return [
        make_row(f"{VERDICT}: red", none, lost <= 0, light == RED),
        make_row(f"{VERDICT}: red", two, lost >= 2, light == RED, power=True),
        make_row(f"{VERDICT}: green", two, lost >= 2, light == GREEN),
        make_row(f"{VERDICT} and pool too shallow: green", two, lost >= 2, is_clear),
        make_row(f"{VERDICT}: green", none, lost <= 0, light == GREEN, power=True),
    ]


def observe(world: World, depth: int) -> tuple[str, str, int]:
    """Return the light with the last run outside the pool, that of the pool, and places lost.

    The last is the most places that a run loses.

    Places are counted among the compared runs, as the light does.
    """
    table = world.table
    grades = world.pool(table.runs[:-1], depth)
    scores = score(table, grades, world.scores.measures)
    top = estimate_top_order(scores.values[0], table.runs, splits=1)
    pooled, true = scores.mean[0], world.scores.mean[0]
    means = dict(zip(table.runs, pooled.tolist(), strict=True))
    light = assess_unjudged(measure_unjudged(table, grades), 1, means, top.top).light
    rows = [table.runs.index(name) for name in top.top]
    rated = sorted({*rows, len(table.runs) - 1})
    before, after = ((scores[rows] > scores[rated, None]).sum(axis=1) for scores in (true, pooled))
    left_out = leave_one_out(
        table, grades, scores.measures[0], depth=depth, copies=dict(top.copies)
    )
    half = compare_half_depth(table, grades, scores, top.top, depth)
    pool = assess_pool(left_out, top.top, 1, half).light
    return light, pool, int((after - before).max())
