"""Annotator types: each annotator is one of a grid of types, how frequent each is is learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.annotator_types.descriptions import favourites, words
from venire.aggregation.annotator_types.grid import GRIDS, SPAM, places_of, types_of
from venire.aggregation.annotator_types.inference import Problem, State
from venire.aggregation.posterior import Posterior, bounds_frame
from venire.arrays import Floats
from venire.engine import Engine, default_engine
from venire.errors import BadSetting
from venire.progress import Event, Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAME = "annotator-types"


@dataclass(frozen=True, kw_only=True)
class AnnotatorTypes:
    r"""Annotator types: nonparametric empirical Bayes for ordinal labels.

    .. math::
        P(r \mid z, d, h) = e_h \Bigl[\Phi\Bigl(\frac{b_r - \mu}{s_h d}\Bigr)
        - \Phi\Bigl(\frac{b_{r-1} - \mu}{s_h d}\Bigr)\Bigr] + (1 - e_h) \pi_{h r}, \quad
        \mu = \bar v + c_h (z - \bar v) + a_h

    An item has a position z on the scale and a difficulty d, an annotator a type h: bias a,
    error s, scale c, reliability e and a spam distribution. Both are on grids, so nothing is
    approximated but their independence (mean field). The frequencies of types are learnt and
    tilted so that, weighted by reliability, bias and ln c have mean 0: this fixes where 0 is.

    Source: Kiefer and Wolfowitz (1956) and Laird, "Nonparametric maximum likelihood
    estimation of a mixing distribution" (JASA 1978) for the frequencies on a grid; the
    thresholds and spam of Lakshminarayanan and Teh (arXiv:1305.0015).

    Parameters
    ----------
    grid : "fine", "halves" or "grades"
        Positions of items: about 21, grades and half-grades, or the grades only.
    difficulties : str
        Factors of everybody's error, with commas between.
    bias, scale : bool
        Whether annotators differ in these.
    spam : str
        Kinds of spam, with commas between: ``uniform``, ``observed`` (as often as labels
        occur), ``one-label`` (one type for each label).
    grade_prior : str
        Of the position: "uniform", "learnt", or one number a grade with commas between.
    tolerance : float
        Stop when the bound changes by less.
    max_iterations : int
    shards : int, optional

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 2]}, scale="0,1,2")
    >>> AnnotatorTypes().fit(judgments).grades().tolist()
    [0.0, 2.0]
    """

    grid: str = "fine"
    difficulties: str = "0.6,1,1.7"
    bias: bool = True
    scale: bool = True
    spam: str = "uniform,observed,one-label"
    grade_prior: str = "uniform"
    tolerance: float = 0.1
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        loop.check_settings(self)
        if self.grid not in GRIDS:
            raise BadSetting(f"grid is one of {', '.join(GRIDS)}, not {self.grid!r}")
        base.grade_prior(self.grade_prior, None)
        unknown = set(self._spam()) - set(SPAM)
        if unknown or not self._spam():
            raise BadSetting(f"spam is made of {', '.join(SPAM)}, not {self.spam!r}")
        self._difficulties()

    @property
    def bound_rises(self) -> bool:
        """Whether the bound never falls: the tilt may cost some of it."""
        return not (self.bias or self.scale)

    def _spam(self) -> tuple[str, ...]:
        parts = [part.strip() for part in self.spam.split(",") if part.strip()]
        return tuple(dict.fromkeys(parts))

    def _difficulties(self) -> Floats:
        try:
            values = np.array([float(part) for part in self.difficulties.split(",")])
        except ValueError:
            values = np.array([0.0])
        if not np.isfinite(values).all() or (values <= 0).any():
            raise BadSetting(
                f"difficulties are numbers above 0 such as 0.6,1,1.7, not {self.difficulties!r}"
            )
        return np.unique(values)

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
        from venire.aggregation.kernels import types
        from venire.compilation import is_compiled

        base.same_model(start, NAME, judgments)
        codes, size = judgments.codes, judgments.scale.size
        known, notes = base.known_grades(judgments, gold)
        observed = np.bincount(codes.label, minlength=size) + 1.0
        problem = Problem(
            codes.indptr,
            codes.annotator,
            codes.label,
            known,
            codes.n_annotators,
            places_of(judgments.scale, self.grid, self._difficulties()),
            types_of(
                size, observed / observed.sum(), self._spam(), bias=self.bias, scale=self.scale
            ),
            base.grade_prior(self.grade_prior, size),
        )
        if not is_compiled(types.sweep):
            progress(Event("compiling, once", 0, None))
        state = problem.begin()
        if start is not None:
            state = _warm(state, start, judgments)
        fit = loop.iterate(
            state,
            loop.cut(codes.indptr, self.shards),
            problem.sweep,
            problem.reduce,
            problem.update,
            engine=engine or default_engine(),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            progress=progress,
            task=NAME,
        )
        return self._finish(judgments, problem, fit, seed, notes)

    def _finish(
        self,
        judgments: Judgments,
        problem: Problem,
        fit: loop.Fit,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        from venire.aggregation.kernels.types import posterior

        codes, scale, places = judgments.codes, judgments.scale, problem.places
        state: State = fit.state
        grades, mean, sd, hard = posterior(
            codes.indptr,
            codes.annotator,
            codes.label,
            state.evidence,
            problem.log_prior(state),
            *problem.window,
            places.position,
            places.difficulty,
            places.grade,
            places.edge,
            places.difficulties.size,
            scale.size,
        )
        steps = np.diff(scale.array())
        unit = float(steps.mean()) if steps.size else 1.0
        order = base.item_order(codes)
        shares = grades.mean(axis=0) if len(grades) else np.full(scale.size, 1.0 / scale.size)
        confusion = base.confusion(codes, grades)
        return Posterior(
            model=NAME,
            scale=scale,
            items=base.items_frame(codes, order, unit * mean, unit * sd),
            probabilities=grades[order],
            annotators=self._people(judgments, problem, state, shares, unit),
            confusions=lambda: confusion,
            difficulty=codes.items.select(PAIR).with_columns(
                pl.Series("inverse_difficulty", 1.0 / np.maximum(hard, 1e-9))
            )[order],
            bounds=bounds_frame([fit.bounds]),
            converged=fit.converged,
            settings=base.settings_of(self),
            seed=seed,
            notes=(*judgments.notes, *notes, *base.loop_notes([fit], 0)),
            state={"state": state, "annotators": codes.annotators},
        )

    def _people(
        self,
        judgments: Judgments,
        problem: Problem,
        state: State,
        shares: Floats,
        unit: float,
    ) -> pl.DataFrame:
        """Return what is known of each annotator: means and sds over the types, and words."""
        traits, kinds = problem.people(state, shares)
        e, a, s, c = (traits[name][0] for name in ("reliability", "bias", "error", "scale"))
        favourite = favourites(kinds, problem.types.names, judgments.scale.names)
        said = [words(*row) for row in zip(a, s, c, e, favourite, strict=True)]
        right, right_sd = traits["right"]
        frame = base.annotators_frame(
            judgments.codes,
            expertise=right,
            expertise_sd=right_sd,
            spamminess=1.0 - e,
            spamminess_sd=traits["reliability"][1],
            bias=unit * a,
            bias_sd=unit * traits["bias"][1],
            error=unit * s,
            scale=c,
        )
        return frame.with_columns(pl.Series("type", said, dtype=pl.String))


def _warm(state: State, start: Posterior, judgments: Judgments) -> State:
    """Return the state with what was known of the annotators that were there before."""
    earlier: State = start.state["state"]
    same = (
        earlier.weight.size == state.weight.size
        and earlier.evidence.shape[1:] == state.evidence.shape[1:]
    )
    if not same:
        return state  # another grid
    new, old = base.align(
        pl.DataFrame({"annotator_id": judgments.codes.annotators}),
        pl.DataFrame({"annotator_id": start.state["annotators"]}),
    )
    evidence = state.evidence.copy()
    evidence[new] = earlier.evidence[old]
    return earlier._replace(evidence=evidence, divergence=0.0)
