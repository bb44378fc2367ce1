"""Describe in one paragraph whether the order of systems repeats under groups of annotators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from venire.tables.schema import express

Row = dict[str, Any]
FEW_TOPICS = 6
"""With fewer topics a two-sided sign test cannot reach p < .05 even if all agree (2 / 2^5)."""


def describe_order(
    names: Sequence[str], orders: list[Row], strictest: str | None, topics: int, shared_pairs: str
) -> str:
    """Return whether the order of the systems repeats.

    Parameters
    ----------
    names : sequence of str
        The groups.
    orders : list of dict
        See :class:`venire.reliability.repeatability.Repeatability`.
    strictest : str or None
        Sentence on the strictest group.
    topics : int
        Number of topics that the systems are scored on.
    shared_pairs : str
        Number of pairs that all groups judged, in words.
    """
    known = [row for row in orders if row["tau"] is not None]
    if not known:
        return "Nothing can be said of the order: all systems tie under one of the groups."
    doubt = _describe_doubt(known, topics, shared_pairs)
    sentences = [doubt, _describe_tau(names, known, doubt is None)]
    tied = dict.fromkeys(row["measure"] for row in orders if row["tau"] is None)
    if tied:
        sentences.append(f"By {', '.join(tied)} all systems tie under one of the groups.")
    sentences.append(strictest)
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_doubt(known: list[Row], topics: int, shared_pairs: str) -> str | None:
    """Return that there is too little data, and why; None where there is enough."""
    without_interval = dict.fromkeys(row["measure"] for row in known if row["tau_low"] is None)
    if topics >= FEW_TOPICS and not without_interval:
        return None
    if topics < FEW_TOPICS:
        reason = (
            f"the systems are scored on {express(topics, 'topic')} "
            f"({shared_pairs} judged by all groups)"
        )
        if topics < 2:
            reason += ", of which tau has no interval"
        step = f"judge {FEW_TOPICS} topics or more"
    else:
        reason = (
            f"tau by {', '.join(without_interval)} has no interval, as all systems tie on most "
            "topics"
        )
        step = "judge more pairs"
    return f"Whether the order repeats cannot be told yet: {reason}; {step}. So far:"


def _describe_tau(names: Sequence[str], known: list[Row], is_told: bool) -> str:
    """Return the lowest tau and the lowest end of an interval, and how many swaps matter.

    "At least" is said of the lower end only, and nothing is said to repeat where that is 0 or
    less.
    """
    measures = ", ".join(dict.fromkeys(row["measure"] for row in known))
    worst = min(known, key=lambda row: row["tau"])
    is_same = worst["tau"] > 1 - 1e-12
    sentences = []
    if is_same:
        groups = f"{', '.join(names[:-1])} and {names[-1]}"
        sentences.append(f"The order of the systems is the same under {groups} ({measures}).")
    if not is_told:
        if not is_same:
            sentences.append(f"tau is {worst['tau']:.2f} ({_name(worst)}); {_count_swaps(known)}")
        return " ".join(sentences)
    lowest = min(known, key=lambda row: row["tau_low"])
    low = math.floor(100 * lowest["tau_low"] + 1e-9) / 100
    if is_same:
        if low < 1:
            sentences.append(
                f"On as many other topics tau is at least {low:.2f} (95% confidence, "
                f"{_name(lowest)})."
            )
    elif low > 0:
        sentences.append(
            f"The order repeats with a tau of at least {low:.2f} (95% confidence; "
            f"{lowest['tau']:.2f} on these topics, {_name(lowest)}); {_count_swaps(known)}"
        )
    else:
        sentences.append(
            f"That the order repeats is not shown: tau is {lowest['tau']:.2f}, with a 95% "
            f"interval from {low:.2f} to {lowest['tau_high']:.2f} ({_name(lowest)}); "
            f"{_count_swaps(known)}"
        )
    return " ".join(sentences)


def _name(row: Row) -> str:
    return f"{row['first']} and {row['second']}, {row['measure']}"


def _count_swaps(known: list[Row]) -> str:
    """Return how many swaps are of systems that a group tells apart."""
    matter = sum(row["matter"] for row in known)
    if not any(row["swapped"] for row in known):
        return "no two systems swap, but some tie under one group only."
    if not matter:
        return "no swap is of systems that a group tells apart."
    verb = "is" if matter == 1 else "are"
    return f"{express(matter, 'swap')} {verb} of systems that a group tells apart."
