"""Forecast what a campaign costs and how good its grades are, for a grid of designs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting, DataError
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import score
from venire.measures import Measure, parse
from venire.pooling.base import Lists
from venire.progress import Event, Progress, silent
from venire.short_repr import write_repr
from venire.simulation.campaigns.recommended_design import advise_on_designs
from venire.simulation.campaigns.settled_grades import compare_grades, settle
from venire.simulation.known_pairs import list_pairs
from venire.stats.rank_correlation import tau_b
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.scale import Scale

Row = dict[str, Any]
ROUNDS = 50
"""A pair whose batches are rejected so often is given up, and counted."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """Design of a campaign.

    Parameters
    ----------
    depth : int
        Of the pool.
    overlap : int
    batch_size, gold_size : int
        Real and gold documents in a batch.
    gold_errors : int
        Gold a batch may have wrong.
    """

    depth: int = 10
    overlap: int = 3
    batch_size: int = 10
    gold_size: int = 2
    gold_errors: int = 0

    def __post_init__(self) -> None:
        for name, least in (("depth", 1), ("overlap", 1), ("batch_size", 1), ("gold_size", 0),
                            ("gold_errors", 0)):  # fmt: skip
            if getattr(self, name) < least:
                raise BadSetting(f"must be >= {least} (got {getattr(self, name)})", argument=name)


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """Expected annotators, prices and times.

    Parameters
    ----------
    spam : float
        Share of batches whose labels are chance.
    accuracy : float
        How often the others give the right grade; their errors go to the grades beside it.
    confusion : tuple of tuple of float, optional
        P(label | grade) of all batches together, of a pilot, in the place of both.
    seconds, price : float
        Of one judgment; gold is judged and paid too.
    fee : float
        Share that the platform adds to what is paid.
    pay_rejected : bool
    """

    spam: float = 0.1
    accuracy: float = 0.8
    confusion: tuple[tuple[float, ...], ...] | None = None
    seconds: float = 15.0
    price: float = 0.02
    fee: float = 0.2
    pay_rejected: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.spam < 1:
            raise BadSetting(f"must be >= 0 and < 1 (got {self.spam:g})", argument="spam")
        if not 0 < self.accuracy <= 1:
            raise BadSetting(f"must be > 0 and <= 1 (got {self.accuracy:g})", argument="accuracy")
        for name in ("seconds", "price", "fee"):
            if getattr(self, name) < 0:
                raise BadSetting(f"must be >= 0 (got {getattr(self, name):g})", argument=name)

    def tables(self, size: int) -> tuple[Floats, Floats]:
        """Return P(label | grade) [K, K] of those who look, and of spam."""
        chance = np.full((size, size), 1.0 / size)
        if self.confusion is not None:
            table = np.array(self.confusion)
            if table.shape != (size, size):
                raise BadSetting(
                    f"must have one row per grade, {size} (got {len(table)})", argument="confusion"
                )
            return table / table.sum(axis=1, keepdims=True), chance
        table = np.eye(size) * self.accuracy
        for grade in range(size):
            beside = [other for other in (grade - 1, grade + 1) if 0 <= other < size]
            if beside:
                table[grade, beside] = (1 - self.accuracy) / len(beside)
        return table / table.sum(axis=1, keepdims=True), chance


@dataclass(frozen=True, eq=False)
class Forecast:
    """What each design is expected to cost and to give.

    Attributes
    ----------
    rows : list of dict
        For each design: its settings, ``pairs, judgments`` (paid ones and those that do not count),
        ``money``; ``work_hours``, the work of all annotators together; ``rejected`` (share of
        batches), ``spam_rejected`` and ``others_rejected`` (share of the batches of spam, and of
        the other batches; None with a pilot), ``error`` (mean squared error of the grades),
        ``kappa``, ``tau, tau_low, tau_high`` (of 95% of the replays), ``tau_sd``, ``given_up``,
        ``best`` (no other design is cheaper and has at least its tau).
    notes : tuple of str
    settings : dict
    seed : int
    version : str
    """

    rows: list[Row]
    notes: tuple[str, ...]
    settings: Row
    seed: int
    version: str

    def __repr__(self) -> str:
        return write_repr(self, self.summary)

    @property
    def summary(self) -> str:
        """The design to take, as one sentence."""
        return self.advice[0]

    @property
    def advice(self) -> list[str]:
        """The design to take and why, a sentence each."""
        return advise_on_designs(self.rows, self.settings["replays"])


def grid(**choices: Iterable[int]) -> list[Design]:
    """Return the designs of every combination.

    Examples
    --------
    >>> len(grid(overlap=[1, 3, 5], depth=[10, 20]))
    6
    """
    names = list(choices)
    return [
        Design(**dict(zip(names, values, strict=True)))
        for values in product(*(list(choices[name]) for name in names))
    ]


def forecast(
    truth: Qrels,
    runs: Runs,
    designs: Sequence[Design],
    crowd: Crowd | None = None,
    *,
    measure: str | Measure = "AP",
    replays: int = 20,
    seed: int = 0,
    ties: str = "trec",
    progress: Progress = silent,
) -> Forecast:
    """Simulate each design many times on a collection whose grades are known.

    Every place of a document is judged in batches with gold; a batch with more gold wrong than is
    allowed is judged again by somebody else. Grades are the nearest to the mean label. Tau is with
    the order of the systems under all known grades, so that it also pays for a shallow pool.

    Parameters
    ----------
    truth : Qrels
        Of a collection like the one to be judged; pairs without a grade count as the lowest.
    runs : Runs
    designs : sequence of Design
    crowd : Crowd, optional
    measure : str or Measure
    replays : int
    seed : int
    ties : str
    progress : Progress

    Examples
    --------
    >>> truth = Qrels.from_dict({f"q{n}": {"a": 1, "b": 0} for n in range(9)})
    >>> one = Runs.from_dict({f"q{n}": {"a": 2.0, "b": 1.0} for n in range(9)}, run_id="one")
    >>> two = Runs.from_dict({f"q{n}": {"b": 2.0, "a": 1.0} for n in range(9)}, run_id="two")
    >>> both = Runs(pl.concat([one.frame, two.frame]))
    >>> found = forecast(truth, both, grid(overlap=[1, 3]), Crowd(spam=0.0, accuracy=1.0))
    >>> [row["tau"] for row in found.rows], [row["best"] for row in found.rows]
    ([1.0, 1.0], [True, False])
    """
    if not designs:
        raise BadSetting("must have at least one design", argument="designs")
    if replays < 2:
        raise BadSetting(f"must be >= 2 (got {replays})", argument="replays")
    crowd = crowd or Crowd()
    parsed = parse(measure) if isinstance(measure, str) else measure
    scale = Scale.of(sorted({0.0, *truth.frame["relevance"].cast(pl.Float64).to_list()} - {-1.0}))
    if scale.size < 2:
        raise DataError("All known grades are the same, but a forecast needs at least two grades")
    field = _Field(truth, runs, scale, parsed, ties)
    rows: list[Row] = []
    for number, design in enumerate(designs):
        progress(Event("simulating designs", number, len(designs)))
        played = [
            field.play(design, crowd, np.random.default_rng([seed, number, replay]))
            for replay in range(replays)
        ]
        rows.append({**asdict(design), **_mean(played)})
    for row in rows:
        row["best"] = row["tau"] is not None and not any(_beats(other, row) for other in rows)
    return Forecast(
        rows=rows,
        notes=(*truth.notes, f"each design was simulated {replays} times on {field.known:,} known "
               f"grades; pairs without a known grade count as {scale.names[0]}"),
        settings={"crowd": asdict(crowd), "measure": str(parsed), "replays": replays,
                  "ties": ties},
        seed=seed,
        version=version("venire"),
    )  # fmt: skip


def _beats(other: Row, row: Row) -> bool:
    """Tell whether another design is no worse in money and tau, and better in one."""
    if other is row or other["tau"] is None:
        return False
    no_worse = other["money"] <= row["money"] and other["tau"] >= row["tau"]
    return bool(no_worse and (other["money"] < row["money"] or other["tau"] > row["tau"]))


def _mean(played: list[Row]) -> Row:
    out: Row = {}
    for name in ("pairs", "judgments", "money", "work_hours", "rejected", "spam_rejected",
                 "others_rejected", "error", "kappa", "given_up"):  # fmt: skip
        known = [replay[name] for replay in played if replay[name] is not None]
        out[name] = float(np.mean(known)) if known else None
    out["pairs"] = int(played[0]["pairs"])  # the pool is the same in every replay
    taus = np.array([replay["tau"] for replay in played if replay["tau"] is not None])
    out["tau"] = float(taus.mean()) if taus.size else None
    low, high = np.quantile(taus, [0.025, 0.975]) if taus.size else (None, None)
    out["tau_low"] = None if low is None else float(low)
    out["tau_high"] = None if high is None else float(high)
    out["tau_sd"] = float(taus.std(ddof=1)) if taus.size > 1 else None if not taus.size else 0.0
    return out


class _Field:
    """A collection whose grades are known, ranked once."""

    def __init__(self, truth: Qrels, runs: Runs, scale: Scale, measure: Measure, ties: str) -> None:
        pairs = list_pairs(truth, Lists.of(runs, ties=ties))
        self.table = RankTable.of(runs, pairs, ties=ties)
        if len(self.table.runs) < 2:
            raise BadSetting("must contain at least two runs", argument="runs")
        self.scale, self.measure = scale, measure
        self.known = int((truth.frame["relevance"] >= 0).sum())
        self.values = scale.array()
        grades = np.maximum(self.table.grades(truth), 0)
        self.grade = scale.index(grades.astype(np.float64))
        known = truth.frame["relevance"].cast(pl.Float64).to_numpy()
        positions = scale.index(known[known >= 0])
        first = int(np.flatnonzero(self.values >= (scale.relevant_from or 0.0))[0])
        self.gold_sides = [positions[positions >= first], positions[positions < first]]
        self.reference = score(self.table, grades, [measure]).mean[0]
        self.best = self.table.best_ranks()

    def play(self, design: Design, crowd: Crowd, rng: np.random.Generator) -> Row:
        """Judge the pool once, and say what it cost and what came out."""
        pool = np.flatnonzero(self.best <= design.depth)
        grade = self.grade[pool]
        size = self.scale.size
        tables = np.cumsum(np.stack(crowd.tables(size)), axis=2)
        counts = np.zeros((pool.size, size), np.int64)
        todo = np.repeat(np.arange(pool.size), design.overlap)
        batches = bad_batches = spam_batches = bad_spam = paid = 0
        work = 0
        for _ in range(ROUNDS):
            if not todo.size:
                break
            rng.shuffle(todo)
            batch = np.arange(todo.size) // design.batch_size
            n = int(batch[-1]) + 1
            # A pilot's confusion holds its spam already.
            spam = (rng.random(n) < crowd.spam) if crowd.confusion is None else np.zeros(n, bool)
            wrong = self._wrong_gold(design, tables, spam, n, rng)
            good = wrong <= design.gold_errors
            label = _labels(tables, spam[batch].astype(np.int64), grade[todo], rng)
            is_counted = good[batch]
            np.add.at(counts, (todo[is_counted], label[is_counted]), 1)
            sizes = np.bincount(batch) + design.gold_size
            work += int(sizes.sum())
            paid += int(sizes.sum() if crowd.pay_rejected else sizes[good].sum())
            batches += n
            bad_batches += int((~good).sum())
            spam_batches += int(spam.sum())
            bad_spam += int((spam & ~good).sum())
            todo = todo[~is_counted]
        judged = counts.sum(axis=1) > 0
        settled = np.where(judged, settle(counts, self.values, "mean"), 0)
        everywhere = np.zeros(self.grade.size, np.int64)
        everywhere[pool] = self.values[settled].astype(np.int64)
        scores = score(self.table, everywhere, [self.measure]).mean[0]
        _, kappa, error = compare_grades(self.values[settled], self.values[grade])
        return {
            "pairs": pool.size,
            "judgments": work,
            "money": paid * crowd.price * (1 + crowd.fee),
            "work_hours": work * crowd.seconds / 3600,
            "rejected": bad_batches / batches if batches else 0.0,
            **_share_rejected(crowd, batches, bad_batches, spam_batches, bad_spam),
            "error": error,
            "kappa": None if np.isnan(kappa) else kappa,
            "tau": tau_b(self.reference, scores),
            "given_up": int(todo.size),
        }

    def _wrong_gold(
        self, design: Design, tables: Floats, spam: Mask, n: int,
        rng: np.random.Generator,
    ) -> Longs:  # fmt: skip
        """Return how much gold each batch has wrong.

        As in a campaign, gold is relevant and not relevant in turn, each batch beginning with
        either; its grades are drawn from the known ones. A label is right on the right side.
        """
        if not design.gold_size:
            return np.zeros(n, np.int64)
        sides = [side for side in self.gold_sides if side.size]
        side = (rng.integers(0, 2, (n, 1)) + np.arange(design.gold_size)) % len(sides)
        drawn = np.stack([rng.choice(grades, side.shape) for grades in sides])
        asked = np.take_along_axis(drawn, side[None], axis=0)[0].reshape(-1)
        who = np.repeat(spam, design.gold_size).astype(np.int64)
        label = _labels(tables, who, asked, rng)
        first = int(np.flatnonzero(self.values >= (self.scale.relevant_from or 0.0))[0])
        off = (label >= first) != (asked >= first)
        return np.asarray(off.reshape(n, -1).sum(axis=1), dtype=np.int64)


def _share_rejected(crowd: Crowd, batches: int, bad: int, spam: int, bad_spam: int) -> Row:
    """Return the shares of the batches of spam, and of the others, that are rejected."""
    if crowd.confusion is not None:
        return {"spam_rejected": None, "others_rejected": None}
    return {
        "spam_rejected": bad_spam / spam if spam else None,
        "others_rejected": (bad - bad_spam) / (batches - spam) if batches > spam else None,
    }


def _labels(tables: Floats, who: Longs, grade: Longs, rng: np.random.Generator) -> Longs:
    below = tables[who, grade][:, :-1]
    labels: Longs = (rng.random((grade.size, 1)) > below).sum(axis=1)
    return labels
