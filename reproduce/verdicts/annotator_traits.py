"""Annotator types in words: traits named of annotators like the middle, and of those unlike it.

A crowd's people see the grade with a bias, an error, a scale and a share of labels given without
looking. False alarms: share of the people within half a step of the grid from the crowd's median
in a trait of whom it is named ("any trait": within it in all traits). Power: share of those who
differ by a step or more of whom it is named in the right direction. The standard error is that
over simulated crowds.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from venire import Judgments
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.tables.scale import Scale

Array = np.ndarray[Any, Any]
SKEWED = (0.64, 0.10, 0.15, 0.11)
FLAT = (0.25, 0.25, 0.25, 0.25)
USUAL = (0.0, 0.6, 1.0, 0.95)
"""Bias, error, scale, share of labels that look."""
HALF = (0.25, 0.1, 0.2, 0.1)
STEP = (0.5, 0.25, 0.4, 0.4)
WORDS = (
    ("bias", ("strict", "lenient")),
    ("error", ("careful", "less exact")),
    ("scale", ("compresses", "stretches")),
    ("looking", ("not look", "")),
)
NEVER = ("random", "clicks one label", "does not look")


class World(NamedTuple):
    """People, the shares of the grades, labels per item, items, and what makes items hard."""

    people: list[tuple[float, float, float, float]]
    shares: tuple[float, ...] = FLAT
    overlap: int = 5
    items: int = 600
    hard: float = 1.0
    """Factor of everybody's error on half of the items."""
    shared: float = 0.0
    """Standard deviation of an error that all annotators of an item share."""


WORLDS = {
    "all alike": World([USUAL] * 40),
    "all alike, skewed grades": World([USUAL] * 40, SKEWED),
    "all careful, skewed": World([(0.0, 0.35, 1.0, 0.99)] * 40, SKEWED),
    "half careful, skewed": World(
        [(0.0, 0.35, 1.0, 0.99)] * 20 + [USUAL] * 30, SKEWED, overlap=3, items=1500
    ),
    "the demo's crowd": World(
        [(0.0, 0.35, 1.0, 0.99)] * 15 + [USUAL] * 20
        + [(0.5, 0.6, 1.0, 0.95)] * 5 + [(-0.5, 0.6, 1.0, 0.95)] * 5
        + [(0.0, 1.0, 1.0, 0.5)] * 5 + [(0.0, 1.0, 1.0, 0.0)] * 10,
        SKEWED, overlap=3, items=1500,
    ),
    "lenient and strict": World(
        [USUAL] * 24 + [(0.6, 0.6, 1.0, 0.95)] * 8 + [(-0.6, 0.6, 1.0, 0.95)] * 8
    ),
    "three grades": World(
        [USUAL] * 24 + [(0.6, 0.6, 1.0, 0.95)] * 8 + [(-0.6, 0.6, 1.0, 0.95)] * 8,
        (0.6, 0.25, 0.15), overlap=3,
    ),
    "scales differ": World(
        [USUAL] * 24 + [(0.0, 0.6, 0.5, 0.95)] * 8 + [(0.0, 0.6, 1.6, 0.95)] * 8
    ),
    "errors differ": World(
        [(0.0, 0.7, 1.0, 0.97)] * 24 + [(0.0, 0.3, 1.0, 0.97)] * 8 + [(0.0, 1.3, 1.0, 0.97)] * 8
    ),
    "spam": World([USUAL] * 24 + [(0.0, 0.6, 1.0, 0.4)] * 8 + [(0.0, 0.6, 1.0, 0.0)] * 8, SKEWED),
    "off the grid": World(
        [(0.1, 0.5, 1.1, 0.93)] * 14 + [(-0.1, 0.55, 0.9, 0.97)] * 14 + [(0.0, 0.6, 1.0, 0.9)] * 12,
        SKEWED,
    ),
    "hard items": World([USUAL] * 32 + [(0.6, 0.6, 1.0, 0.95)] * 8, SKEWED, hard=3.0),
    "shared errors": World([USUAL] * 32 + [(0.6, 0.6, 1.0, 0.95)] * 8, SKEWED, shared=0.6),
    "the demo's crowd, five times as many items": World([], SKEWED, 3, 7500),
    "off the grid, 500 labels each": World([], SKEWED, 5, 4000),
    "hard items, 500 labels each": World([], SKEWED, 5, 4000, hard=3.0),
}  # fmt: skip
for large, small in (
    ("the demo's crowd, five times as many items", "the demo's crowd"),
    ("off the grid, 500 labels each", "off the grid"),
    ("hard items, 500 labels each", "hard items"),
):
    WORLDS[large] = WORLDS[large]._replace(people=WORLDS[small].people)


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for number, (name, world) in enumerate(WORLDS.items()):
        if quick and world.items > 1500:
            continue
        false: dict[str, list[tuple[int, int]]] = {}
        power: dict[str, list[tuple[int, int]]] = {}
        simulations = 1 if quick else 3 if world.items > 1500 else 8
        for simulation in range(simulations):
            rng = np.random.default_rng([seed, number, simulation])
            _count(world, rng, false, power)
        for trait in ("any trait", *(trait for trait, _ in WORDS)):
            wrong, error, people = _divide(false.get(trait, []))
            right, right_error, unlike = _divide(power.get(trait, []))
            if people and (trait == "any trait" or unlike or wrong > 0):
                rows.append(_make_row(trait, name, people, "false_alarms", wrong, error))
            if unlike:
                rows.append(_make_row(trait, name, unlike, "power", right, right_error))
    return rows


