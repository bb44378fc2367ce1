"""Measures that Venire does not compute itself: computed by ir_measures, if installed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import polars as pl

from venire.errors import BadSetting, MissingExtra, UnknownName, VenireError
from venire.measures import Measure, parse
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


def split(measures: Sequence[str]) -> tuple[list[Measure], list[str]]:
    """Return the measures that Venire computes, and those that ir_measures must compute.

    Raises
    ------
    UnknownName, BadSetting
        A measure that is unknown to both.
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
            other_measures.append(_spell_for_ir_measures(text, error))
    return own_measures, other_measures


def _spell_for_ir_measures(text: str, error: UnknownName) -> str:
    """Return a measure as ir_measures prints it; raise ``error`` if that package lacks it too."""
    try:
        import ir_measures
    except ImportError:
        if difflib.get_close_matches(error.name, error.known, n=1, cutoff=0.75):
            raise error from None  # more likely a typo than a measure of ir_measures
        raise MissingExtra("ir-measures", "measures", f"The measure {text}") from None
    try:
        return str(ir_measures.parse_measure(text))
    except (NameError, ValueError, KeyError, AttributeError, TypeError, AssertionError):
        raise error from None


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
    except (ValueError, RuntimeError, ImportError) as error:
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
