"""False alarms and power of the test for a judge who favours a system.

``run`` returns a row per kind of error and light. Twelve runs in four families of near copies rank
60 documents per topic; a judge and the qrels err independently, and nobody favours a run. Power is
that of the article's favouring assessor on Cranfield, with an audit sample of 1,000 pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from common import DATA

from venire.arrays import Floats, Longs
from venire.evaluation.ranks import RankTable
from venire.pooling.base import Lists
from venire.reliability.favour_statistic import FavourStatistic
from venire.reliability.related_runs import list_groups
from venire.reliability.verdict import P_GREEN, P_RED

VERDICT = "judge favours a system"
RATES = (0.05, 0.10, 0.15, 0.30)
QUICK_RATES = ((0.30, 0.05), (0.10, 0.10))
RUNS, TOPICS, DOCUMENTS, FAMILIES, PAIRS, DEPTH = 12, 43, 60, 4, 1000, 10
SHARES = (0.5, 0.2, 0.2, 0.1)
"""Shares of the true grades 0 to 3; 30% are relevant from grade 2."""
SHARED_NOISE = 0.85
"""Share of a run's noise that its family has too."""
FAVOURED = "tf-idf-unstemmed"
KEEP = np.array([0.0, 0.4, 0.6, 0.8, 0.9])
"""Probability that the article's assessor keeps a relevant document, by grade."""
TOP, ACCEPT = 5, 0.5

Sample = tuple[Floats, Longs, Floats, Floats]
"""Weights [runs, pairs], starts of topics, grades of the qrels and of the judge."""


def err_by_one(truth: Longs, rate: float, rng: np.random.Generator) -> Floats:
    """Return grades 0 to 3 that are one too high or too low on a share of the pairs."""
    wrong = np.clip(truth + rng.choice([-1, 1], truth.size), 0, 3)
    return np.where(rng.random(truth.size) < rate, wrong, truth).astype(np.float64)


def flip(truth: Longs, boundary: int, rate: float, rng: np.random.Generator) -> Floats:
    """Return grades 0 and 1, wrong on a share of the pairs."""
    return ((truth >= boundary) ^ (rng.random(truth.size) < rate)).astype(np.float64)


