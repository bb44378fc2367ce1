"""No verdict changes its light where a hopeless run, a copy or another order of rows comes in."""

import functools

import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.evaluation.uncertain import GradeProbabilities
from venire.reliability.summary import assess_ranking

TOPICS, DOCUMENTS, SYSTEMS = 8, 14, 5
CHANGES = ("hopeless", "unjudged", "copy", "shuffled", "strangers")
SEEDS = range(3)


def make_world(seed):
    """Return qrels, runs, judgments by two annotators and grade probabilities of one world."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([0, 1, 2], (TOPICS, DOCUMENTS), p=[0.6, 0.25, 0.15])
    pairs = [(f"q{topic}", f"d{document:02}") for topic, document in np.ndindex(truth.shape)]
    judged = pl.DataFrame(pairs, schema=["query_id", "doc_id"], orient="row")
    runs = []
    for system in range(SYSTEMS):
        scores = truth + rng.normal(0, 0.6 + 0.3 * system * (seed % 2), truth.shape)
        frame = judged.with_columns(pl.Series("score", scores.ravel()), run_id=pl.lit(f"s{system}"))
        # Each system retrieves some of the documents, and some that nobody judged.
        frame = frame.filter(pl.Series(rng.random(frame.height) < 0.8))
        unjudged = pl.DataFrame(
            {
                "query_id": [f"q{topic}" for topic in range(TOPICS)],
                "doc_id": [f"new{system}"] * TOPICS,
                "score": rng.normal(1, 1, TOPICS),
                "run_id": [f"s{system}"] * TOPICS,
            }
        )
        runs += [frame, unjudged.select(frame.columns)]
    labels = [
        judged.with_columns(
            pl.Series("label", np.clip(truth + rng.integers(-1, 2, truth.shape), 0, 2).ravel()),
            annotator_id=pl.lit(name),
        )
        for name in ("A1", "A2")
    ]
    sure = rng.choice([0.6, 0.99], truth.size)[:, None]
    probabilities = np.where(truth.ravel()[:, None] == np.arange(3), sure, (1 - sure) / 2)
    qrels = Qrels(judged.with_columns(pl.Series("relevance", truth.ravel())))
    posterior = GradeProbabilities(judged, probabilities, np.arange(3))
    return qrels, pl.concat(runs), pl.concat(labels), posterior


def add_run(runs, name, documents):
    """Return the runs and one that retrieves the same documents for every topic."""
    rows = [
        (f"q{topic}", document, -float(place), name)
        for topic in range(TOPICS)
        for place, document in enumerate(documents)
    ]
    new = pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "run_id"], orient="row")
    return pl.concat([runs, new.select(runs.columns)])


def make_lights(qrels, runs, labels, posterior, measure="nDCG@10", **options):
    options = {"draws": 30, "permutations": 40, "posterior": posterior} | options
    result = assess_ranking(
        qrels, Runs.of(runs), measure, judgments=Judgments.of(labels, scale="0,1,2"), **options
    )
    return {risk.name: risk.light for risk in result.risks}


@functools.cache
def load_world(seed):
    parts = make_world(seed)
    return parts, make_lights(*parts)


def test_the_worlds_have_lights_of_all_colours():
    lights = [light for seed in SEEDS for light in load_world(seed)[1].values()]
    assert {"red", "amber", "green"} <= set(lights)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_lights_stay(seed, change):
    (qrels, runs, labels, posterior), before = load_world(seed)
    if change == "hopeless":
        # The least relevant documents of all topics, best last.
        grades = dict(qrels.frame.group_by("doc_id").agg(pl.col("relevance").sum()).iter_rows())
        runs = add_run(runs, "hopeless", sorted(grades, key=lambda doc: (grades[doc], doc))[:1])
    elif change == "unjudged":
        runs = add_run(runs, "unjudged", [f"x{number}" for number in range(10)])
    elif change == "copy":
        copied = runs.filter(pl.col("run_id") == f"s{seed}")
        runs = pl.concat([runs, copied.with_columns(run_id=pl.lit("a copy"))])
    elif change == "strangers":
        stranger = labels.head(3).with_columns(annotator_id=pl.lit("A9"))
        labels = pl.concat([labels, stranger.with_columns(doc_id=pl.lit("elsewhere")).unique()])
    else:
        runs = runs.sample(fraction=1.0, shuffle=True, seed=seed)
        labels = labels.sample(fraction=1.0, shuffle=True, seed=seed)
        qrels = Qrels(qrels.frame.sample(fraction=1.0, shuffle=True, seed=seed))
    assert make_lights(qrels, runs, labels, posterior) == before


@pytest.mark.parametrize("seed", SEEDS)
def test_the_light_of_a_judge_does_not_depend_on_other_options(seed):
    (qrels, runs, labels, _), before = load_world(seed)
    groups = {"s0": "a", "s1": "a"}
    after = make_lights(qrels, runs, labels, None, "AP", depth=5, groups=groups)
    assert after["judge favours a system"] == before["judge favours a system"]
    # Draws of grades change no light but their own.
    fewer = make_lights(*load_world(seed)[0], draws=20)
    del fewer["grades are uncertain"]
    assert fewer.items() <= before.items()
