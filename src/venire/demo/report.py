"""The demo: every model on a simulated crowd and on a real crowd, as an HTML page."""

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
    """The results of the demo."""

    collection: Collection
    posteriors: dict[str, Posterior]
    rows: list[dict[str, Any]]
    systems: list[dict[str, Any]]
    real: dict[str, Posterior] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def make_demo(*, seed: int, data: Path, progress: Progress = silent) -> Demo:
    """Run every model on a simulated collection, and on TREC crowd data if available.

    Parameters
    ----------
    seed : int
    data : Path
        Folder that may contain ``trec-rf10``.
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
                "data": "simulated",
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
        notes.append("trec-rf10 comes without runs: no ranking of systems")
    else:
        notes.append(f"no TREC crowd data at {data / TREC}: the part on real data is left out")
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
    """Write the collection, the qrels and the page; return the path of the page.

    ``played`` is the result of a campaign in the web application, per type of annotator.
    """
    collection = demo.collection
    write_frame(collection.topics, folder / "topics.tsv")
    write_frame(collection.documents, folder / "documents.jsonl")
    write_frame(collection.judgments.frame, folder / "judgments.csv")
    write_frame(collection.annotators, folder / "annotators.csv")
    collection.truth.write(folder / "truth.qrels")
    for (name,), frame in collection.runs.frame.group_by("run_id", maintain_order=True):
        Runs(frame).write(folder / "runs" / f"{name}.run")
    for name, posterior in demo.posteriors.items():
        posterior.qrels().write(folder / "qrels" / f"{name}.qrels")
    posterior_page(demo.posteriors[BEST]).write(folder / f"{BEST}.html")
    path = folder / "report.html"
    _page(demo, played).write(path, footer=f"Venire {version('venire')}")
    return path


def _page(demo: Demo, played: Sequence[Mapping[str, Any]]) -> Page:
    page = Page("From a noisy crowd to grades you can trust")
    collection = demo.collection
    simulated = [row for row in demo.rows if row["data"] == "simulated"]
    best = min(simulated, key=lambda row: row["mse"])
    mean = next(row for row in simulated if row["model"] == "mean")
    page.lead(
        f"{collection.annotators.height} simulated annotators, 15 of them spammers or careless, "
        f"gave {len(collection.judgments):,} labels to {collection.pool.height:,} pooled documents "
        f"of {collection.topics.height} topics. The true grades are known: the mean squared error "
        f"of the mean of the labels is {mean['mse']:.3f}, that of {best['model']} "
        f"{best['mse']:.3f}."
    )
    _add_models(page, "Models against the true grades", simulated)
    _add_systems(page, demo, simulated)
    _add_annotators(page, demo)
    if played:
        page.heading("A campaign in the web application")
        page.text(
            "The same topics as a study, judged over HTTP by simulated annotators. Two documents "
            "of every batch had a known grade. If an annotator graded them wrong, the whole batch "
            "was rejected and other annotators judged its documents."
        )
        page.table(played)
    real = [row for row in demo.rows if row["data"] == "trec-rf10"]
    if real:
        _add_models(page, "Models on real data: the TREC 2010 crowd", real)
        page.text("Scored on the pairs that NIST assessors judged.")
    page.heading("Notes")
    page.notes(demo.notes)
    return page


def _add_models(page: Page, title: str, rows: list[dict[str, Any]]) -> None:
    import plotly.graph_objects as go

    page.heading(title)
    table = sorted(
        ({key: value for key, value in row.items() if key != "data"} for row in rows),
        key=lambda row: row["mse"],
    )
    if all(row["tau of systems"] is None for row in table):
        table = [
            {key: value for key, value in row.items() if key != "tau of systems"} for row in table
        ]
    page.table(table, best=0)
    figure = go.Figure(
        go.Bar(
            x=[row["mse"] for row in table][::-1],
            y=[row["model"] for row in table][::-1],
            orientation="h",
        )
    )
    figure.update_xaxes(title="mean squared error (smaller is better)")
    page.plot(figure, table, caption="Mean squared error of each model against the known grades.")


def _add_systems(page: Page, demo: Demo, rows: list[dict[str, Any]]) -> None:
    import plotly.graph_objects as go

    page.heading("Effect of the crowd's noise on the ranking of systems")
    taus: Mapping[str, float | None] = {row["model"]: row["tau of systems"] for row in rows}
    changed = [name for name, tau in taus.items() if tau is not None and tau < 1.0 - 1e-9]
    unchanged = [name for name in taus if name not in changed]
    page.text(
        "Six systems of known quality, scored by nDCG@10 under the true grades and under the "
        "qrels of each model. "
        + (f"Same order as under the true grades: {', '.join(unchanged)}. " if unchanged else "")
        + (f"Another order: {', '.join(changed)}." if changed else "No model changes the order.")
    )
    models = [key for key in demo.systems[0] if key != "system"]
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


def _add_annotators(page: Page, demo: Demo) -> None:
    import plotly.graph_objects as go

    page.heading("Detection of spammers")
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
    figure.update_xaxes(title="expertise (precision of the perceived grade)", type="log")
    figure.update_yaxes(title="spamminess", range=[-0.05, 1.05])
    page.plot(figure, rows, caption="True type of each annotator, and the mixture's estimates.")
