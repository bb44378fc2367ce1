"""The demo: every model on a made-up crowd and on the real one, on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from venire import plugins
from venire.aggregation.check.truth import score_against_gold
from venire.aggregation.posterior import Posterior
from venire.evaluation.score import score_runs
from venire.formats import write_frame
from venire.progress import Progress, silent
from venire.report.aggregation import posterior_page
from venire.report.page import Page
from venire.simulation.crowds.collection import Collection, make_collection
from venire.stats.rank_correlation import tau_b
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

TREC = Path("trec-rf10") / "trec-rf10-data.txt.gz"
BEST = "ordinal-mixture"


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    collection: Collection
    posteriors: dict[str, Posterior]
    rows: list[dict[str, Any]]
    systems: list[dict[str, Any]]
    real: dict[str, Posterior] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def make_demo(*, seed: int, data: Path, progress: Progress = silent) -> Demo:
    """Run every model on a made-up collection, and on TREC crowd data where it lies there.

    Parameters
    ----------
    seed : int
    data : Path
        Folder that may hold ``trec-rf10``.
    progress : callable
    """
    collection = make_collection(seed=seed)
    pooled = collection.pool.join(
        collection.truth.frame, on=["query_id", "doc_id"], maintain_order="left"
    )
    truth = Qrels.of(pooled)
    posteriors = _fit(collection.judgments, seed, progress)
    true_scores = _ndcg(collection.truth, collection.runs)
    rows = []
    scores: dict[str, dict[str, float]] = {}
    for name, posterior in posteriors.items():
        scores[name] = _ndcg(posterior.qrels("mode"), collection.runs)
        rows.append(
            {
                "data": "made up",
                **_row(name, posterior, truth),
                "tau of systems": tau_b(
                    list(true_scores.values()), [scores[name][run] for run in true_scores]
                ),
            }
        )
    systems = [
        {"system": name, "true grades": value} | {model: scores[model][name] for model in scores}
        for name, value in true_scores.items()
    ]
    notes = []
    real: dict[str, Posterior] = {}
    if (data / TREC).exists():
        judgments = Judgments.read(
            data / TREC,
            columns={"query_id": "topicID", "annotator_id": "workerID", "doc_id": "docID"},
            drop_labels=["-2"],
        )
        gold = judgments.gold("gold")
        notes += [f"trec-rf10: {note}" for note in (*judgments.notes, *gold.notes)]
        real = _fit(judgments, seed, progress)
        rows += [
            {"data": "trec-rf10", **_row(name, posterior, gold), "tau of systems": None}
            for name, posterior in real.items()
        ]
        notes.append("trec-rf10 has no runs beside it: no ranking of systems there")
    else:
        notes.append(f"no TREC crowd data at {data / TREC}: the second part was left out")
    return Demo(collection, posteriors, rows, systems, real, notes)


def _fit(judgments: Judgments, seed: int, progress: Progress) -> dict[str, Posterior]:
    return {
        name: plugins.load("aggregator", name)().fit(judgments, seed=seed, progress=progress)
        for name in plugins.names("aggregator")
    }


def _ndcg(qrels: Qrels, runs: Runs) -> dict[str, float]:
    """Return nDCG@10 of each system, best first."""
    scores = score_runs(qrels, runs, ["nDCG@10"]).frame.sort("nDCG@10", descending=True)
    return dict(scores.iter_rows())


def _row(name: str, posterior: Posterior, gold: Qrels) -> dict[str, Any]:
    score = score_against_gold(posterior, gold)
    return {
        "model": name,
        "mse": score.mse,
        "pearson": score.pearson,
        "ndcg": score.ndcg,
        "accuracy": score.accuracy,
    }


def write_demo(demo: Demo, folder: Path, played: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write the collection, the qrels and the page; return the page's path.

    ``played`` is how a campaign through the web application went, by type of annotator.
    """
    made = demo.collection
    write_frame(made.topics, folder / "topics.tsv")
    write_frame(made.documents, folder / "documents.jsonl")
    write_frame(made.judgments.frame, folder / "judgments.csv")
    write_frame(made.annotators, folder / "annotators.csv")
    made.truth.write(folder / "truth.qrels")
    for (name,), frame in made.runs.frame.group_by("run_id", maintain_order=True):
        type(made.runs)(frame).write(folder / "runs" / f"{name}.run")
    for name, posterior in demo.posteriors.items():
        posterior.qrels().write(folder / "qrels" / f"{name}.qrels")
    posterior_page(demo.posteriors[BEST]).write(folder / f"{BEST}.html")
    path = folder / "report.html"
    _page(demo, played).write(path, footer=f"Venire {version('venire')}")
    return path


