"""The conformance suite of aggregators.

Each check excludes a fault of other tools: labels attached to the wrong annotator when order of
appearance differs from sorted order; restarts that share one seed; underflow on an item with
thousands of judgments; a prior counted once per judgment; ties that depend on row order; items
dropped or labels invented silently; failure on an empty table, or on boolean or text labels;
"converged" after the iterations ran out.
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
from venire.testing.crowds import make_crowd
from venire.testing.rules import (
    CLOSE,
    DoesNotApply,
    Nonconforming,
    require,
    require_same,
    require_sane,
    sort_by_id,
)


def check_aggregator(aggregator: Any, *, seed: int = 0) -> list[str]:
    """Run every check on an aggregator; return the names of those that apply to it.

    Parameters
    ----------
    aggregator : Aggregator
        A configured model; it is not changed.
    seed : int
        Seed of the simulated crowds.

    Raises
    ------
    Nonconforming
        With the name of the check and what is wrong.

    Examples
    --------
    >>> from venire.aggregation.mean import Mean
    >>> "row order" in check_aggregator(Mean())
    True
    """
    passed = []
    for name, check in CHECKS:
        try:
            check(aggregator, seed)
        except DoesNotApply:
            continue
        except Nonconforming as error:
            raise Nonconforming(f"{name}: {error}") from None
        passed.append(name)
    return passed


def _row_order(aggregator: Any, seed: int) -> None:
    judgments, _ = make_crowd(seed)
    shuffled = judgments.frame.sample(fraction=1.0, shuffle=True, seed=seed)
    first = aggregator.fit(judgments, seed=seed)
    require_same(
        first, aggregator.fit(replace(judgments, frame=shuffled), seed=seed), "rows shuffled"
    )


def _ids(aggregator: Any, seed: int) -> None:
    """Ids that sort in reverse order, and numeric ids, change nothing."""
    judgments, _ = make_crowd(seed)
    first = sort_by_id(aggregator.fit(judgments, seed=seed))
    frame = judgments.frame
    new_ids = {name: 1000 - rank for rank, name in enumerate(frame["annotator_id"].unique().sort())}
    renamed = frame.with_columns(
        pl.col("annotator_id").replace_strict(new_ids, return_dtype=pl.Int64)
    )
    second = aggregator.fit(Judgments.of(renamed, scale=judgments.scale), seed=seed)
    back = second.annotators.with_columns(
        pl.col("annotator_id").replace_strict({str(new): name for name, new in new_ids.items()})
    )
    require_same(first, replace(second, annotators=back), "annotators renamed")


def _labels(aggregator: Any, seed: int) -> None:
    """Text, boolean and decimal labels are the same labels."""
    judgments, _ = make_crowd(seed, size=2)
    first = aggregator.fit(judgments, seed=seed)
    for what, column in (
        ("labels as text", judgments.frame["label"].cast(pl.String)),
        ("labels as booleans", judgments.frame["label"].cast(pl.Boolean)),
        ("labels as decimals", judgments.frame["label"].cast(pl.Float64)),
    ):
        frame = judgments.frame.with_columns(column.alias("label"))
        require_same(first, aggregator.fit(Judgments.of(frame, scale="0,1"), seed=seed), what)


def _unit(aggregator: Any, seed: int) -> None:
    """Labels in another unit give the same grades in that unit: 0, 25, 50 are like 0, 1, 2."""
    judgments, _ = make_crowd(seed)
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
        split = [("q", "split", f"w{n:03d}", int(rank >= 40)) for rank, n in enumerate(names)]
        frame = pl.DataFrame([*rows, *split], schema=[*PAIR, "annotator_id", "label"], orient="row")
        items = aggregator.fit(Judgments.of(frame, scale="0,1"), seed=seed).frame
        mode = items.filter(pl.col("doc_id") == "split")["mode"].item()
        require(mode == 1.0, f"60 of 100 equal annotators give label 1, but the grade is {mode}")


def _twice(aggregator: Any, seed: int) -> None:
    judgments, _ = make_crowd(seed)
    first = aggregator.fit(judgments, seed=seed)
    require_same(first, aggregator.fit(judgments, seed=seed), "a second fit", close=0.0)


def _settings_unchanged(aggregator: Any, seed: int) -> None:
    before = repr(aggregator)
    judgments, _ = make_crowd(seed)
    posterior = aggregator.fit(judgments, seed=seed)
    require(repr(aggregator) == before, "fitting changed the settings")
    require(posterior.seed == seed, "the result does not carry its seed")
    require(bool(posterior.version), "the result does not carry the version")


def _unanimous(aggregator: Any, seed: int) -> None:
    """Items on which all annotators agree keep their grade."""
    judgments, _ = make_crowd(seed, good=(0.9, 0.99))
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
    expected = frame["doc_id"].str.slice(4, 1).cast(pl.Float64)
    require(bool((frame["mode"] == expected).all()), "an item with equal labels has another grade")


def _one_annotator(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "annotator_id": ["w"] * 3,
         "label": [0, 1, 2]}
    )  # fmt: skip
    posterior = aggregator.fit(Judgments.of(frame), seed=seed)
    require_sane(posterior, 3, 1)


def _one_item(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 4, "doc_id": ["a"] * 4, "annotator_id": list("wxyz"),
         "label": [2, 2, 2, 0]}
    )  # fmt: skip
    require_sane(aggregator.fit(Judgments.of(frame, scale="0,1,2"), seed=seed), 1, 4)


def _one_grade(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        {"query_id": ["q"] * 4, "doc_id": list("aabb"), "annotator_id": list("xyxy"),
         "label": [1, 1, 1, 1]}
    )  # fmt: skip
    require_sane(aggregator.fit(Judgments.of(frame), seed=seed), 2, 2)


def _empty(aggregator: Any, seed: int) -> None:
    frame = pl.DataFrame(
        schema=dict.fromkeys((*PAIR, "annotator_id"), pl.String) | {"label": pl.Int64}
    )
    require_sane(aggregator.fit(Judgments.of(frame, scale="0,1,2"), seed=seed), 0, 0)


def _heavy_item(aggregator: Any, seed: int) -> None:
    """An item with 5,000 judgments does not underflow."""
    judgments, _ = make_crowd(seed)
    rng = np.random.default_rng(seed)
    label = np.where(rng.random(5000) < 0.7, 2, rng.integers(0, 4, 5000))
    extra = pl.DataFrame(
        {
            "query_id": ["q0"] * 5000,
            "doc_id": ["heavy"] * 5000,
            "annotator_id": [f"h{n}" for n in range(5000)],
            "label": label,
        }
    )
    both = replace(judgments, frame=pl.concat([judgments.frame, extra]))
    posterior = aggregator.fit(both, seed=seed)
    require_sane(posterior, 61, 5012)
    heavy = posterior.frame.filter(pl.col("doc_id") == "heavy")
    require(heavy["mode"].item() == 2.0, "the item with 5,000 judgments has another grade")


def _every_item(aggregator: Any, seed: int) -> None:
    judgments, _ = make_crowd(seed)
    posterior = aggregator.fit(judgments, seed=seed)
    require_sane(posterior, judgments.codes.n_items, judgments.codes.n_annotators)
    pairs = judgments.frame.select(PAIR).unique()
    is_complete = pairs.join(posterior.items, on=PAIR, how="inner").height == pairs.height
    require(is_complete, "items were dropped or invented")
    require(int(posterior.items["judgments"].sum()) == len(judgments), "judgments were lost")


def _right_person(aggregator: Any, seed: int) -> None:
    """Results are attached to the right annotator for any order of ids."""
    judgments, _ = make_crowd(seed, items=300, good=(0.3, 0.98))
    posterior = aggregator.fit(judgments, seed=seed)
    if "expertise" not in posterior.annotators.columns:
        raise DoesNotApply
    ordered = posterior.annotators.with_columns(
        pl.col("annotator_id").str.slice(1).cast(pl.Int64).alias("rank")
    ).sort("rank")
    counts = judgments.frame.group_by("annotator_id").len()
    both = ordered.join(counts, on="annotator_id")
    require(
        bool((both["judgments"] == both["len"]).all()),
        "judgments are counted for the wrong annotator",
    )
    best = ordered["expertise"].to_numpy()
    require(
        float(np.corrcoef(np.argsort(np.argsort(best)), np.arange(best.size))[0, 1]) > 0.5,
        "expertise does not follow how often annotators are right",
    )


def _recovers(aggregator: Any, seed: int) -> None:
    """Good annotators give the true grades."""
    judgments, truth = make_crowd(seed, items=200, good=(0.75, 0.95))
    frame = aggregator.fit(judgments, seed=seed).frame
    item = frame["doc_id"].str.slice(1).cast(pl.Int64).to_numpy()
    right = float(np.mean(frame["mode"].to_numpy() == truth[item]))
    require(right > 0.9, f"only {right:.0%} of the grades are right with good annotators")


def _shards(aggregator: Any, seed: int) -> None:
    """One, two and three shards on any engine give the same results to 1e-10."""
    if "shards" not in inspect.signature(type(aggregator)).parameters:
        raise DoesNotApply
    judgments, _ = make_crowd(seed, items=90)
    if hasattr(aggregator, "max_iterations"):
        # The sums are compared; in a long run a difference in the last bit would grow.
        aggregator = replace(aggregator, max_iterations=25)
    first = replace(aggregator, shards=1).fit(judgments, seed=seed, engine=Serial())
    for shards in (2, 3):
        other = replace(aggregator, shards=shards)
        for engine in (Serial(), Threads(2)):
            require_same(
                first, other.fit(judgments, seed=seed, engine=engine), f"{shards} shards", 1e-10
            )


def _never_falls(aggregator: Any, seed: int) -> None:
    """The objective never falls if the method guarantees it."""
    if not getattr(aggregator, "bound_rises", True):
        raise DoesNotApply
    for part in range(3):
        judgments, _ = make_crowd(seed + part, good=(0.2, 0.95))
        bounds = aggregator.fit(judgments, seed=seed).bounds
        if not bounds.height:
            raise DoesNotApply
        runs = [name for name in bounds.columns if name not in ("iteration", "bound")]
        falls = bounds.with_columns(pl.col("bound").diff().over(runs).alias("d"))
        worst = falls["d"].min()
        size = float(bounds["bound"].abs().max() or 1.0)
        require(
            worst is None or float(worst) >= -1e-9 * size,
            f"the objective falls by {worst}",
        )


def _check_convergence(aggregator: Any, seed: int) -> None:
    """Running out of iterations is not convergence."""
    if not hasattr(aggregator, "max_iterations"):
        raise DoesNotApply
    judgments, _ = make_crowd(seed, good=(0.2, 0.9))
    fine = {"tolerance": 1e-9} if hasattr(aggregator, "tolerance") else {}
    short = replace(aggregator, max_iterations=2, **fine)
    posterior = short.fit(judgments, seed=seed)
    require(not posterior.converged, "'converged' after running out of iterations")
    notes = set(posterior.notes) - set(judgments.notes)
    require(bool(notes), "no note says that it did not converge")


def _distinct_starts(aggregator: Any, seed: int) -> None:
    if getattr(aggregator, "restarts", 1) < 2:
        raise DoesNotApply
    judgments, _ = make_crowd(seed, good=(0.2, 0.9))
    first = aggregator.fit(judgments, seed=seed).bounds.filter(pl.col("iteration") == 0)
    require(first["bound"].n_unique() == first.height, "restarts begin at the same place: one seed")


def _gold(aggregator: Any, seed: int) -> None:
    """Known grades are held, unless the model declares that it does not use them."""
    judgments, truth = make_crowd(seed)
    rows = {"q0": {"d0": float(truth[0])}, "q1": {"d1": float(truth[1])}}
    from venire.tables.qrels import Qrels

    gold = Qrels.from_dict(rows)
    posterior = aggregator.fit(judgments, gold=gold, seed=seed)
    if not getattr(aggregator, "uses_gold", True):
        notes = set(posterior.notes) - set(judgments.notes)
        require(bool(notes), "no note says that known grades are not used")
        return
    frame = posterior.frame.join(gold.frame, on=PAIR)
    require(
        bool(((frame["mode"] - frame["relevance"]).abs() < CLOSE).all()),
        "a known grade was not held",
    )


def _warm(aggregator: Any, seed: int) -> None:
    """Continuing from a result, with new annotators and items, gives a sane result."""
    judgments, _ = make_crowd(seed)
    early = judgments.frame.filter(pl.int_range(pl.len()) < 200)
    first = aggregator.fit(replace(judgments, frame=early), seed=seed)
    again = aggregator.fit(judgments, start=first, seed=seed)
    require_sane(again, judgments.codes.n_items, judgments.codes.n_annotators)


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
    ("the objective never falls", _never_falls),
    ("converged only if so", _check_convergence),
    ("distinct starts", _distinct_starts),
    ("known grades", _gold),
    ("warm start", _warm),
]
