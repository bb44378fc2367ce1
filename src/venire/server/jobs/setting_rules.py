"""Rules of settings that several kinds of jobs share, and the checks that need more than a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from venire.errors import BadSetting
from venire.measures import parse
from venire.server.studies.grades import GRADE_SOURCES

RuleArguments = Mapping[str, Any]
MAX_SEED = 2**31 - 1
MAX_RESAMPLES = 100_000
SEED: RuleArguments = {
    "words": "Random seed. The same seed gives the same numbers.",
    "label": "Seed",
    "least": 0,
    "most": MAX_SEED,
}
CAMPAIGN: RuleArguments = {
    "words": "ID of the campaign whose judgments are used; null: all campaigns.",
    "label": "Campaign",
}
RUNS: RuleArguments = {"words": "Names of the runs to use; null: all runs.", "label": "Runs"}
GRADES_SOURCE: RuleArguments = {
    "words": f"Source of the grades: {', '.join(GRADE_SOURCES)}.",
    "label": "Grades",
}
MEASURE: RuleArguments = {
    "words": "Measure that ranks the runs, for example nDCG@10.",
    "label": "Measure",
}
MEASURES: RuleArguments = {"words": "Measures, for example AP and nDCG@10.", "label": "Measures"}
BOOTSTRAP: RuleArguments = {
    "words": "Number of bootstrap resamples of topics, for intervals; 0: no intervals.",
    "label": "Bootstrap resamples",
    "least": 0,
    "most": MAX_RESAMPLES,
}
PERMUTATIONS: RuleArguments = {
    "words": "Number of permutations per test.",
    "label": "Permutations per test",
    "least": 1,
    "most": MAX_RESAMPLES,
}
GRADE_KINDS = frozenset(source.partition(":")[0] for source in GRADE_SOURCES)
"""The first part of a source of grades: ``qrels`` of ``qrels:NAME``."""


def check_grades(source: str) -> None:
    """Refuse an unknown source of grades."""
    kind, _, name = source.partition(":")
    if source not in GRADE_SOURCES[:3] and not (kind in ("job", "qrels") and name):
        raise BadSetting(
            f"must be a source of grades (got {source!r}). Choose from {', '.join(GRADE_SOURCES)}.",
            argument="grades",
            value=source,
        )


def check_measures(measures: Sequence[str]) -> None:
    """Refuse an unknown measure, and an empty list."""
    if not measures:
        raise BadSetting("must name at least one measure", argument="measures")
    for measure in measures:
        parse(measure)
