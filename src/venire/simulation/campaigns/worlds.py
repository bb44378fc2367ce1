"""Worlds: new crowds of the fitted kind judge the same pairs by the same design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit
from venire.simulation.campaigns.fitted_crowd import CrowdDraw
from venire.simulation.campaigns.settled_grades import midpoints, settle, settle_counts

_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class JudgingDesign:
    """Who judged what with whom, and how labels are settled.

    Attributes
    ----------
    indptr : int64 [P + 1]
    annotator : int32 [L]
        Sorted by pair.
    topic : int64 [P]
    grades : float64 [K]
    rule : "mean" or "majority"
    judges : int64 [G]
        Numbers of judgments per pair to look at, increasing.
    """

    indptr: Longs
    annotator: Ints
    topic: Longs
    grades: Floats
    rule: str
    judges: Longs

    @property
    def annotators(self) -> int:
        """N, the number of annotators."""
        return int(self.annotator.max()) + 1

    @property
    def turns(self) -> int:
        """Number of crowds that one after another judge the pair with the fewest judgments."""
        least = int(np.diff(self.indptr).min())
        return -(-int(self.judges[-1]) // least)


@dataclass(frozen=True)
class JudgedWorld:
    """What one new crowd gave.

    Attributes
    ----------
    grades : int64 [G, P]
        Positions of grades, under each number of judgments per pair.
    own_grades : int64 [P]
        Under as many judgments as the pair has.
    labels : int16 [L]
        Those judgments, sorted by pair.
    """

    grades: Longs
    own_grades: Longs
    labels: Shorts


@jit
def draw_uniform(salt: int, first: int, second: int) -> float:
    """Return a number in [0, 1) that depends on all three numbers (SplitMix64)."""
    x = np.uint64(salt) + np.uint64(first) * _STEP
    for extra in (np.uint64(second), np.uint64(1)):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = (x ^ (x >> np.uint64(31))) + extra * _STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return float(x >> np.uint64(11)) * 2.0**-53


@jit
def judge_pairs(
    indptr: Longs,
    annotator: Ints,
    topic: Longs,
    pair_class: Longs,
    person_type: Longs,  # [N * turns]
    below: Floats,  # [C, T, K - 1] P(label <= l | class, type)
    annotators: int,
    salts: Longs,  # [2]
    judges: Longs,
    middle: Floats,
    grade_values: Floats,
    is_majority: bool,
    grades: Longs,  # [G, P], filled
    own_grades: Longs,  # [P], filled
    labels: Shorts,  # [L], filled
) -> None:
    """Let new people judge each pair: its own annotators' places first, then further crowds.

    Every place of the design is taken by a new person with the same load. Each person has one
    random turn per topic, so that with fewer judgments whole blocks of work are left out.
    """
    counts = np.zeros(grade_values.size, np.int64)
    for p in range(indptr.size - 1):
        n = indptr[p + 1] - indptr[p]
        total = max(judges[-1], n)
        person = np.empty(n, np.int64)
        turn = np.empty(n)
        counts[:] = 0
        g = 0
        for w in range(total):
            if w % n == 0:
                for i in range(n):
                    new = annotator[indptr[p] + i] + annotators * (w // n)
                    key = draw_uniform(salts[0], new, topic[p])
                    place = i
                    while place > 0 and turn[place - 1] > key:
                        turn[place] = turn[place - 1]
                        person[place] = person[place - 1]
                        place -= 1
                    turn[place] = key
                    person[place] = new
            limits = below[pair_class[p], person_type[person[w % n]]]
            chance = draw_uniform(salts[1], p, w)
            label = 0
            while label < limits.size and chance > limits[label]:
                label += 1
            counts[label] += 1
            if w < n:
                labels[indptr[p] + w] = label
            if w + 1 == n:
                own_grades[p] = settle_counts(counts, middle, grade_values, is_majority)
            if g < judges.size and w + 1 == judges[g]:
                grades[g, p] = settle_counts(counts, middle, grade_values, is_majority)
                g += 1


def draw_type_shares(crowd: CrowdDraw, rng: np.random.Generator) -> Floats:
    """Draw the share of each type among people like these annotators (Bayesian bootstrap)."""
    weight = rng.dirichlet(np.ones(crowd.annotator_type.size))
    share = np.bincount(crowd.annotator_type, weights=weight, minlength=crowd.theta.shape[1])
    shares: Floats = share / share.sum()
    return shares


def judge_anew(
    design: JudgingDesign, crowd: CrowdDraw, shares: Floats, rng: np.random.Generator
) -> JudgedWorld:
    """Draw a new crowd and let it judge by the design.

    Parameters
    ----------
    design : JudgingDesign
    crowd : CrowdDraw
    shares : float64 [T]
        Share of each type among new people.
    rng : Generator
    """
    pairs = design.indptr.size - 1
    people = design.annotators * design.turns
    grades = np.empty((design.judges.size, pairs), np.int64)
    own_grades = np.empty(pairs, np.int64)
    labels = np.empty(design.annotator.size, np.int16)
    judge_pairs(
        design.indptr,
        design.annotator,
        design.topic,
        crowd.pair_class,
        rng.choice(shares.size, people, p=shares).astype(np.int64),
        np.ascontiguousarray(np.cumsum(crowd.theta, axis=2)[:, :, :-1]),
        design.annotators,
        rng.integers(0, 2**62, 2),
        design.judges,
        midpoints(design.grades),
        design.grades,
        design.rule == "majority",
        grades,
        own_grades,
        labels,
    )
    return JudgedWorld(grades, own_grades, labels)


def settle_expected(design: JudgingDesign, crowd: CrowdDraw, shares: Floats) -> Longs:
    """Return the grade of each pair under infinitely many judgments of such people [P]."""
    expected = np.einsum("ctk,t->ck", crowd.theta, shares)
    return settle(expected, design.grades, design.rule)[crowd.pair_class]
