"""Judging one document after another, where each judgment says which run is asked next."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import polars as pl

from venire.pooling.base import Lists, Pool, short_topics
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, counted


class Picker(Protocol):
    """Which run is asked next; made anew for each topic. Runs are numbered as sorted by name."""

    def choose(self, open_runs: list[int]) -> int:
        """Return one of the runs that still have documents."""

    def learn(self, run: int, relevant: bool | None) -> None:
        """Take note of the outcome of the run's document; None is "not judged yet"."""


def adjudicate(
    lists: Lists,
    picker: Callable[[int, np.random.Generator], Picker],
    *,
    strategy: str,
    settings: dict[str, Any],
    budget: int,
    judged: Qrels | None,
    outcomes: Qrels | None,
    relevant_from: float,
    seed: int,
) -> Pool:
    """Return the documents to judge next, in order.

    The run that is picked gives its best document that no run gave before. If ``judged`` has it,
    its grade is learnt and the budget is not touched: so the state after any number of
    judgments is that of having asked for them one by one. If not, it joins the pool; its
    grade is learnt where ``outcomes`` has it (a replay), counts as not relevant where
    ``outcomes`` lacks it, and is unknown where there are no outcomes.

    Topics do not influence each other, and each has its own random numbers, from the seed and its
    id.
    """
    known = _relevance(judged, relevant_from)
    oracle = _relevance(outcomes, relevant_from)
    frame = lists.frame.sort("query_id", "run_id", "rank")
    parts = {
        str(key[0]): part for key, part in frame.partition_by("query_id", as_dict=True).items()
    }
    rows: list[tuple[str, str, str]] = []
    free = missing = 0
    for topic in lists.topics:
        part = parts[topic]
        names = part["run_id"].unique(maintain_order=True).to_list()
        ranked = part.group_by("run_id", maintain_order=True).agg("doc_id")["doc_id"].to_list()
        rng = np.random.default_rng([seed, zlib.crc32(topic.encode())])
        picks = picker(len(names), rng)
        open_runs = list(range(len(names)))
        # Reversed, so that the best document left is popped off the end.
        left = [docs[::-1] for docs in ranked]
        seen: set[str] = set()
        taken = 0
        have = known.get(topic, {})
        truth = oracle.get(topic, {})
        while taken < budget:
            open_runs = [run for run in open_runs if _skip(left[run], seen)]
            if not open_runs:
                break
            run = picks.choose(open_runs)
            doc = left[run].pop()
            seen.add(doc)
            if doc in have:
                picks.learn(run, have[doc])
                free += 1
                continue
            taken += 1
            rows.append((topic, doc, names[run]))
            if outcomes is None:
                picks.learn(run, None)
            else:
                missing += doc not in truth
                picks.learn(run, truth.get(doc, False))
    chosen = pl.DataFrame(rows, schema=[*PAIR, "run_id"], orient="row")
    chosen = chosen.cast(dict.fromkeys(chosen.columns, pl.String)).with_columns(
        pl.int_range(1, pl.len() + 1).over("query_id").alias("order"),
        pl.lit(None, pl.Float64).alias("probability"),
    )
    best = lists.pairs().select(*PAIR, "rank")
    chosen = chosen.join(best, on=PAIR, how="left", maintain_order="left")
    notes = ["the pool is adaptive, so it is biased: no interval may be computed from it"]
    if outcomes is None:
        notes.append("grades of the pool are not known: the order is that of what is judged so far")
    if missing:
        notes.append(f"{counted(missing, 'pair')} not in the qrels counted as not relevant")
    if judged is not None:
        notes.append(f"{counted(free, 'judged pair')} were learnt from, at no cost")
    notes += short_topics(chosen, lists, budget)
    order = chosen.select(*PAIR, "order", "rank", "run_id", "probability")
    return Pool(order, strategy, settings, biased=True, notes=tuple(notes))


def _skip(docs: list[str], seen: set[str]) -> bool:
    """Drop documents that were given before; tell whether any is left."""
    while docs and docs[-1] in seen:
        docs.pop()
    return bool(docs)


def _relevance(qrels: Qrels | None, relevant_from: float) -> dict[str, dict[str, bool]]:
    """Return topic -> document -> relevant; negative grades are "not judged"."""
    if qrels is None:
        return {}
    frame = qrels.frame.filter(pl.col("relevance") >= 0)
    out: dict[str, dict[str, bool]] = {}
    for topic, doc, grade in frame.select(*PAIR, "relevance").iter_rows():
        out.setdefault(topic, {})[doc] = grade >= relevant_from
    return out
