"""The models with the interfaces of crowd-kit and scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from venire.aggregation.base import Aggregator
from venire.aggregation.posterior import Posterior
from venire.aggregation.registry import DEFAULT, build
from venire.arrays import Floats
from venire.errors import BadSetting, DataError, UnknownName, VenireError
from venire.tables import boundary
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale
from venire.tables.schema import number_text

QUERY = "all"
"""These interfaces have no queries: all tasks belong to one."""


class NotFitted(VenireError, AttributeError):
    """A result was requested before ``fit``."""

    code = "not-fitted"


def _find_scale(labels: pl.Series, order: list[Any] | None) -> tuple[Scale, list[Any]]:
    """Return the scale of arbitrary labels and the labels in increasing order.

    If all labels are numbers, also as text, they keep their values; otherwise the values are
    ranks.
    """
    distinct = list(order) if order is not None else labels.unique().drop_nulls().to_list()
    if len(set(distinct)) != len(distinct):
        raise BadSetting("must not repeat a label", argument="labels", value=order)
    values = [_read_number(label) for label in distinct]
    if all(value is not None for value in values):
        rising = sorted(zip(values, distinct, strict=True), key=lambda pair: pair[0] or 0.0)
        numbers = tuple(float(value) for value, _ in rising if value is not None)
        ordered = [label for _, label in rising]
        if len(set(numbers)) == len(numbers) and (order is None or ordered == distinct):
            return Scale(numbers), ordered
    if order is None:
        distinct.sort(key=str)
    return Scale(tuple(float(rank) for rank in range(len(distinct)))), distinct


def _read_number(label: Any) -> float | None:
    """Return the number that a label is or spells, or None."""
    try:
        value = float(label)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _build_judgments(
    task: pl.Series, worker: pl.Series, label: pl.Series, order: list[Any] | None
) -> tuple[Judgments, list[Any]]:
    scale, labels = _find_scale(label, order)
    unknown = set(label.unique().drop_nulls().to_list()) - set(labels)
    if unknown:
        raise BadSetting(
            f"must name every label (missing: {sorted(map(str, unknown))[0]!r})",
            argument="labels",
            value=order,
        )
    grade = label.replace_strict(labels, list(scale.values), return_dtype=pl.Float64)
    frame = pl.DataFrame(
        {"query_id": pl.repeat(QUERY, len(task), eager=True), "doc_id": task,
         "annotator_id": worker, "label": grade}
    )  # fmt: skip
    return Judgments.of(frame, scale=scale), labels


class CrowdKitStyle:
    """The interface of crowd-kit: takes a pandas frame with ``task, worker, label``.

    Parameters
    ----------
    aggregator : Aggregator, optional
        The committee, the default model, if not given.
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
            raise BadSetting(
                f"must be a model, not its class (got {aggregator.__name__})",
                argument="aggregator",
                hint=f"Pass {aggregator.__name__}().",
            )
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
                    f"The frame has no column {column}. Rename one of {', '.join(frame.columns)}."
                )
        if frame.is_empty():
            raise DataError("The frame has no rows.")
        judgments, self._order = _build_judgments(
            frame["task"], frame["worker"], frame["label"], self.labels
        )
        self._tasks = frame["task"].unique(maintain_order=True)
        model = self.aggregator or build(DEFAULT)
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
        """The posterior of the model."""
        if self._posterior is None:
            raise NotFitted("There is no result yet. Call `fit` first.")
        return self._posterior

    @property
    def labels_(self) -> Any:
        """Label of each task, a pandas series named agg_label."""
        grade = self.posterior_.mode
        frame = pl.DataFrame(
            {"task": self._tasks, "agg_label": pl.Series([self._order[k] for k in grade])}
        )
        return boundary.to_pandas(frame).set_index("task")["agg_label"]

    @property
    def probas_(self) -> Any:
        """Probability of each label, a pandas frame."""
        columns = {str(label): self.posterior_.probabilities[:, k]
                   for k, label in enumerate(self._order)}  # fmt: skip
        out = boundary.to_pandas(pl.DataFrame({"task": self._tasks, **columns})).set_index("task")
        out.columns = list(self._order)
        return out

    @property
    def skills_(self) -> Any:
        """Expertise of each worker, a pandas series."""
        annotators = self.posterior_.annotators
        if "expertise" not in annotators.columns:
            raise NotFitted(f"The model {self.posterior_.model} does not estimate expertise.")
        frame = annotators.select(pl.col("annotator_id").alias("worker"), "expertise")
        return boundary.to_pandas(frame).set_index("worker")["expertise"]


class SklearnStyle:
    """The interface of scikit-learn: takes rows of (item, annotator, label), returns arrays.

    Parameters
    ----------
    aggregator : Aggregator, optional
        The committee, the default model, if not given.
    seed : int

    Attributes
    ----------
    items_ : list of str
        Items in the order of their first row; results have this order.
    classes_ : array
        The labels from worst to best: numbers by value, text in alphabetical order.
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
                raise UnknownName("parameter", name, ("aggregator", "seed"))
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> SklearnStyle:
        """Fit on three columns: item, annotator, label; y is ignored."""
        item, annotator, label = _read_columns(X)
        judgments, labels = _build_judgments(item, annotator, label, None)
        self.items_: list[str] = item.unique(maintain_order=True).to_list()
        model = self.aggregator or build(DEFAULT)
        self.posterior_: Posterior = model.fit(judgments, seed=self.seed)
        self.classes_: NDArray[Any] = np.array(labels)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Fit and return the most probable label of each item."""
        labels: NDArray[Any] = self.fit(X).classes_[self.posterior_.mode]
        return labels

    def predict_proba(self, X: Any = None) -> Floats:
        """Return grade probabilities of the fitted items, or of the items named in X."""
        if not hasattr(self, "posterior_"):
            raise NotFitted("There is no result yet. Call `fit` first.")
        if X is None:
            return self.posterior_.probabilities
        row = {item: number for number, item in enumerate(self.items_)}
        items = [_write_id(item) for item in X]
        missing = [item for item in items if item not in row]
        if missing:
            raise BadSetting(
                f"must hold items of the fit (got {missing[0]!r})", argument="X", value=missing[0]
            )
        return self.posterior_.probabilities[[row[item] for item in items]]


def _read_columns(X: Any) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Return item, annotator and label of a frame, an array or rows; ids as text."""
    if isinstance(X, (list, tuple, np.ndarray)):
        if any(np.ndim(row) != 1 or len(row) != 3 for row in X):
            raise BadSetting("must have rows of (item, annotator, label)", argument="X")
        rows = [tuple(row) for row in X]
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
        item, annotator = (
            pl.Series([_write_id(value) for value in column], dtype=pl.String)
            for column in columns[:2]
        )
        return item, annotator, _unify_labels(columns[2])
    frame = boundary.to_polars(X)
    if frame.width != 3:
        raise BadSetting(
            f"must have three columns: item, annotator, label (got {frame.width})", argument="X"
        )
    item, annotator, label = frame.get_columns()
    return item.cast(pl.String), annotator.cast(pl.String), label


def _write_id(value: Any) -> str:
    return number_text(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _unify_labels(values: list[Any]) -> pl.Series:
    """Return labels of one type: integers and decimals become numbers, mixed types text."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(isinstance(value, (int, float)) for value in plain):
        whole = all(isinstance(value, int) for value in plain)
        return pl.Series(plain if whole else [float(value) for value in plain])
    return pl.Series([str(value) for value in plain], dtype=pl.String)
