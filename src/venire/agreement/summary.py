"""All that is said of the agreement of a table of judgments, in one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.agreement.bootstrap import resample
from venire.agreement.breakdown import by_annotator, by_grade, column
from venire.agreement.counts import PairCounts, first_relevant, pair_counts
from venire.agreement.figures import OF_RELEVANCE, Figures, of_two, reasons
from venire.agreement.fleiss import formula
from venire.agreement.interpretation import sentence, warnings
from venire.agreement.value import Value, why
from venire.arguments import check_arguments
from venire.arrays import Floats
from venire.errors import BadSetting
from venire.formats.load import JudgmentsLike, load_judgments
from venire.formats.reading_options import Labels, ReadingOptions
from venire.short_repr import write_repr
from venire.stats.topic_bootstrap import read_interval
from venire.tables.judgments import KEY, Judgments
from venire.tables.scale import Scale
from venire.tables.schema import express

HEADLINE = "alpha-ordinal"
FEW_TOPICS = 10
"""With fewer topics the intervals are too narrow (docs/reference/verdicts.md)."""
GRADED, BINARY = "graded", "relevant or not"


@dataclass(frozen=True)
class Agreement:
    """How far the annotators of a table agree.

    Attributes
    ----------
    values : tuple of Value
        Figures over all topics, each with its interval where there is one. ``alpha-ordinal``
        is the headline and comes first.
    topics : polars.DataFrame
        One row a topic.
    grades : polars.DataFrame
        One row a grade; see :func:`venire.agreement.breakdown.by_grade`.
    annotators : polars.DataFrame
        One row an annotator against the rest; see
        :func:`venire.agreement.breakdown.by_annotator`.
    sentence : str
        What the headline means.
    warnings : tuple of str
        Where a figure alone would mislead.
    notes : tuple of str
        What was counted, left out or undefined, and why.
    scale : Scale
    relevant_from : float or None
        Smallest grade that counts as relevant; None where no grade of the scale does.
    bootstrap, seed : int
    version : str
    """

    values: tuple[Value, ...]
    topics: pl.DataFrame
    grades: pl.DataFrame
    annotators: pl.DataFrame
    sentence: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    scale: Scale
    relevant_from: float | None
    bootstrap: int
    seed: int
    version: str

    def __repr__(self) -> str:
        return write_repr(
            self,
            self.sentence,
            express(self.topics.height, "topic"),
            express(self.annotators.height, "annotator"),
        )

    def __getitem__(self, name: str) -> Value:
        """Return a figure by its name."""
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(name)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The figures as rows: ``measure, labels, value`` and, with intervals, ``low, high``."""
        ends = any(value.low is not None for value in self.values)
        return [
            {
                "measure": value.name,
                "labels": BINARY if value.name in OF_RELEVANCE else GRADED,
                "value": value.value,
                **({"low": value.low, "high": value.high} if ends else {}),
            }
            for value in self.values
        ]

    @property
    def frame(self) -> pl.DataFrame:
        """The figures as a table."""
        numbers = ("value", "low", "high")
        return pl.DataFrame(
            self.rows,
            schema_overrides={name: pl.Float64 for name in numbers if name in self.rows[0]},
        )


