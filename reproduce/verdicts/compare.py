"""Compare: verdict and p of equal runs, power, and whether intervals hold the true difference.

Six runs, scores with an error of their own and one shared by all runs of a topic. False alarm: a
pair of runs of the same true mean is told apart (of a world: any such pair; of ``p_t`` and
``p_randomisation``: one pair chosen before). Coverage: share of simulations whose interval, where
there is one, holds the true difference; of the runs of TREC DL 2019, where that collection is at
hand, the 43 topics are the population that topics are drawn from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from common import DATA

import venire
from venire.evaluation.paired_tests import compare_systems
from venire.evaluation.score import Scores
from venire.evaluation.told_apart import tell_apart
from venire.measures import parse

NAMES = list("abcdef")
NOISE = 0.15
EQUAL = np.zeros(6)
GROUPS = np.array([0.0, 0.0, 0.4, 0.4, 0.8, 0.8])
STEPS = np.arange(6) * 0.05
LEVEL = 0.05


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rng = np.random.default_rng(seed)
    times = 40 if quick else 1000
    rows = []
    for topics in (5, 10, 25, 50):
        rows += _try_equal_runs(topics, times, rng)
    for topics in (10, 25, 50):
        rows.append(_try_groups(topics, times, rng))
        rows += _try_power(topics, times // 4, rng)
    for world, draw in DIFFERENCES.items():
        rows += [_cover(world, draw, topics, 2 * times, rng) for topics in (5, 10, 20, 50)]
    if (DATA / "trec-dl19").exists():
        rows += _cover_runs(10 if quick else 200, rng)
    return rows


def _draw(means: np.ndarray, topics: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores [runs, topics]."""
    own = rng.normal(0, NOISE, (len(means), topics))
    return means[:, None] + own + rng.normal(0, NOISE, topics)


def _score(values: np.ndarray) -> Scores:
    runs, topics = values.shape
    counted = np.ones((runs, topics), bool)
    names = [f"run{run}" for run in range(runs)]
    return Scores([parse("AP")], names, [f"t{t}" for t in range(topics)], values[None], counted)


def _row(verdict: str, world: str, hits: list[bool], column: str) -> dict[str, Any]:
    share = float(np.mean(hits)) if hits else 0.0
    return {
        "verdict": f"compare: {verdict}",
        "world": world,
        "simulations": len(hits),
        column: share,
        "standard_error": math.sqrt(share * (1 - share) / max(len(hits), 1)),
    }


