"""Dawid and Skene with a prior that few judgments cannot overrule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from venire.aggregation.dawid_skene import DawidSkene


@dataclass(frozen=True, kw_only=True)
class RegularisedDawidSkene(DawidSkene):
    r"""Dawid-Skene with a Dirichlet prior and a fixed grade prior.

    .. math:: \theta_{nk\cdot} \sim \mathrm{Dirichlet}(1 + s\,\phi_{k\cdot}), \qquad
        P(z_m = k) = 1 / K

    The most probable :math:`\theta` under s judgments more of each grade, spread as
    :math:`\phi` says; settings as for :class:`DawidSkene`, with other defaults. What they
    change matters more than most models do: maximum likelihood is too sure of people with
    few judgments, and a learnt grade prior feeds on that.

    Source: Dawid and Skene (1979) with a conjugate prior, as in Kim and Ghahramani,
    "Bayesian classifier combination" (AISTATS 2012).

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> RegularisedDawidSkene().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    strength: float = 12.0
    grade_prior: str = "uniform"
    name: ClassVar[str] = "regularised-dawid-skene"
