"""Agreement's sentence: which band ("good", "fair", "dubious") alpha lies in.

The sentence names the band of alpha, and the bands that its 95% interval reaches. Five annotators
whose errors are small, middling or large; the truth is the band of alpha over 3,000 other topics.
False alarms: it is none of the bands from the lower end of the interval to the upper one. Power:
the sentence names one band only, and it is the true one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from venire.agreement.interpretation import band, sentence
from venire.agreement.summary import measure_agreement
from venire.tables.judgments import Judgments

DOCS = 20
EDGES = np.array([0.5, 1.2, 2.0])
"""Bounds of the grades 0 to 3 on the scale of relevance."""
ERRORS = (0.2, 0.3, 0.4, 0.55, 0.8)
TOPICS = (5, 10, 25, 50)


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rng = np.random.default_rng(seed)
    times = 20 if quick else 120
    rows = []
    for error in ERRORS:
        truth = measure_agreement(_judge(3000, error, rng), bootstrap=0)["alpha-ordinal"].value
        for topics in TOPICS:
            wrong, right = [], []
            for number in range(times):
                judgments = _judge(topics, error, rng)
                value = measure_agreement(judgments, bootstrap=400, seed=number)["alpha-ordinal"]
                bands = {band(value.value), band(value.low), band(value.high)}
                held = value.low <= truth <= value.high
                wrong.append(not held and band(truth) not in bands)
                right.append(band(truth) in sentence(value) and len(bands) == 1)
            share = float(np.mean(wrong))
            rows.append(
                {
                    "verdict": "agreement: band of alpha",
                    "world": f"alpha {truth:.2f}, {topics} topics",
                    "simulations": times,
                    "false_alarms": share,
                    "standard_error": math.sqrt(share * (1 - share) / times),
                    "power": float(np.mean(right)),
                }
            )
    return rows


def _judge(topics: int, error: float, rng: np.random.Generator) -> Judgments:
    """Return the labels of five annotators; topics differ in how rich and how hard they are."""
    shift = rng.normal(0, 0.5, (topics, 1))
    noise = error * np.exp(rng.normal(0, 0.25, (topics, 1)))
    relevance = rng.normal(0.5, 1, (topics, DOCS)) + shift
    seen = relevance + noise * rng.normal(size=(5, topics, DOCS))
    labels = np.searchsorted(EDGES, seen).reshape(5, -1)
    pairs = labels.shape[1]
    return Judgments.from_dict(
        {
            "query_id": [f"q{pair // DOCS}" for pair in range(pairs)] * 5,
            "doc_id": [f"d{pair}" for pair in range(pairs)] * 5,
            "annotator_id": [f"a{a}" for a in range(5) for _ in range(pairs)],
            "label": labels.reshape(-1),
        },
        scale="0,1,2,3",
    )
