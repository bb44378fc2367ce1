"""The alarm "x% of batches rejected, against y% in the previous wave", looked at after every batch.

Stated: at most 5% of the waves whose rate is that of the wave before, on average over what the
wave before lets the rate be. The rate is fixed here, so this is stricter. In one world annotators
differ in their rates and each hands in several batches in a row, so that batches are not
independent. Power: the share of waves with an alarm where the rate differs.

Two flags of annotators are enumerated: "drift" of accuracy on gold (stated: Newcombe's 99%
interval) and accuracy on gold below 70% (Wilson's 95% interval), at an accuracy of 70%.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import binom

from venire.stats.drift import departure, estimate_dispersion
from venire.stats.proportion import Z99, difference, wilson

WAVE = 200
"""Batches of the new wave."""
EARLIER = (20, 100, 400)
RATES = (0.02, 0.1, 0.3)
CHANGES = ((0.1, 0.2), (0.1, 0.3), (0.3, 0.5), (0.3, 0.1))
STRETCH = 5
"""Batches that one annotator hands in in a row."""
GOLD = ((5, 10), (10, 10), (20, 10), (40, 40))
"""Gold documents in earlier waves and in the last one."""
ACCURACIES = (0.7, 0.85, 0.95)
SPREAD = 4.0
"""a + b of the beta distribution of the annotators' rates."""


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rng = np.random.default_rng(seed)
    times = 100 if quick else 2000
    rows = []
    for earlier in EARLIER:
        drawn = [_look(_draw(rng, earlier, *[rng.beta(0.5, 0.5)] * 2)) for _ in range(times)]
        rows.append(_make_row(f"rate as the {earlier} earlier batches let it be", drawn))
        for rate in RATES:
            same = [_look(_draw(rng, earlier, rate, rate)) for _ in range(times)]
            rows.append(_make_row(f"same rate {rate}, {earlier} earlier batches", same))
    for rate in RATES[1:]:
        same = [_look(_draw(rng, 100, rate, rate, is_personal=True)) for _ in range(times)]
        rows.append(_make_row(f"same rate {rate}, 100 earlier, annotators differ", same))
    for before, after in CHANGES:
        changed = [_look(_draw(rng, 100, before, after)) for _ in range(times)]
        rows.append(_make_row(f"rate {before} to {after}, 100 earlier batches", changed, "power"))
    return rows + _enumerate_flags()


def _look(waves: list[np.ndarray[Any, Any]]) -> bool:
    """Return whether the alarm is raised; each row of a wave is the batches of one person."""
    people = [(wave.sum(axis=1), np.full(len(wave), STRETCH)) for wave in waves]
    dispersion = estimate_dispersion(people)
    hits, wave = int(waves[0].sum()), waves[1].ravel().tolist()
    return departure(hits, waves[0].size, wave, dispersion=dispersion).raised_at is not None


def _draw(
    rng: np.random.Generator, earlier: int, before: float, after: float, is_personal: bool = False
) -> list[np.ndarray[Any, Any]]:
    """Return which batches of the earlier and the new wave are rejected [people, batches]."""
    waves = []
    for size, rate in ((earlier, before), (WAVE, after)):
        people = size // STRETCH
        rates = np.full(people, rate)
        if is_personal:
            rates = rng.beta(SPREAD * rate, SPREAD * (1 - rate), people)
        waves.append(rng.random((people, STRETCH)) < rates[:, None])
    return waves


def _enumerate_flags() -> list[dict[str, Any]]:
    """Return the exact rates of the flags of annotators whose accuracy on gold is the same."""
    rows = []
    for accuracy in ACCURACIES:
        for earlier, latest in GOLD:
            chance = np.outer(
                binom.pmf(np.arange(earlier + 1), earlier, accuracy),
                binom.pmf(np.arange(latest + 1), latest, accuracy),
            )
            is_flagged = np.zeros_like(chance, dtype=bool)
            for before, after in np.ndindex(is_flagged.shape):
                _, low, high = difference(wilson(after, latest), wilson(before, earlier), Z99)
                is_flagged[before, after] = low > 0 or high < 0
            rows.append(
                {
                    "verdict": "annotator's drift on gold",
                    "world": f"accuracy {accuracy}, {earlier} and then {latest} gold documents",
                    "false_alarms": float(chance[is_flagged].sum()),
                }
            )
    for asked in (10, 20, 40):
        right = np.arange(asked + 1)
        is_low = np.array([wilson(int(count), asked).high < 0.7 for count in right])
        rows.append(
            {
                "verdict": "annotator's accuracy on gold below 70%",
                "world": f"accuracy 0.7, {asked} gold documents",
                "false_alarms": float(binom.pmf(right, asked, 0.7)[is_low].sum()),
            }
        )
    return rows


def _make_row(world: str, values: list[bool], column: str = "false_alarms") -> dict[str, Any]:
    share = float(np.mean(values))
    return {
        "verdict": "drift of rejections",
        "world": world,
        "simulations": len(values),
        column: share,
        "standard_error": math.sqrt(share * (1 - share) / len(values)),
    }
