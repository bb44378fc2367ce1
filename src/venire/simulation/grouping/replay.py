"""Simulated annotators judge grouped pools: time, recall, precision and every action, counted."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from venire.arrays import Floats, Longs
from venire.errors import BadSetting
from venire.grouping.settings import Setting
from venire.progress import Event, Progress, silent
from venire.simulation.grouping.annotators import GroupedAnnotator
from venire.simulation.grouping.pools import GroupedPools, Groupings

REPETITIONS = 3
KEY = ("setting", "annotator")


@dataclass(frozen=True, eq=False)
class Unit:
    """One setting replayed by one annotator type: finished, and fit to be kept.

    Attributes
    ----------
    setting, annotator : str
    frame : polars.DataFrame
        A row a query and repetition: ``setting, annotator, query_id, repetition, images,
        relevant, seconds``; what was done: ``judged`` (ungrouped images), ``labelled`` (groups),
        ``corrected``, ``split``, ``glances_relevant``, ``glances_not_relevant``; ``never_looked``
        (images); ``found`` (relevant images that end up labelled relevant), ``called`` (images
        labelled relevant); ``recall`` and ``precision``, null where there is nothing to divide by.
    """

    setting: str
    annotator: str
    frame: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Chance:
    """What chance decides, the same for all settings and types: common random numbers.

    Attributes
    ----------
    perceive, check : float64 [R, N]
        Uniform on 0..1. An image is perceived rightly where ``perceive`` is below the accuracy,
        and looked at in a large group where ``check`` is below the probability.
    """

    perceive: Floats
    check: Floats

    @classmethod
    def draw(cls, pools: GroupedPools, repetitions: int, seed: int) -> Chance:
        """Draw for each query by itself, so that other queries and more repetitions change nothing.

        Raises
        ------
        BadSetting
        """
        if repetitions < 1:
            raise BadSetting(f"repetitions are at least 1, not {repetitions}")
        parts = []
        for query, size in zip(pools.queries, np.diff(pools.start), strict=True):
            name = int.from_bytes(hashlib.sha256(query.encode()).digest()[:8], "big")
            rng = np.random.default_rng([seed, name])
            parts.append(rng.random((repetitions, 2, int(size))))
        both = np.concatenate(parts, axis=2)
        return cls(both[:, 0], both[:, 1])

    def first(self) -> Chance:
        """Return the first repetition only."""
        return Chance(self.perceive[:1], self.check[:1])


def replay(
    pools: GroupedPools,
    labels: Longs,
    annotator: GroupedAnnotator,
    chance: Chance,
    *,
    setting: str = "",
) -> Unit:
    """Let one annotator type judge all pools under one setting, each repetition.

    Parameters
    ----------
    pools : GroupedPools
    labels : int64 [N]
        Group of each image over all pools; ``-1`` for an ungrouped image.
    annotator : GroupedAnnotator
    chance : Chance
    setting : str
        Name of the setting in the result.

    Examples
    --------
    >>> from venire import Qrels
    >>> from venire.simulation.grouping.annotators import annotator
    >>> pools = GroupedPools.of(
    ...     pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"]}),
    ...     Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 0}}),
    ... )
    >>> perfect = annotator("perfect")
    >>> unit = replay(pools, np.array([0, 0, -1]), perfect, Chance.draw(pools, 1, 0))
    >>> unit.frame.select("seconds", "judged", "labelled", "corrected", "recall").row(0)
    (10.6, 1, 1, 1, 1.0)
    """
    chance = chance if annotator.random else chance.first()
    truth, query = pools.relevant, pools.query
    times = chance.perceive.shape[0]
    accuracy = np.where(truth, annotator.accuracy_relevant, annotator.accuracy_not_relevant)
    perceived = (chance.perceive < accuracy) == truth
    grouped = labels >= 0
    inside = np.flatnonzero(grouped)
    group = labels[inside]
    groups = int(group.max(initial=-1)) + 1
    nearest = _nearest(group, pools.nearness[inside], groups)
    looked = np.zeros((times, inside.size), bool)
    if not annotator.one_glance:
        small = (np.bincount(group, minlength=groups) <= annotator.check_all)[group]
        looked = small | (chance.check[:, inside] < annotator.check_probability)
    # In the group where chance chose no image, and in every group at one glance: the nearest.
    none = _by(group, looked, groups) == 0
    looked[:, nearest] |= none
    seems = perceived[:, inside]
    seen = _by(group, looked, groups)
    votes = 2 * _by(group, looked & seems, groups)
    label = votes >= seen if annotator.tie == "relevant" else votes > seen
    group_label = label[:, group]
    wrong = looked & (seems != group_label)
    corrected = _by(group, wrong, groups)
    split = np.zeros_like(corrected)
    if annotator.split:
        saved = corrected * annotator.correct_seconds
        split = (saved > annotator.split_seconds + annotator.label_seconds).astype(np.int64)
        corrected = np.where(split == 1, 0, corrected)
    final = perceived.copy()
    final[:, inside] = np.where(looked, seems, group_label)
    changed = np.zeros_like(looked)
    if annotator.review == "all" and not annotator.one_glance:
        changed = ~looked & (seems != group_label)
        looked = np.ones_like(looked)
        final = perceived
    of_query, asked = query[inside], len(pools.queries)
    of_group = of_query[nearest]
    judged = np.bincount(query[~grouped], minlength=asked)
    columns = {
        "judged": np.broadcast_to(judged, (times, asked)),
        "labelled": np.bincount(of_group, minlength=asked) + _by(of_group, split, asked),
        "corrected": _by(of_group, corrected, asked) + _by(of_query, changed, asked),
        "split": _by(of_group, split, asked),
        "glances_relevant": _by(of_query, looked & truth[inside], asked),
        "glances_not_relevant": _by(of_query, looked & ~truth[inside], asked),
        "never_looked": _by(of_query, ~looked, asked),
        "found": _by(query, final & truth, asked),
        "called": _by(query, final, asked),
    }
    seconds = (
        columns["judged"] * annotator.judge_seconds
        + columns["labelled"] * annotator.label_seconds
        + columns["corrected"] * annotator.correct_seconds
        + columns["split"] * annotator.split_seconds
        + columns["glances_relevant"] * annotator.glance_relevant_seconds
        + columns["glances_not_relevant"] * annotator.glance_not_relevant_seconds
    )
    relevant = np.bincount(query, truth, asked).astype(np.int64)
    return Unit(
        setting, annotator.name, _frame(pools, setting, annotator.name, relevant, seconds, columns)
    )


def simulate(
    groupings: Groupings,
    settings: Sequence[Setting],
    annotators: Sequence[GroupedAnnotator],
    *,
    seed: int = 0,
    repetitions: int = REPETITIONS,
    done: Collection[tuple[str, str]] = (),
    progress: Progress = silent,
) -> Iterator[Unit]:
    """Yield each setting replayed by each annotator type, as soon as it is finished.

    A caller that keeps the units can stop anywhere, and go on later with ``done``: the units
    that follow are those that would have followed.

    Parameters
    ----------
    groupings : Groupings
    settings : sequence of Setting
    annotators : sequence of GroupedAnnotator
    seed : int
    repetitions : int
        Of each query, for types that decide at random.
    done : collection of (setting, annotator)
        Units not to make again.
    progress : callable

    Raises
    ------
    BadSetting
        A setting that needs vectors which are not there; no repetition.
    """
    groupings.check(settings)
    chance = Chance.draw(groupings.pools, repetitions, seed)
    total, finished = len(settings) * len(annotators), 0
    for setting in settings:
        todo = [annotator for annotator in annotators if (str(setting), annotator.name) not in done]
        labels = groupings.labels(setting) if todo else np.zeros(0, np.int64)
        for annotator in todo:
            yield replay(groupings.pools, labels, annotator, chance, setting=str(setting))
        finished += len(annotators)
        progress(Event("replaying", finished, total, str(setting)))


def results(units: Sequence[Unit]) -> pl.DataFrame:
    """Return the rows of all units as one table."""
    return pl.concat(unit.frame for unit in units)


def expected_seconds(
    groupings: Groupings,
    settings: Sequence[Setting],
    annotators: Sequence[GroupedAnnotator],
    *,
    repetitions: int = REPETITIONS,
) -> float:
    """Return about how long :func:`simulate` will take here: a small part of it is timed."""
    pools = groupings.pools
    size = np.diff(pools.start)
    small = groupings.only(int(np.argmin(np.abs(size - np.median(size)))))
    chance = Chance.draw(small.pools, repetitions, 0)
    grouping = 0.0
    for setting in dict.fromkeys(setting.uncapped for setting in settings):
        grouping += _quickest(partial(small.of, setting, 0), small.cache.clear)
    labels = small.labels(settings[-1])
    unit = _quickest(partial(replay, small.pools, labels, annotators[0], chance))
    # A unit costs about the same fixed time however many queries there are, and then 100 ns
    # an image and repetition.
    images = len(pools) * repetitions * 1e-7
    return grouping * len(pools.queries) + (unit + images) * len(settings) * len(annotators)


def _quickest(work: Callable[[], object], before: Callable[[], object] = int) -> float:
    """Return the time of the quicker of two calls: the first may import, and fill caches."""
    spent = []
    for _ in range(2):
        before()
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return min(spent)


def _nearest(group: Longs, nearness: Longs, groups: int) -> Longs:
    """Return the index of the image nearest to the query in each group [groups]."""
    order = np.lexsort((nearness, group))
    return order[np.searchsorted(group[order], np.arange(groups))]


def _by(code: Longs, values: NDArray[np.generic], size: int) -> Longs:
    """Return the sums of values [R, n] by code [n]: int64 [R, size]."""
    times = values.shape[0]
    flat = (np.arange(times)[:, None] * size + code).reshape(-1)
    sums = np.bincount(flat, values.reshape(-1).astype(np.float64), times * size)
    return sums.reshape(times, size).astype(np.int64)


def _frame(
    pools: GroupedPools,
    setting: str,
    annotator: str,
    relevant: Longs,
    seconds: Floats,
    columns: dict[str, Longs],
) -> pl.DataFrame:
    times, asked = seconds.shape
    flat = {name: value.reshape(-1) for name, value in columns.items()}
    frame = pl.DataFrame(
        {
            "query_id": list(pools.queries) * times,
            "repetition": np.repeat(np.arange(1, times + 1), asked),
            "images": np.tile(np.diff(pools.start), times),
            "relevant": np.tile(relevant, times),
            "seconds": seconds.reshape(-1),
            **flat,
        }
    )
    share = [
        pl.when(pl.col(below) > 0).then(pl.col("found") / pl.col(below)).alias(name)
        for name, below in (("recall", "relevant"), ("precision", "called"))
    ]
    return frame.select(
        pl.lit(setting).alias("setting"), pl.lit(annotator).alias("annotator"), pl.all(), *share
    )
