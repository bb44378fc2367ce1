"""A small collection with known grades: topics, documents, systems and a crowd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.simulation.crowds.annotators import AnnotatorType, judge, kind_named
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.scale import Scale

SCALE = Scale((0.0, 1.0, 2.0, 3.0), ("not relevant", "related", "relevant", "highly relevant"))
SUBJECTS = (
    "bridge ice wind cable", "tomato blight soil rain", "violin varnish wood tone",
    "harbour dredging silt tide", "glacier melt river flood", "bread yeast oven crust",
    "owl hearing prey night", "loom weaving wool pattern", "comet orbit dust tail",
    "clock escapement spring pendulum", "kiln glaze clay firing", "railway signal brake curve",
)  # fmt: skip
FILLERS = [
    "the",
    "a",
    "of",
    "in",
    "and",
    "with",
    "for",
    "on",
    "by",
    "is",
    "was",
    "are",
    "as",
    "at",
    "from",
    "it",
    "this",
    "that",
    "has",
    "been",
]
SYSTEMS = {"atlas": 0.95, "birch": 0.85, "cedar": 0.75, "delta": 0.6, "ember": 0.45, "fjord": 0.3}
"""Name -> quality: the share of a system's score that is the true grade, not chance."""
CROWD = {"careful": 15, "typical": 20, "lenient": 5, "strict": 5, "careless": 5, "random": 7,
         "clicker": 3}  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """A made-up collection.

    Attributes
    ----------
    topics : polars.DataFrame
        ``query_id, title, description``.
    documents : polars.DataFrame
        ``doc_id, title, text``.
    truth : Qrels
        The true grade of every topic and document.
    runs : Runs
        Six systems of known quality, best first.
    pool : polars.DataFrame
        ``query_id, doc_id`` of the pairs that were judged.
    judgments : Judgments
    annotators : polars.DataFrame
        ``annotator_id, type``.
    """

    topics: pl.DataFrame
    documents: pl.DataFrame
    truth: Qrels
    runs: Runs
    pool: pl.DataFrame
    judgments: Judgments
    annotators: pl.DataFrame


def make_collection(
    *, seed: int = 0, documents: int = 400, depth: int = 20, overlap: int = 5
) -> Collection:
    """Make 12 topics, short documents, 6 systems and 60 annotators, 15 of them spam or careless.

    Parameters
    ----------
    seed : int
    documents : int
        Number of documents; each belongs to one topic and may touch a second.
    depth : int
        The pool holds the first so many documents of every system.
    overlap : int
        Judgments of each pooled pair.
    """
    rng = np.random.default_rng(seed)
    topics = pl.DataFrame(
        {
            "query_id": [f"t{number:02d}" for number in range(1, len(SUBJECTS) + 1)],
            "title": [" ".join(subject.split()[:2]) for subject in SUBJECTS],
            "description": [
                "What is known about {} and {}, with {} and {}?".format(*subject.split())
                for subject in SUBJECTS
            ],
        }
    )
    grades = _true_grades(rng, documents)
    doc_ids = [f"d{number:04d}" for number in range(1, documents + 1)]
    texts = [_text(rng, grades[:, number]) for number in range(documents)]
    frame = pl.DataFrame(
        {
            "query_id": np.repeat(topics["query_id"].to_numpy(), documents),
            "doc_id": np.tile(np.array(doc_ids), len(SUBJECTS)),
            "relevance": grades.reshape(-1),
        }
    )
    truth = Qrels.of(frame)
    runs = _runs(rng, grades, topics["query_id"].to_list(), doc_ids)
    ranked = runs.with_ranks().filter(pl.col("rank") <= depth)
    pool = ranked.select("query_id", "doc_id").unique().sort("query_id", "doc_id")
    crowd = _crowd()
    judgments = judge(
        pool.join(truth.frame, on=["query_id", "doc_id"], maintain_order="left"),
        SCALE,
        crowd,
        overlap=overlap,
        seed=int(rng.integers(2**31)),
    )
    return Collection(
        topics=topics,
        documents=pl.DataFrame(
            {"doc_id": doc_ids, "title": [text.split(".")[0] for text in texts], "text": texts}
        ),
        truth=truth,
        runs=runs,
        pool=pool,
        judgments=judgments,
        annotators=pl.DataFrame(
            {"annotator_id": list(crowd), "type": [kind.name for kind in crowd.values()]}
        ),
    )


def _true_grades(rng: np.random.Generator, documents: int) -> Longs:
    """Return the grade of every topic and document: one topic each, sometimes a second."""
    grades = np.zeros((len(SUBJECTS), documents), np.int64)
    document = np.arange(documents)
    own = document % len(SUBJECTS)
    grades[own, document] = rng.choice([0, 1, 2, 3], documents, p=[0.15, 0.3, 0.35, 0.2])
    other = (own + rng.integers(1, len(SUBJECTS), documents)) % len(SUBJECTS)
    touches = rng.random(documents) < 0.25
    grades[other[touches], document[touches]] = 1
    return grades


def _text(rng: np.random.Generator, grades: Longs) -> str:
    """Return a few sentences that name a topic's words the more, the higher the grade."""
    words = list(rng.choice(FILLERS, 14))
    for topic in np.flatnonzero(grades):
        subject = SUBJECTS[topic].split()
        words += list(rng.choice(subject, 2 * int(grades[topic])))
    rng.shuffle(words)
    third = max(len(words) // 3, 1)
    parts = [words[:third], words[third : 2 * third], words[2 * third :]]
    return " ".join(" ".join(part).capitalize() + "." for part in parts if part)


def _runs(
    rng: np.random.Generator,
    grades: Longs,
    topics: list[str],
    doc_ids: list[str],
) -> Runs:
    """Return one ranking of 100 documents a topic for each system."""
    parts = []
    for name, quality in SYSTEMS.items():
        noise = rng.normal(size=grades.shape)
        score = quality * grades + (1.0 - quality) * 2.5 * noise
        best = np.argsort(-score, axis=1)[:, :100]
        parts.append(
            pl.DataFrame(
                {
                    "query_id": np.repeat(np.array(topics), best.shape[1]),
                    "doc_id": np.array(doc_ids)[best.reshape(-1)],
                    "score": np.round(np.take_along_axis(score, best, axis=1).reshape(-1), 6),
                    "run_id": name,
                }
            )
        )
    return Runs.of(pl.concat(parts))


def _crowd() -> dict[str, AnnotatorType]:
    kinds = [kind_named(name) for name, count in CROWD.items() for _ in range(count)]
    return {f"w{number:02d}": kind for number, kind in enumerate(kinds, start=1)}
