"""Venire's models behind the interfaces other code already calls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from venire.aggregation.base import Aggregator
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats
from venire.errors import BadSetting, DataError, VenireError
from venire.tables import boundary
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale
from venire.tables.schema import number_text

QUERY = "all"
"""These interfaces know no queries: all tasks are of one."""


class NotFitted(VenireError, AttributeError):
    """A result was asked for before fitting."""

    code = "not-fitted"


def _default() -> Aggregator:
    from venire.aggregation.ordinal_mixture.model import OrdinalMixture

    return OrdinalMixture()


def _scale_of(labels: pl.Series, order: list[Any] | None) -> tuple[Scale, list[Any]]:
    """Return the scale of arbitrary labels and the labels in rising order.

    Labels that all are numbers, also as text, keep their values; others are ranks.
    """
    distinct = list(order) if order is not None else labels.unique().drop_nulls().to_list()
    if len(set(distinct)) != len(distinct):
        raise BadSetting("the order of labels names a label twice")
    values = [_value(label) for label in distinct]
    if all(value is not None for value in values):
        rising = sorted(zip(values, distinct, strict=True), key=lambda pair: pair[0] or 0.0)
        numbers = tuple(float(value) for value, _ in rising if value is not None)
        ordered = [label for _, label in rising]
        if len(set(numbers)) == len(numbers) and (order is None or ordered == distinct):
            return Scale(numbers), ordered
    if order is None:
        distinct.sort(key=str)
    return Scale(tuple(float(rank) for rank in range(len(distinct)))), distinct


def _value(label: Any) -> float | None:
    """Return the number a label is or spells, or None."""
    try:
        value = float(label)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _judgments(
    task: pl.Series, worker: pl.Series, label: pl.Series, order: list[Any] | None
) -> tuple[Judgments, list[Any]]:
    scale, labels = _scale_of(label, order)
    unknown = set(label.unique().drop_nulls().to_list()) - set(labels)
    if unknown:
        raise BadSetting(f"label {sorted(map(str, unknown))[0]!r} is not in the order of labels")
    grade = label.replace_strict(labels, list(scale.values), return_dtype=pl.Float64)
    frame = pl.DataFrame(
        {"query_id": pl.repeat(QUERY, len(task), eager=True), "doc_id": task,
         "annotator_id": worker, "label": grade}
    )  # fmt: skip
    return Judgments.of(frame, scale=scale), labels


class CrowdKitStyle:
    """crowd-kit's interface: a pandas frame with ``task, worker, label`` in, a series out.

    Parameters
    ----------
    aggregator : Aggregator, optional
        The ordinal mixture by default.
    labels : list, optional
        The labels from worst to best; sorted by default.
    seed : int

    Attributes
    ----------
    labels_ : pandas.Series
        Label of each task, named ``agg_label``.
    probas_ : pandas.DataFrame
        Probability of each label for each task.
    skills_ : pandas.Series
        Expertise of each worker, where the model has it.
    posterior_ : Posterior

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"task": ["a", "a", "b", "b"], "worker": ["x", "y", "x", "y"],
    ...                       "label": ["bad", "bad", "good", "good"]})
    >>> from venire.aggregation.dawid_skene import DawidSkene
    >>> CrowdKitStyle(DawidSkene()).fit_predict(frame).to_dict()
    {'a': 'bad', 'b': 'good'}
    """

    def __init__(
        self,
        aggregator: Aggregator | None = None,
        *,
        labels: list[Any] | None = None,
        seed: int = 0,
    ) -> None:
        if isinstance(aggregator, type):
            raise BadSetting(f"give an aggregator, {aggregator.__name__}(), not its class")
        self.aggregator = aggregator
        self.labels = labels
        self.seed = seed
        self._order: list[Any] = []
        self._tasks: pl.Series | None = None
        self._posterior: Posterior | None = None

    def fit(self, data: Any) -> CrowdKitStyle:
        """Fit on a frame with the columns task, worker, label."""
        frame = boundary.to_polars(data)
        for column in ("task", "worker", "label"):
            if column not in frame.columns:
                raise DataError(
                    f"the frame has no column {column}; rename one of: {', '.join(frame.columns)}"
                )
        if frame.is_empty():
            raise DataError("the frame has no rows")
        judgments, self._order = _judgments(
            frame["task"], frame["worker"], frame["label"], self.labels
        )
        self._tasks = frame["task"].unique(maintain_order=True)
        model = self.aggregator or _default()
        self._posterior = model.fit(judgments, seed=self.seed)
        return self

    def fit_predict(self, data: Any) -> Any:
        """Fit and return the label of each task as a pandas series."""
        return self.fit(data).labels_

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit and return the label probabilities of each task as a pandas frame."""
        return self.fit(data).probas_

    @property
    def posterior_(self) -> Posterior:
        """The whole result."""
        if self._posterior is None:
            raise NotFitted("call fit before asking for the result")
        return self._posterior

    @property
    def labels_(self) -> Any:
        """Label of each task, a pandas series named agg_label."""
        grade = self.posterior_.mode
        frame = pl.DataFrame(
            {"task": self._tasks, "agg_label": pl.Series([self._order[at] for at in grade])}
        )
        return boundary.to_pandas(frame).set_index("task")["agg_label"]

    @property
    def probas_(self) -> Any:
        """Probability of each label, a pandas frame."""
        columns = {str(label): self.posterior_.probabilities[:, at]
                   for at, label in enumerate(self._order)}  # fmt: skip
        out = boundary.to_pandas(pl.DataFrame({"task": self._tasks, **columns})).set_index("task")
        out.columns = list(self._order)
        return out

    @property
    def skills_(self) -> Any:
        """Expertise of each worker, a pandas series."""
        people = self.posterior_.annotators
        if "expertise" not in people.columns:
            raise NotFitted(f"{self.posterior_.model} says nothing about annotators")
        frame = people.select(pl.col("annotator_id").alias("worker"), "expertise")
        return boundary.to_pandas(frame).set_index("worker")["expertise"]


