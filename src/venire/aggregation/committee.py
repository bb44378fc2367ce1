"""A committee of unlike models: near the best of them everywhere, without known grades."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from venire import plugins
from venire.aggregation import base
from venire.aggregation.calibration import FEWEST, Calibration, heated, known_rows, learn
from venire.aggregation.posterior import Posterior, moments
from venire.aggregation.weights import Combination, equal, learnt
from venire.arrays import Floats, Shorts
from venire.engine import Engine, Serial, default_engine
from venire.errors import BadSetting, DataError, UnknownName
from venire.progress import Progress, silent
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAME = "committee"
MEMBERS = "regularised-dawid-skene,annotator-types,minimax-entropy,ordinal-mixture,binary"
WITHOUT_OVERLAP = "ordinal-mixture,binary"
"""Members that do not go astray where no item was judged twice."""
RESERVE = "minimax-entropy (categorical)"
"""A member that does best on some crowds and badly on others: with known grades only."""
OVERLAP = 0.02
"""Share of the items with two judgments or more below which annotators cannot be compared."""
SKEWED = 2.0 / 3.0
"""Share of the items with one winner of the votes past which no uniform grade prior is used."""
STARTS = 3
"""Of the ordinal mixture."""
SHOWN = 3
"""Pairs that the notes name."""


@dataclass(frozen=True, kw_only=True)
class Committee:
    r"""The mean of unlike models' posteriors.

    .. math:: p_m(k) = \sum_i w_i\, p_{im}(k), \qquad
        \hat z_m = \sum_i w_i \Bigl(a_i + b_i \sum_k v_k\, p_{im}(k)\Bigr)

    Weights are equal, and each member is stretched about its own mean to the members' usual
    spread: else the surest of them would count for most. With 50 known grades or more
    (``gold=``) weights are learnt, convex and drawn to equal ones, each member is put on the
    line of its own by which the known grades are nearest, and the result is calibrated;
    members are fitted without the known grades, which are held afterwards. Categorical
    minimax entropy, which does best on some crowds and badly on others, joins only then.

    ``split`` in the items is the standard deviation of the members' means, ``furthest`` the
    member that is furthest from them: the pairs to judge again first are those with the
    largest split.

    Two things are looked at before: where (nearly) no item was judged twice, only the
    members that can do without stay; where votes give more than two thirds of the items the
    same grade, grade priors are learnt instead of uniform.

    Source: linear opinion pool (Stone 1961); stacking with convex weights, Breiman,
    "Stacked regressions" (Machine Learning 24, 1996).

    Parameters
    ----------
    members : str
        Names of models, with commas between.
    max_iterations : int
        Of each member.
    shards : int, optional
        Of each member.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 2]}, scale="0,1,2")
    >>> Committee(members="binary,ordinal-mixture").fit(judgments).grades().tolist()
    [0.0, 2.0]
    """

    members: str = MEMBERS
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise BadSetting(f"max_iterations must be at least 1, not {self.max_iterations}")
        if self.shards is not None and self.shards < 1:
            raise BadSetting(f"shards must be at least 1, not {self.shards}")
        names = _names(self.members)
        if len(names) < 2 or NAME in names:
            raise BadSetting(f"a committee has two other models or more, not {self.members!r}")
        there = plugins.names("aggregator")
        for name in names:
            if name not in there:
                raise UnknownName("member of the committee", name, there)

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
        base.same_model(start, NAME, judgments)
        base.check_seed(seed)
        known, notes = base.known_grades(judgments, gold)
        vouched = gold is not None and int(np.sum(known >= 0)) >= FEWEST
        names, models, more = self._models(judgments, reserve=vouched)
        earlier = start.state if start is not None else {}

        def one(at: int) -> Posterior:
            model: Any = models[at]
            found: Posterior = model.fit(
                judgments,
                start=earlier.get(names[at]),
                seed=seed,
                engine=Serial(),
                progress=progress,
            )
            return found

        results = list((engine or default_engine()).map(one, range(len(models))))
        return self._finish(judgments, names, results, known, gold, seed, (*notes, *more))

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
        base.same_model(posterior, NAME, judgments)
        codes = judgments.codes
        if not posterior.items.select(PAIR).equals(
            codes.items.select(PAIR)[base.item_order(codes)]
        ):
            raise DataError("the posterior is of other items than the judgments: fit again")
        known, notes = base.known_grades(judgments, gold)
        names, results = list(posterior.state), list(posterior.state.values())
        _, _, more = self._models(judgments, reserve=RESERVE in names)
        return self._finish(judgments, names, results, known, gold, seed, (*notes, *more))

    def _models(
        self, judgments: Judgments, *, reserve: bool
    ) -> tuple[list[str], list[Any], list[str]]:
        """Return names and models of the members for these judgments, and what to say of them."""
        notes: list[str] = []
        names = _names(self.members)
        codes = judgments.codes
        if codes.n_items and np.mean(codes.per_item > 1) < OVERLAP:
            left = [name for name in names if name in _names(WITHOUT_OVERLAP)]
            if left and left != names:
                names = left
                notes.append(
                    "(nearly) no item was judged twice, so annotators cannot be compared: "
                    f"only {' and '.join(names)} are used"
                )
        elif reserve and self.members == MEMBERS:
            names.append(RESERVE)
        skewed = _largest_share(codes, judgments.scale.size) > SKEWED
        models = []
        changed = []
        for name in names:
            kind = plugins.load("aggregator", name.split(" (")[0])
            there = {field.name for field in fields(kind)}
            given: dict[str, Any] = {}
            if name == "ordinal-mixture":
                given = {"difficulty": "query", "restarts": STARTS}
            elif name == RESERVE:
                given = {"form": "categorical"}
            if "max_iterations" in there:
                given["max_iterations"] = self.max_iterations
            if "shards" in there:
                given["shards"] = self.shards
            model = kind(**given)
            if skewed and getattr(model, "grade_prior", "learnt") == "uniform":
                model = replace(model, grade_prior="learnt")
                changed.append(name)
            models.append(model)
        if changed:
            notes.append(
                f"votes give one grade to more than {SKEWED:.0%} of the items: grade prior "
                f"learnt in {', '.join(changed)}"
            )
        return names, models, notes

    def _finish(
        self,
        judgments: Judgments,
        names: list[str],
        results: list[Posterior],
        known: Shorts,
        gold: Qrels | None,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        codes, scale = judgments.codes, judgments.scale
        values = scale.array()
        order = base.item_order(codes)
        items = results[0].items
        state = dict(zip(names, results, strict=True))
        rows, grade = np.empty(0, np.int64), np.empty(0, np.int64)
        if gold is not None:
            rows, grade = known_rows(items, gold, values)
        enough = rows.size >= FEWEST
        if not enough:
            names = [name for name in names if name != RESERVE]
            results = [state[name] for name in names]
        parts = [moments(one.probabilities, scale) for one in results]
        x, spreads = (np.stack(one, axis=1) for one in zip(*parts, strict=True))
        how, y = equal(x), values[grade]
        found: Calibration | None = None
        if enough:
            usual = x[:, [name != RESERVE for name in names]]
            before = float(np.mean((y - equal(usual).mean(usual[rows])) ** 2))
            how, without = learnt(x[rows], y, seed)
            spreads = how.slope * spreads  # on a learnt line sd are in its units
        weights, means, mean = how.weight, how.lined(x), how.mean(x)
        # Variance of a mixture: the members' own, and how far they are from each other.
        apart = np.maximum(means**2 @ weights - mean**2, 0.0)
        split, sd = np.sqrt(apart), np.sqrt(spreads**2 @ weights + apart)
        grades = np.einsum("i,imk->mk", weights, np.stack([one.probabilities for one in results]))
        grades = grades / np.maximum(grades.sum(axis=1, keepdims=True), 1e-300)
        away = np.where(weights > 0.0, np.round(np.abs(means - mean[:, None]), 9), 0.0)
        furthest = np.where(away.any(axis=1), np.argmax(away, axis=1), len(names))
        if enough:
            found = learn(mean[rows], sd[rows], grades[rows], values, grade, seed, without)
            found = replace(found, error_before=before)
            mean = found.intercept + found.slope * mean
            sd = found.width(sd)
            grades = heated(grades, found.temperature, found.offsets)
        held = np.flatnonzero(known[order] >= 0)
        at = known[order][held]
        mean[held], sd[held], grades[held] = values[at], 0.0, np.eye(scale.size)[at]
        split[held], furthest[held] = 0.0, len(names)  # known: there is nothing to judge again
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        confusion = base.confusion(codes, grades[back])
        shares = grades.sum(axis=0) + 1.0 / scale.size
        people = base.annotators_frame(codes, **base.confusion_columns(codes, confusion[0], shares))
        said = [one for one in results if "type" in one.annotators.columns]
        if said:
            people = people.with_columns(said[0].annotators["type"])
        return Posterior(
            model=NAME,
            scale=scale,
            items=items.with_columns(
                pl.Series("estimate", mean),
                pl.Series("mean", mean),
                pl.Series("sd", sd),
                pl.Series("split", split),
                pl.Series("furthest", [*names, None], dtype=pl.String)[furthest],
            ),
            probabilities=grades,
            annotators=people,
            confusions=lambda: confusion,
            converged=all(one.converged for one in results),
            settings=base.settings_of(self),
            seed=seed,
            calibration=None if found is None else asdict(found),
            notes=(
                *judgments.notes,
                *notes,
                *_of_members(names, results, judgments.notes),
                *_weights_said(names, how, found, rows.size, gold),
                *_disagreement(names, away, split, items),
            ),
            state=state,
        )


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _largest_share(codes: JudgmentCodes, size: int) -> float:
    """Return the share of the items whose votes have the most frequent winner."""
    from venire.aggregation.kernels.counts import votes

    if not codes.n_items:
        return 0.0
    winner = np.argmax(votes(codes.indptr, codes.label, size), axis=1)
    return float(np.bincount(winner).max() / winner.size)


def _of_members(names: list[str], results: list[Posterior], before: tuple[str, ...]) -> list[str]:
    return [
        f"{name}: {note}"
        for name, one in zip(names, results, strict=True)
        for note in one.notes
        if note not in before
    ]


def _weights_said(
    names: list[str], how: Combination, found: Calibration | None, known: int, gold: Qrels | None
) -> list[str]:
    if found is None:
        why = "no known grades" if gold is None else f"{known} known grades, fewer than {FEWEST}"
        return [f"equal weights; NOT calibrated: {why}"]
    parts = [
        f"{name} {w:.2f} ({a:.2f} + {b:.2f} x)" for name, w, a, b in zip(names, *how, strict=True)
    ]
    return [
        f"weights by known grades, each member on a line of its own: {', '.join(parts)}",
        found.note(),
    ]


def _disagreement(names: list[str], away: Floats, split: Floats, items: pl.DataFrame) -> list[str]:
    """Say which member is furthest from the others, and which pairs to judge again first."""
    if not split.size or not float(split.max()) > 0.0:
        return []
    apart = np.sqrt(np.mean(away**2, axis=0))
    far = int(np.argmax(apart))
    named = items.select(PAIR).with_columns(pl.Series("split", np.round(split, 9)))
    first = named.sort(["split", *PAIR], descending=[True, False, False]).head(SHOWN)
    pairs = ", ".join(f"{q} {d} ({s:.2f})" for q, d, s in first.iter_rows())
    return [
        f"{names[far]} is furthest from the others: {apart[far]:.2f} grades",
        f"the members split most on {pairs}: judge these again first",
    ]
