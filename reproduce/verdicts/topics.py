"""Too few topics: the light beside the true expected tau with the order on other topics.

15 systems of known skill, scores with an own error and one shared by their family; 12 to 100
topics. The truth is the mean tau between the order of the first runs that was seen and 60 orders on
as many new topics. False alarm of red: the true tau is .9 or more. False alarm of green ("false
clearance"): it is below .8 or .9.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from venire.evaluation.told_apart import tell_apart
from venire.reliability.top_order import estimate_top_order
from venire.reliability.verdict import TOP_GREEN, TOP_RED

SYSTEMS, FAMILIES, NOISE = 15, 5, 0.15
NAMES = [f"s{system:02}" for system in range(SYSTEMS)]


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rng = np.random.default_rng(seed)
    taus, truths, found = [], [], []
    for _ in range(200 if quick else 1500):
        topics = int(rng.choice([12, 25, 50, 100]))
        spread = rng.choice([0.01, 0.03, 0.06, 0.12, 0.25, 0.5])
        skill = rng.normal(0, spread, SYSTEMS)
        if rng.random() < 0.5:
            skill = np.linspace(0, 3.4, SYSTEMS) * spread
        family = rng.integers(0, FAMILIES, SYSTEMS)
        scores = _draw(skill, family, topics, rng)
        result = estimate_top_order(scores, NAMES, splits=100, seed=seed)
        if result.tau is None:
            continue
        rows = [NAMES.index(name) for name in result.top[: result.k]]
        first, second = np.triu_indices(result.k, 1)
        orders = []
        for _ in range(60):
            means = _draw(skill, family, 1, rng, topics)[rows, 0]
            orders.append(np.sign(means[first] - means[second]).mean())
        taus.append(result.tau)
        truths.append(np.mean(orders))
    taus, truths = np.array(taus), np.array(truths)
    table = [
        _row("red", "true tau >= .9", truths >= 0.9, taus < TOP_RED),
        _row("red", "true tau .8 to .9", (truths >= 0.8) & (truths < 0.9), taus < TOP_RED),
        _row("green", "true tau < .8", truths < 0.8, taus >= TOP_GREEN),
        _row("green", "true tau .8 to .9", (truths >= 0.8) & (truths < 0.9), taus >= TOP_GREEN),
        _row("green", "true tau >= .95", truths >= 0.95, taus >= TOP_GREEN, power=True),
        _row("red", "true tau < .6", truths < 0.6, taus < TOP_RED, power=True),
    ]
    for _ in range(60 if quick else 400):
        scores = _draw(np.zeros(SYSTEMS), np.arange(SYSTEMS) % FAMILIES, 25, rng)
        found.append(tell_apart(scores, NAMES, permutations=199, seed=seed).apart.any())
    share = float(np.mean(found))
    table.append(
        {
            "verdict": "pairs told apart",
            "world": "15 equal systems, 25 topics: any pair",
            "simulations": len(found),
            "false_alarms": share,
            "standard_error": math.sqrt(share * (1 - share) / len(found)),
        }
    )
    return table


def _draw(
    skill: np.ndarray[Any, Any],
    family: np.ndarray[Any, Any],
    columns: int,
    rng: np.random.Generator,
    topics: int = 1,
) -> np.ndarray[Any, Any]:
    """Return scores [systems, columns]; each column is the mean of so many topics."""
    noise = NOISE / math.sqrt(topics)
    shared = rng.normal(0, noise, (FAMILIES, columns))
    return skill[:, None] + rng.normal(0, noise, (SYSTEMS, columns)) + shared[family]


def _row(
    light: str,
    world: str,
    is_world: np.ndarray[Any, Any],
    has_light: np.ndarray[Any, Any],
    power: bool = False,
) -> dict[str, Any]:
    count = int(is_world.sum())
    share = float(has_light[is_world].mean()) if count else 0.0
    return {
        "verdict": f"too few topics: {light}",
        "world": world,
        "simulations": count,
        "power" if power else "false_alarms": share,
        "standard_error": math.sqrt(share * (1 - share) / max(count, 1)),
    }