def _try_equal_runs(topics: int, times: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    hits: dict[str, list[bool]] = {
        name: [] for name in ("verdict", "verdict beside a hopeless run", "p_t", "p_randomisation",
                              "p_holm", "p_tukey")
    }  # fmt: skip
    for number in range(times):
        values = _draw(EQUAL, topics, rng)
        hopeless = np.vstack([values, rng.normal(-5, NOISE, topics)])
        apart = tell_apart(values, NAMES, permutations=199, seed=number)
        beside = tell_apart(hopeless, [*NAMES, "z"], permutations=199, seed=number)
        pairs = compare_systems(_score(values), permutations=999, seed=number)
        hits["verdict"].append(bool(apart.apart.any()))
        hits["verdict beside a hopeless run"].append(
            any(beside.find_better(a, b) for a in NAMES for b in NAMES if a < b)
        )
        hits["p_t"].append(pairs[0].p_t < LEVEL)
        hits["p_randomisation"].append(pairs[0].p_randomisation < LEVEL)
        hits["p_holm"].append(min(pair.p_holm for pair in pairs) < LEVEL)
        hits["p_tukey"].append(min(pair.p_tukey for pair in pairs) < LEVEL)
    world = f"6 equal runs, {topics} topics"
    return [_row(name, world, found, "false_alarms") for name, found in hits.items()]


def _try_groups(topics: int, times: int, rng: np.random.Generator) -> dict[str, Any]:
    """Three pairs of equal runs: one row per pair, since the level holds for each group."""
    hits: list[bool] = []
    for number in range(times // 3):
        values = _draw(GROUPS, topics, rng)
        result = tell_apart(values, NAMES, permutations=199, seed=number)
        hits += [result.find_better(*pair) is not None for pair in ("ab", "cd", "ef")]
    return _row("verdict", f"three pairs of equal runs, {topics} topics: each", hits,
                "false_alarms")  # fmt: skip


def _try_power(topics: int, times: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Six runs .05 apart: share of the 15 pairs told apart, beside a hopeless run too."""
    verdict, tukey = [], []
    for number in range(times):
        values = np.vstack([_draw(STEPS, topics, rng), rng.normal(-1, NOISE, topics)])
        result = tell_apart(values, [*NAMES, "z"], permutations=199, seed=number)
        verdict += [result.find_better(a, b) is not None for a in NAMES for b in NAMES if a < b]
        pairs = compare_systems(_score(values), permutations=199, seed=number)
        tukey += [pair.p_tukey < LEVEL for pair in pairs if "run6" not in (pair.first, pair.second)]
    world = f"6 runs .05 apart and a hopeless one, {topics} topics: each pair of the six"
    return [_row("verdict", world, verdict, "power"), _row("p_tukey", world, tukey, "power")]


def _draw_ties(size: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(size) < 0.6, 0.0, rng.normal(0.1, 0.3, size))


def _draw_reciprocal_ranks(size: int, rng: np.random.Generator) -> np.ndarray:
    return 1 / np.minimum(rng.geometric(0.5, size), 20) - 1 / np.minimum(
        rng.geometric(0.3, size), 20
    )


def _mean_reciprocal_rank(p: float) -> float:
    ranks = np.arange(1, 20)
    return float((p * (1 - p) ** (ranks - 1) / ranks).sum() + (1 - p) ** 19 / 20)


DIFFERENCES = {
    "normal": (lambda size, rng: rng.normal(0.1, 0.2, size), 0.1),
    "Laplace": (lambda size, rng: rng.laplace(0.1, 0.2, size), 0.1),
    "log-normal": (lambda size, rng: rng.lognormal(0, 1, size), math.exp(0.5)),
    "60% ties": (_draw_ties, 0.04),
    "reciprocal ranks": (
        _draw_reciprocal_ranks,
        _mean_reciprocal_rank(0.5) - _mean_reciprocal_rank(0.3),
    ),
}
"""How the difference of two runs on a topic is drawn, and its true mean."""


def _cover(
    world: str, draw: Any, topics: int, times: int, rng: np.random.Generator
) -> dict[str, Any]:
    sample, truth = draw
    covered = []
    for _ in range(times):
        values = np.stack([sample(topics, rng), np.zeros(topics)])
        pair = compare_systems(_score(values), permutations=1)[0]
        if pair.low is not None and pair.high is not None:
            covered.append(pair.low <= truth <= pair.high)
    return _row("interval", f"differences {world}, {topics} topics", covered, "coverage")


def _cover_runs(pairs: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw topics of TREC DL 2019 with replacement, for pairs of runs drawn at random."""
    folder = DATA / "trec-dl19"
    measures = ["AP", "nDCG@10", "RR"]
    scores = venire.evaluate(folder / "qrels-pass.txt", folder / "runs", measures).scores
    rows = []
    for at, measure in enumerate(measures):
        values = scores.values[at]
        for topics in (10, 20, 43):
            covered = []
            for _ in range(pairs):
                difference = np.subtract(*values[rng.choice(len(values), 2, replace=False)])
                for _ in range(20):
                    drawn = rng.choice(difference, topics)
                    pair = compare_systems(
                        _score(np.stack([drawn, np.zeros(topics)])), permutations=1
                    )[0]
                    if pair.low is not None and pair.high is not None:
                        covered.append(pair.low <= difference.mean() <= pair.high)
            world = f"{measure} of runs of TREC DL 2019, {topics} topics"
            rows.append(_row("interval", world, covered, "coverage"))
    return rows