def _count(
    world: World,
    rng: np.random.Generator,
    false: dict[str, list[tuple[int, int]]],
    power: dict[str, list[tuple[int, int]]],
) -> None:
    """Add the numbers of named and of all people of one crowd, per trait."""
    judgments = _judge(world, rng)
    annotators = AnnotatorTypes().fit(judgments).annotators
    people = np.array(world.people)
    middle = np.median(people[people[:, 3] > 0.5], axis=0)
    own = people[[int(name[1:]) for name in annotators["annotator_id"]]]
    gap = own - middle
    is_like = np.abs(gap) < HALF
    texts = annotators["type"].to_list()
    looks = own[:, 3] > 0.3
    is_named = np.zeros((len(texts), len(WORDS)), dtype=bool)
    for column, (trait, (below, above)) in enumerate(WORDS):
        words = (below, *NEVER) if trait == "looking" else (below,)
        is_below = np.array([any(word in text for word in words) for text in texts])
        is_above = np.array([bool(above) and above in text for text in texts])
        is_named[:, column] = is_below | is_above
        alike = is_like[:, column] & looks
        false.setdefault(trait, []).append((int(is_named[alike, column].sum()), int(alike.sum())))
        is_unlike = np.abs(gap[:, column]) >= STEP[column] - 1e-9
        is_unlike &= looks if trait != "looking" else True
        is_right = np.where(gap[:, column] < 0, is_below, is_above)
        power.setdefault(trait, []).append((int(is_right[is_unlike].sum()), int(is_unlike.sum())))
    all_like = is_like.all(axis=1)
    false.setdefault("any trait", []).append(
        (int(is_named[all_like].any(axis=1).sum()), int(all_like.sum()))
    )


def _judge(world: World, rng: np.random.Generator) -> Judgments:
    """Return labels: the nearest grade to what a person sees, or any grade without looking."""
    bias, error, scale, looking = np.array(world.people).T
    size, count = len(world.shares), len(world.people)
    grade = rng.choice(size, world.items, p=world.shares)
    keys = rng.exponential(1.0, (world.items, count)) / rng.gamma(2.0, 1.0, count)
    who = np.argsort(keys, axis=1)[:, : world.overlap].reshape(-1)
    item = np.repeat(np.arange(world.items), world.overlap)
    middle = (size - 1) / 2
    width = error[who] * np.where(item % 2, world.hard, 1.0)
    seen = middle + scale[who] * (grade[item] - middle) + bias[who]
    seen += rng.normal(size=item.size) * width + world.shared * rng.normal(size=world.items)[item]
    label = np.clip(np.rint(seen), 0, size - 1).astype(np.int64)
    label = np.where(rng.random(item.size) < looking[who], label, rng.integers(0, size, item.size))
    frame = pl.DataFrame(
        {
            "query_id": [f"q{number % 20}" for number in item],
            "doc_id": [f"d{number}" for number in item],
            "annotator_id": [f"w{number}" for number in who],
            "label": label,
        }
    )
    return Judgments.of(frame, scale=Scale.of(range(size)))


def _divide(counts: list[tuple[int, int]]) -> tuple[float, float, int]:
    """Return the share of the named, its standard error over crowds, and the number of people."""
    named, people = np.array(counts, dtype=np.float64).reshape(-1, 2).T
    total = float(people.sum())
    if not total:
        return 0.0, 0.0, 0
    share = float(named.sum() / total)
    gaps = named - share * people
    crowds = max(len(counts), 2)
    return share, math.sqrt(float(gaps @ gaps) * crowds / (crowds - 1)) / total, int(total)


def _make_row(
    trait: str, world: str, people: int, column: str, share: float, error: float
) -> dict[str, Any]:
    return {
        "verdict": f"annotator type: {trait}",
        "world": world,
        "simulations": people,
        column: share,
        "standard_error": error,
    }
