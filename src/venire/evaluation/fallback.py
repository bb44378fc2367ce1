"""Measures that Venire does not compute itself: computed by ir_measures, if installed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import polars as pl

from venire.errors import BadSetting, MissingExtra, UnknownName, VenireError
from venire.measures import Measure, parse
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

OF_SUBTOPICS = (
    "alpha_nDCG",
    "alpha_DCG",
    "ERR_IA",
    "nERR_IA",
    "AP_IA",
    "P_IA",
    "StRecall",
    "NRBP",
    "nNRBP",
)
"""Measures of ir_measures that need the second column of diversity qrels, the subtopic."""


def split(measures: Sequence[str]) -> tuple[list[Measure], list[str]]:
    """Return the measures that Venire computes, and those that ir_measures must compute.

    Raises
    ------
    UnknownName, BadSetting
        A measure that is unknown to both, or that needs subtopics or a parameter.
    MissingExtra
        A measure that is unknown to Venire, while ir_measures is not installed.
    """
    own_measures: list[Measure] = []
    other_measures: list[str] = []
    for text in measures:
        try:
            own_measures.append(parse(text))
        except UnknownName as error:
            if error.kind != "measure":
                raise
            name = _spell_for_ir_measures(text, error)
            try:
                own_measures.append(parse(name))  # NumRelRet is NumRet(rel=1)
            except UnknownName:
                other_measures.append(name)
    return list(dict.fromkeys(own_measures)), list(dict.fromkeys(other_measures))


def _spell_for_ir_measures(text: str, error: UnknownName) -> str:
    """Return a measure as ir_measures prints it; raise ``error`` if that package lacks it too."""
    if error.name in OF_SUBTOPICS:
        raise BadSetting(
            f"{text} needs grades per subtopic, and Venire reads one grade per document",
            hint="Compute it with ir_measures from the qrels file.",
            code="needs-subtopics",
        )
    try:
        import ir_measures
    except ImportError:
        if difflib.get_close_matches(error.name, error.known, n=1, cutoff=0.75):
            raise error from None  # more likely a typo than a measure of ir_measures
        raise MissingExtra("ir-measures", "measures", f"The measure {text}") from None
    try:
        measure = ir_measures.parse_measure(text)
    except (NameError, ValueError, KeyError, AttributeError, TypeError, AssertionError):
        raise error from None
    _require_parameters(measure, text)
    return str(measure)


def _require_parameters(measure: Any, text: str) -> None:
    """Refuse a measure of ir_measures without a parameter that it needs."""
    needed = [
        name
        for name, parameter in measure.SUPPORTED_PARAMS.items()
        if parameter.required and name not in measure.params
    ]
    if needed:
        values = dict(measure.params) | dict.fromkeys(needed, 3)
        cutoff = values.pop("cutoff", None)
        inside = ",".join(f"{name}={value!r}" for name, value in values.items())
        example = f"{measure.NAME}{f'({inside})' if inside else ''}"
        example += "" if cutoff is None else f"@{10 if 'cutoff' in needed else cutoff}"
        raise BadSetting(
            f"{text} needs {' and '.join(needed)}", hint=f"Write it as {example}, for example."
        )


def list_summed(measures: Sequence[str]) -> list[str]:
    """Return those measures of ir_measures that are summed over topics, not averaged."""
    import ir_measures

    kind = ir_measures.measures.SumAgg
    return [
        text for text in measures if isinstance(ir_measures.parse_measure(text).aggregator(), kind)
    ]


def evaluate_elsewhere(qrels: Qrels, runs: Runs, measures: Sequence[str]) -> pl.DataFrame:
    """Return ``run_id, query_id`` and a column per measure, computed by ir_measures."""
    import ir_measures

    grades = qrels.to_dict()
    parsed = [ir_measures.parse_measure(text) for text in measures]
    rows = []
    try:
        for (name,), frame in runs.frame.group_by("run_id", maintain_order=True):
            run: dict[str, dict[str, float]] = {}
            for query, doc, score in frame.select("query_id", "doc_id", "score").iter_rows():
                run.setdefault(query, {})[doc] = score
            rows += [
                (name, metric.query_id, str(metric.measure), float(metric.value))
                for metric in ir_measures.iter_calc(parsed, grades, run)
            ]
    except (ValueError, RuntimeError, ImportError, AssertionError, TypeError) as error:
        if isinstance(error, VenireError):
            raise
        raise BadSetting(f"ir_measures cannot compute {', '.join(measures)}: {error}") from None
    long = pl.DataFrame(
        rows,
        schema={"run_id": pl.String, "query_id": pl.String, "measure": pl.String,
                "value": pl.Float64},
        orient="row",
    )  # fmt: skip
    return long.pivot("measure", index=["run_id", "query_id"], values="value")
