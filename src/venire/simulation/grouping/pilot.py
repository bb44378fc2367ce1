"""What a judged pilot says of its annotators: how often they are right, and how fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.errors import DataError, NoOverlap
from venire.simulation.grouping.annotators import DEFAULT, GroupedAnnotator, annotator, numbers
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """A measured probability.

    Attributes
    ----------
    right, total : int
    low, high : float
        The exact binomial interval at 95% (Clopper and Pearson 1934).
    """

    right: int
    total: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.right / self.total if self.total else None

    @property
    def low(self) -> float:
        """The least probability under which so many right ones are not rare."""
        from scipy.special import betaincinv

        if not self.right:
            return 0.0
        return float(betaincinv(self.right, self.total - self.right + 1, (1 - LEVEL) / 2))

    @property
    def high(self) -> float:
        """The greatest probability under which so few right ones are not rare."""
        from scipy.special import betaincinv

        if self.right == self.total:
            return 1.0
        return float(betaincinv(self.right + 1, self.total - self.right, (1 + LEVEL) / 2))


@dataclass(frozen=True)
class Pilot:
    """One annotator of a pilot, measured.

    Attributes
    ----------
    annotator_id : str
    relevant, not_relevant : Share
        Right among the images that are relevant, and that are not.
    seconds : float or None
        Median time of a judgment; None where times were not kept.
    notes : tuple of str
        What could not be measured, and is Typical's.
    """

    annotator_id: str
    relevant: Share
    not_relevant: Share
    seconds: float | None
    notes: tuple[str, ...] = ()

    @property
    def type(self) -> GroupedAnnotator:
        """The annotator type: Typical's values with the measured accuracy and speed.

        The measured time takes the place of the time to judge one image, and the other times
        change in the same proportion: somebody who is slow is slow at all of it.
        """
        base = annotator(DEFAULT)
        values: dict[str, Any] = {"name": f"pilot {self.annotator_id}"}
        for name, share in (
            ("accuracy_relevant", self.relevant),
            ("accuracy_not_relevant", self.not_relevant),
        ):
            if share.value is not None:
                values[name] = share.value
        if self.seconds is not None:
            pace = self.seconds / base.judge_seconds
            keys = [row["key"] for row in numbers()["times"]]
            values |= {key: getattr(base, key) * pace for key in keys}
        return annotator(DEFAULT, **values)


def measure_pilot(judgments: Judgments, truth: Qrels, *, relevant_from: float = 1) -> list[Pilot]:
    """Measure every annotator of a pilot against the truth.

    Parameters
    ----------
    judgments : Judgments
        With ``seconds``, where times were kept.
    truth : Qrels
        Judgments of pairs that it does not name are not used.
    relevant_from : float
        Least relevant grade, of labels and of the truth.

    Returns
    -------
    list of Pilot
        By id.

    Raises
    ------
    NoOverlap
        Where the truth names no pair that was judged.

    Examples
    --------
    >>> judged = Judgments.of(pl.DataFrame({
    ...     "query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "annotator_id": ["x"] * 3,
    ...     "label": [1, 1, 0], "seconds": [2.0, 4.0, 9.0],
    ... }))
    >>> pilot, = measure_pilot(judged, Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 0}}))
    >>> pilot.not_relevant.value, pilot.seconds, pilot.type.label_seconds
    (0.5, 4.0, 2.4000000000000004)
    """
    frame = judgments.frame.join(truth.frame.select(*PAIR, "relevance"), on=PAIR, how="inner")
    if frame.is_empty():
        raise NoOverlap(
            "The truth and the judgments share no pair",
            hint="Use the same query and document IDs in both.",
        )
    if "seconds" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.Float64).alias("seconds"))
    timed = pl.col("seconds") > 0
    frame = frame.with_columns(
        (pl.col("relevance") >= relevant_from).alias("true"),
        (pl.col("label") >= relevant_from).alias("said"),
    )
    right = pl.col("true") == pl.col("said")
    rows = (
        frame.group_by("annotator_id")
        .agg(
            (right & pl.col("true")).sum().alias("hits"),
            pl.col("true").sum().alias("relevant"),
            (right & ~pl.col("true")).sum().alias("rejections"),
            (~pl.col("true")).sum().alias("not_relevant"),
            pl.col("seconds").filter(timed).median().alias("seconds"),
        )
        .sort("annotator_id")
    )
    out = []
    for name, hits, relevant, rejections, rest, seconds in rows.iter_rows():
        notes = [
            f"{name}: {what}; Typical's value is used"
            for what, is_so in (
                ("judged no relevant image", relevant == 0),
                ("judged no image that is not relevant", rest == 0),
                ("no times were kept", seconds is None),
            )
            if is_so
        ]
        shares = Share(hits, relevant), Share(rejections, rest)
        out.append(Pilot(name, *shares, seconds, tuple(notes)))
    return out


def majority_truth(judgments: Judgments, *, relevant_from: float = 1) -> Qrels:
    """Return what most annotators of a pilot say of each pair.

    The grade is ``relevant_from`` where most say relevant, and one less where not: with the
    default, 1 and 0. A tie is relevant: recall comes first.

    Raises
    ------
    DataError
        Where nothing was judged.
    """
    if not len(judgments):
        raise DataError("the pilot has no judgments yet")
    says = (pl.col("label") >= relevant_from).mean()
    frame = judgments.frame.group_by(PAIR, maintain_order=True).agg(says.alias("share"))
    grade = relevant_from - 1 + (pl.col("share") >= 0.5).cast(pl.Int64)
    return Qrels.of(frame.select(*PAIR, grade.alias("relevance")))


def default_types(pilots: list[Pilot] | None = None) -> list[GroupedAnnotator]:
    """Return the types that are on by default: the pilot's annotators, or Typical."""
    return [pilot.type for pilot in pilots] if pilots else [annotator(DEFAULT)]
