"""The figures that aggregation must hold, beside those asked for: two public crowds, ten made-up.

Give numbers to run some parts only: ``python frontier.py 1 4``.
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
"""Draws for the calibration error, which differs more from one draw to the next."""
SEEDS = 3
SLOW = 5.0
"""Seconds from which a fit is told of while waiting."""
Row = dict[str, Any]


def singles() -> dict[str, Any]:
    """Return every registered model but the committee."""
    return {
        name: plugins.load("aggregator", name)()
        for name in plugins.names("aggregator")
        if name != NAME
    }


def fitted(judgments: Judgments, committee: Posterior) -> Iterator[tuple[str, Posterior]]:
    """Yield every single model's result; a member with the same settings is not fitted again."""
    for name, model in singles().items():
        began = time.perf_counter()
        there = committee.state.get(name)
        same = there is not None and there.settings == read_settings(model)
        result = there if same else model.fit(judgments)
        if time.perf_counter() - began > SLOW:
            print(f"  {name}: {time.perf_counter() - began:.0f} s", flush=True)
        yield name, result


def asked(what: str, limit: str, ours: float, holds: bool) -> Row:
    """Return one line: what was asked, what came."""
    return {"what": what, "asked": limit, "ours": ours, "holds": "yes" if holds else "NO"}


def split_gold(judgments: Judgments, gold: Qrels, seed: int) -> tuple[Qrels, Qrels]:
    """Draw known pairs that were judged; return them and the rest."""
    pairs = judgments.codes.items.select("query_id", "doc_id")
    there = gold.frame.join(pairs, on=["query_id", "doc_id"], how="inner").sort(
        "query_id", "doc_id"
    )
    order = np.random.default_rng(seed).permutation(there.height)
    return Qrels.of(there[order[:GOLD]]), Qrels.of(there[order[GOLD:]])


def draws(judgments: Judgments, gold: Qrels, committee: Posterior) -> dict[str, Any]:
    """Return mean scores of draws of known pairs, each scored on the rest."""
    out = []
    for seed in range(MANY):
        known, rest = split_gold(judgments, gold, seed)
        posterior = Committee().reweigh(committee, judgments, known, seed=seed)
        diagram = build_reliability_diagram(posterior, rest)
        truth = score_against_gold(posterior, rest)
        out.append((truth.mse, truth.pearson or 0.0, diagram.error, diagram.coverage))
    scores = np.array(out)
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
    """Minimax entropy beside the reference values on the web data."""
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
        for name, wanted, found in zip(("mse", "pearson", "accuracy"), values, ours, strict=True):
            near = abs(found - wanted) <= 0.01
            rows.append(asked(f"minimax {label}: {name}", f"{wanted} +- .01", found, near))
    return rows


def real(data: str) -> tuple[list[Row], list[Row]]:
    """Return what is asked on one public crowd without known grades and with, and all scores."""
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
    # Members are fitted without the known grades: once serves every draw.
    reserve = MinimaxEntropy(form="categorical").fit(judgments)
    vouched = replace(committee, state={**committee.state, RESERVE: reserve})
    known = draws(judgments, gold, vouched)
    if data == "web":
        rows = [
            asked("web: MSE", "<= .145", float(ours["mse"] or 0), float(ours["mse"] or 9) <= 0.145),
            asked("web: Pearson", ">= .960", pearson, pearson >= 0.960),
            asked("web, 100 known: MSE", "<= .11", known["mse"], known["mse"] <= 0.11),
            asked(
                "web, 100 known: Pearson", ">= .968", known["pearson"], known["pearson"] >= 0.968
            ),
        ]
    else:
        ahead = pearson > best_r or ndcg > best_ndcg
        near = pearson >= 0.99 * best_r and ndcg >= 0.99 * best_ndcg
        rows = [
            asked("trec: Pearson", ">= .455", pearson, pearson >= 0.455),
            asked("trec: nDCG", ">= .888", ndcg, ndcg >= 0.888),
            asked("trec: Pearson over the best single model", "ahead or", pearson / best_r, ahead),
            asked("trec: nDCG over the best single model", "within 1%", ndcg / best_ndcg, near),
            asked("trec, 100 known: MSE", "<= .57", known["mse"], known["mse"] <= 0.57),
            asked("trec: seconds", "< 120", took, took < 120),
            asked("trec: seconds of processor time", "(said)", worked, True),
        ]
    ece = known["error"]
    rows += [
        asked(f"{data}, {GOLD} known: MSE, all {MANY} draws", "(said)", known["mse of all"], True),
        asked(f"{data}, 100 known: calibration error, {MANY} draws", "< .04", ece, ece < 0.04),
        asked(f"{data}: the same, first {DRAWS} draws", "(said)", known["error of few"], True),
        asked(f"{data}: its sd from draw to draw", "(said)", known["apart"], True),
        asked(f"{data}, 100 known: coverage", "(said)", known["coverage"], True),
    ]
    return rows, table


def spam(data: str) -> tuple[list[Row], list[Row]]:
    """Return the committee's place among the single models under fake judgments."""
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
            asked(f"{data}, {level} fakes: Pearson", f">= {third:.4f}", ours, ours >= third)
        )
        if data == "web" and level == 9:
            rows.append(asked("web, 9 fakes: Pearson", ">= .92", ours, ours >= 0.92))
        table.append({"data": data, "fakes": level, NAME: ours} | theirs)
    return rows, table


def crowds() -> tuple[list[Row], list[Row]]:
    """Return the ten made-up crowds: MSE of every model, mean over seeds, and coverage."""
    table, near, last, inside = [], 0, 0, []
    for name in CROWDS:
        found: dict[str, list[float]] = {}
        covers = []
        for seed in range(SEEDS):
            judgments, truth = simulated_crowd(name, seed=seed)
            committee = Committee().fit(judgments)
            found.setdefault(NAME, []).append(score_against_gold(committee, truth).mse)
            for other, result in fitted(judgments, committee):
                found.setdefault(other, []).append(score_against_gold(result, truth).mse)
            for draw in range(DRAWS):
                known, rest = split_gold(judgments, truth, draw)
                calibrated = Committee().reweigh(committee, judgments, known, seed=draw)
                covers.append(build_reliability_diagram(calibrated, rest).coverage)
        means = {model: float(np.mean(values)) for model, values in found.items()}
        others = [value for model, value in means.items() if model != NAME]
        ratio = means[NAME] / min(others)
        near += ratio <= 1.05
        last += means[NAME] >= max(others)
        inside.append(float(np.mean(covers)))
        table.append({"crowd": name, "ratio": ratio, "coverage": inside[-1]} | means)
        print(f"{name}: done", flush=True)
    rows = [
        asked("crowds within 5% of the best model", ">= 8 of 10", float(near), near >= 8),
        asked("crowds where it is last", "0", float(last), last == 0),
        asked(
            "coverage of 95% intervals, lowest crowd", ">= .92", min(inside), min(inside) >= 0.92
        ),
        asked(
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
