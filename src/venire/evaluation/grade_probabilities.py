"""Load grade probabilities: from a folder, a posterior or an aggregation."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from venire.aggregation.aggregate import Aggregation
from venire.aggregation.posterior import Posterior
from venire.evaluation.uncertain import GradeProbabilities

GradeProbabilitiesLike: TypeAlias = GradeProbabilities | Posterior | Aggregation | str | Path
"""Grade probabilities, a posterior, an aggregation, or the output folder of an aggregation."""


def load_grade_probabilities(source: GradeProbabilitiesLike) -> tuple[GradeProbabilities, str]:
    """Return grade probabilities, and the name of their source for notes."""
    if isinstance(source, GradeProbabilities):
        return source, "the grade probabilities"
    if isinstance(source, Aggregation):
        source = source.posterior
    if isinstance(source, Posterior):
        return GradeProbabilities.of(source.frame, "the posterior"), "the posterior"
    return GradeProbabilities.read(source), str(source)
