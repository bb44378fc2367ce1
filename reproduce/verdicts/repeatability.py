"""Repeatability: "repeats with a tau of at least X", and the 95% interval of tau.

Two campaigns grade the documents of every topic, each with its own error rate; one may favour what
a system ranks high, or be stricter. The truth is the expected tau between the orders under both on
as many new topics, the mean of many draws. False alarm: X is above it. Coverage: the interval holds
it. Power: the sentence claims a tau of at least one half. "Not shown" counts as no claim.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from verdict_collection import add_errors, make_collection

from venire.evaluation.score import score
from venire.reliability.group_orders import Options, compare_orders
from venire.reliability.order_sentence import describe_order
from venire.stats.rank_correlation import tau_b

MEASURE = "nDCG@10"
TOPICS = (10, 25, 50)
WORLDS = (
    # words, error rates of both campaigns, favour of the second, spread of the systems
    ("equal campaigns, systems far apart", 0.2, 0.2, 0.0, 0.25),
    ("equal campaigns, systems close", 0.2, 0.2, 0.0, 0.03),
    ("second campaign noisier", 0.1, 0.5, 0.0, 0.08),
    ("second campaign favours a system", 0.2, 0.2, 0.6, 0.08),
)


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for number, (words, *world) in enumerate(WORLDS):
        for topics in TOPICS[:2] if quick else TOPICS:
            rng = np.random.default_rng([seed, number, topics])
            truth = np.mean([_draw(rng, topics, world)[1] for _ in range(20 if quick else 300)])
            wrong, held, strong = [], [], []
            for _ in range(10 if quick else 200):
                row, _ = _draw(rng, topics, world, bootstrap=400)
                text = describe_order(("A", "B"), [row], None, topics, "")
                claim = row["tau_low"] if "at least" in text else None
                wrong.append(claim is not None and claim > truth)
                held.append(row["tau_low"] <= truth <= row["tau_high"])
                strong.append(claim is not None and claim >= 0.5)
            name = f"{words}, {topics} topics (tau {truth:.2f})"
            rows.append(_make_row("repeats: at least X", name, "false_alarms", wrong, strong))
            rows.append(_make_row("repeats: interval of tau", name, "coverage", held))
    return rows


def _draw(
    rng: np.random.Generator, topics: int, world: list[float], bootstrap: int = 2
) -> tuple[dict[str, Any], float]:
    """Return the row of both campaigns on new topics, and tau between their orders."""
    first_error, second_error, favour, spread = world
    made = make_collection(rng, topics=topics, documents=30, systems=8, spread=spread)
    first = add_errors(made.truth, first_error, rng)
    second = add_errors(made.truth, second_error, rng)
    is_high = np.zeros(len(second), dtype=bool)
    last = (made.table.run == len(made.table.runs) - 1) & (made.table.rank <= 8)
    is_high[made.table.pair[last]] = True
    raised = is_high & (rng.random(len(second)) < favour)
    second = np.minimum(second + raised, 2)
    scores = [score(made.table, grades, [MEASURE]) for grades in (first, second)]
    tau = tau_b(scores[0].mean[0], scores[1].mean[0])
    if bootstrap < 3:
        return {}, 0.0 if tau is None else float(tau)
    options = Options(
        pairs="shared", relevant_from=1, topics="qrels", ties="trec", permutations=2,
        bootstrap=bootstrap, seed=int(rng.integers(2**31)),
    )  # fmt: skip
    is_counted = np.logical_and.reduce([group.counted.all(axis=0) for group in scores])
    orders, _ = compare_orders(("A", "B"), scores, is_counted, options)
    return orders[0], 0.0


def _make_row(
    verdict: str, world: str, column: str, values: list[bool], power: list[bool] | None = None
) -> dict[str, Any]:
    share = float(np.mean(values))
    return {
        "verdict": verdict,
        "world": world,
        "simulations": len(values),
        column: share,
        "standard_error": math.sqrt(share * (1 - share) / len(values)),
        "power": None if power is None else float(np.mean(power)),
    }
