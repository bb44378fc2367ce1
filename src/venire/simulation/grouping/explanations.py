"""What a simulation of grouped judging says, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from venire.grouping.settings import ONE, Setting, describe_setting
from venire.simulation.grouping.annotators import GroupedAnnotator
from venire.tables.schema import express

if TYPE_CHECKING:
    from venire.simulation.grouping.recommend import Recommendation

STAR = "★"
ENOUGH_QUERIES = 20
"""Queries from which 95% intervals cover; measured by ``reproduce/verdicts.py``."""


def summarise_recommendation(advice: Recommendation) -> str:
    """Return the recommendation as one sentence."""
    row = advice.settings.filter("recommended").row(0, named=True)
    points = f"{advice.points * 100:g} points"
    whom = f"for {advice.chosen[0]}" if len(advice.chosen) == 1 else "for every type"
    if advice.setting != ONE:
        interval = (
            ""
            if row["saved_low"] is None
            else f" ({_percent(row['saved_low'], bare=True)} to {_percent(row['saved_high'])})"
        )
        doubt = " on these queries, which is not sure on others" if advice.unsure else ""
        return (
            f"Group by {spell_setting(advice.setting)} ({STAR}): it saves {_percent(row['saved'])} "
            f"of the time{interval} and keeps recall within {points} {whom}{doubt}."
        )
    others = advice.settings.filter(pl.col("setting") != ONE)
    if others.is_empty():
        return f"Judge one image at a time ({STAR}): no grouping was tried."
    if not others["within"].any():
        who = advice.chosen[0] if len(advice.chosen) == 1 else "some type"
        return (
            f"Judge one image at a time ({STAR}): every grouping lost more than {points} of "
            f"recall for {who} on these queries."
        )
    return (
        f"Judge one image at a time ({STAR}): no grouping that keeps recall within {points} "
        f"{whom} is faster."
    )


def list_caveats(advice: Recommendation) -> list[str]:
    """Return what stands against the recommendation, or beside it, a sentence each."""
    out = []
    if advice.queries < 2:
        out.append("Only 1 query was simulated, so there are no intervals. Simulate more.")
    elif advice.queries < ENOUGH_QUERIES:
        out.append(
            f"{advice.queries} queries were simulated. With fewer than {ENOUGH_QUERIES} the 95% "
            "intervals are too narrow: they held 85% to 96% of the true values in simulations."
        )
    if advice.apart is False and advice.runner_up is not None:
        out.append(
            f"The runner-up, {spell_setting(advice.runner_up)}, may be as fast: with other "
            "queries, it might be faster."
        )
    elif advice.apart and advice.runner_up is not None:
        out.append(
            f"It is faster than the runner-up, {spell_setting(advice.runner_up)}, beyond chance. "
            "Of two equally fast settings this is said in 7% of simulations."
        )
    for name in advice.unsure:
        row = advice.of(advice.setting).filter(pl.col("annotator") == name).row(0, named=True)
        out.append(
            f"For {name} the loss of recall may be more than {advice.points * 100:g} points: up to "
            f"{row['loss_high'] * 100:.1f} with other queries. Simulate more queries to be sure."
        )
    if advice.faster is not None:
        row = advice.settings.filter(pl.col("setting") == advice.faster).row(0, named=True)
        out.append(
            f"The fastest setting, {spell_setting(advice.faster)}, saves {_percent(row['saved'])}, "
            f"but costs {row['worst_type']} {row['worst_loss'] * 100:.1f} points of recall."
        )
    return out


def explanations(advice: Recommendation, setting: str | None = None) -> dict[str, str]:
    """Return what a setting, by default the recommended one, does to each annotator type.

    Raises
    ------
    UnknownName
    """
    return explain_types(
        advice.of(setting or advice.setting).to_dicts(),
        advice.of(ONE).to_dicts(),
    )


def explain_types(
    rows: Sequence[dict[str, Any]], single_rows: Sequence[dict[str, Any]]
) -> dict[str, str]:
    """Return what a setting does to each type, of its rows and those of one at a time."""
    before = {row["annotator"]: row for row in single_rows}
    return {row["annotator"]: _explain_type(row, before[row["annotator"]]) for row in rows}


def comparison(advice: Recommendation, setting: str) -> list[dict[str, Any]]:
    """Return one row per annotator type: a setting compared with one at a time.

    Raises
    ------
    UnknownName
    """
    before = {row["annotator"]: row for row in advice.of(ONE).to_dicts()}
    return [
        {
            "annotator type": row["annotator"],
            "counts": "yes" if row["annotator"] in advice.chosen else "no",
            "s per image": row["seconds_per_image"],
            "one by one": before[row["annotator"]]["seconds_per_image"],
            "saved": _percent(row["saved"]),
            "recall": row["recall"],
            "recall one by one": before[row["annotator"]]["recall"],
            f"within {advice.points * 100:g} points": "✓" if row["within"] else "no",
            "never looked at": _percent(row["never_looked"]),
        }
        for row in advice.of(setting).to_dicts()
    ]


def plan(
    settings: Sequence[Setting],
    annotators: Sequence[GroupedAnnotator],
    *,
    queries: int,
    repetitions: int,
    seconds: float | None = None,
) -> str:
    """Return what will run, and how long that takes, in a sentence.

    Examples
    --------
    >>> from venire.simulation.grouping.annotators import annotator
    >>> plan([Setting("leader")], [annotator("typical")], queries=20, repetitions=3, seconds=41)
    '1 setting x 1 annotator type x 20 queries x 3 repetitions, about 40 seconds'
    """
    parts = (
        express(len(settings), "setting"),
        express(len(annotators), "annotator type"),
        express(queries, "query", "queries"),
        express(repetitions, "repetition"),
    )
    return " x ".join(parts) + ("" if seconds is None else f", {_about(seconds)}")


def short(setting: str) -> str:
    """Return a setting as the labels of a chart name it.

    Examples
    --------
    >>> short("average-linkage(distance=0.2,cap=16)")
    'average 0.2, ≤ 16'
    """
    try:
        parsed = Setting.parse(setting)
    except (LookupError, ValueError):
        return setting
    text = parsed.method.removesuffix("-linkage")
    text = " ".join([text, *(f"{value:g}" for _, value in parsed.values)])
    return text + ("" if parsed.cap is None else f", ≤ {parsed.cap}")


def spell_setting(setting: str) -> str:
    """Return a setting in words; a name that is none stays as it is."""
    try:
        return describe_setting(Setting.parse(setting))
    except (LookupError, ValueError):
        return setting


MINUS = "\u2212"


def _format_change(share: float) -> str:
    """Return a share as points with its sign, and a true minus."""
    text = f"{abs(share) * 100:.1f}"
    return text if text == "0.0" else ("+" if share > 0 else MINUS) + text


def _explain_type(row: dict[str, Any], before: dict[str, Any]) -> str:
    lost = row["loss"] * 100
    change = "the same as" if abs(lost) < 0.05 else f"{abs(lost):.1f} points "
    change += "" if abs(lost) < 0.05 else "below" if lost > 0 else "above"
    interval = (
        ""
        if row["loss_low"] is None or max(abs(row["loss_low"]), abs(row["loss_high"])) < 0.0005
        else f" (95% interval of the change: {_format_change(-row['loss_high'])} to "
        f"{_format_change(-row['loss_low'])} points)"
    )
    return (
        f"{row['seconds_per_image']:.2f} s per image instead of {before['seconds_per_image']:.2f} "
        f"(saves {_percent(row['saved'])}); recall {_percent(row['recall'])}, {change} the "
        f"{_percent(before['recall'])} of one at a time{interval}; per 100 images, "
        f"{row['judged'] * 100:.0f} are judged one at a time, {row['labelled'] * 100:.0f} groups "
        f"are labelled, {row['corrected'] * 100:.0f} images are corrected and "
        f"{row['never_looked'] * 100:.0f} are never looked at."
    )


def _percent(share: float, *, bare: bool = False) -> str:
    return f"{share * 100:.0f}" + ("" if bare else "%")


def _about(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 100:
        rounded = round(seconds) if seconds < 10 else round(seconds, -1)
        return f"about {express(int(rounded), 'second')}"
    return f"about {express(round(seconds / 60), 'minute')}"
