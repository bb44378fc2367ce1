"""Krippendorff's alpha: any number of annotators, missing judgments, four levels."""

from __future__ import annotations

import numpy as np

from venire.agreement.counts import pair_counts
from venire.agreement.value import NOT_RATIO, Value, divide, several, why
from venire.arrays import Floats
from venire.errors import BadSetting
from venire.tables.judgments import Judgments

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def distance(level: str, margin: Floats, values: Floats) -> Floats:
    """Return the squared distance of each two grades [..., K, K].

    With grades v, counts of labels n and mid-ranks ``r_k = n_1 + ... + n_(k-1) + n_k / 2``:
    nominal ``[c != k]``, ordinal ``(r_c - r_k)^2``, interval ``(v_c - v_k)^2``, ratio
    ``((v_c - v_k) / (v_c + v_k))^2``.

    Parameters
    ----------
    level : str
        One of ``LEVELS``.
    margin : float [..., K]
        Counts of labels; only ``ordinal`` uses them.
    values : float [K]
        The grades.

    Raises
    ------
    BadSetting
        For another level.
    """
    if level == "nominal":
        return 1.0 - np.eye(values.size)
    if level == "ordinal":
        rank = np.cumsum(margin, axis=-1) - margin / 2
        return np.asarray((rank[..., :, None] - rank[..., None, :]) ** 2)
    gap = values[:, None] - values[None, :]
    if level == "interval":
        return np.asarray(gap**2)
    if level == "ratio":
        total = values[:, None] + values[None, :]
        # Two zeros are no distance apart.
        return np.divide(gap, total, out=np.zeros_like(gap), where=total != 0) ** 2
    raise BadSetting(f"level is one of {', '.join(LEVELS)}, not {level!r}")


def alpha_of(coincidences: Floats, level: str, values: Floats) -> Floats:
    """Return alpha of coincidence matrices [..., K, K]; nan where only one label was used.

    ``alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck`` with
    ``n_c = sum_k o_ck`` and ``n = sum_c n_c`` (Krippendorff 2011, "Computing Krippendorff's
    alpha-reliability").
    """
    margin = coincidences.sum(axis=-1)
    apart = distance(level, margin, values)
    if level == "ratio" and values[0] < 0:
        return np.full(margin.shape[:-1], np.nan)
    observed = (coincidences * apart).sum(axis=(-2, -1))
    expected = (margin[..., :, None] * margin[..., None, :] * apart).sum(axis=(-2, -1))
    return 1.0 - divide((margin.sum(axis=-1) - 1.0) * observed, expected, several(margin))


def krippendorff_alpha(judgments: Judgments, *, level: str = "ordinal") -> Value:
    """Return Krippendorff's alpha of all annotators together.

    1 is perfect agreement, 0 what chance alone gives. Items with one judgment do not count.

    Parameters
    ----------
    judgments : Judgments
    level : "nominal", "ordinal", "interval" or "ratio"
        What the distance of two grades is; see :func:`distance`.

    Raises
    ------
    BadSetting
        For another level.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...     "annotator_id": ["x", "y"] * 2, "label": [0, 0, 1, 1]})
    >>> krippendorff_alpha(table, level="nominal").value
    1.0
    """
    counts = pair_counts(judgments)
    table = counts.by_judgment.sum(axis=0)
    values = judgments.scale.array()
    reason = NOT_RATIO if level == "ratio" and values[0] < 0 else why(table)
    return Value.of(f"alpha-{level}", alpha_of(table, level, values), reason, counts.notes)
