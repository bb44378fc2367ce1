"""A committee of unlike models, averaged with equal weights or weights learnt from known grades."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from venire import plugins
from venire.aggregation import base, loop
from venire.aggregation.calibration import (
    FEWEST,
    Calibration,
    apply_temperature,
    find_known_rows,
    learn_calibration,
)
from venire.aggregation.committee_notes import (
    describe_disagreement,
    describe_weights,
    prefix_notes,
)
from venire.aggregation.posterior import Posterior, moments
from venire.aggregation.result import build_posterior, order_items
from venire.aggregation.weights import Combination, learn_weights, weigh_equally
from venire.arrays import Floats, Longs, Shorts
from venire.engine import Engine, Serial, default_engine
from venire.errors import BadSetting, DataError, UnknownName
from venire.progress import Progress, silent
from venire.settings import Settings, rules, setting
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAME = "committee"
MEMBERS = "regularised-dawid-skene,annotator-types,minimax-entropy,ordinal-mixture,binary"
WITHOUT_OVERLAP = "ordinal-mixture,binary"
"""Members that stay sound where no item was judged twice."""
RESERVE = "minimax-entropy (categorical)"
"""A member that is best on some crowds and bad on others: used with known grades only."""
OVERLAP = 0.02
"""Share of items with two or more judgments below which annotators cannot be compared."""
SKEWED = 2.0 / 3.0
"""Share of items with the same winner of the votes above which grade priors are learnt."""
RESTARTS = 3
"""Restarts of the ordinal mixture."""


class Members(NamedTuple):
    """The members that are fitted to some judgments."""

    names: list[str]
    models: list[Any]
    notes: list[str]


class Opinions(NamedTuple):
    """The results of the members, and the known grades."""

    names: list[str]
    results: list[Posterior]
    x: Floats
    """Mean of each item by each member [M, I]."""
    sd: Floats
    """Its standard deviation [M, I]."""
    rows: Longs
    """Items whose grade is known [n]."""
    grade: Longs
    """Position of their grade on the scale [n]."""

    @property
    def is_taught(self) -> bool:
        """Whether there are enough known grades to learn weights and the calibration."""
        return self.rows.size >= FEWEST


@dataclass(frozen=True, kw_only=True)
class Committee(Settings):
    r"""The mean of the posteriors of unlike models.

    .. math:: p_m(k) = \sum_i w_i\, p_{im}(k), \qquad
        \hat z_m = \sum_i w_i \Bigl(a_i + b_i \sum_k v_k\, p_{im}(k)\Bigr)

    Weights are equal, and each member is stretched about its own mean to the average spread of
    the members: otherwise the most confident member would dominate. With 50 or more known
    grades (``gold=``), weights are learnt (convex, shrunk to equal weights), each member is
    mapped to the known grades by its own line, and the result is calibrated. Members are fitted
    without the known grades, which are held afterwards. Categorical minimax entropy, which is
    best on some crowds and bad on others, joins only then.

    ``split`` in the items is the standard deviation of the members' means, ``furthest`` the
    member that is furthest from them. Judge the pairs with the largest split again first.

    Two checks come first. Where (nearly) no item was judged twice, only the members that do not
    need overlap are used. Where votes give more than two thirds of the items the same grade,
    grade priors are learnt instead of uniform.

    Source: linear opinion pool (Stone 1961); stacking with convex weights, Breiman,
    "Stacked regressions" (Machine Learning 24, 1996).

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 2]}, scale="0,1,2")
    >>> Committee(members="binary,ordinal-mixture").fit(judgments).grades().tolist()
    [0.0, 2.0]
    """

    members: str = setting(
        MEMBERS,
        words="Names of two or more models, separated by commas. They have their default "
        "settings, except that the ordinal mixture has three restarts and a difficulty per query.",
    )
    max_iterations: int = loop.declare_max_iterations("Maximum number of iterations per member.")
    shards: int | None = loop.declare_shards(
        "Number of parts into which each member cuts the items."
    )
    name: ClassVar[str] = NAME

    def __post_init__(self) -> None:
        super().__post_init__()
        names = _split_names(self.members)
        known = plugins.names("aggregator")
        if len(names) < 2 or NAME in names:
            raise BadSetting(
                f"must name two or more other models (got {self.members!r})",
                argument="members",
                value=self.members,
            )
        for name in names:
            if name not in known:
                raise UnknownName("member of the committee", name, known)

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Qrels | None = None,
        start: Posterior | None = None,
        seed: int = 0,
        engine: Engine | None = None,
        progress: Progress = silent,
    ) -> Posterior:
        """Infer the grades; see :class:`venire.aggregation.base.Aggregator`."""
        base.check_start(self, judgments, start)
        base.check_seed(seed)
        known, notes = base.find_known_grades(judgments, gold)
        is_taught = gold is not None and int(np.sum(known >= 0)) >= FEWEST
        members = self._choose_members(judgments, reserve=is_taught)
        earlier = start.state if start is not None else {}

        def fit_member(number: int) -> Posterior:
            model: Any = members.models[number]
            posterior: Posterior = model.fit(
                judgments,
                start=earlier.get(members.names[number]),
                seed=seed,
                engine=Serial(),
                progress=progress,
            )
            return posterior

        engine = engine or default_engine()
        results = list(engine.map(fit_member, range(len(members.models))))
        state = dict(zip(members.names, results, strict=True))
        return self._combine(judgments, state, known, gold, seed, (*notes, *members.notes))

    def reweigh(
        self, posterior: Posterior, judgments: Judgments, gold: Qrels, *, seed: int = 0
    ) -> Posterior:
        """Return an earlier result with other known grades, without fitting the members again.

        Parameters
        ----------
        posterior : Posterior
            Of a committee, on the same judgments.
        judgments : Judgments
        gold : Qrels
        seed : int
            Of the folds.

        Raises
        ------
        DataError
            When the result is of another model, or of other items.
        """
        base.check_start(self, judgments, posterior)
        codes = judgments.codes
        if not posterior.items.select(PAIR).equals(codes.items.select(PAIR)[order_items(codes)]):
            raise DataError("The posterior has other items than the judgments. Fit again.")
        known, notes = base.find_known_grades(judgments, gold)
        state = dict(posterior.state)
        members = self._choose_members(judgments, reserve=RESERVE in state)
        return self._combine(judgments, state, known, gold, seed, (*notes, *members.notes))

    def _choose_members(self, judgments: Judgments, *, reserve: bool) -> Members:
        """Return the members for these judgments."""
        notes: list[str] = []
        names = _split_names(self.members)
        codes = judgments.codes
        if codes.n_items and np.mean(codes.per_item > 1) < OVERLAP:
            sound = [name for name in names if name in _split_names(WITHOUT_OVERLAP)]
            if sound and sound != names:
                names = sound
                notes.append(
                    "(nearly) no item was judged twice, so annotators cannot be compared: "
                    f"only {' and '.join(names)} are used"
                )
        elif reserve and self.members == MEMBERS:
            names.append(RESERVE)
        is_skewed = _find_largest_share(codes, judgments.scale.size) > SKEWED
        models = []
        changed = []
        for name in names:
            model = self._make_member(name)
            if is_skewed and getattr(model, "grade_prior", "learnt") == "uniform":
                model = replace(model, grade_prior="learnt")
                changed.append(name)
            models.append(model)
        if changed:
            notes.append(
                f"votes give one grade to more than {SKEWED:.0%} of the items: grade prior "
                f"learnt in {', '.join(changed)}"
            )
        return Members(names, models, notes)

    def _make_member(self, name: str) -> Any:
        kind = plugins.load("aggregator", name.split(" (")[0])
        settings: dict[str, Any] = {}
        if name == "ordinal-mixture":
            settings = {"difficulty": "query", "restarts": RESTARTS}
        elif name == RESERVE:
            settings = {"form": "categorical"}
        known = {rule.name for rule in rules(kind)}
        shared = {"max_iterations": self.max_iterations, "shards": self.shards}
        return kind(**settings, **{key: shared[key] for key in shared if key in known})

    def _combine(
        self,
        judgments: Judgments,
        state: dict[str, Posterior],
        known: Shorts,
        gold: Qrels | None,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        """Return the posterior from the results of the members."""
        codes, scale = judgments.codes, judgments.scale
        values = scale.array()
        order = order_items(codes)
        items = next(iter(state.values())).items
        opinions = _collect_opinions(state, judgments, gold)
        names, results = opinions.names, opinions.results
        weights, without = weigh_equally(opinions.x), None
        if opinions.is_taught:
            weights, without = learn_weights(
                opinions.x[opinions.rows], values[opinions.grade], seed
            )
        mean, sd, grades, split = _mix(opinions, weights)
        distance = _measure_distance(opinions, weights, mean)
        furthest = np.where(distance.any(axis=1), np.argmax(distance, axis=1), len(names))
        calibration: Calibration | None = None
        if opinions.is_taught:
            calibration = _calibrate(opinions, mean, sd, grades, values, seed, without)
            mean = calibration.intercept + calibration.slope * mean
            sd = calibration.widen(sd)
            grades = apply_temperature(grades, calibration.temperature, calibration.offsets)
        held = np.flatnonzero(known[order] >= 0)
        k = known[order][held]
        mean[held], sd[held], grades[held] = values[k], 0.0, np.eye(scale.size)[k]
        split[held], furthest[held] = 0.0, len(names)  # known: no need to judge them again
        # The arrays are in result order; `back` takes them to the order of the item codes.
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        members = pl.Series("furthest", [*names, None], dtype=pl.String)
        posterior = build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=grades[back],
            mean=mean[back],
            sd=sd[back],
            item_columns=[pl.Series("split", split[back]), members[furthest[back]]],
            prior=grades.sum(axis=0) + 1.0 / scale.size,
            converged=all(result.converged for result in results),
            calibration=None if calibration is None else asdict(calibration),
            notes=(
                *notes,
                *prefix_notes(names, results, judgments.notes),
                *describe_weights(names, weights, calibration, opinions.rows.size, gold),
                *describe_disagreement(names, distance, split, items),
            ),
            state=state,
        )
        types = [
            result.annotators["type"] for result in results if "type" in result.annotators.columns
        ]
        if types:
            posterior = replace(posterior, annotators=posterior.annotators.with_columns(types[0]))
        return posterior


def _collect_opinions(
    state: dict[str, Posterior], judgments: Judgments, gold: Qrels | None
) -> Opinions:
    """Return the opinions of the members; the reserve only counts with enough known grades."""
    rows, grade = np.empty(0, np.int64), np.empty(0, np.int64)
    if gold is not None:
        items = next(iter(state.values())).items
        rows, grade = find_known_rows(items, gold, judgments.scale.array())
    names = [name for name in state if rows.size >= FEWEST or name != RESERVE]
    results = [state[name] for name in names]
    parts = [moments(result.probabilities, judgments.scale) for result in results]
    x, sd = (np.stack(column, axis=1) for column in zip(*parts, strict=True))
    return Opinions(names, results, x, sd, rows, grade)


def _mix(opinions: Opinions, weights: Combination) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean [M], sd [M], grade probabilities [M, K] and split [M] of the mixture."""
    w, means, mean = weights.weight, weights.apply_lines(opinions.x), weights.combine(opinions.x)
    # On a learnt line, standard deviations are in its units.
    spreads = weights.slope * opinions.sd if opinions.is_taught else opinions.sd
    # Variance of a mixture: the variances of the members, and that of their means.
    between = np.maximum(means**2 @ w - mean**2, 0.0)
    split, sd = np.sqrt(between), np.sqrt(spreads**2 @ w + between)
    every = np.stack([result.probabilities for result in opinions.results])
    grades = np.einsum("i,imk->mk", w, every)
    grades = grades / np.maximum(grades.sum(axis=1, keepdims=True), 1e-300)
    return mean, sd, grades, split


