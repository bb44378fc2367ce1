"""Members of a committee: which models, fitted in two stages, and their opinions on the items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from venire import plugins
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs
from venire.engine import Engine, Serial
from venire.progress import Event, Progress
from venire.settings import rules
from venire.tables.judgments import Judgments

SHARED_ERROR = 0.1
"""Correlation of the errors of two annotators of an item, for Kish's design effect."""
PLAIN = ("mean", "median", "majority", "continuous")
"""Members without a model of grades: nothing to temper."""
SHARES = ("binary", "ordinal-mixture")
"""Members that learn the shares of the grades."""
TAKERS = ("annotator-types", "annotator-types (grades)")
"""Members that take these shares as their grade prior."""
FOLD_POWER = 0.5
"""Power of the shares as prior in folds, in which weights are learnt."""
LEAST_SHARE = 1e-4
RESTARTS = 3
"""Restarts of the ordinal mixture."""
VARIANTS: dict[str, dict[str, Any]] = {
    "annotator-types (grades)": {"grid": "grades"},
    "minimax-entropy (categorical)": {"form": "categorical"},
    "ordinal-mixture": {"difficulty": "query", "restarts": RESTARTS},
}
"""Settings of a member that are not the defaults of its model."""


class Opinions(NamedTuple):
    """What the members say about each item, in the order of their results."""

    names: list[str]
    x: Floats
    """Estimate of each item by each member [M, I]."""
    grades: Floats
    """Grade probabilities by each member [I, M, K]."""
    sd: Floats
    """Standard deviation by each member [M, I]."""


def make_member(name: str, **shared: Any) -> Any:
    """Return the model of a member; it takes those of the shared settings that it has."""
    kind = plugins.load("aggregator", name.split(" (")[0])
    known = {rule.name for rule in rules(kind)}
    settings = {key: value for key, value in shared.items() if key in known}
    return kind(**VARIANTS.get(name, {}), **settings)


def set_prior(name: str, model: Any, shares: Floats | None, power: float) -> Any:
    """Return the model of a member, with shares to a power as its prior if it takes them."""
    if shares is None or name not in TAKERS:
        return model
    p = np.maximum(shares, LEAST_SHARE) ** power
    return replace(model, grade_prior=",".join(f"{value:.6f}" for value in p / p.sum()))


def find_shares(results: dict[str, Posterior]) -> Floats | None:
    """Return the mean shares of the grades [K] by those members that learn them."""
    learnt = [results[name].probabilities for name in SHARES if name in results]
    if not learnt or not len(learnt[0]):
        return None
    out: Floats = np.mean([grades.mean(axis=0) for grades in learnt], axis=0)
    return out


class Task(NamedTuple):
    """One fit of a member to some judgments."""

    name: str
    model: Any
    judgments: Judgments
    start: Posterior | None = None


def fit_tasks(
    tasks: Sequence[Task],
    *,
    seed: int,
    engine: Engine,
    report: Callable[[str], None],
    progress: Progress,
) -> list[Posterior]:
    """Fit every task, on the threads of the engine; report the name of each that is finished."""

    def announce(event: Event) -> None:
        if event.total is None:  # a kernel that is compiled, once
            progress(event)

    def fit(task: Task) -> Posterior:
        posterior: Posterior = task.model.fit(
            task.judgments, start=task.start, seed=seed, engine=Serial(), progress=announce
        )
        report(task.name)
        return posterior

    return list(engine.map(fit, tasks))


def temper(grades: Floats, judgments: Longs, average: Floats | None = None) -> Floats:
    r"""Return grade probabilities [M, K] as sure as the effective number of judgments allows.

    .. math:: p_m'(k) \propto \bar p_k
        \Bigl(\frac{p_m(k)}{\bar p_k}\Bigr)^{1 / (1 + \rho (n_m - 1))}

    Errors that annotators share make n judgments of an item worth n / (1 + rho (n - 1))
    independent ones.

    Source: the design effect of Kish, "Survey sampling" (1965).

    Parameters
    ----------
    grades : float64 [M, K]
    judgments : int64 [M]
        Number of judgments of each item.
    average : float64 [K], optional
        Shares of the grades; by default the mean of ``grades``.
    """
    if not len(grades):
        return grades
    p = np.maximum(grades, 1e-9)
    base = (p.mean(axis=0) if average is None else average) + 1e-6
    base = base / base.sum()
    effect = 1.0 + SHARED_ERROR * np.maximum(judgments - 1, 0)
    log = np.log(base) + (np.log(p) - np.log(base)) / effect[:, None]
    out = np.exp(log - log.max(axis=1, keepdims=True))
    total: Floats = out / out.sum(axis=1, keepdims=True)
    return total


def collect_opinions(results: dict[str, Posterior], values: Floats) -> Opinions:
    """Return the tempered opinions of the members; plain members stay as they are."""
    x, grades, sd = [], [], []
    for name, result in results.items():
        if name in PLAIN:
            p, mean = result.probabilities, result.mean
            spread = result.items["sd"].to_numpy()
        else:
            p = temper(result.probabilities, result.items["judgments"].to_numpy())
            mean = p @ values
            spread = np.sqrt(np.maximum(p @ values**2 - mean**2, 0.0))
        x.append(np.clip(mean, values[0], values[-1]))
        grades.append(p)
        sd.append(spread)
    return Opinions(list(results), np.stack(x, axis=1), np.stack(grades), np.stack(sd, axis=1))
