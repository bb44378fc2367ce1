"""The crowd that a pilot shows, for a forecast."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from venire.errors import DataError
from venire.simulation.campaigns.average_annotator import fit_average_annotator
from venire.simulation.campaigns.designs import Crowd
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels


def crowd_of_pilot(pilot: Judgments, truth: Qrels | None = None, **expected: Any) -> Crowd:
    """Return the crowd that a pilot's judgments show.

    The confusion is that of the labels with the known grades where ``truth`` is given (each count
    plus one half), else that of a fitted average annotator; the seconds are the median of those
    that the pilot has. All other settings as for :class:`Crowd`.

    Examples
    --------
    >>> pilot = Judgments.from_dict({"query_id": ["q"] * 4, "doc_id": list("aabb"),
    ...     "annotator_id": list("xyxy"), "label": [1, 1, 0, 1], "seconds": [8, 9, 10, 30]})
    >>> crowd_of_pilot(pilot, Qrels.from_dict({"q": {"a": 1, "b": 0}})).seconds
    9.5
    """
    if truth is not None:
        both = pilot.frame.join(
            truth.frame.filter(pl.col("relevance") >= 0), on=["query_id", "doc_id"]
        )
        if both.is_empty():
            raise DataError("The pilot and the qrels share no pair with a known grade")
        table = np.full((pilot.scale.size,) * 2, 0.5)
        grade = pilot.scale.index(both["relevance"].to_numpy().astype(np.float64))
        label = pilot.scale.index(both["label"].to_numpy().astype(np.float64))
        np.add.at(table, (grade, label), 1.0)
        table /= table.sum(axis=1, keepdims=True)
    else:
        _, table = fit_average_annotator(pilot)
    if "seconds" in pilot.frame.columns and "seconds" not in expected:
        median = pilot.frame["seconds"].median()
        if isinstance(median, int | float):
            expected["seconds"] = float(median)
    return Crowd(confusion=tuple(map(tuple, table.tolist())), **expected)
