"""Which design of a campaign to take, from a forecast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.tables.schema import express

TOLERANCE = 0.02
"""Loss of tau that is accepted: one pair of systems in a hundred in another order."""
NORMAL_95 = 1.645
"""One-sided 95% quantile of the normal distribution."""


@dataclass(frozen=True, kw_only=True)
class DesignChoice:
    """The design to take, and its neighbours by cost.

    Attributes
    ----------
    design : int
        Place in the rows of the forecast: the cheapest design that loses at most ``TOLERANCE``
        of tau to the design of greatest tau, with 95% confidence.
    cheaper : int or None
        The best of the cheaper designs; its loss is larger, or may be.
    dearer : int or None
        The design of greatest tau, where it costs more.
    """

    design: int
    cheaper: int | None
    dearer: int | None


def choose_design(rows: Sequence[Mapping[str, Any]], replays: int) -> DesignChoice | None:
    """Return the design to take; None where no design has a tau.

    A design qualifies where the upper end of its loss, ``tau_best - tau + 1.645 se``, is at most
    ``TOLERANCE``. ``se`` is the standard error of the difference of two means over the replays.
    The design of greatest tau always qualifies.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of a forecast: ``money, tau, tau_sd``.
    replays : int

    Examples
    --------
    >>> rows = [{"money": money, "tau": tau, "tau_sd": 0.01}
    ...         for money, tau in ((1, 0.8), (2, 0.93), (4, 0.935))]
    >>> choose_design(rows, 20)
    DesignChoice(design=1, cheaper=0, dearer=2)
    """
    known = [place for place, row in enumerate(rows) if row["tau"] is not None]
    if not known:
        return None
    tau = {place: float(rows[place]["tau"]) for place in known}
    best = max(known, key=lambda place: (tau[place], -rows[place]["money"]))
    by_cost = sorted(known, key=lambda place: (rows[place]["money"], -tau[place]))
    chosen = next(
        place
        for place in by_cost
        if place == best or _bound_loss(rows[best], rows[place], replays) <= TOLERANCE
    )
    cheaper = [place for place in known if rows[place]["money"] < rows[chosen]["money"]]
    return DesignChoice(
        design=chosen,
        cheaper=max(cheaper, key=lambda place: tau[place]) if cheaper else None,
        dearer=best if rows[best]["money"] > rows[chosen]["money"] else None,
    )


def _bound_loss(best: Mapping[str, Any], row: Mapping[str, Any], replays: int) -> float:
    """Return the upper end of what a design loses of the greatest tau."""
    variance = (best["tau_sd"] ** 2 + row["tau_sd"] ** 2) / replays
    return float(best["tau"] - row["tau"] + NORMAL_95 * np.sqrt(variance))


def advise_on_designs(rows: Sequence[Mapping[str, Any]], replays: int) -> list[str]:
    """Return which design to take and why, in words; the decision comes first.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of a forecast.
    replays : int
    """
    choice = choose_design(rows, replays)
    if choice is None:
        return ["No design can be recommended: all systems tie in every simulation."]
    row = rows[choice.design]
    advice = [
        f"Take {describe_design(row)}. It costs {row['money']:,.2f} and takes about "
        f"{express(max(1, round(row['work_hours'])), 'hour')} of work of all annotators together.",
        f"It puts {_share_in_order(row)} of the pairs of systems in the order of the known grades, "
        "on average.",
    ]
    if choice.dearer is not None:
        other = rows[choice.dearer]
        advice.append(
            f"The best ranking ({describe_design(other)}) costs {other['money']:,.2f} and puts "
            f"{_share_in_order(other)} in order: the difference is at most {TOLERANCE / 2:.0%} of "
            "the pairs."
        )
    if choice.cheaper is not None:
        other = rows[choice.cheaper]
        advice.append(
            f"A cheaper design ({describe_design(other)}, {other['money']:,.2f}) puts "
            f"{_share_in_order(other)} in order; it may lose more than {TOLERANCE / 2:.0%}."
        )
    return advice + _warn_of_gold(row)


def _warn_of_gold(row: Mapping[str, Any]) -> list[str]:
    """Say what gold finds, where batches of spam are simulated."""
    if row["spam_rejected"] is None:
        return []
    if not row["gold_size"]:
        return ["There is no gold: no batch of spam is rejected. Add gold documents."]
    others = (
        "" if row["others_rejected"] is None else f" and {row['others_rejected']:.0%} of others"
    )
    warning = f"Gold rejects {row['spam_rejected']:.0%} of the batches of spam{others}."
    if row["spam_rejected"] < 0.8:
        warning += " To reject more spam, add gold documents per batch."
    return [warning]


def _share_in_order(row: Mapping[str, Any]) -> str:
    """Return the share of the pairs of systems in the same order, (1 + tau) / 2."""
    return f"{(1 + row['tau']) / 2:.1%}"


def describe_design(row: Mapping[str, Any]) -> str:
    """Return a design in words.

    Examples
    --------
    >>> describe_design({"depth": 10, "overlap": 1, "batch_size": 10, "gold_size": 2,
    ...                  "gold_errors": 0})
    'pool depth 10, 1 judgment per pair, batches of 10 with 2 gold and no gold error'
    """
    errors = express(row["gold_errors"], "gold error") if row["gold_errors"] else "no gold error"
    gold = f" with {row['gold_size']} gold and {errors}" if row["gold_size"] else " without gold"
    return (
        f"pool depth {row['depth']}, {express(row['overlap'], 'judgment')} per pair, batches of "
        f"{row['batch_size']}{gold}"
    )
