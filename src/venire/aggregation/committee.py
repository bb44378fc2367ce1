"""A committee of unlike models, weighed by how well each foretells annotators it never saw."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from venire import plugins
from venire.aggregation import base, loop
from venire.aggregation.calibration import FEWEST, Calibration, find_known_rows
from venire.aggregation.committee_annotators import describe_annotators
from venire.aggregation.committee_fitting import Fitting
from venire.aggregation.committee_members import Opinions, collect_opinions
from venire.aggregation.committee_mix import (
    Known,
    Mixture,
    calibrate_mixture,
    combine_plainly,
    mix,
)
from venire.aggregation.committee_notes import (
    describe_disagreement,
    describe_weights,
    prefix_notes,
)
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_posterior, order_items
from venire.arrays import Floats, Longs, Shorts
from venire.engine import Engine, default_engine
from venire.errors import BadSetting, DataError, UnknownName
from venire.progress import Progress, silent
from venire.settings import Settings, check_seed, setting
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAME = "committee"
MEMBERS = (
    "mean,continuous,binary,ordinal-mixture,regularised-dawid-skene,minimax-entropy,"
    "annotator-types,annotator-types (grades)"
)
RESERVE = "minimax-entropy (categorical)"
"""A member that is best on some crowds and bad on others: used with known grades only."""


@dataclass(frozen=True, kw_only=True)
class Committee(Settings):
    r"""The mean of the posteriors of unlike models, weighed by what they foretell.

    .. math:: p_m(k) = \sum_i w_i\, p_{im}(k), \qquad \hat z_m = \sum_i w_i \hat z_{im}

    The binary decomposition and the ordinal mixture learn the shares of the grades, which
    annotator types take as their prior. Grade probabilities of each member are tempered, because
    annotators share errors. Weights: the annotators are cut into five folds, and members are
    fitted without each. The weights are those with which the members foretell the labels of
    the annotators left out best; an annotator who follows the members counts more.

    With 50 or more known grades (``gold=``), weights and lines are learnt from these (convex,
    drawn to the weights above), and the result is calibrated. Members are fitted without the
    known grades, which are held afterwards. Categorical minimax entropy, which is best on some
    crowds and bad on others, joins only then.

    ``split`` in the items is the standard deviation of the members' means, ``furthest`` the
    member that is furthest from them. Judge the pairs with the largest split again first.

    Source: linear opinion pool (Stone 1961); stacking with convex weights, Breiman,
    "Stacked regressions" (Machine Learning 24, 1996); the rule and its figures,
    docs/decisions/0032-foretelling-strangers.md.

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
        "settings, except that the ordinal mixture has three restarts and a difficulty per query, "
        "and `annotator-types (grades)` has the grid of grades.",
    )
    max_iterations: int = loop.declare_max_iterations("Maximum number of iterations per member.")
    shards: int | None = loop.declare_shards(
        "Number of parts into which each member cuts the items."
    )
    name: ClassVar[str] = NAME

    def __post_init__(self) -> None:
        super().__post_init__()
        names = split_names(self.members)
        known = plugins.names("aggregator")
        if len(names) < 2 or NAME in names:
            raise BadSetting(
                f"must name two or more other models (got {self.members!r})",
                argument="members",
                value=self.members,
            )
        for name in names:
            if name.split(" (")[0] not in known:
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
        check_seed(seed)
        known, notes = base.find_known_grades(judgments, gold)
        names = split_names(self.members)
        is_taught = gold is not None and int(np.sum(known >= 0)) >= FEWEST
        if is_taught and self.members == MEMBERS:
            names.append(RESERVE)
        fitting = Fitting(
            self.max_iterations, self.shards, seed, engine or default_engine(), progress
        )
        state, shares = fitting.fit_members(judgments, names, start)
        foretelling = [name for name in names if name != RESERVE]
        weights = fitting.learn_weights(judgments, foretelling, shares)
        return self._combine(judgments, state, weights, known, gold, seed, notes)

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
        weights = dict(posterior.weights or {})
        return self._combine(judgments, state, weights, known, gold, seed, notes)

    def _combine(
        self,
        judgments: Judgments,
        state: dict[str, Posterior],
        foretold: dict[str, float],
        known: Shorts,
        gold: Qrels | None,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        """Return the posterior from the results of the members and their weights."""
        values = judgments.scale.array()
        graded = find_known(state, judgments, gold)
        # The reserve counts with enough known grades only.
        is_taught = graded.rows.size >= FEWEST
        results = {name: r for name, r in state.items() if is_taught or name != RESERVE}
        opinions = collect_opinions(results, values)
        weights = np.array([foretold.get(name, 0.0) for name in opinions.names])
        calibration: Calibration | None = None
        combination = combine_plainly(weights)
        if is_taught:
            mixture, combination, calibration = calibrate_mixture(
                opinions, weights, graded, values, seed
            )
        else:
            mixture = mix(opinions, combination)
        mixture, furthest = hold_known(mixture, known[order_items(judgments.codes)], values)
        posterior = self._build(judgments, opinions, mixture, furthest, seed)
        members = list(results.values())
        return replace(
            posterior,
            items=posterior.items.with_columns(
                pl.lit(calibration is not None, dtype=pl.Boolean).alias("calibrated")
            ),
            annotators=describe_annotators(posterior.annotators, results),
            converged=all(member.converged for member in members),
            calibration=None if calibration is None else asdict(calibration),
            weights=foretold,
            notes=(
                *judgments.notes,
                *notes,
                *prefix_notes(opinions.names, members, judgments.notes),
                *describe_weights(opinions.names, combination, calibration, graded.rows.size, gold),
                *describe_disagreement(
                    opinions.names, mixture.distance, mixture.split, posterior.items
                ),
            ),
            state=state,
        )

    def _build(
        self,
        judgments: Judgments,
        opinions: Opinions,
        mixture: Mixture,
        furthest: Longs,
        seed: int,
    ) -> Posterior:
        """Return the posterior of a mixture, whose arrays are in result order."""
        order = order_items(judgments.codes)
        # `back` takes arrays to the order of the item codes.
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        members = pl.Series("furthest", [*opinions.names, None], dtype=pl.String)
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=mixture.grades[back],
            mean=mixture.mean[back],
            sd=mixture.sd[back],
            item_columns=[pl.Series("split", mixture.split[back]), members[furthest[back]]],
            prior=mixture.grades.sum(axis=0) + 1.0 / judgments.scale.size,
        )


def find_known(state: dict[str, Posterior], judgments: Judgments, gold: Qrels | None) -> Known:
    """Return the items with a known grade, in result order."""
    if gold is None:
        return Known(np.empty(0, np.int64), np.empty(0, np.int64))
    items = next(iter(state.values())).items
    return Known(*find_known_rows(items, gold, judgments.scale.array()))


def hold_known(mixture: Mixture, known: Shorts, values: Floats) -> tuple[Mixture, Longs]:
    """Return the mixture with known grades held, and the member furthest from each mean [M]."""
    size = mixture.distance.shape[1]
    furthest = np.where(mixture.distance.any(axis=1), np.argmax(mixture.distance, axis=1), size)
    held = np.flatnonzero(known >= 0)
    k = known[held]
    mean, sd, grades, split, _ = (array.copy() for array in mixture)
    mean[held], sd[held], grades[held] = values[k], 0.0, np.eye(values.size)[k]
    split[held], furthest[held] = 0.0, size  # known: no need to judge them again
    return Mixture(mean, sd, grades, split, mixture.distance), furthest


def split_names(text: str) -> list[str]:
    """Return the names of the members in a setting, each once."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
