"""Agreement: whether its 95% intervals hold the figure of very many topics.

Five annotators of their own leniency; topics differ in how many documents are relevant and in how
hard they are. The truth is the figure over 3,000 other topics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from venire.agreement.strictness import strictness
from venire.agreement.summary import measure_agreement
from venire.tables.judgments import Judgments

FIGURES = ("alpha-ordinal", "agreement", "fleiss-kappa", "gwet-ac1", "positive-agreement",
           "overlap")  # fmt: skip
LENIENCY = np.array([-0.3, -0.1, 0.0, 0.1, 0.3])
DOCS = 20
EDGES = np.array([0.5, 1.2, 2.0])
"""Bounds of the grades 0 to 3 on the scale of relevance."""


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rng = np.random.default_rng(seed)
    times = 20 if quick else 500
    rows = []
    for world, spread in (("topics alike", 0.2), ("topics unlike", 1.0)):
        labels = _draw(3000, spread, rng)
        truth = {
            value.name: value.value
            for value in measure_agreement(_table(labels), bootstrap=0).values
        }
        offset = float((labels[0] - labels[4]).mean())
        for topics in (5, 10, 20, 50):
            rows += _cover(world, spread, topics, truth, offset, times, rng)
    return rows


def _draw(topics: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Return labels [annotators, topics x documents]."""
    shift = rng.normal(0, spread, (topics, 1))
    noise = 0.5 * np.exp(rng.normal(0, spread / 2, (topics, 1)))
    relevance = rng.normal(0.5, 1, (topics, DOCS)) + shift
    seen = relevance + LENIENCY[:, None, None] + noise * rng.normal(size=(5, topics, DOCS))
    return np.searchsorted(EDGES, seen).reshape(5, -1)


def _table(labels: np.ndarray) -> Judgments:
    annotators, pairs = labels.shape
    topic = np.arange(pairs) // DOCS
    return Judgments.from_dict(
        {
            "query_id": [f"q{t}" for t in topic] * annotators,
            "doc_id": [f"d{pair}" for pair in range(pairs)] * annotators,
            "annotator_id": [f"a{a}" for a in range(annotators) for _ in range(pairs)],
            "label": labels.reshape(-1),
        },
        scale="0,1,2,3",
    )


def _cover(
    world: str,
    spread: float,
    topics: int,
    truth: dict[str, float | None],
    offset: float,
    times: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    covered: dict[str, list[bool]] = {name: [] for name in (*FIGURES, "offset of two annotators")}
    for number in range(times):
        labels = _draw(topics, spread, rng)
        result = measure_agreement(_table(labels), bootstrap=400, seed=number)
        for name in FIGURES:
            value, known = result[name], truth[name]
            if value.low is not None and value.high is not None and known is not None:
                covered[name].append(value.low <= known <= value.high)
        topic = np.arange(labels.shape[1]) // DOCS
        row = strictness(["x", "y"], labels[[0, 4]], topic, bootstrap=400, seed=number)[0]
        covered["offset of two annotators"].append(row["low"] <= offset <= row["high"])
    return [
        {
            "verdict": f"agreement: interval of {name}",
            "world": f"{world}, {topics} topics",
            "simulations": len(hits),
            "coverage": float(np.mean(hits)),
            "standard_error": math.sqrt(np.mean(hits) * (1 - np.mean(hits)) / len(hits)),
        }
        for name, hits in covered.items()
    ]
