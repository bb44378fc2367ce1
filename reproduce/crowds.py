"""Every model on every crowd whose truth is known, and the committee with known grades.

    python crowds.py [--quick] [--draws 20] [--results FILE] [--only NAME,...]

``--quick`` leaves out the two largest crowds and fits the committee and its members only.
Results are kept per crowd in FILE (JSON Lines): a run that was stopped resumes.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import OUT, save, show
from crowd_data import Crowd, list_crowds

from venire import Judgments, Qrels, plugins
from venire.aggregation.check.calibration import build_reliability_diagram
from venire.aggregation.check.truth import score_against_gold
from venire.aggregation.committee import NAME, RESERVE, Committee
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.aggregation.ordinal_mixture.model import OrdinalMixture
from venire.aggregation.posterior import Posterior
from venire.report.page import Page

KNOWN = 100
"""Known grades per draw; 60 where a crowd has fewer than 250."""
FEW = 60
LARGE = ("web-relevance", "trec-rf10")
TAUGHT = "committee, known grades"
Row = dict[str, Any]


def list_models() -> dict[str, Any]:
    """Return every registered model but the committee; the mixture also with a difficulty."""
    models = {
        name: plugins.load("aggregator", name)()
        for name in plugins.names("aggregator")
        if name != NAME
    }
    models["ordinal-mixture"] = OrdinalMixture(restarts=3)
    models["ordinal-mixture (query)"] = OrdinalMixture(restarts=3, difficulty="query")
    return models


def measure(posterior: Posterior, truth: Qrels) -> Row:
    """Return the scores of a result: MSE, Pearson, nDCG, accuracy, coverage, calibration error."""
    score = score_against_gold(posterior, truth)
    diagram = build_reliability_diagram(posterior, truth)
    return {
        "mse": score.mse,
        "pearson": score.pearson,
        "ndcg": score.ndcg,
        "accuracy": score.accuracy,
        "coverage": diagram.coverage,
        "calibration error": diagram.error,
    }


def draw_known(judgments: Judgments, truth: Qrels, seed: int) -> tuple[Qrels, Qrels]:
    """Draw known pairs that were judged; return them and the rest."""
    pairs = judgments.codes.items.select("query_id", "doc_id")
    judged = truth.frame.join(pairs, on=["query_id", "doc_id"], how="inner").sort(
        "query_id", "doc_id"
    )
    count = KNOWN if judged.height >= 250 else FEW
    order = np.random.default_rng(seed).permutation(judged.height)
    return Qrels.of(judged[order[:count]]), Qrels.of(judged[order[count:]])


def measure_taught(
    judgments: Judgments, truth: Qrels, committee: Posterior, best: Posterior, draws: int
) -> Row:
    """Return mean scores of draws of known pairs, each scored on the rest.

    ``single mse`` is that of the best single model on the same pairs; ``least coverage`` that of
    the worst draw.
    """
    rows, singles = [], []
    for seed in range(draws):
        known, rest = draw_known(judgments, truth, seed)
        taught = Committee().reweigh(committee, judgments, known, seed=seed)
        rows.append(measure(taught, rest))
        singles.append(score_against_gold(best, rest).mse)
    means = {key: float(np.mean([row[key] or 0.0 for row in rows])) for key in rows[0]}
    return means | {
        "single mse": float(np.mean(singles)),
        "least coverage": float(min(row["coverage"] for row in rows)),
    }


def run_crowd(crowd: Crowd, draws: int, keep: Path | None) -> list[Row]:
    """Return one row per model on a crowd."""
    judgments, truth = crowd.load()
    about = {"crowd": crowd.name, "real": crowd.is_real, "chosen on": crowd.is_chosen_on}
    began = time.process_time()
    committee = Committee().fit(judgments)
    took = time.process_time() - began
    singles = {name: model.fit(judgments) for name, model in list_models().items()}
    scores = {name: measure(result, truth) for name, result in singles.items()}
    best = min(scores, key=lambda name: scores[name]["mse"])
    rows = [about | {"model": name} | row for name, row in scores.items()]
    rows.append(
        about
        | {"model": NAME, "seconds": took, "best": best, "weights": committee.weights}
        | measure(committee, truth)
    )
    # Members are fitted without the known grades: once serves every draw.
    reserve = MinimaxEntropy(form="categorical").fit(judgments)
    committee.state[RESERVE] = reserve
    if keep is not None:
        keep.mkdir(exist_ok=True, parents=True)
        parts = {name: (r.probabilities, r.items) for name, r in committee.state.items()}
        with (keep / f"{crowd.name}.pkl").open("wb") as out:
            pickle.dump((parts, committee.weights, {n: r.mean for n, r in singles.items()}), out)
    rows.append(
        about
        | {"model": TAUGHT}
        | measure_taught(judgments, truth, committee, singles[best], draws)
    )
    return rows


def summarise(rows: list[Row]) -> list[Row]:
    """Return the ratio of the committee's MSE to the best single model's, per group of crowds."""
    out = []
    for is_real in (False, True):
        for half in (True, False, None):
            chosen = [
                row
                for row in rows
                if row["real"] == is_real and (half is None or row["chosen on"] == half)
            ]
            names = list(dict.fromkeys(row["crowd"] for row in chosen))
            if not names:
                continue
            by = {(row["crowd"], row["model"]): row for row in chosen}
            plain = [
                by[name, NAME]["mse"] / by[name, by[name, NAME]["best"]]["mse"] for name in names
            ]
            taught = [by[name, TAUGHT]["mse"] / by[name, TAUGHT]["single mse"] for name in names]
            out.append(
                {
                    "crowds": f"{'real' if is_real else 'made-up'}, "
                    + {True: "chosen on", False: "scored only", None: "all"}[half],
                    "number": len(names),
                    "ratio": float(np.exp(np.mean(np.log(plain)))),
                    "worst": max(plain),
                    "coverage": float(np.mean([by[name, NAME]["coverage"] for name in names])),
                    "ratio, known": float(np.exp(np.mean(np.log(taught)))),
                    "worst, known": max(taught),
                    "coverage, known": float(
                        np.mean([by[name, TAUGHT]["coverage"] for name in names])
                    ),
                }
            )
    return out


def read_results(path: Path) -> list[Row]:
    """Return the rows of an earlier run."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--results", type=Path, default=OUT / "crowds.jsonl")
    parser.add_argument("--keep", type=Path, help="folder for the fits of the members")
    parser.add_argument("--only", help="names of crowds, separated by commas")
    options = parser.parse_args()
    options.results.parent.mkdir(exist_ok=True, parents=True)
    rows = read_results(options.results)
    done = {row["crowd"] for row in rows}
    only = set(options.only.split(",")) if options.only else None
    for crowd in list_crowds():
        if (only and crowd.name not in only) or (options.quick and crowd.name in LARGE):
            continue
        if crowd.name not in done:
            new = run_crowd(
                crowd, min(options.draws, 3) if options.quick else options.draws, options.keep
            )
            rows += new
            with options.results.open("a") as out:
                out.writelines(json.dumps(row) + "\n" for row in new)
            by = {row["model"]: row for row in new}
            print(
                f"{crowd.name}: {by[NAME]['mse']:.3f} (best single {by[NAME]['best']} "
                f"{by[by[NAME]['best']]['mse']:.3f}), with known grades {by[TAUGHT]['mse']:.3f}",
                flush=True,
            )
    page = Page("Models on crowds with known truth")
    columns = (
        "crowd",
        "model",
        "mse",
        "pearson",
        "ndcg",
        "accuracy",
        "coverage",
        "calibration error",
    )
    table = [{name: row.get(name) for name in columns} for row in rows]
    totals = summarise(rows)
    show(table, "every model on every crowd")
    show(totals, "the committee's MSE over that of the best single model: geometric mean and worst")
    page.heading("Ratios")
    page.table(totals, digits=3)
    page.heading("Every model on every crowd")
    page.table(table, digits=3)
    save("crowds", table, page)


if __name__ == "__main__":
    main()