def _draw_grades(
    kind: str, truth: Longs, rates: tuple[float, float], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    if kind in ("errors of one grade", "another use of the scale"):
        qrels, judge = (err_by_one(truth, rate, rng) for rate in rates)
        if kind == "another use of the scale":
            judge = np.array([0.0, 2.0, 3.0, 3.0])[judge.astype(np.int64)]
        return qrels, judge
    boundary = {"two grades": 2, "richer judge": 1, "leaner judge": 3}[kind]
    return flip(truth, 2, rates[0], rng), flip(truth, boundary, rates[1], rng)


KINDS = (
    "errors of one grade",
    "two grades",
    "richer judge",
    "leaner judge",
    "another use of the scale",
)


def draw_audit(weight: Floats, pairs: int, rng: np.random.Generator) -> Longs:
    """Return pairs in proportion to the variance over runs of their weight, sorted."""
    share = weight.var(axis=0)
    size = min(pairs, int((share > 0).sum()))
    return np.sort(rng.choice(share.size, size, replace=False, p=share / share.sum()))


def find_starts(topic: Longs) -> Longs:
    """Return the first pair of each topic, and the number of pairs."""
    return np.append(np.flatnonzero(np.append(True, topic[1:] != topic[:-1])), topic.size)


def draw_world(kind: str, rates: tuple[float, float], seed: int) -> Sample:
    """Return a sample in which nobody favours a run; ``rates`` are those of qrels and judge."""
    rng = np.random.default_rng([seed, KINDS.index(kind), *(round(100 * rate) for rate in rates)])
    truth = rng.choice(4, (TOPICS, DOCUMENTS), p=SHARES)
    family = np.arange(RUNS) * FAMILIES // RUNS
    common = rng.normal(size=(FAMILIES, TOPICS, DOCUMENTS))[family]
    own = rng.normal(size=(RUNS, TOPICS, DOCUMENTS))
    noise = np.sqrt(SHARED_NOISE) * common + np.sqrt(1 - SHARED_NOISE) * own
    skill = np.linspace(0.2, 2.0, RUNS)[:, None, None]
    score = skill * (truth - truth.mean()) / truth.std() + noise
    rank = np.argsort(np.argsort(-score, axis=2), axis=2).reshape(RUNS, -1) + 1
    weight = np.where(rank <= DEPTH, 1.0 / np.log2(rank + 1.0), 0.0)
    qrels, judge = _draw_grades(kind, truth.ravel(), rates, rng)
    drawn = draw_audit(weight, PAIRS, rng)
    starts = find_starts(np.repeat(np.arange(TOPICS), DOCUMENTS)[drawn])
    return weight[:, drawn], starts, qrels[drawn], judge[drawn]


def compute_p(sample: Sample, seed: int, flips: int = 499) -> float:
    """Return the smallest familywise p of the test."""
    weight, starts, qrels, judge = sample
    statistic = FavourStatistic(weight, qrels, starts, list_groups(weight))
    return float(statistic.test(judge[:, None], flips, seed).p.min())


def load_cranfield() -> tuple[Floats, Longs, Longs, Longs]:
    """Return weights [runs, pairs], topics, grades, and ranks in the favoured run."""
    import cranfield

    qrels, runs, _ = cranfield.collection()
    lists = Lists.of(runs, depth=DEPTH, ties=cranfield.TIES)
    pairs = lists.list_pairs().select("query_id", "doc_id")
    table = RankTable.of(runs, pairs, ties=cranfield.TIES)
    rank = np.full((len(table.runs), len(table.pairs)), DEPTH + 1)
    rank[table.run, table.pair] = table.rank
    weight = np.where(rank <= DEPTH, 1.0 / np.log2(rank + 1.0), 0.0)
    grades = np.maximum(table.grades(qrels), 0)
    return weight, table.topic, grades, rank[table.runs.index(FAVOURED)]


def draw_cranfield(known: tuple[Floats, Longs, Longs, Longs], pairs: int, seed: int) -> Sample:
    """Return an audit sample judged by the article's favouring assessor."""
    weight, topic, grades, rank = known
    rng = np.random.default_rng(seed)
    drawn = draw_audit(weight, pairs, rng)
    chance = KEEP[grades[drawn]]
    chance[(grades[drawn] == 0) & (rank[drawn] <= TOP)] = ACCEPT
    judge = (rng.random(drawn.size) < chance).astype(np.float64)
    qrels = (grades[drawn] >= 1).astype(np.float64)
    return weight[:, drawn], find_starts(topic[drawn]), qrels, judge


def _count(
    draw: Callable[[int], Sample], simulations: int, seed: int, world: str, column: str
) -> Iterator[dict[str, Any]]:
    p = np.array([compute_p(draw(seed + number), seed + number) for number in range(simulations)])
    for light, level in (("amber or red", P_GREEN), ("red", P_RED)):
        share = float((p < level).mean())
        yield {
            "verdict": f"{VERDICT}: {light}",
            "world": world,
            "simulations": simulations,
            "false_alarms": None,
            "power": None,
            "standard_error": float(np.sqrt(share * (1 - share) / simulations)),
        } | {column: share}


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows ``verdict, world, simulations, false_alarms, power, standard_error``.

    Without ``quick``, 200 simulations per kind of error and each of 16 pairs of error rates.
    """
    simulations = 10 if quick else 200
    pairs = QUICK_RATES if quick else tuple((a, b) for a in RATES for b in RATES)
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        for rates in pairs:
            world = f"{kind}, qrels {rates[0]:.0%}, judge {rates[1]:.0%}"
            rows += _count(
                lambda number, kind=kind, rates=rates: draw_world(kind, rates, number),
                simulations,
                seed,
                world,
                "false_alarms",
            )
    if (DATA / "cranfield").is_dir():
        known = load_cranfield()
        for size in (1000,) if quick else (1000, 500):
            rows += _count(
                lambda number, size=size: draw_cranfield(known, size, number),
                10 if quick else 100,
                seed,
                f"Cranfield, favour of {FAVOURED}, {size:,} audited pairs",
                "power",
            )
    return rows