def _page(demo: Demo, played: Sequence[Mapping[str, Any]]) -> Page:
    page = Page("From a noisy crowd to grades you can trust")
    made = demo.collection
    own_rows = [row for row in demo.rows if row["data"] == "made up"]
    nearest = min(own_rows, key=lambda row: row["mse"])
    mean = next(row for row in own_rows if row["model"] == "mean")
    page.lead(
        f"{made.annotators.height} simulated annotators, 15 of them spammers or careless, gave "
        f"{len(made.judgments):,} labels to {made.pool.height:,} pooled documents of "
        f"{made.topics.height} topics. The truth is known: the mean of the labels misses it by "
        f"{mean['mse']:.3f} (mean squared error), {nearest['model']} by {nearest['mse']:.3f}."
    )
    _models(page, "Models against the truth", own_rows)
    _systems(page, demo, own_rows)
    _people(page, demo)
    if played:
        page.heading("A campaign through the web application")
        page.text(
            "The same subjects as a study, judged over HTTP by simulated people. Two documents "
            "of every batch had a known grade: who missed them had the whole batch rejected, "
            "and others judged its documents again."
        )
        page.table(played)
    theirs = [row for row in demo.rows if row["data"] == "trec-rf10"]
    if theirs:
        _models(page, "The same on real data: the TREC 2010 crowd", theirs)
        page.text("Scored on the pairs that NIST assessors had judged.")
    page.heading("Notes")
    page.notes(demo.notes)
    return page


def _models(page: Page, title: str, rows: list[dict[str, Any]]) -> None:
    import plotly.graph_objects as go

    page.heading(title)
    shown = sorted(
        ({key: value for key, value in row.items() if key != "data"} for row in rows),
        key=lambda row: row["mse"],
    )
    if all(row["tau of systems"] is None for row in shown):
        shown = [
            {key: value for key, value in row.items() if key != "tau of systems"} for row in shown
        ]
    page.table(shown, best=0)
    figure = go.Figure(
        go.Bar(
            x=[row["mse"] for row in shown][::-1],
            y=[row["model"] for row in shown][::-1],
            orientation="h",
        )
    )
    figure.update_xaxes(title="mean squared error (smaller is nearer to the truth)")
    page.plot(figure, shown, caption="How far each model is from the known grades.")


def _systems(page: Page, demo: Demo, rows: list[dict[str, Any]]) -> None:
    import plotly.graph_objects as go

    page.heading("What the crowd's noise does to the ranking of systems")
    taus: Mapping[str, float | None] = {row["model"]: row["tau of systems"] for row in rows}
    moved = [name for name, tau in taus.items() if tau is not None and tau < 1.0 - 1e-9]
    shown = [name for name in taus if name not in moved]
    page.text(
        "Six systems of known quality, scored by nDCG@10 under the true grades and under each "
        "model's qrels. "
        + (f"The order is as under the truth with: {', '.join(shown)}. " if shown else "")
        + (f"It changes with: {', '.join(moved)}." if moved else "No model changes the order.")
    )
    models = [key for key in demo.systems[0] if key not in ("system",)]
    figure = go.Figure()
    for name in ("true grades", "majority", "mean", BEST):
        if name in models:
            figure.add_trace(
                go.Scatter(
                    x=[row["system"] for row in demo.systems],
                    y=[row[name] for row in demo.systems],
                    name=name,
                    mode="lines+markers",
                )
            )
    figure.update_yaxes(title="nDCG@10")
    figure.update_xaxes(title="system, best first under the true grades")
    page.plot(figure, demo.systems, caption="Scores of the six systems.")


def _people(page: Page, demo: Demo) -> None:
    import plotly.graph_objects as go

    page.heading("Who was found out")
    result = demo.posteriors[BEST].annotators.join(
        demo.collection.annotators, on="annotator_id", maintain_order="left"
    )
    rows = [
        {"annotator": row["annotator_id"], "type": row["type"], "judgments": row["judgments"],
         "expertise": row["expertise"], "spamminess": row["spamminess"]}
        for row in result.sort("spamminess", descending=True).iter_rows(named=True)
    ]  # fmt: skip
    figure = go.Figure()
    for kind in dict.fromkeys(row["type"] for row in rows):
        of_kind = [row for row in rows if row["type"] == kind]
        figure.add_trace(
            go.Scatter(
                x=[row["expertise"] for row in of_kind],
                y=[row["spamminess"] for row in of_kind],
                text=[row["annotator"] for row in of_kind],
                name=kind,
                mode="markers",
                marker={"size": 10, "opacity": 0.75},
            )
        )
    figure.update_xaxes(title="expertise (precision of what they see)", type="log")
    figure.update_yaxes(title="spamminess", range=[-0.05, 1.05])
    page.plot(figure, rows, caption="Each annotator's true type, against what the mixture learnt.")
