"""Which design of a campaign to take: how often the recommended one loses more than it says.

A collection with known truth is made, and the true tau of each design is measured in 200 replays.
Recommendations from 20 replays each, the default, are compared with it. A recommendation is
wrong where the design's true loss of tau to the best design is above the tolerance. Power: the
share of recommendations that are the cheapest design whose true loss is within it.
"""

from __future__ import annotations

import numpy as np

from venire.simulation.campaigns.designs import Crowd, forecast, grid
from venire.simulation.campaigns.recommended_design import TOLERANCE, choose_design
from venire.simulation.crowds.collection import make_collection

CROWDS = {
    "10% spam, accuracy .8": Crowd(),
    "30% spam, accuracy .7": Crowd(spam=0.3, accuracy=0.7),
}
DESIGNS = grid(overlap=[1, 3, 5], depth=[5, 15])
REPLAYS = 20


def run(quick: bool, seed: int) -> list[dict]:
    """Return one row per crowd."""
    rows = []
    collections, truths, repeats = (1, 20, 3) if quick else (6, 200, 10)
    for name, crowd in CROWDS.items():
        wrong, right = [], []
        for number in range(collections):
            known = make_collection(seed=100 * seed + number, documents=150)

            def play(replays, start, known=known, crowd=crowd):
                return forecast(
                    known.truth, known.runs, DESIGNS, crowd, measure="AP(rel=2)", replays=replays,
                    seed=start,
                ).rows  # fmt: skip

            true = play(truths, 10_000)
            best = max(row["tau"] for row in true)
            good = [place for place, row in enumerate(true) if best - row["tau"] <= TOLERANCE]
            cheapest = min(good, key=lambda place, true=true: true[place]["money"])
            for repeat in range(repeats):
                design = choose_design(play(REPLAYS, repeat), REPLAYS).design
                wrong.append(design not in good)
                right.append(design == cheapest)
        share = float(np.mean(wrong))
        rows.append({
            "verdict": "design to take", "world": name, "simulations": len(wrong),
            "false_alarms": share,
            "standard_error": float(np.sqrt(share * (1 - share) / len(wrong))),
            "power": float(np.mean(right)),
        })  # fmt: skip
    return rows
