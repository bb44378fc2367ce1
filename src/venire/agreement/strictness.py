"""How strict groups of annotators are beside each other, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl

from venire.agreement.summary import measure_agreement
from venire.arrays import Floats, Longs
from venire.stats.topic_bootstrap import draw_topics, read_interval
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale

Row = dict[str, Any]
WITHIN = ("alpha-ordinal", "agreement")
BETWEEN = ("quadratic-kappa", "cohen-kappa", "agreement", "overlap", "positive-agreement")


def strictness(
    names: Sequence[str], grades: Longs, topic: Longs, *, bootstrap: int = 1000, seed: int = 0
) -> list[Row]:
    """Return how much lower or higher one group grades than another, over all and by grade.

    ``offset`` is the mean of the group's grade minus the other's, over the pairs to which the
    other gave ``grade``; below 0 the group is stricter. The interval is by bootstrap over topics
    (expanded percentiles, 95%). Of a low grade every error goes up and of a high one down, so the
    offsets by grade of two equally strict groups are not 0: the row of all grades is what tells
    who is stricter, and the two directions stand beside each other.

    Parameters
    ----------
    names : sequence of str [G]
    grades : int64 [G, P]
        Of pairs that all judged.
    topic : int64 [P]
    bootstrap : int
    seed : int

    Returns
    -------
    list of dict
        ``group, against, grade`` (None: all), ``pairs, offset, low, high``.

    Examples
    --------
    >>> rows = strictness(["expert", "crowd"], np.array([[0, 0, 1], [0, 1, 1]]),
    ...                   np.array([0, 1, 2]), bootstrap=50)
    >>> rows[0]["group"], rows[0]["grade"], round(rows[0]["offset"], 2)
    ('expert', None, -0.33)
    """
    used, place = np.unique(topic, return_inverse=True)
    rng = np.random.default_rng(seed)
    weights = draw_topics(used.size, bootstrap, rng).astype(np.float64)
    rows: list[Row] = []
    for a, b in permutations(range(len(names)), 2):
        gap = (grades[a] - grades[b]).astype(np.float64)
        levels: list[int | None] = [None, *(int(level) for level in np.unique(grades[b]))]
        for level in levels:
            chosen = np.ones(gap.size, bool) if level is None else grades[b] == level
            total = np.bincount(place[chosen], weights=gap[chosen], minlength=used.size)
            count = np.bincount(place[chosen], minlength=used.size)
            low, high, _ = read_interval(
                _divide(weights @ total, weights @ count), int((count > 0).sum())
            )
            rows.append(
                {
                    "group": names[a],
                    "against": names[b],
                    "grade": level,
                    "pairs": int(count.sum()),
                    "offset": float(total.sum() / count.sum()),
                    "low": low,
                    "high": high,
                }
            )
    return rows


def _divide(total: Floats, count: Floats) -> Floats:
    """Return the ratio of each resample; nan where no drawn topic has a pair."""
    ratio: Floats = np.divide(total, count, out=np.full(count.size, np.nan), where=count > 0)
    return ratio


def strictest(names: Sequence[str], rows: list[Row]) -> str | None:
    """Say which group is stricter, or else more lenient, than every other; None where none is.

    All its intervals must leave out 0.
    """
    for word, sign, end in (("strictest", -1, "high"), ("most lenient", 1, "low")):
        for name in names:
            own_rows = [row for row in rows if row["group"] == name and row["grade"] is None]
            if all(row[end] is not None and sign * row[end] > 0 for row in own_rows):
                gaps = ", ".join(
                    f"{row['offset']:+.2f} beside {row['against']}" for row in own_rows
                )
                return f"{name} is the {word}, by its mean grade ({gaps})."
    return None


def agreements(
    names: Sequence[str],
    grades: Longs,
    items: pl.DataFrame,
    judgments: Mapping[str, Judgments],
    relevant_from: float,
    *,
    bootstrap: int,
    seed: int,
) -> tuple[list[Row], list[str]]:
    """Return how far annotators agree within each group, and the settled grades of every two.

    Parameters
    ----------
    names : sequence of str [G]
    grades : int64 [G, P]
    items : polars.DataFrame [P]
        ``query_id, doc_id``.
    judgments : mapping
        Of the groups that have them.
    relevant_from : float
    bootstrap, seed : int

    Returns
    -------
    rows : list of dict
        ``first, second, measure, value, low, high``; within a group both are its name.
    notes : list of str
    """
    rows: list[Row] = []
    notes: list[str] = []
    for name, table in judgments.items():
        if table.codes.n_judgments == table.codes.n_items:
            notes.append(f"{name}: one judgment a pair, so nothing is said of agreement within it")
            continue
        result = measure_agreement(table, bootstrap=bootstrap, seed=seed)
        rows += [_row(name, name, result[measure].name, result[measure]) for measure in WITHIN]
    scale = Scale.of(sorted({*np.unique(grades).tolist(), float(relevant_from)}))
    for a, b in combinations(range(len(names)), 2):
        both = pl.concat(
            [
                items.select("query_id", "doc_id").with_columns(
                    pl.lit(f"{group}").alias("annotator_id"), pl.Series("label", grades[group])
                )
                for group in (a, b)
            ]
        )
        result = measure_agreement(
            Judgments.of(both, scale=scale, repeats="error"),
            relevant_from=relevant_from,
            bootstrap=bootstrap,
            seed=seed,
        )
        rows += [_row(names[a], names[b], measure, result[measure]) for measure in BETWEEN]
    return rows, notes


def _row(first: str, second: str, measure: str, value: Any) -> Row:
    return {
        "first": first,
        "second": second,
        "measure": measure,
        "value": value.value,
        "low": value.low,
        "high": value.high,
    }
