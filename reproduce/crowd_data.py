"""Crowds whose truth is known: public ones, the demo's collection, and made-up ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from common import DATA, need, trec_rf10, web_relevance

from venire import Judgments, Qrels
from venire.simulation.crowds.collection import make_collection
from venire.simulation.crowds.kinds import CROWDS, simulated_crowd
from venire.tables.scale import Scale

DEMO_SEEDS = range(5)
EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
NYT_GRADES = {"not_relevant": 0, "relevant": 1, "highly_relevant": 2}

Loader = Callable[[], tuple[Judgments, Qrels]]


class Crowd(NamedTuple):
    """A crowd, and whether the committee's rule was chosen with it."""

    name: str
    is_real: bool
    is_chosen_on: bool
    """Half of the crowds were looked at while the rule was chosen; the others were scored."""
    load: Loader


def make_tables(frame: pl.DataFrame, truth: pl.DataFrame, size: int) -> tuple[Judgments, Qrels]:
    """Return judgments and qrels of the grades 0..size - 1, without pairs off this scale."""
    scale = Scale.of(range(size))
    labels = frame.filter(pl.col("label").is_between(0, size - 1))
    grades = truth.filter(pl.col("relevance").is_between(0, size - 1))
    return Judgments.of(labels, scale=scale), Qrels.of(grades)


def read_truth_inference(name: str, size: int) -> tuple[Judgments, Qrels]:
    """Read a folder of data/crowds with ``label.csv`` and ``truth.csv``; items are of one query."""
    folder = DATA / "crowds" / name
    text = pl.String
    labels = pl.read_csv(
        need(folder / "label.csv"), schema_overrides={"item": text, "worker": text}
    )
    truth = pl.read_csv(need(folder / "truth.csv"), schema_overrides={"item": text})
    query = pl.lit(name).alias("query_id")
    return make_tables(
        labels.select(
            query, pl.col("item").alias("doc_id"), pl.col("worker").alias("annotator_id"), "label"
        ),
        truth.select(query, pl.col("item").alias("doc_id"), pl.col("truth").alias("relevance")),
        size,
    )


def read_emotions() -> tuple[Judgments, Qrels]:
    """Read the six emotions as queries, with 0..100 cut to ceil(x / 25), 0 to 4."""
    parts = []
    for emotion in EMOTIONS:
        path = need(DATA / "crowds" / "emotions" / f"{emotion}.tsv")
        frame = pl.read_csv(path, separator="\t", schema_overrides={"item": pl.String})
        parts.append(
            frame.select(
                pl.lit(emotion).alias("query_id"),
                pl.col("item").alias("doc_id"),
                pl.col("worker").alias("annotator_id"),
                *((pl.col(name) / 25).ceil().cast(pl.Int64) for name in ("label", "gold")),
            )
        )
    frame = pl.concat(parts)
    truth = frame.select("query_id", "doc_id", pl.col("gold").alias("relevance")).unique(
        maintain_order=True
    )
    return make_tables(frame.drop("gold"), truth, 5)


def read_newspapers(name: str) -> tuple[Judgments, Qrels]:
    """Read a pilot of the New York Times crowd, with NIST's grade as the truth."""
    path = need(DATA / "crowds" / "nyt-pilot" / f"Pilot_3P-Doc-{name}.csv")
    text = pl.String
    frame = pl.read_csv(path, schema_overrides={"topic": text, "doc": text})
    frame = frame.select(
        pl.col("topic").alias("query_id"),
        pl.col("doc").alias("doc_id"),
        pl.col("worker").alias("annotator_id"),
        pl.col("label").replace_strict(NYT_GRADES, default=None, return_dtype=pl.Int64),
        pl.col("nist").alias("relevance"),
    ).drop_nulls()
    truth = frame.select("query_id", "doc_id", "relevance").unique(maintain_order=True)
    return make_tables(frame.drop("relevance"), truth, 3)


def make_demo_crowd(seed: int) -> tuple[Judgments, Qrels]:
    """Return the judgments and true grades of the demo's collection."""
    collection = make_collection(seed=seed)
    pairs = ["query_id", "doc_id"]
    pooled = collection.pool.select(pairs).join(
        collection.truth.frame, on=pairs, maintain_order="left"
    )
    return collection.judgments, Qrels.of(pooled)


def make_skewed_good_crowd() -> tuple[Judgments, Qrels]:
    """Return a crowd of good annotators in which 70% of the items have the lowest grade."""
    judgments, truth = simulated_crowd("good", seed=0)
    rng = np.random.default_rng(0)
    lowest = truth.frame.filter(pl.col("relevance") == 0).height
    others = truth.frame.filter(pl.col("relevance") > 0)
    drawn = rng.permutation(others.height)[: round(lowest * 3 / 7)]
    rest = pl.concat([truth.frame.filter(pl.col("relevance") == 0), others[np.sort(drawn)]])
    frame = judgments.frame.join(rest, on=["query_id", "doc_id"], how="semi", maintain_order="left")
    return Judgments.of(frame, scale=judgments.scale), Qrels.of(rest)


def list_crowds() -> list[Crowd]:
    """Return every crowd: public ones, the demo's collection, made-up ones."""
    crowds = [
        Crowd("CF", True, True, lambda: read_truth_inference("CF", 3)),
        Crowd("CF_amt", True, False, lambda: read_truth_inference("CF_amt", 3)),
        Crowd("SP_amt", True, True, lambda: read_truth_inference("SP_amt", 2)),
        Crowd("ZenCrowd_us", True, False, lambda: read_truth_inference("ZenCrowd_us", 2)),
        Crowd("bluebird", True, True, lambda: read_truth_inference("bluebird", 2)),
        Crowd("rte", True, False, lambda: read_truth_inference("rte", 2)),
        Crowd("emotions", True, True, read_emotions),
        Crowd("nyt-highlights", True, False, lambda: read_newspapers("High")),
        Crowd("nyt-plain", True, True, lambda: read_newspapers("NoHigh")),
        Crowd("web-relevance", True, True, web_relevance),
        Crowd("trec-rf10", True, False, trec_rf10),
    ]
    crowds += [
        Crowd(f"demo-{seed}", False, seed == 0, lambda seed=seed: make_demo_crowd(seed))
        for seed in DEMO_SEEDS
    ]
    crowds += [
        Crowd(name, False, number % 2 == 0, lambda name=name: simulated_crowd(name, seed=0))
        for number, name in enumerate(CROWDS)
    ]
    return crowds
