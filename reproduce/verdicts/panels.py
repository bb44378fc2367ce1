"""Assessors disagree: four assessors of ten topics each beside qrels with errors of their own.

Nobody prefers a run in the worlds of false alarms; assessors may err more than the qrels, or be
stricter. In the worlds of power one assessor, or all, grade up what the last run ranks first and
down what it does not, with the probability given.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
from verdict_collection import Array, Collection, add_errors, make_collection

from venire import Judgments
from venire.evaluation.score import score
from venire.evaluation.told_apart import tell_apart
from venire.reliability.assessor_panels import compare_orders_of_panels, make_panels
from venire.reliability.verdict import AMBER, RED, assess_assessors

MEASURE = "nDCG@10"
WORLDS = (
    # words, error rate of the qrels and of assessors, strictness, biased assessors, bias
    ("equal errors", 0.3, 0.3, 0.0, 0, 0.0),
    ("assessors err more", 0.1, 0.4, 0.0, 0, 0.0),
    ("assessors stricter", 0.3, 0.3, 0.5, 0, 0.0),
    ("one of four biased .6", 0.3, 0.3, 0.0, 1, 0.6),
    ("all four biased .6", 0.3, 0.3, 0.0, 4, 0.6),
    ("all four biased 1", 0.3, 0.3, 0.0, 4, 1.0),
)


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for number, (words, *world) in enumerate(WORLDS):
        lights = []
        for simulation in range(12 if quick else 100):
            rng = np.random.default_rng([seed, number, simulation])
            lights.append(_simulate(rng, *world))
        for verdict, counted in (("amber or red", (AMBER, RED)), ("red", (RED,))):
            share = float(np.mean([light in counted for light in lights]))
            rows.append(
                {
                    "verdict": f"assessors disagree: {verdict}",
                    "world": words,
                    "simulations": len(lights),
                    "power" if world[3] else "false_alarms": share,
                    "standard_error": math.sqrt(share * (1 - share) / len(lights)),
                }
            )
    return rows


def _simulate(
    rng: np.random.Generator,
    qrels_error: float,
    error: float,
    strictness: float,
    biased: int,
    bias: float,
) -> str:
    """Return the light of one world; an amber one for want of data counts as green."""
    world = make_collection(rng, topics=20, documents=25, systems=6)
    qrels = add_errors(world.truth, qrels_error, rng)
    judgments = _judge(world, rng, error, strictness, biased, bias)
    scores = score(world.table, qrels, [MEASURE])
    told_apart = tell_apart(scores.values[0], world.table.runs, permutations=199)
    panels, _ = make_panels(world.table, judgments, qrels)
    results = compare_orders_of_panels(
        world.table, qrels, panels, scores.measures[0], told_apart, "qrels", 0
    )
    light = assess_assessors(results, "", told_apart.topics).light
    found = any(result.p_corrected is not None and result.p_corrected < 0.05 for result in results)
    return light if found else "green"


def _judge(
    world: Collection,
    rng: np.random.Generator,
    error: float,
    strictness: float,
    biased: int,
    bias: float,
) -> Judgments:
    """Return judgments: two assessors for the first ten topics, two for the others."""
    table = world.table
    favoured = np.zeros(len(world.truth), dtype=bool)
    is_first = (table.run == len(table.runs) - 1) & (table.rank <= 8)
    favoured[table.pair[is_first]] = True
    frames = []
    for number in range(4):
        is_own = (table.topic < 10) == (number < 2)
        grades = add_errors(world.truth, error, rng)
        grades = np.maximum(grades - (rng.random(len(grades)) < strictness), 0)
        if number < biased:
            grades = _bend(grades, favoured, bias, rng)
        frames.append(
            table.pairs.with_columns(
                pl.Series("label", grades), annotator_id=pl.lit(f"A{number}")
            ).filter(pl.Series(is_own))
        )
    return Judgments.of(pl.concat(frames), scale="0,1,2")


def _bend(grades: Array, favoured: Array, bias: float, rng: np.random.Generator) -> Array:
    """Return grades raised for favoured documents and lowered for others, at random."""
    shift = np.where(favoured, 1, -1) * (rng.random(len(grades)) < bias)
    return np.clip(grades + shift, 0, 2)
