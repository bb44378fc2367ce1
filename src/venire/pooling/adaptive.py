"""Judging one document after another: each judgment decides which run gives the next one."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import polars as pl

from venire.pooling.base import BudgetedStrategy, Lists, Pool, note_short_topics
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, express


class Picker(Protocol):
    """Which run gives the next document; made anew per topic. Runs are numbered by name."""

    def choose(self, open_runs: list[int]) -> int:
        """Return one of the runs that still have documents."""

    def learn(self, run: int, relevant: bool | None) -> None:
        """Record the judgment of the run's document; None means "not judged yet"."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveStrategy(BudgetedStrategy):
    """A strategy in which each judgment decides which run gives the next document."""

    is_adaptive: ClassVar[bool] = True

    def start_topic(self, size: int, rng: np.random.Generator) -> Picker:
        """Return the picker of a topic.

        Parameters
        ----------
        size : int
            Number of runs that have the topic.
        rng : numpy.random.Generator
            Random numbers of the topic.
        """
        raise NotImplementedError

    def list_settings(self, seed: int) -> dict[str, Any]:
        """Return the settings that are recorded with the pool."""
        return {"budget": self.budget}

    def pool(
        self,
        lists: Lists,
        *,
        judged: Qrels | None = None,
        outcomes: Qrels | None = None,
        relevant_from: float = 1,
        seed: int = 0,
    ) -> Pool:
        """Return the documents to judge next, in order.

        The run that is picked gives its best document that no run gave before. If ``judged`` has
        the document, its grade is learnt and the budget does not change: so the state after any
        number of judgments equals that of asking for them one by one. Otherwise the document
        joins the pool. Its grade is learnt if ``outcomes`` has it (a replay), counts as not
        relevant if ``outcomes`` lacks it, and is unknown without outcomes.

        Topics do not influence each other; each has its own random numbers, from the seed and its
        ID.
        """
        lists = lists.to_depth(self.depth)
        known = _mark_relevant(judged, relevant_from)
        replayed = None if outcomes is None else _mark_relevant(outcomes, relevant_from)
        frame = lists.frame.sort("query_id", "run_id", "rank")
        by_topic = frame.partition_by("query_id", as_dict=True)
        rows: list[tuple[str, str, str]] = []
        free = missing = 0
        for topic in lists.topics:
            order = _judge_topic(
                self,
                by_topic[topic,],
                np.random.default_rng([seed, zlib.crc32(topic.encode())]),
                known.get(topic, {}),
                None if replayed is None else replayed.get(topic, {}),
            )
            rows += [(topic, document, run) for document, run in order.rows]
            free += order.free
            missing += order.missing
        chosen = pl.DataFrame(rows, schema=[*PAIR, "run_id"], orient="row")
        chosen = chosen.cast(dict.fromkeys(chosen.columns, pl.String)).with_columns(
            pl.int_range(1, pl.len() + 1).over("query_id").alias("order"),
            pl.lit(None, pl.Float64).alias("probability"),
        )
        best = lists.list_pairs().select(*PAIR, "rank")
        chosen = chosen.join(best, on=PAIR, how="left", maintain_order="left")
        notes = ["the pool is adaptive, so it is biased: no interval may be computed from it"]
        if outcomes is None:
            notes.append("grades of the pool are unknown: the order follows the judgments so far")
        if missing:
            notes.append(f"{express(missing, 'pair')} not in the qrels counted as not relevant")
        if judged is not None:
            notes.append(f"learnt from {express(free, 'judged pair')} at no cost")
        notes += note_short_topics(chosen, lists, self.budget)
        frame = chosen.select(*PAIR, "order", "rank", "run_id", "probability")
        return Pool(frame, self.name, self.list_settings(seed), biased=True, notes=tuple(notes))


class _Order(NamedTuple):
    """The documents of a topic in the order of judging."""

    rows: list[tuple[str, str]]
    """Document and the run that gave it."""
    free: int
    """Documents that had been judged before."""
    missing: int
    """Documents that a replay has no grade for."""


def _judge_topic(
    strategy: AdaptiveStrategy,
    lists: pl.DataFrame,
    rng: np.random.Generator,
    judged: Mapping[str, bool],
    outcomes: Mapping[str, bool] | None,
) -> _Order:
    """Return the documents to judge in one topic."""
    names = lists["run_id"].unique(maintain_order=True).to_list()
    ranked = lists.group_by("run_id", maintain_order=True).agg("doc_id")["doc_id"].to_list()
    picker = strategy.start_topic(len(names), rng)
    open_runs = list(range(len(names)))
    # Reversed, so that the best remaining document is popped off the end.
    remaining = [documents[::-1] for documents in ranked]
    seen: set[str] = set()
    order = _Order([], 0, 0)
    while len(order.rows) < strategy.budget:
        open_runs = [run for run in open_runs if _drop_seen(remaining[run], seen)]
        if not open_runs:
            break
        run = picker.choose(open_runs)
        document = remaining[run].pop()
        seen.add(document)
        if document in judged:
            picker.learn(run, judged[document])
            order = order._replace(free=order.free + 1)
            continue
        order.rows.append((document, names[run]))
        if outcomes is None:
            picker.learn(run, None)
        else:
            order = order._replace(missing=order.missing + (document not in outcomes))
            picker.learn(run, outcomes.get(document, False))
    return order


def _drop_seen(documents: list[str], seen: set[str]) -> bool:
    """Drop documents that were given before; tell whether any is left."""
    while documents and documents[-1] in seen:
        documents.pop()
    return bool(documents)


def _mark_relevant(qrels: Qrels | None, relevant_from: float) -> dict[str, dict[str, bool]]:
    """Return topic -> document -> relevant; negative grades mean "not judged"."""
    if qrels is None:
        return {}
    frame = qrels.frame.filter(pl.col("relevance") >= 0)
    relevant: dict[str, dict[str, bool]] = {}
    for topic, document, grade in frame.select(*PAIR, "relevance").iter_rows():
        relevant.setdefault(topic, {})[document] = grade >= relevant_from
    return relevant
