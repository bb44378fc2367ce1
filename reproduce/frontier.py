"""Check the required figures of aggregation on two public and ten simulated crowds.

Pass numbers to run some parts only: ``python frontier.py 1 4``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from common import save, score, show, trec_rf10, web_relevance

from venire import Judgments, Qrels, plugins
from venire.aggregation.check.calibration import build_reliability_diagram
from venire.aggregation.check.truth import score_against_gold
from venire.aggregation.committee import NAME, RESERVE, Committee
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import read_settings
from venire.report.page import Page
from venire.simulation.crowds.annotators import add_fakes
from venire.simulation.crowds.kinds import CROWDS, simulated_crowd

GOLD = 100
DRAWS = 20
MANY = 200
"""Number of draws for the calibration error, which varies more between draws."""
SEEDS = 3
SLOW = 5.0
"""Fits that take longer, in seconds, are reported."""
Row = dict[str, Any]


def singles() -> dict[str, Any]:
    """Return every registered model except the committee."""
    return {
        name: plugins.load("aggregator", name)()
        for name in plugins.names("aggregator")
        if name != NAME
    }


def fitted(judgments: Judgments, committee: Posterior) -> Iterator[tuple[str, Posterior]]:
    """Yield the result of every single model; a member with the same settings is not refitted."""
    for name, model in singles().items():
        began = time.perf_counter()
        member = committee.state.get(name)
        is_fitted = member is not None and member.settings == read_settings(model)
        result = member if is_fitted else model.fit(judgments)
        if time.perf_counter() - began > SLOW:
            print(f"  {name}: {time.perf_counter() - began:.0f} s", flush=True)
        yield name, result


def require(what: str, limit: str, ours: float, holds: bool) -> Row:
    """Return a row with a required figure, ours, and whether the requirement holds."""
    return {"what": what, "asked": limit, "ours": ours, "holds": "yes" if holds else "NO"}


def split_gold(judgments: Judgments, gold: Qrels, seed: int) -> tuple[Qrels, Qrels]:
    """Draw some of the judged known pairs; return these and the others."""
    pairs = judgments.codes.items.select("query_id", "doc_id")
    judged = gold.frame.join(pairs, on=["query_id", "doc_id"], how="inner").sort(
        "query_id", "doc_id"
    )
    order = np.random.default_rng(seed).permutation(judged.height)
    return Qrels.of(judged[order[:GOLD]]), Qrels.of(judged[order[GOLD:]])


def draws(judgments: Judgments, gold: Qrels, committee: Posterior) -> dict[str, Any]:
    """Return mean scores over draws of known pairs, each scored on the other pairs."""
    rows = []
    for seed in range(MANY):
        known, others = split_gold(judgments, gold, seed)
        posterior = Committee().reweigh(committee, judgments, known, seed=seed)
        diagram = build_reliability_diagram(posterior, others)
        truth = score_against_gold(posterior, others)
        rows.append((truth.mse, truth.pearson or 0.0, diagram.error, diagram.coverage))
    scores = np.array(rows)
    mse, pearson, few, coverage = map(float, scores[:DRAWS].mean(axis=0))
    error = scores[:, 2]
    return {
        "mse": mse,
        "pearson": pearson,
        "coverage": coverage,
        "mse of all": float(scores[:, 0].mean()),
        "error": float(error.mean()),
        "error of few": few,
        "apart": float(error.std(ddof=1)),
    }


def reference() -> list[Row]:
    """Return minimax entropy compared with reference values on the web data."""
    judgments, gold = web_relevance()
    rows = []
    for label, model, values in (
        ("categorical 16, 10", MinimaxEntropy(form="categorical"), (0.092, 0.974, 0.879)),
        (
            "categorical 16, 40",
            MinimaxEntropy(form="categorical", beta=40.0),
            (0.095, 0.973, 0.888),
        ),
        ("ordinal 1, 10", MinimaxEntropy(), (0.112, 0.968, 0.879)),
    ):
        truth = score_against_gold(model.fit(judgments), gold)
        ours = (truth.mse, truth.pearson or 0.0, truth.accuracy)
        for name, wanted, value in zip(("mse", "pearson", "accuracy"), values, ours, strict=True):
            is_near = abs(value - wanted) <= 0.01
            rows.append(require(f"minimax {label}: {name}", f"{wanted} +- .01", value, is_near))
    return rows


def real(data: str) -> tuple[list[Row], list[Row]]:
    """Return the required figures and all scores on a public crowd."""
    judgments, gold = web_relevance() if data == "web" else trec_rf10()
    began, worked = time.perf_counter(), time.process_time()
    committee = Committee().fit(judgments)
    took, worked = time.perf_counter() - began, time.process_time() - worked
    ours = score(committee, gold)
    table: list[Row] = [{"data": data, "model": NAME} | ours]
    for name, result in fitted(judgments, committee):
        table.append({"data": data, "model": name} | score(result, gold))
    pearson, ndcg = float(ours["pearson"] or 0), float(ours["ndcg"] or 0)
    best_r = max(float(row["pearson"] or 0) for row in table[1:])
    best_ndcg = max(float(row["ndcg"] or 0) for row in table[1:])
    # Members are fitted without the known grades, so one fit serves every draw.
    reserve = MinimaxEntropy(form="categorical").fit(judgments)
    vouched = replace(committee, state={**committee.state, RESERVE: reserve})
    known = draws(judgments, gold, vouched)
    if data == "web":
        rows = [
            require(
                "web: MSE", "<= .145", float(ours["mse"] or 0), float(ours["mse"] or 9) <= 0.145
            ),
            require("web: Pearson", ">= .960", pearson, pearson >= 0.960),
            require("web, 100 known: MSE", "<= .11", known["mse"], known["mse"] <= 0.11),
            require(
                "web, 100 known: Pearson", ">= .968", known["pearson"], known["pearson"] >= 0.968
            ),
        ]
    else:
        ahead = pearson > best_r or ndcg > best_ndcg
        near = pearson >= 0.99 * best_r and ndcg >= 0.99 * best_ndcg
        rows = [
            require("trec: Pearson", ">= .455", pearson, pearson >= 0.455),
            require("trec: nDCG", ">= .888", ndcg, ndcg >= 0.888),
            require(
                "trec: Pearson over the best single model", "ahead or", pearson / best_r, ahead
            ),
            require("trec: nDCG over the best single model", "within 1%", ndcg / best_ndcg, near),
            require("trec, 100 known: MSE", "<= .57", known["mse"], known["mse"] <= 0.57),
            require("trec: seconds", "< 120", took, took < 120),
            require("trec: seconds of processor time", "(said)", worked, True),
        ]
    ece = known["error"]
    rows += [
        require(
            f"{data}, {GOLD} known: MSE, all {MANY} draws", "(said)", known["mse of all"], True
        ),
        require(f"{data}, 100 known: calibration error, {MANY} draws", "< .04", ece, ece < 0.04),
        require(f"{data}: the same, first {DRAWS} draws", "(said)", known["error of few"], True),
        require(f"{data}: its sd from draw to draw", "(said)", known["apart"], True),
        require(f"{data}, 100 known: coverage", "(said)", known["coverage"], True),
    ]
    return rows, table


def spam(data: str) -> tuple[list[Row], list[Row]]:
    """Return the rank of the committee among the single models under fake judgments."""
    judgments, gold = web_relevance() if data == "web" else trec_rf10()
    rows, table = [], []
    for level in (3, 9):
        spammed = add_fakes(judgments, level, seed=1)
        began = time.perf_counter()
        committee = Committee().fit(spammed)
        took = time.perf_counter() - began
        print(f"  {data}, {level} fakes, {NAME}: {took:.0f} s", flush=True)
        ours = float(score(committee, gold)["pearson"] or 0)
        theirs = {
            name: float(score(result, gold)["pearson"] or 0)
            for name, result in fitted(spammed, committee)
        }
        third = sorted(theirs.values(), reverse=True)[2]
        rows.append(
            require(f"{data}, {level} fakes: Pearson", f">= {third:.4f}", ours, ours >= third)
        )
        if data == "web" and level == 9:
            rows.append(require("web, 9 fakes: Pearson", ">= .92", ours, ours >= 0.92))
        table.append({"data": data, "fakes": level, NAME: ours} | theirs)
    return rows, table


def crowds() -> tuple[list[Row], list[Row]]:
    """Return the MSE of every model on ten simulated crowds, mean over seeds, and coverage."""
    table, near, last, inside = [], 0, 0, []
    for name in CROWDS:
        errors: dict[str, list[float]] = {}
        covers = []
        for seed in range(SEEDS):
            judgments, truth = simulated_crowd(name, seed=seed)
            committee = Committee().fit(judgments)
            errors.setdefault(NAME, []).append(score_against_gold(committee, truth).mse)
            for other, result in fitted(judgments, committee):
                errors.setdefault(other, []).append(score_against_gold(result, truth).mse)
            for draw in range(DRAWS):
                known, others = split_gold(judgments, truth, draw)
                calibrated = Committee().reweigh(committee, judgments, known, seed=draw)
                covers.append(build_reliability_diagram(calibrated, others).coverage)
        means = {model: float(np.mean(values)) for model, values in errors.items()}
        single = [value for model, value in means.items() if model != NAME]
        ratio = means[NAME] / min(single)
        near += ratio <= 1.05
        last += means[NAME] >= max(single)
        inside.append(float(np.mean(covers)))
        table.append({"crowd": name, "ratio": ratio, "coverage": inside[-1]} | means)
        print(f"{name}: done", flush=True)
    rows = [
        require("crowds within 5% of the best model", ">= 8 of 10", float(near), near >= 8),
        require("crowds where it is last", "0", float(last), last == 0),
        require(
            "coverage of 95% intervals, lowest crowd", ">= .92", min(inside), min(inside) >= 0.92
        ),
        require(
            "coverage of 95% intervals, highest crowd", "<= .98", max(inside), max(inside) <= 0.98
        ),
    ]
    return rows, table


def main() -> None:
    parts = set(sys.argv[1:]) or set("1234")
    if not parts <= set("1234"):
        sys.exit(f"frontier.py: parts are 1, 2, 3 and 4, not {', '.join(sorted(parts))}")
    page = Page("Aggregation at the frontier")
    every: list[Row] = []
    jobs = []
    if "1" in parts:
        jobs += [("reference", lambda: (reference(), [])), ("web", lambda: real("web"))]
    if "2" in parts:
        jobs.append(("trec", lambda: real("trec")))
    if "3" in parts:
        jobs += [("web under spam", lambda: spam("web")), ("trec under spam", lambda: spam("trec"))]
    if "4" in parts:
        jobs.append(("ten made-up crowds", crowds))
    for title, job in jobs:
        rows, table = job()
        show(rows, title)
        page.heading(title)
        page.table(rows, digits=4)
        if table:
            show(table, f"{title}: every model")
            page.table(table, digits=4)
        every += rows
    some = "" if parts == set("1234") else "-" + "".join(sorted(parts))
    save(f"frontier{some}", every, page)


if __name__ == "__main__":
    main()
