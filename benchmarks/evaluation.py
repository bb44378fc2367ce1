"""Measure evaluation, and compare with pytrec_eval (and trec_eval, if installed).

    python benchmarks/evaluation.py [--quick]

Each measurement runs in its own process, parsing included: AP, nDCG@10, P@10, Bpref, infAP.
Prints a table and writes benchmarks/output/evaluation.json. This is no test.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

OUT = Path(__file__).parent / "output"
MEASURES = ["AP", "nDCG@10", "P@10", "Bpref", "infAP"]
THEIRS = {"map", "ndcg_cut_10", "P_10", "bpref", "infAP"}


def named(column: str) -> pl.Expr:
    """Return document IDs of equal length."""
    return ("doc" + pl.col(column).cast(pl.String).str.pad_start(9, "0")).alias(column)


def make(folder: Path, topics: int, depth: int, judged: int) -> tuple[Path, Path]:
    """Write a run in rank order, and qrels half of whose pairs are retrieved."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(topics), depth)
    doc = np.concatenate([rng.permutation(4 * depth)[:depth] for _ in range(topics)])
    score = np.sort(rng.random((topics, depth)), axis=1)[:, ::-1].reshape(-1)
    run = pl.DataFrame(
        {
            "q": query, "z": "Q0", "d": doc, "rank": np.tile(np.arange(1, depth + 1), topics),
            "s": np.round(score, 7), "r": "run",
        }
    ).with_columns(named("d"))  # fmt: skip
    qdoc = np.concatenate([rng.permutation(4 * depth)[:judged] for _ in range(topics)])
    qrels = pl.DataFrame(
        {
            "q": np.repeat(np.arange(topics), judged), "z": "0", "d": qdoc,
            "g": rng.choice([0, 1, 2], qdoc.size, p=[0.8, 0.15, 0.05]),
        }
    ).with_columns(named("d"))  # fmt: skip
    run.write_csv(folder / "run", include_header=False, separator=" ")
    qrels.write_csv(folder / "qrels", include_header=False, separator=" ")
    return folder / "qrels", folder / "run"


def ours(qrels: str, run: str) -> None:
    """Evaluate with Venire."""
    from venire import Qrels, Runs
    from venire.evaluation.score import score_runs

    print(score_runs(Qrels.read(qrels), Runs.read(run), MEASURES).mean[:, 0].tolist())


def theirs(qrels: str, run: str) -> None:
    """Evaluate with pytrec_eval, with its own parsers."""
    import pytrec_eval

    with Path(qrels).open() as lines:
        judged = pytrec_eval.parse_qrel(lines)
    with Path(run).open() as lines:
        ranked = pytrec_eval.parse_run(lines)
    found = pytrec_eval.RelevanceEvaluator(judged, THEIRS).evaluate(ranked)
    print(float(np.mean([values["map"] for values in found.values()])))


def timed(command: list[str], repeats: int) -> tuple[float, float]:
    """Return the minimum wall time in seconds and the peak memory in MB of a process."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def child(name: str, qrels: Path, run: Path, repeats: int) -> tuple[float, float]:
    """Time a function of this file in a new process, to measure its own peak memory."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import evaluation as e;"
        "print(json.dumps(e.timed([sys.executable, e.__file__, '--child', *sys.argv[2:5]],"
        "int(sys.argv[5]))))"
    )
    folder = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, folder, name, str(qrels), str(run), str(repeats)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds, memory = json.loads(done.stdout)
    return seconds, memory


def rescoring() -> float:
    """Return milliseconds to score 12 runs x 225 topics under new grades."""
    from venire import Runs
    from venire.evaluation.ranks import RankTable
    from venire.evaluation.score import score

    rng = np.random.default_rng(0)
    parts = []
    for run in range(12):
        for topic in range(225):
            doc = rng.permutation(1400)[:1000]
            parts.append(
                pl.DataFrame({"query_id": str(topic), "doc_id": doc, "score": -np.arange(1000.0),
                              "run_id": f"r{run}"})
            )  # fmt: skip
    runs = Runs.of(pl.concat(parts))
    pairs = pl.DataFrame(
        {"query_id": np.repeat(np.arange(225), 7), "doc_id": rng.integers(0, 1400, 225 * 7)}
    ).cast(pl.String)
    table = RankTable.of(runs, pairs.unique())
    times = []
    for _ in range(20):
        grades = rng.integers(0, 2, len(table.pairs))
        start = time.perf_counter()
        score(table, grades, ["AP"])
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="700,000 run lines, once")
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    if options.child:
        name, qrels, run = options.child
        (ours if name == "venire" else theirs)(qrels, run)
        return
    topics = 700 if options.quick else 7000
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = make(Path(folder), topics, 1000, 143)
        repeats = 1 if options.quick else 3
        mine = child("venire", qrels, run, repeats)
        other = child("pytrec_eval", qrels, run, 1 if options.quick else 2)
        lines = f"{topics * 1000:,} run lines, {topics * 143:,} qrels"
        rows.append((f"{lines}: venire", f"{mine[0]:.2f} s, {mine[1]:,.0f} MB", "under 1,200 MB"))
        rows.append((f"{lines}: pytrec_eval", f"{other[0]:.2f} s, {other[1]:,.0f} MB", ""))
        rows.append(("venire / pytrec_eval", f"{mine[0] / other[0]:.2f}", "at most 0.40"))
        if shutil.which("trec_eval"):
            command = ["trec_eval", *(f"-m{name}" for name in ("map", "ndcg_cut.10", "P.10"))]
            third = timed([*command, str(qrels), str(run)], repeats)
            rows.append(("venire / trec_eval", f"{mine[0] / third[0]:.2f}", "at most 0.50"))
        else:
            rows.append(("trec_eval", "not on this machine", "at most 0.50"))
    rows.append(("12 runs x 225 topics under new grades", f"{rescoring():.1f} ms", "at most 10 ms"))
    for name, value, must in rows:
        print(f"{name:60}  {value:24}  {must}")
    OUT.mkdir(exist_ok=True)
    (OUT / "evaluation.json").write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
