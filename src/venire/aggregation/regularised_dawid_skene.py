"""Dawid-Skene with a Dirichlet prior, for annotators with few judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from venire.aggregation.base import declare_grade_prior
from venire.aggregation.dawid_skene import DawidSkene, declare_strength, declare_towards


@dataclass(frozen=True, kw_only=True)
class RegularisedDawidSkene(DawidSkene):
    r"""Dawid-Skene with a Dirichlet prior and a balanced grade prior.

    .. math:: \theta_{nk\cdot} \sim \mathrm{Dirichlet}(1 + s\,\phi_{nk\cdot})

    The most probable :math:`\theta` after adding s judgments of each grade, spread over the
    labels by :math:`\phi`. The settings are those of :class:`DawidSkene` with other defaults.
    These matter more than the choice among most models: maximum likelihood is overconfident
    about annotators with few judgments, and a learnt grade prior amplifies that. Labels of
    annotators with few judgments would say nothing if :math:`\phi` were uniform for them too.

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

    strength: float = declare_strength(12.0)
    towards: str = declare_towards("uniform-when-many")
    grade_prior: str = declare_grade_prior("balanced")
    name: ClassVar[str] = "regularised-dawid-skene"