@check_arguments
def measure_agreement(
    judgments: JudgmentsLike,
    *,
    columns: Mapping[str, str] | str | None = None,
    scale: Scale | str | None = None,
    drop_labels: Labels = (),
    repeats: str | None = None,
    relevant_from: float | str | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Measure how far annotators agree, beyond chance and with intervals.

    Parameters
    ----------
    judgments : Judgments, path or dataframe
        A table with ``query_id, doc_id, annotator_id, label``.
    columns : mapping or str, optional
        Venire's column names to those of the file: ``{"query_id": "topic"}``.
    scale : Scale or str, optional
        The whole scale, worst first: ``"0,1,2"``. By default the labels that occur.
    drop_labels : iterable
        Labels that mean "cannot judge"; their rows are left out and counted.
    repeats : "last", "all", "first" or "error", optional
        Which judgment counts where an annotator judged a pair more than once. By default the
        last, by ``judged_at`` or else by the order of the rows; ``Judgments`` are taken as they
        are.
    relevant_from : float or str, optional
        Smallest grade that counts as relevant, or its name; the scale's own by default.
    bootstrap : int
        Number of resamples of the topics for the 95% intervals; 0 for none.
    seed : int
        Seed of the resamples.

    Raises
    ------
    BadSetting
        For a grade that is not on the scale, or a negative number of resamples.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 6, "doc_id": list("aabbcc"),
    ...     "annotator_id": ["x", "y"] * 3, "label": [0, 0, 1, 1, 0, 1]})
    >>> result = measure_agreement(table)
    >>> result["overlap"].value
    0.5
    >>> result.sentence
    "Krippendorff's alpha (ordinal) is 0.44: below 0.67, a dubious basis for evaluation."
    """
    reading = ReadingOptions.parse(
        columns=columns, scale=scale, drop_labels=drop_labels, repeats=repeats
    )
    # Nobody is their own second opinion: a repeat must not count as agreement.
    judgments = load_judgments(judgments, reading, default_repeats="last")
    if bootstrap < 0:
        raise BadSetting(f"must be >= 0 (got {bootstrap})", argument="bootstrap", value=bootstrap)
    first = first_relevant(judgments.scale, relevant_from)
    counts = pair_counts(judgments)
    tables = [counts.by_judgment, counts.by_item]
    if judgments.codes.n_annotators == 2:
        tables.append(of_two(judgments))
    figures = Figures(counts.scale.array(), first)
    overall = figures(*(table.sum(axis=0)[None] for table in tables))
    known = reasons(counts, first)
    values = [
        Value.of(name, value[0], known.get(name, why(counts.by_item.sum(axis=0))))
        for name, value in overall.items()
    ]
    notes = [*_count_notes(judgments), *_repeat_notes(judgments), *counts.notes]
    if counts.items.any():
        notes.append(f"fleiss-kappa: {formula(counts)}")
    if bootstrap:
        values, interval_notes = _intervals(values, tables, figures, bootstrap, seed)
        notes += interval_notes
    by_topic = figures(*tables)
    notes += _undefined_notes(values, by_topic)
    by_name = {value.name: value for value in values}
    return Agreement(
        values=tuple(values),
        topics=_topics(counts, by_topic),
        grades=by_grade(counts),
        annotators=by_annotator(judgments, first),
        sentence=sentence(by_name[HEADLINE]),
        warnings=warnings(by_name, counts, first),
        notes=tuple(notes),
        scale=judgments.scale,
        relevant_from=counts.scale.values[first] if first < counts.scale.size else None,
        bootstrap=bootstrap,
        seed=seed,
        version=version("venire"),
    )


def _count_notes(judgments: Judgments) -> list[str]:
    codes = judgments.codes
    return [
        f"{express(codes.n_judgments, 'judgment')}, {express(codes.n_annotators, 'annotator')}, "
        f"{express(codes.n_items, 'item')}",
        *judgments.notes,
    ]


def _repeat_notes(judgments: Judgments) -> list[str]:
    """Say where agreement with oneself counts as agreement."""
    number = judgments.codes.n_judgments - judgments.frame.select(KEY).n_unique()
    if not number:
        return []
    return [
        f"{express(number, 'repeated judgment')} count as if of another annotator, so that "
        "agreement with oneself counts; repeats 'last' leaves them out"
    ]


def _intervals(
    values: list[Value], tables: list[Floats], figures: Figures, times: int, seed: int
) -> tuple[list[Value], list[str]]:
    """Add the intervals; topics without a pair say nothing and are not drawn."""
    used = tables[1].any(axis=(1, 2))
    n_topics = int(used.sum())
    if n_topics < 2:
        return values, [f"no intervals: they need at least two topics, and there are {n_topics}"]
    draws = resample([table[used] for table in tables], figures, times=times, seed=seed)
    notes = [
        f"intervals: 95%, expanded percentiles of {express(times, 'resample')} of "
        f"{express(n_topics, 'topic')}, seed {seed}"
    ]
    if n_topics < FEW_TOPICS:
        notes.append(
            f"fewer than {FEW_TOPICS} topics: such intervals hold the figure of other topics in "
            "about 90% of cases, not 95%"
        )
    out = []
    lost: dict[int, list[str]] = {}
    for value in values:
        if value.value is None:
            out.append(value)
            continue
        low, high, undefined = read_interval(draws[value.name], n_topics)
        if undefined:
            lost.setdefault(undefined, []).append(value.name)
        out.append(replace(value, low=low, high=high))
    notes += [
        f"undefined in {number:,} of {express(times, 'resample')}, which are left out: "
        f"{', '.join(names)}"
        for number, names in lost.items()
    ]
    return out, notes


def _undefined_notes(values: list[Value], by_topic: dict[str, Floats]) -> list[str]:
    """Say which figures are undefined, and why; and in how many topics the headline is."""
    by_reason: dict[str, list[str]] = {}
    for value in values:
        if value.value is None:
            by_reason.setdefault(value.notes[0], []).append(value.name)
    notes = [f"{reason}: {', '.join(names)}" for reason, names in by_reason.items()]
    number = int(np.isnan(by_topic[HEADLINE]).sum())
    if number:
        notes.append(
            f"{HEADLINE} is undefined in {express(number, 'topic')}: only one label used, or no "
            "item with two judgments"
        )
    return notes


def _topics(counts: PairCounts, by_topic: dict[str, Floats]) -> pl.DataFrame:
    shown = ("alpha-ordinal", "fleiss-kappa", "agreement", "positive-agreement", "overlap")
    return pl.DataFrame(
        {
            "query_id": counts.topics,
            "items": counts.items,
            "judgments": counts.judgments,
            **{name.replace("-", "_"): column(by_topic[name]) for name in shown},
        }
    )
