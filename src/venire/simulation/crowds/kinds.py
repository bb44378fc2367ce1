"""Ten kinds of crowd whose truth is known, on which models can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.errors import UnknownName
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale

TOPICS = 40
DOCUMENTS = 25
PEOPLE = 60
OVERLAP = 5
GRADES = (0.4, 0.25, 0.2, 0.15)
SKEWED = (0.88, 0.07, 0.03, 0.02)


@dataclass(frozen=True)
class CrowdKind:
    """A kind of crowd: what part of it does what.

    Attributes
    ----------
    name, words : str
    random, one_label, adversaries : float
        Share of the people who answer at random, always give one label, or turn the scale
        upside down.
    shift : float
        Half of the people are lenient by so many steps, the other half strict.
    compressed : float
        Half of the people shrink distances to the middle by this factor.
    heavy : bool
        Five people do most of the work.
    overlap : int
        Judgments an item.
    grades : tuple of float
        Share of the items of each grade.
    hard : float
        In half of the topics everybody's error is so many times as large.
    """

    name: str
    words: str
    random: float = 0.0
    one_label: float = 0.0
    adversaries: float = 0.0
    shift: float = 0.0
    compressed: float = 1.0
    heavy: bool = False
    overlap: int = OVERLAP
    grades: tuple[float, ...] = GRADES
    hard: float = 1.0


CROWDS = {
    kind.name: kind
    for kind in (
        CrowdKind("good", "everybody looks and errs a little"),
        CrowdKind("random", "40% answer at random", random=0.4),
        CrowdKind("one-label", "30% always give one label", one_label=0.3),
        CrowdKind("lenient-strict", "half lenient, half strict, by .6 of a grade", shift=0.6),
        CrowdKind("compressors", "half use the middle of the scale only", compressed=0.5),
        CrowdKind("adversaries", "15% turn the scale upside down", adversaries=0.15),
        CrowdKind("heavy-workers", "five people do most of the work", heavy=True),
        CrowdKind("one-judgment", "one judgment an item", overlap=1),
        CrowdKind("skewed", "88% of the items have the lowest grade", grades=SKEWED),
        CrowdKind("hard-topics", "half of the topics are hard: errors three times", hard=3.0),
    )
}


def simulated_crowd(name: str, *, seed: int) -> tuple[Judgments, Qrels]:
    """Return the judgments of a made-up crowd, and the truth.

    People see a grade with an error of their own (a half to one step), of which 3% is
    inattention; the kind says what else some of them do. 40 topics of 25 documents,
    60 people, 5 judgments an item, 4 grades.

    Parameters
    ----------
    name : str
        One of ``CROWDS``.
    seed : int

    Raises
    ------
    UnknownName
        With the nearest kind there is.

    Examples
    --------
    >>> judgments, truth = simulated_crowd("good", seed=0)
    >>> len(judgments), len(truth)
    (5000, 1000)
    """
    if name not in CROWDS:
        raise UnknownName("kind of crowd", name, CROWDS)
    kind = CROWDS[name]
    rng = np.random.default_rng(seed)
    size = len(kind.grades)
    items = TOPICS * DOCUMENTS
    truth = rng.choice(size, items, p=kind.grades)
    topic = np.repeat(np.arange(TOPICS), DOCUMENTS)
    factor = np.where(np.arange(TOPICS) % 2 == 0, kind.hard, 1.0)[topic]

    order = rng.permutation(PEOPLE)
    role = np.full(PEOPLE, "", object)
    first = 0
    for what, share in (
        ("random", kind.random),
        ("one-label", kind.one_label),
        ("adversary", kind.adversaries),
    ):
        last = first + round(share * PEOPLE)
        role[order[first:last]] = what
        first = last
    half = np.arange(PEOPLE) % 2 == 0
    shift = np.where(half, kind.shift, -kind.shift)
    stretch = np.where(half, kind.compressed, 1.0)
    error = rng.uniform(0.5, 1.0, PEOPLE)
    favourite = rng.integers(0, size, PEOPLE)
    effort = rng.gamma(2.0, 1.0, PEOPLE)
    if kind.heavy:
        effort[:5] *= 40.0
    keys = rng.exponential(1.0, (items, PEOPLE)) / effort
    who = np.argsort(keys, axis=1)[:, : kind.overlap].reshape(-1)
    item = np.repeat(np.arange(items), kind.overlap)

    middle = (size - 1) / 2
    seen = middle + stretch[who] * (truth[item] - middle) + shift[who]
    seen = seen + rng.normal(size=item.size) * error[who] * factor[item]
    label = np.clip(np.rint(seen), 0, size - 1).astype(np.int64)
    guess = rng.integers(0, size, item.size)
    label = np.where(rng.random(item.size) < 0.03, guess, label)
    label = np.where(role[who] == "random", guess, label)
    label = np.where(role[who] == "one-label", favourite[who], label)
    label = np.where(role[who] == "adversary", size - 1 - label, label)

    names = pl.DataFrame(
        {
            "query_id": [f"q{number}" for number in topic],
            "doc_id": [f"d{number}" for number in range(items)],
        }
    )
    frame = names[item].with_columns(
        pl.Series("annotator_id", [f"w{number}" for number in who], dtype=pl.String),
        pl.Series("label", label),
    )
    qrels = Qrels.of(names.with_columns(pl.Series("relevance", truth)))
    return Judgments.of(frame, scale=Scale.of(range(size))), qrels
