"""The next best judgment: what the chosen pairs give beside equal overlap, at the same cost.

A crowd of 40 judges a collection with known truth, as binary grades, with 20 gold pairs; next best
judgment begins with one judgment per pair and asks for a fifth of the pairs at a time. At the cost
of two and of three judgments per pair the order of the systems is compared with that of equal
overlap, tau with the order under the truth. False alarms: tau is lower by more than .02. Power:
it is higher, or both are 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from venire.simulation.campaigns.next_best_trial import Trial, trial
from venire.simulation.crowds.collection import make_collection
from venire.tables.qrels import Qrels

MARGIN = 0.02
WORLDS = {
    "10% spam, accuracy .85, by ranking": {"spam": 0.1},
    "39% spam, accuracy .85, by ranking": {"spam": 0.39},
    "39% spam, accuracy .7, by ranking": {"spam": 0.39, "accuracy": 0.7},
    "39% spam, accuracy .85, by grade": {"spam": 0.39, "by": "grade"},
}


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for name, options in WORLDS.items():
        gaps: dict[int, list[float]] = {2: [], 3: []}
        for simulation in range(3 if quick else 40):
            known = make_collection(seed=1000 * seed + simulation, documents=60)
            truth = known.truth.frame
            binary = Qrels(truth.with_columns((truth["relevance"] >= 2).cast(int)))
            setting = Trial(workers=40, gold=20, most=3, step=0.2, **options)
            played = trial(binary, known.runs, known.pool, setting, seed=simulation)
            for overlap, values in gaps.items():
                equal, best = (_find_tau(played, way, overlap) for way in ("equal", "next best"))
                if equal is not None and best is not None:
                    values.append(best - equal if min(equal, best) < 1 else math.inf)
        for overlap, values in gaps.items():
            lower = float(np.mean(np.array(values) < -MARGIN))
            finite = [value for value in values if math.isfinite(value)]
            mean = float(np.mean(finite)) if finite else 0.0
            rows.append(
                {
                    "verdict": f"next best: {overlap} judgments per pair",
                    "world": f"{name} (mean gain {mean:+.3f})",
                    "simulations": len(values),
                    "false_alarms": lower,
                    "standard_error": math.sqrt(lower * (1 - lower) / max(len(values), 1)),
                    "power": float(np.mean(np.array(values) > 0)),
                }
            )
    return rows


def _find_tau(rows: list[dict[str, Any]], way: str, overlap: int) -> float | None:
    """Return tau of a way at the cost nearest to so many judgments per pair, not above it."""
    usable = [row for row in rows if row["way"] == way and row["per_pair"] <= overlap + 1e-9]
    return usable[-1]["tau"] if usable else None
