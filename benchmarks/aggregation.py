"""Measure speed and memory of the aggregators, and compare with crowd-kit.

Run ``python benchmarks/aggregation.py`` (some minutes), or with ``--quick`` (one repeat, no
crowd-kit at 4 million judgments). Prints tables, writes ``benchmarks/output/aggregation.json``.

Each model and size is measured in its own process, on simulated judgments read from a file.
Only iterations are timed: for Venire the median time between two progress events (an update, a
sweep and a reduction), for crowd-kit the difference between two numbers of iterations. One
thread is measured in processor time, which other load disturbs least; two threads in wall time.
Fits are repeated in turns, and the fastest is reported. This is no test: the exit status is 0.
The parent process imports little, because a child's peak memory starts at its parent's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent / "output" / "aggregation.json"
SIZES = (40_000, 400_000, LARGEST := 4_000_000)
GRADES, SPAMMERS, SEED = 5, 0.1, 20130506
MIXTURE = "ordinal-mixture"
VENIRE = ("dawid-skene", "glad", MIXTURE)
ITERATIONS = {"dawid-skene": 15, "glad": 12, MIXTURE: 12}
PEER = "crowd-kit"
PEER_ITERATIONS = {40_000: (3, 23), 400_000: (2, 8), LARGEST: (1, 3)}
REAL = ("trec-rf10", "trec-rf10-data.txt.gz")
COLUMNS = {"query_id": "topicID", "doc_id": "docID", "annotator_id": "workerID"}
STAGES = ("Judgments.of", "codes", "start, first sweep", "other iterations", "finishing")

Result = dict[str, Any]


def simulate(path: Path, judgments: int) -> None:
    """Write simulated judgments by annotators with heavy-tailed workloads, in random order."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng([SEED, judgments])
    items, annotators = round(judgments / 4.6), max(judgments // 120, 2)
    item = np.repeat(np.arange(items), 1 + rng.poisson(3.6, items))
    load = rng.pareto(1.2, annotators) + 0.2
    annotator = rng.choice(annotators, item.size, p=load / load.sum())
    pair = rng.permutation(np.unique(item * annotators + annotator))  # no pair judged twice
    item, annotator = pair // annotators, pair % annotators
    truth = rng.choice(GRADES, items, p=[0.4, 0.2, 0.2, 0.15, 0.05])
    error = rng.normal(0.0, rng.gamma(4.0, 0.2, annotators)[annotator])
    label = np.clip(np.rint(truth[item] + error), 0, GRADES - 1).astype(np.int64)
    spam = (rng.random(annotators) < SPAMMERS)[annotator]
    label[spam] = rng.integers(0, GRADES, int(spam.sum()))
    frame = pl.DataFrame({"item": item, "annotator": annotator, "label": label})
    query = pl.format("q{}", pl.col("item") // 100).alias("query_id")
    doc = pl.format("doc-{}", "item").alias("doc_id")
    worker = pl.format("worker-{}", "annotator").alias("annotator_id")
    frame.select(query, doc, worker, "label").write_parquet(path)


def peak_mb() -> float:
    """Return the peak memory of this process in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def settings(model: str, iterations: int) -> Any:
    """Return an aggregator with a fixed number of iterations."""
    from venire.aggregation.dawid_skene import DawidSkene
    from venire.aggregation.glad import Glad
    from venire.aggregation.ordinal_mixture.model import OrdinalMixture

    endless = {"max_iterations": iterations, "tolerance": 1e-300}
    if model == MIXTURE:
        return OrdinalMixture(restarts=1, responsibility="paper", **endless)
    return (Glad if model == "glad" else DawidSkene)(**endless)


def fit_once(model: str, judgments: Any, workers: int) -> Result:
    """Fit a model; return nanoseconds per judgment and iteration, and the time of each stage."""
    from venire.engine import Serial, Threads

    marks: list[tuple[float, float]] = []

    def mark(event: Any = None) -> None:
        if event is None or event.total:
            marks.append((time.perf_counter(), time.process_time()))

    mark()
    engine = Serial() if workers == 1 else Threads(workers)
    settings(model, ITERATIONS[model]).fit(judgments, engine=engine, progress=mark)
    mark()
    wall, cpu = zip(*marks, strict=True)
    each = len(judgments) / 1e9
    return {
        "wall": statistics.median(b - a for a, b in pairwise(wall[1:-1])) / each,
        "cpu": statistics.median(b - a for a, b in pairwise(cpu[1:-1])) / each,
        "start, first sweep": wall[1] - wall[0],
        "other iterations": wall[-2] - wall[1],
        "finishing": wall[-1] - wall[-2],
    }


def measure_venire(model: str, path: Path, repeats: int) -> Result:
    """Measure a model on one and on two threads; memory and stages are those of the first fit."""
    import polars as pl

    from venire import Judgments

    tiny = {"query_id": ["q"], "doc_id": ["d"], "annotator_id": ["a"], "label": [0]}
    settings(model, 1).fit(Judgments.from_dict(tiny, scale="0,1"))  # loads or compiles
    imports_mb = peak_mb()
    frame = pl.read_parquet(path)
    start = time.perf_counter()
    judgments = Judgments.of(frame)
    made = time.perf_counter()
    _ = judgments.codes
    stages = {"Judgments.of": made - start, "codes": time.perf_counter() - made}
    stages |= fit_once(model, judgments, 2)
    memory = peak_mb()
    runs = [[fit_once(model, judgments, workers) for workers in (1, 2)] for _ in range(repeats)]
    one, two = zip(*runs, strict=True)
    return {
        "judgments": len(judgments),
        "ns": min(run["cpu"] for run in one),
        "wall": [min(run["wall"] for run in one), min(run["wall"] for run in two)],
        "all": [[run["cpu"], run["wall"]] for run in (*one, *two)],
        "stages": {stage: stages[stage] for stage in STAGES},
        "imports_mb": imports_mb,
        "peak_mb": memory,
    }


def measure_peer(path: Path, size: int, repeats: int) -> Result:
    """Measure crowd-kit's Dawid-Skene from the difference of two numbers of iterations."""
    warnings.simplefilter("ignore")
    import polars as pl
    from crowdkit.aggregation import DawidSkene

    task = pl.concat_str("query_id", "doc_id", separator=" ").alias("task")
    worker = pl.col("annotator_id").alias("worker")
    data = pl.read_parquet(path).select(task, worker, "label").to_pandas()
    seconds: dict[int, list[float]] = {n: [] for n in PEER_ITERATIONS[size]}
    for _ in range(repeats):
        for iterations, taken in seconds.items():
            start = time.process_time()
            DawidSkene(n_iter=iterations, tol=float("-inf")).fit(data)
            taken.append(time.process_time() - start)
    (few, least), (many, most) = ((n, min(taken)) for n, taken in seconds.items())
    ns = (most - least) / (many - few) / len(data) * 1e9
    return {"judgments": len(data), "ns": ns, "peak_mb": peak_mb()}


def measure_restarts(path: Path, difficulty: str) -> Result:
    """Time a whole fit with ten restarts on real judgments."""
    from venire import Judgments
    from venire.aggregation.ordinal_mixture.model import OrdinalMixture

    judgments = Judgments.read(path, columns=COLUMNS, drop_labels=[-2])
    OrdinalMixture(difficulty=difficulty, restarts=1, max_iterations=1).fit(judgments)
    start = time.perf_counter()
    posterior = OrdinalMixture(difficulty=difficulty, restarts=10).fit(judgments)
    return {"seconds": time.perf_counter() - start, "iterations": posterior.bounds.height}


def child(task: str, path: Path, size: int, repeats: int) -> None:
    """Run a task in this process and print its result."""
    if task in VENIRE:
        print(json.dumps(measure_venire(task, path, repeats)))
    elif task == PEER:
        print(json.dumps(measure_peer(path, size, repeats)))
    else:
        print(json.dumps(simulate(path, size) if size else measure_restarts(path, task)))


def run(task: str, path: Path, size: int = 0, repeats: int = 1) -> Any:
    """Run a task in a new process."""
    print(f"  {task} {size:,}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--child", task, str(path), str(size), str(repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(quick: bool) -> Result:
    """Run all measurements: {model: {size: result}}, and restarts by difficulty."""
    results: Result = {model: {} for model in (PEER, *VENIRE, "restarts")}
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.parquet"
            run("simulate", path, size)
            repeats = 1 if quick else 2 if size == LARGEST else 5
            for model in VENIRE:
                results[model][size] = run(model, path, size, repeats)
            if size < LARGEST or not quick:
                results[PEER][size] = run(PEER, path, size, 1 if size == LARGEST else repeats)
    path = Path(os.environ.get("VENIRE_DATA", "../shared/data"), *REAL)
    for difficulty in ("none", "item"):
        results["restarts"][difficulty] = run(difficulty, path) if path.exists() else None
    return results


def verdict(value: float, limit: float, *, least: bool = False) -> str:
    """Return whether a number meets its limit, as text."""
    kept = value >= limit if least else value <= limit
    return f"{'met' if kept else 'MISSED'}: {value:,.{0 if value >= 100 else 2}f}"


def speed_rows(results: Result) -> list[list[str]]:
    """Return the rows of times and ratios: name, one cell per size, goal, verdict."""
    ns = {m: {s: found["ns"] for s, found in results[m].items()} for m in (PEER, *VENIRE)}
    two = {m: {s: found["wall"][1] for s, found in results[m].items()} for m in VENIRE}
    gain = {m: {s: f["wall"][0] / f["wall"][1] for s, f in results[m].items()} for m in VENIRE}
    peer = {size: ns[PEER][size] / ns["dawid-skene"][size] for size in ns[PEER]}
    goals = {
        "one": ["each at most 110", verdict(max(ns[MIXTURE].values()), 110)],
        "gain": ["each at least 1.6", verdict(min(gain[MIXTURE].values()), 1.6, least=True)],
        "peer": ["400k at least 40", verdict(peer[SIZES[1]], 40, least=True)],
    }

    def row(name: str, numbers: dict[int, float], goal: str = "") -> list[str]:
        cells = [f"{numbers[size]:,.1f}" if size in numbers else "-" for size in SIZES]
        return [name, *cells, *goals.get(goal, ["", ""])]

    rows = [row("crowd-kit dawid-skene, processor", ns[PEER])]
    for model in VENIRE:
        rows.append(row(f"{model}, 1 thread, processor", ns[model], "one" * (model == MIXTURE)))
        rows.append(row(f"{model}, 2 threads, wall", two[model]))
    rows.append(row("times faster: dawid-skene than crowd-kit", peer, "peer"))
    for model in VENIRE:
        faster = f"times faster: {model}, 2 threads than 1"
        rows.append(row(faster, gain[model], "gain" * (model == MIXTURE)))
    return rows


def other_rows(results: Result) -> list[list[str]]:
    """Return the rows of memory, complete fits and restarts: name, figure, goal, verdict."""
    rows = []
    for model in VENIRE:
        found = results[model][LARGEST]
        shown = f"{found['peak_mb']:,.0f} MB (bare imports {found['imports_mb']:,.0f})"
        told = verdict(found["peak_mb"], 1200)
        rows.append([f"4M, peak memory, {model}", shown, "under 1200 MB", told])
        stages = found["stages"]
        parts = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in stages.items())
        shown = f"{sum(stages.values()):.1f} s: {parts}"
        rows.append([f"4M, {ITERATIONS[model]} iterations, {model}", shown, "", ""])
    for difficulty, found in results["restarts"].items():
        shown, told = "skipped: not in $VENIRE_DATA", "-"
        if found:
            shown = f"{found['seconds']:.1f} s ({found['iterations']:,} iterations)"
            told = verdict(found["seconds"], 30)
        rows.append([f"trec-rf10, 10 restarts, {difficulty}", shown, "under 30 s", told])
    return rows


def show(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    print(f"\n{title}")
    for row in (header, ["-" * width for width in widths], *rows):
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and memory of the aggregators.")
    parser.add_argument("--quick", action="store_true", help="one repeat, no crowd-kit at 4M")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        task, path, size, repeats = given.child
        child(task, Path(path), int(size), int(repeats))
        return
    load = os.getloadavg()[0]
    results = measure(given.quick)
    facts = {"cores": os.cpu_count(), "python": platform.python_version()}
    facts |= {name: version(name) for name in ("venire", "numba", "numpy", "polars", "crowd-kit")}
    facts["load before and after"] = f"{load:.1f} {os.getloadavg()[0]:.1f}"
    print(f"Aggregation ({', '.join(f'{name} {value}' for name, value in facts.items())})")
    goals = ["must hold", "verdict"]
    times, others = speed_rows(results), other_rows(results)
    show("Nanoseconds per judgment per iteration", ["", "40k", "400k", "4M", *goals], times)
    show("Memory and whole fits", ["", "measured", *goals], others)
    OUTPUT.parent.mkdir(exist_ok=True)
    shown = {"facts": facts, "times": times, "others": others, "results": results}
    OUTPUT.write_text(json.dumps(shown, indent=1))


if __name__ == "__main__":
    main()
