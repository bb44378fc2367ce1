"""Simulated annotators, and fake judgments for the spam experiment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.arrays import Floats
from venire.errors import BadSetting, UnknownName
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale


@dataclass(frozen=True)
class AnnotatorType:
    """How a person labels: sees the grade with a shift and an error, or does not look.

    Attributes
    ----------
    name : str
    shift : float
        Steps added to the grade before it is named: above 0 is lenient.
    sd : float
        Standard deviation of the error in steps.
    attention : float
        Share of judgments that look at the item; the rest are spam.
    habit : "uniform" or "one-label"
        What spam looks like: any label, or always the same one.
    """

    name: str
    shift: float = 0.0
    sd: float = 0.5
    attention: float = 1.0
    habit: str = "uniform"


TYPES = {
    kind.name: kind
    for kind in (
        AnnotatorType("careful", sd=0.35, attention=0.99),
        AnnotatorType("typical", sd=0.6, attention=0.95),
        AnnotatorType("lenient", shift=0.4, sd=0.6, attention=0.95),
        AnnotatorType("strict", shift=-0.4, sd=0.6, attention=0.95),
        AnnotatorType("careless", sd=1.0, attention=0.5),
        AnnotatorType("random", attention=0.0),
        AnnotatorType("clicker", attention=0.0, habit="one-label"),
    )
}


def confusion_of(kind: AnnotatorType, size: int, favourite: int = 0) -> Floats:
    """Return P(label | grade) [grade, label] of a type on K evenly spaced grades."""
    from scipy.special import ndtr

    grades = np.arange(size) + kind.shift
    edges = np.concatenate([[-np.inf], np.arange(size - 1) + 0.5, [np.inf]])
    seen = np.diff(ndtr((edges[None, :] - grades[:, None]) / kind.sd), axis=1)
    spam = np.full(size, 1.0 / size)
    if kind.habit == "one-label":
        spam = np.eye(size)[favourite]
    elif kind.habit != "uniform":
        raise BadSetting(f"habit is 'uniform' or 'one-label', not {kind.habit!r}")
    table: Floats = kind.attention * seen + (1.0 - kind.attention) * spam
    return table


def kind_named(name: str) -> AnnotatorType:
    """Return a type by its name ("did you mean" where there is none)."""
    if name not in TYPES:
        raise UnknownName("annotator type", name, TYPES)
    return TYPES[name]


def judge(
    grades: pl.DataFrame,
    scale: Scale,
    crowd: dict[str, AnnotatorType],
    *,
    overlap: int,
    seed: int,
) -> Judgments:
    """Let a crowd judge pairs whose grades are known, ``overlap`` different people a pair.

    Parameters
    ----------
    grades : polars.DataFrame
        ``query_id, doc_id, relevance`` with grades of the scale.
    scale : Scale
    crowd : mapping
        Annotator id -> type.
    overlap : int
        Judgments of each pair.
    seed : int

    Returns
    -------
    Judgments
        With ``seconds``: careless people are fast.
    """
    people = list(crowd)
    if not 1 <= overlap <= len(people):
        raise BadSetting(f"overlap must be between 1 and the {len(people)} annotators")
    rng = np.random.default_rng(seed)
    size = scale.size
    favourites = rng.integers(0, size, len(people))
    tables = np.stack(
        [
            confusion_of(crowd[name], size, int(favourite))
            for name, favourite in zip(people, favourites, strict=True)
        ]
    )
    n = grades.height
    # People differ in how much they do: some come back for every batch.
    effort = rng.gamma(2.0, 1.0, len(people))
    keys = rng.exponential(1.0, (n, len(people))) / effort
    who = np.argsort(keys, axis=1)[:, :overlap].reshape(-1)
    item = np.repeat(np.arange(n), overlap)
    grade = scale.index(grades["relevance"].to_numpy().astype(np.float64))[item]
    below = np.cumsum(tables, axis=2)[who, grade]
    label = np.sum(rng.random((item.size, 1)) > below[:, :-1], axis=1)
    attention = np.array([kind.attention for kind in crowd.values()])[who]
    seconds = rng.lognormal(np.log(4.0 + 16.0 * attention), 0.4)
    frame = grades.select("query_id", "doc_id")[item].with_columns(
        pl.Series("annotator_id", [people[number] for number in who], dtype=pl.String),
        pl.Series("label", scale.array()[label]),
        pl.Series("seconds", np.round(seconds, 1)),
    )
    return Judgments.of(frame, scale=scale)


def add_fakes(judgments: Judgments, per_item: int, *, seed: int) -> Judgments:
    """Add ``per_item`` uniform labels to every item, by fake annotators of average workload.

    The spam experiment of the source paper: "the average number of ratings for a fake
    annotator is the same as the average number of ratings for a real annotator". No fake
    annotator judges an item twice.

    Parameters
    ----------
    judgments : Judgments
    per_item : int
    seed : int
    """
    if per_item < 0:
        raise BadSetting(f"fake judgments per item must be 0 or more, not {per_item}")
    if per_item == 0 or not len(judgments):
        return judgments
    codes = judgments.codes
    rng = np.random.default_rng(seed)
    total = per_item * codes.n_items
    people = max(per_item, round(total * codes.n_annotators / len(judgments)))
    # Items in a random order, dealt round the table: who sits there gets each item once,
    # and everybody gets the same number.
    order = rng.permutation(codes.n_items)
    item = np.repeat(order, per_item)
    who = np.arange(total) % people
    label = judgments.scale.array()[rng.integers(0, judgments.scale.size, total)]
    fakes = codes.items.select("query_id", "doc_id")[item].with_columns(
        pl.Series("annotator_id", who).cast(pl.String).str.pad_start(6, "0"),
        pl.Series("label", label).cast(judgments.frame.schema["label"]),
    )
    fakes = fakes.with_columns(("fake-" + pl.col("annotator_id")).alias("annotator_id"))
    both = pl.concat([judgments.frame, fakes], how="diagonal")
    return Judgments(both, judgments.scale, (*judgments.notes, f"{total:,} fake judgments added"))