class SklearnStyle:
    """scikit-learn's interface: rows of (item, annotator, label) in, arrays out.

    Parameters
    ----------
    aggregator : Aggregator, optional
        The ordinal mixture by default.
    seed : int

    Attributes
    ----------
    items_ : list of str
        Items in the order of their first row; results have this order.
    classes_ : array
        The labels as they were given, from worst to best: numbers by value, text by
        alphabet.
    posterior_ : Posterior

    Examples
    --------
    >>> from venire.aggregation.majority import Majority
    >>> rows = [("a", "x", 0), ("a", "y", 0), ("b", "x", 2), ("b", "y", 2)]
    >>> SklearnStyle(Majority()).fit_predict(rows).tolist()
    [0, 2]
    """

    def __init__(self, aggregator: Aggregator | None = None, *, seed: int = 0) -> None:
        self.aggregator = aggregator
        self.seed = seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn's clone asks for them."""
        return {"aggregator": self.aggregator, "seed": self.seed}

    def set_params(self, **params: Any) -> SklearnStyle:
        """Set parameters by name."""
        for name, value in params.items():
            if name not in ("aggregator", "seed"):
                raise BadSetting(f"{name!r} is no parameter; there are aggregator and seed")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> SklearnStyle:
        """Fit on three columns: item, annotator, label; y is ignored."""
        item, annotator, label = _three_columns(X)
        judgments, labels = _judgments(item, annotator, label, None)
        self.items_: list[str] = item.unique(maintain_order=True).to_list()
        self.posterior_: Posterior = (self.aggregator or _default()).fit(judgments, seed=self.seed)
        self.classes_: NDArray[Any] = np.array(labels)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Fit and return the most probable label of each item."""
        labels: NDArray[Any] = self.fit(X).classes_[self.posterior_.mode]
        return labels

    def predict_proba(self, X: Any = None) -> Floats:
        """Return grade probabilities of the fitted items, or of the items named in X."""
        if not hasattr(self, "posterior_"):
            raise NotFitted("call fit before asking for the result")
        if X is None:
            return self.posterior_.probabilities
        row = {item: at for at, item in enumerate(self.items_)}
        wanted = [_id(item) for item in X]
        missing = [item for item in wanted if item not in row]
        if missing:
            raise BadSetting(f"item {missing[0]!r} was not there when fitting")
        return self.posterior_.probabilities[[row[item] for item in wanted]]


def _three_columns(X: Any) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Return item, annotator and label of a frame, an array or rows; ids as text."""
    if isinstance(X, (list, tuple, np.ndarray)):
        if any(np.ndim(row) != 1 or len(row) != 3 for row in X):
            raise BadSetting("rows are (item, annotator, label)")
        rows = [tuple(row) for row in X]
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
        item, annotator = (
            pl.Series([_id(value) for value in column], dtype=pl.String) for column in columns[:2]
        )
        return item, annotator, _labels(columns[2])
    frame = boundary.to_polars(X)
    if frame.width != 3:
        raise BadSetting(f"three columns are needed (item, annotator, label), not {frame.width}")
    item, annotator, label = frame.get_columns()
    return item.cast(pl.String), annotator.cast(pl.String), label


def _id(value: Any) -> str:
    return number_text(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _labels(values: list[Any]) -> pl.Series:
    """Return labels of one type; integers beside decimals are numbers, mixed ones are text."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(isinstance(value, (int, float)) for value in plain):
        whole = all(isinstance(value, int) for value in plain)
        return pl.Series(plain if whole else [float(value) for value in plain])
    return pl.Series([str(value) for value in plain], dtype=pl.String)