def _measure_distance(opinions: Opinions, weights: Combination, mean: Floats) -> Floats:
    """Return the distance of each member from the mean [M, I]; 0 for a member without weight."""
    distance = np.abs(weights.apply_lines(opinions.x) - mean[:, None])
    out: Floats = np.where(weights.weight > 0.0, np.round(distance, 9), 0.0)
    return out


def _calibrate(
    opinions: Opinions,
    mean: Floats,
    sd: Floats,
    grades: Floats,
    values: Floats,
    seed: int,
    without: Floats | None,
) -> Calibration:
    """Return the calibration, with the error of equal weights as the error before."""
    rows, grade = opinions.rows, opinions.grade
    standing = opinions.x[:, [name != RESERVE for name in opinions.names]]
    equal = weigh_equally(standing).combine(standing[rows])
    before = float(np.mean((values[grade] - equal) ** 2))
    calibration = learn_calibration(
        mean[rows], sd[rows], grades[rows], values, grade, seed, without
    )
    return replace(calibration, error_before=before)


def _split_names(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _find_largest_share(codes: JudgmentCodes, size: int) -> float:
    """Return the share of the items whose votes have the most frequent winner."""
    from venire.aggregation.kernels.counts import count_votes

    if not codes.n_items:
        return 0.0
    winner = np.argmax(count_votes(codes.indptr, codes.label, size), axis=1)
    return float(np.bincount(winner).max() / winner.size)
