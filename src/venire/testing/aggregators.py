"""What every aggregator must do, whoever wrote it.

Each check excludes a fault that has been seen in other tools: labels attached to the wrong
annotator when order of appearance differs from sorted order; restarts that share one seed;
underflow on an item with thousands of judgments; a prior counted once for each judgment; ties
that depend on row order; an item dropped or a label invented in silence; failure on an empty
table, or on boolean or text labels; "converged" when the iterations ran out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from venire.engine import Serial, Threads
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale
from venire.tables.schema import PAIR
from venire.testing.crowds import crowd
from venire.testing.rules import CLOSE, DoesNotApply, Nonconforming, in_order, require, same, sane


def check_aggregator(aggregator: Any, *, seed: int = 0) -> list[str]:
    """Run every check on an aggregator; return the names of those that apply to it.

    Parameters
    ----------
    aggregator : Aggregator
        A configured one; it is not changed.
    seed : int
        Seed of the made-up crowds.

    Raises
    ------
    Nonconforming
        With the name of the check and what was found.

    Examples
    --------
    >>> from venire.aggregation.mean import Mean
    >>> "row order" in check_aggregator(Mean())
    True
    """
    done = []
    for name, check in CHECKS:
        try:
            check(aggregator, seed)
        except DoesNotApply:
            continue
        except Nonconforming as error:
            raise Nonconforming(f"{name}: {error}") from None
        done.append(name)
    return done


def _row_order(aggregator: Any, seed: int) -> None:
    judgments, _ = crowd(seed)
    shuffled = judgments.frame.sample(fraction=1.0, shuffle=True, seed=seed)
    first = aggregator.fit(judgments, seed=seed)
    same(first, aggregator.fit(replace(judgments, frame=shuffled), seed=seed), "rows shuffled")


def _ids(aggregator: Any, seed: int) -> None:
    """Names that sort the other way round, and numbers for names, change nothing."""
    judgments, _ = crowd(seed)
    first = in_order(aggregator.fit(judgments, seed=seed))
    frame = judgments.frame
    numbers = {name: number for number, name in enumerate(frame["annotator_id"].unique().sort())}
    renamed = frame.with_columns(
        pl.col("annotator_id").replace_strict(
            {name: 1000 - number for name, number in numbers.items()}, return_dtype=pl.Int64
        )
    )
    second = aggregator.fit(Judgments.of(renamed, scale=judgments.scale), seed=seed)
    back = second.annotators.with_columns(
        pl.col("annotator_id").replace_strict(
            {str(1000 - number): name for name, number in numbers.items()}
        )
    )
    same(first, replace(second, annotators=back), "annotators renamed")


def _labels(aggregator: Any, seed: int) -> None:
    """Text, boolean and shifted labels are the same labels."""
    judgments, _ = crowd(seed, size=2)
    first = aggregator.fit(judgments, seed=seed)
    for what, column in (
        ("labels as text", judgments.frame["label"].cast(pl.String)),
        ("labels as booleans", judgments.frame["label"].cast(pl.Boolean)),
        ("labels as decimals", judgments.frame["label"].cast(pl.Float64)),
    ):
        frame = judgments.frame.with_columns(column.alias("label"))
        same(first, aggregator.fit(Judgments.of(frame, scale="0,1"), seed=seed), what)


def _unit(aggregator: Any, seed: int) -> None:
    """Labels in another unit give the same grades in that unit: 0, 25, 50 are as 0, 1, 2."""
    judgments, _ = crowd(seed)
    first = aggregator.fit(judgments, seed=seed)
    for unit in (0.01, 25.0):
        frame = judgments.frame.with_columns(pl.col("label") * unit)
        scale = Scale.of([unit * value for value in judgments.scale.values])
        second = aggregator.fit(Judgments.of(frame, scale=scale), seed=seed)
        gap = np.abs(second.estimate / unit - first.estimate).max(initial=0.0)
        require(bool(gap <= CLOSE), f"labels times {unit}: estimates differ by {gap:.2g} steps")


def _order_of_many(aggregator: Any, seed: int) -> None:
    """An item whose first labels are outweighed by later ones follows the majority."""
    rows = [(f"q{m}", f"d{m}", f"w{n:03d}", m % 2) for m in range(20) for n in range(100)]
    for names in (range(100), range(99, -1, -1)):
        split = [("q", "split", f"w{n:03d}", int(number >= 40)) for number, n in enumerate(names)]
        frame = pl.DataFrame([*rows, *split], schema=[*PAIR, "annotator_id", "label"], orient="row")
        fitted = aggregator.fit(Judgments.of(frame, scale="0,1"), seed=seed).frame
        mode = fitted.filter(pl.col("doc_id") == "split")["mode"].item()
        require(mode == 1.0, f"60 of 100 equal annotators say 1, and the grade is {mode}")


def _twice(aggregator: Any, seed: int) -> None:
    judgments, _ = crowd(seed)
    first = aggregator.fit(judgments, seed=seed)
    same(first, aggregator.fit(judgments, seed=seed), "a second fit", close=0.0)


def _settings_unchanged(aggregator: Any, seed: int) -> None:
    before = repr(aggregator)
    judgments, _ = crowd(seed)
    posterior = aggregator.fit(judgments, seed=seed)
    require(repr(aggregator) == before, "fitting changed the settings")
    require(posterior.seed == seed, "the result does not carry its seed")
    require(bool(posterior.version), "the result does not carry the version")


def _unanimous(aggregator: Any, seed: int) -> None:
    """Items all agree on keep their grade."""
    judgments, _ = crowd(seed, good=(0.9, 0.99))
    extra = pl.DataFrame(
        [
            ("q0", f"sure{grade}-{copy}", f"w{who}", grade)
            for grade in range(4)
            for copy in range(5)
            for who in range(12)
        ],
        schema=judgments.frame.schema,
        orient="row",
    )
    both = replace(judgments, frame=pl.concat([judgments.frame, extra]))
    frame = aggregator.fit(both, seed=seed).frame.filter(pl.col("doc_id").str.contains("sure"))
    asked = frame["doc_id"].str.slice(4, 1).cast(pl.Float64)
    require(bool((frame["mode"] == asked).all()), "an item all agree on has another grade")


def _one_annotator(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "annotator_id": ["w"] * 3,
         "label": [0, 1, 2]}
    )  # fmt: skip
    posterior = aggregator.fit(Judgments.of(frame), seed=seed)
    sane(posterior, 3, 1)


def _one_item(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 4, "doc_id": ["a"] * 4, "annotator_id": list("wxyz"),
         "label": [2, 2, 2, 0]}
    )  # fmt: skip
    sane(aggregator.fit(Judgments.of(frame, scale="0,1,2"), seed=seed), 1, 4)


def _one_grade(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 4, "doc_id": list("aabb"), "annotator_id": list("xyxy"),
         "label": [1, 1, 1, 1]}
    )  # fmt: skip
    sane(aggregator.fit(Judgments.of(frame), seed=seed), 2, 2)


def _empty(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        schema=dict.fromkeys((*PAIR, "annotator_id"), pl.String) | {"label": pl.Int64}
    )
    sane(aggregator.fit(Judgments.of(frame, scale="0,1,2"), seed=seed), 0, 0)


def _heavy_item(aggregator: Any, seed: int) -> None:
    """An item with 5,000 judgments does not underflow."""
    judgments, _ = crowd(seed)
    rng = np.random.default_rng(seed)
    label = np.where(rng.random(5000) < 0.7, 2, rng.integers(0, 4, 5000))
    extra = pl.DataFrame(
        {
            "query_id": ["q0"] * 5000,
            "doc_id": ["heavy"] * 5000,
            "annotator_id": [f"h{number}" for number in range(5000)],
            "label": label,
        }
    )
    both = replace(judgments, frame=pl.concat([judgments.frame, extra]))
    posterior = aggregator.fit(both, seed=seed)
    sane(posterior, 61, 5012)
    heavy = posterior.frame.filter(pl.col("doc_id") == "heavy")
    require(heavy["mode"].item() == 2.0, "the item with 5,000 judgments has another grade")


def _every_item(aggregator: Any, seed: int) -> None:
    judgments, _ = crowd(seed)
    posterior = aggregator.fit(judgments, seed=seed)
    sane(posterior, judgments.codes.n_items, judgments.codes.n_annotators)
    judged = judgments.frame.select(PAIR).unique()
    same = judged.join(posterior.items, on=PAIR, how="inner").height == judged.height
    require(same, "items were dropped or invented")
    require(
        int(posterior.items["judgments"].sum()) == len(judgments), "judgments were lost on the way"
    )


def _right_person(aggregator: Any, seed: int) -> None:
    """What is said of an annotator belongs to that annotator, whatever the order of names."""
    judgments, _ = crowd(seed, items=300, good=(0.3, 0.98))
    posterior = aggregator.fit(judgments, seed=seed)
    if "expertise" not in posterior.annotators.columns:
        raise DoesNotApply
    ordered = posterior.annotators.with_columns(
        pl.col("annotator_id").str.slice(1).cast(pl.Int64).alias("rank")
    ).sort("rank")
    counts = judgments.frame.group_by("annotator_id").len()
    both = ordered.join(counts, on="annotator_id")
    require(bool((both["judgments"] == both["len"]).all()), "judgments counted for another")
    best = ordered["expertise"].to_numpy()
    require(
        float(np.corrcoef(np.argsort(np.argsort(best)), np.arange(best.size))[0, 1]) > 0.5,
        "expertise does not follow how often annotators are right",
    )


def _recovers(aggregator: Any, seed: int) -> None:
    """With good annotators the true grades come out."""
    judgments, truth = crowd(seed, items=200, good=(0.75, 0.95))
    frame = aggregator.fit(judgments, seed=seed).frame
    item = frame["doc_id"].str.slice(1).cast(pl.Int64).to_numpy()
    right = float(np.mean(frame["mode"].to_numpy() == truth[item]))
    require(right > 0.9, f"only {right:.0%} of the grades are right with good annotators")


def _shards(aggregator: Any, seed: int) -> None:
    """One, two and three shards and any engine give the same to 1e-10."""
    if "shards" not in inspect.signature(type(aggregator)).parameters:
        raise DoesNotApply
    judgments, _ = crowd(seed, items=90)
    if hasattr(aggregator, "max_iterations"):
        # Sums are what is compared; a long run would grow a last bit into a difference.
        aggregator = replace(aggregator, max_iterations=25)
    first = replace(aggregator, shards=1).fit(judgments, seed=seed, engine=Serial())
    for shards in (2, 3):
        other = replace(aggregator, shards=shards)
        for engine in (Serial(), Threads(2)):
            same(first, other.fit(judgments, seed=seed, engine=engine), f"{shards} shards", 1e-10)


def _never_falls(aggregator: Any, seed: int) -> None:
    """The bound never falls where the method promises it."""
    if not getattr(aggregator, "bound_rises", True):
        raise DoesNotApply
    for part in range(3):
        judgments, _ = crowd(seed + part, good=(0.2, 0.95))
        bounds = aggregator.fit(judgments, seed=seed).bounds
        if not bounds.height:
            raise DoesNotApply
        runs = [name for name in bounds.columns if name not in ("iteration", "bound")]
        falls = bounds.with_columns(pl.col("bound").diff().over(runs).alias("d"))
        worst = falls["d"].min()
        size = float(bounds["bound"].abs().max() or 1.0)
        require(
            worst is None or float(worst) >= -1e-9 * size,
            f"the bound falls by {worst}",
        )


def _check_converged(aggregator: Any, seed: int) -> None:
    """Running out of iterations is not convergence."""
    if not hasattr(aggregator, "max_iterations"):
        raise DoesNotApply
    judgments, _ = crowd(seed, good=(0.2, 0.9))
    fine = {"tolerance": 1e-9} if hasattr(aggregator, "tolerance") else {}
    short = replace(aggregator, max_iterations=2, **fine)
    posterior = short.fit(judgments, seed=seed)
    require(not posterior.converged, "'converged' after running out of iterations")
    is_noted = any("NOT converged" in note for note in posterior.notes)
    require(is_noted, "no note says that it did not converge")


def _distinct_starts(aggregator: Any, seed: int) -> None:
    if getattr(aggregator, "restarts", 1) < 2:
        raise DoesNotApply
    judgments, _ = crowd(seed, good=(0.2, 0.9))
    first = aggregator.fit(judgments, seed=seed).bounds.filter(pl.col("iteration") == 0)
    require(first["bound"].n_unique() == first.height, "restarts begin at the same place: one seed")


def _gold(aggregator: Any, seed: int) -> None:
    """Known grades are held, or the notes say that they are not used."""
    judgments, truth = crowd(seed)
    rows = {"q0": {"d0": float(truth[0])}, "q1": {"d1": float(truth[1])}}
    from venire.tables.qrels import Qrels

    gold = Qrels.from_dict(rows)
    posterior = aggregator.fit(judgments, gold=gold, seed=seed)
    if any("not used" in note for note in posterior.notes):
        return
    frame = posterior.frame.join(gold.frame, on=PAIR)
    require(
        bool(((frame["mode"] - frame["relevance"]).abs() < CLOSE).all()),
        "a known grade was not held",
    )


def _warm(aggregator: Any, seed: int) -> None:
    """Continuing from a result, with new people and items, gives a sane result."""
    judgments, _ = crowd(seed)
    early = judgments.frame.filter(pl.int_range(pl.len()) < 200)
    first = aggregator.fit(replace(judgments, frame=early), seed=seed)
    again = aggregator.fit(judgments, start=first, seed=seed)
    sane(again, judgments.codes.n_items, judgments.codes.n_annotators)


CHECKS: list[tuple[str, Callable[[Any, int], None]]] = [
    ("row order", _row_order),
    ("names and types of ids", _ids),
    ("types of labels", _labels),
    ("units of labels", _unit),
    ("60 against 40", _order_of_many),
    ("two fits", _twice),
    ("settings, seed, version", _settings_unchanged),
    ("unanimous items", _unanimous),
    ("one annotator", _one_annotator),
    ("one item", _one_item),
    ("one grade", _one_grade),
    ("empty table", _empty),
    ("an item with 5,000 judgments", _heavy_item),
    ("every item once", _every_item),
    ("the right person", _right_person),
    ("recovers the truth", _recovers),
    ("any number of shards", _shards),
    ("the bound never falls", _never_falls),
    ("converged only if so", _check_converged),
    ("distinct starts", _distinct_starts),
    ("known grades", _gold),
    ("warm start", _warm),
]
