"""Annotator types: every annotator has one type of a grid, whose frequencies are learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.annotator_types.descriptions import describe_types
from venire.aggregation.annotator_types.distinctive_traits import find_distinctive_traits
from venire.aggregation.annotator_types.grid import GRIDS, SPAM, build_places, build_types
from venire.aggregation.annotator_types.inference import Problem, State
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_annotators, build_difficulty, build_posterior
from venire.arrays import Floats, Shorts
from venire.engine import Engine
from venire.errors import BadSetting
from venire.progress import Progress, silent
from venire.settings import setting
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

ANEW = "fitted anew: continued from an earlier result, the fit may end at another optimum"
"""Note on ``start``: up to one grade of an item depended on it, for a few seconds saved."""


@dataclass(frozen=True, kw_only=True)
class AnnotatorTypes(loop.IterativeModel):
    r"""Annotator types: nonparametric empirical Bayes for ordinal labels.

    .. math::
        P(r \mid z, d, h) = e_h \Bigl[\Phi\Bigl(\frac{b_r - \mu}{s_h d}\Bigr)
        - \Phi\Bigl(\frac{b_{r-1} - \mu}{s_h d}\Bigr)\Bigr] + (1 - e_h) \pi_{h r}, \quad
        \mu = \bar v + c_h (z - \bar v) + a_h

    An item has a position z on the scale and a difficulty d. An annotator has a type h: bias a,
    error s, scale c, reliability e and a spam distribution. Both are on grids, so the only
    approximation is their independence (mean field). The frequencies of types are learnt, and
    tilted so that bias and ln c, weighted by reliability, have mean 0: this identifies 0.

    Source: Kiefer and Wolfowitz (1956) and Laird, "Nonparametric maximum likelihood
    estimation of a mixing distribution" (JASA 1978) for the frequencies on a grid; the
    thresholds and spam of Lakshminarayanan and Teh (arXiv:1305.0015).

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 2]}, scale="0,1,2")
    >>> AnnotatorTypes().fit(judgments).grades().tolist()
    [0.0, 2.0]
    """

    grid: str = setting(
        "fine",
        words="Positions of items. fine: about 21, including every grade; halves: grades and "
        "half-grades; grades: only the grades.",
        choices=GRIDS,
    )
    difficulties: str = setting(
        "0.6,1,1.7",
        words="Factors > 0 of the error of all annotators, separated by commas. Every item has "
        "one of them.",
    )
    bias: bool = setting(True, words="Whether annotators differ in bias (lenient or strict).")
    scale: bool = setting(
        True, words="Whether annotators differ in scale (compress or stretch the scale)."
    )
    spam: str = setting(
        ",".join(SPAM),
        words="Kinds of spam, separated by commas. uniform: any label; observed: labels as often "
        "as they occur; one-label: always the same label, one type per label.",
    )
    grade_prior: str = base.declare_grade_prior("balanced")
    tolerance: float = loop.declare_tolerance(0.1, "ELBO")
    max_iterations: int = loop.declare_max_iterations()
    shards: int | None = loop.declare_shards()
    name: ClassVar[str] = "annotator-types"
    objective: ClassVar[str] = "ELBO"

    def __post_init__(self) -> None:
        super().__post_init__()
        base.parse_grade_prior(self.grade_prior, None)
        unknown = set(self._parse_spam()) - set(SPAM)
        if unknown or not self._parse_spam():
            raise BadSetting(
                f"must be one or more of {', '.join(SPAM)}, separated by commas "
                f"(got {self.spam!r})",
                argument="spam",
                value=self.spam,
            )
        self._parse_difficulties()

    @property
    def bound_rises(self) -> bool:
        """Whether the ELBO never falls: the tilt may lower it."""
        return not (self.bias or self.scale)

    def _parse_spam(self) -> tuple[str, ...]:
        parts = [part.strip() for part in self.spam.split(",") if part.strip()]
        return tuple(dict.fromkeys(parts))

    def _parse_difficulties(self) -> Floats:
        try:
            values = np.array([float(part) for part in self.difficulties.split(",")])
        except ValueError:
            values = np.array([0.0])
        if not np.isfinite(values).all() or (values <= 0).any():
            raise BadSetting(
                "must be numbers > 0, separated by commas, for example 0.6,1,1.7 "
                f"(got {self.difficulties!r})",
                argument="difficulties",
                value=self.difficulties,
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
        from venire.aggregation.kernels.types import infer_grades, sweep

        base.check_start(self, judgments, start)
        codes, scale = judgments.codes, judgments.scale
        known, notes = base.find_known_grades(judgments, gold)
        problem = self._make_problem(judgments, known)
        places = problem.places
        state = problem.begin()
        if start is not None:
            notes = (*notes, ANEW)
        loop.announce_compilation(sweep, progress)
        fit = loop.run(problem, state, self, engine=engine, progress=progress)
        state = fit.state
        grades, mean, sd, difficulty = infer_grades(
            codes.indptr,
            codes.annotator,
            codes.label,
            state.evidence,
            problem.compute_log_prior(state),
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
        shares = grades.mean(axis=0) if len(grades) else np.full(scale.size, 1.0 / scale.size)
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=grades,
            mean=unit * mean,
            sd=unit * sd,
            annotators=self._describe_annotators(judgments, problem, state, shares, unit),
            difficulty=build_difficulty(codes, 1.0 / np.maximum(difficulty, 1e-9)),
            fits=[fit],
            notes=notes,
            state={"state": state, "annotators": codes.annotators},
        )

    def _make_problem(self, judgments: Judgments, known: Shorts) -> Problem:
        codes, size = judgments.codes, judgments.scale.size
        observed = np.bincount(codes.label, minlength=size) + 1.0
        return Problem(
            codes.indptr,
            codes.annotator,
            codes.label,
            known,
            codes.n_annotators,
            build_places(judgments.scale, self.grid, self._parse_difficulties()),
            build_types(
                size,
                observed / observed.sum(),
                self._parse_spam(),
                bias=self.bias,
                scale=self.scale,
            ),
            base.find_grade_prior(self.grade_prior, judgments),
        )

    def _describe_annotators(
        self,
        judgments: Judgments,
        problem: Problem,
        state: State,
        shares: Floats,
        unit: float,
    ) -> pl.DataFrame:
        """Return mean and sd of the traits of each annotator, and their type in words."""
        traits = problem.describe_annotators(state, shares)
        e, a, s, c = (traits[name][0] for name in ("reliability", "bias", "error", "scale"))
        distinctive, posterior = find_distinctive_traits(problem, state)
        types = describe_types(problem.types, distinctive, posterior, judgments.scale.names)
        right, right_sd = traits["right"]
        frame = build_annotators(
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
        return frame.with_columns(pl.Series("type", types, dtype=pl.String))
