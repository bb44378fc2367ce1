"""What the figures of agreement mean, in sentences."""

from __future__ import annotations

import numpy as np

from venire.agreement.counts import PairCounts
from venire.agreement.value import Value
from venire.tables.schema import number_text

GOOD, FAIR = 0.8, 0.67
"""Bands of Manning, Raghavan and Schütze (2008), section 8.5."""
RARE = 0.2
"""A share of relevant labels below which AC1 says little."""


def band(value: float) -> str:
    """Return what a chance-corrected value is worth, by Manning, Raghavan and Schütze (2008).

    Examples
    --------
    >>> band(0.776)
    'between 0.67 and 0.8, fair agreement'
    """
    if value > GOOD:
        return f"above {GOOD}, good agreement"
    if value >= FAIR:
        return f"between {FAIR} and {GOOD}, fair agreement"
    return f"below {FAIR}, a dubious basis for evaluation"


def sentence(value: Value) -> str:
    """Return what the headline means, in one sentence."""
    if value.value is None:
        return f"Krippendorff's alpha (ordinal) is {value.notes[0]}."
    text = f"Krippendorff's alpha (ordinal) is {value.value:.2f}"
    if value.low is None or value.high is None:
        return f"{text}: {band(value.value)}."
    text += f" (95% interval {value.low:.2f} to {value.high:.2f}): {band(value.value)}"
    ends = [band(end) for end in (value.low, value.high) if band(end) != band(value.value)]
    if ends:
        text += f"; the interval reaches {' and '.join(ends)}"
    return f"{text}."


def warnings(values: dict[str, Value], counts: PairCounts, first: int) -> tuple[str, ...]:
    """Return where a figure alone would mislead: high agreement with low kappa, AC1."""
    out = []
    share = _share(counts, first)
    agree, kappa = values["binary-agreement"].value, values["binary-kappa"].value
    overlap = values["overlap"].value
    if agree is not None and kappa is not None and agree >= GOOD and kappa < FAIR:
        common = (
            f"{share:.0%} of the labels say relevant"
            if share < 0.5
            else (f"{1 - share:.0%} of the labels say not relevant")
        )
        out.append(
            f"high agreement, low kappa: {agree:.1%} of pairs of labels agree on relevant or not, "
            f"but kappa is {kappa:.2f}, since {common} and most agreement would come by chance; "
            f"of what either calls relevant they agree on {overlap or 0.0:.0%} (overlap)"
        )
    if counts.scale.size > 1 and np.count_nonzero(counts.by_item.sum(axis=(0, 2))) == 1:
        out.append(
            "only one label was used: AC1 and AC2 are 1 by their formula, since chance agreement "
            "is 0; they do not tell how well the annotators would agree on another grade"
        )
        return tuple(out)
    positive, ac1 = values["positive-agreement"].value, values["binary-ac1"].value
    if ac1 is not None and positive is not None and share < RARE:
        out.append(
            f"relevant documents are rare ({share:.1%} of the labels, from grade "
            f"{number_text(counts.scale.values[first])}): AC1 ({ac1:.2f}) is high there by "
            f"construction; look at positive agreement ({positive:.2f}) and overlap "
            f"({overlap or 0.0:.2f})"
        )
    return tuple(out)


def _share(counts: PairCounts, first: int) -> float:
    """Return the share of relevant labels, each item counting the same."""
    shares = counts.by_item.sum(axis=(0, 2))
    return float(shares[first:].sum() / shares.sum()) if shares.any() else 0.0
