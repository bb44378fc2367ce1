"""``venire evaluate`` and ``venire compare``: systems under settled grades."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.shared.options import SEED
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting

TIES = ("trec", "docid-ascending", "file-order")
TOPICS = ("qrels", "run")
DEFAULT = ("AP", "nDCG@10", "P@10", "RR", "Bpref", "Judged@10")
MEASURES = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    help="A measure as ir_measures spells it: AP, nDCG@10, P(rel=2)@5. Repeatable.",
)
TIE = click.option(
    "--ties",
    type=click.Choice(TIES),
    default="trec",
    show_default=True,
    help="Order of documents with equal scores.",
)
OVER = click.option(
    "--topics",
    type=click.Choice(TOPICS),
    default="qrels",
    show_default=True,
    help="Average over all topics of the qrels (a missing one counts 0), or those a run has.",
)
KEEP = click.option(
    "--keep-going", is_flag=True, help="Name a run that cannot be read and go on with the others."
)
POSTERIOR = click.option(
    "--posterior",
    metavar="DIR",
    help="Folder that venire aggregate -o wrote: adds what the uncertainty of its grades does.",
)
DRAWS = click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Qrels drawn from the posterior.",
)
SAMPLING = click.option(
    "--sampling-intervals",
    "sampling",
    is_flag=True,
    help="95% intervals of xinfAP, infAP, infNDCG, infNumRel: what the drawing of the sample does.",
)
OUTPUT = click.option("-o", "--output", metavar="FILE", help="Write the result to a file.")


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@MEASURES
@click.option("--by-topic", is_flag=True, help="One row a run and topic, not the average.")
@OVER
@TIE
@POSTERIOR
@DRAWS
@SAMPLING
@SEED
@KEEP
@OUTPUT
@FORMAT
def evaluate_command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    by_topic: bool,
    topics: str,
    ties: str,
    posterior: str | None,
    draws: int,
    sampling: bool,
    seed: int,
    keep_going: bool,
    output: str | None,
    form: str,
) -> None:
    """Score runs against QRELS.

    QRELS and RUN are TREC files, or tables (CSV, TSV, JSON Lines, Parquet) with the columns
    query_id, doc_id, relevance and query_id, doc_id, score, run_id; gz, xz, zst too. A folder
    stands for the *.run files in it.
    """
    import polars as pl

    from venire.evaluation.fallback import evaluate_elsewhere, split
    from venire.evaluation.sampled import sampling_error
    from venire.evaluation.score import score_runs
    from venire.evaluation.uncertain import GradeProbabilities, draw_scores
    from venire.formats.run_files import read_run_files
    from venire.measures.family import list_estimates
    from venire.tables.qrels import Qrels

    wanted = measures or DEFAULT
    ours, theirs = split(wanted)
    if (posterior is not None or sampling) and by_topic:
        option = "--posterior" if posterior is not None else "--sampling-intervals"
        raise BadSetting(f"{option} gives intervals of averages; leave --by-topic out")
    if posterior is not None and sampling:
        raise BadSetting("give --posterior or --sampling-intervals, not both")
    graded = Qrels.read(qrels).require_rows(qrels)
    table = read_run_files(runs, keep_going=keep_going)
    notes = list(table.notes)
    scores = score_runs(graded, table, ours or ["NumRet"], topics=topics, ties=ties)
    notes += [*graded.notes, *scores.notes]
    frame = scores.by_topic if by_topic else scores.frame
    if theirs:
        more = evaluate_elsewhere(graded, table, theirs)
        if by_topic:
            frame = frame.join(more, on=["run_id", "query_id"], how="left")
        else:
            size = scores.counted.sum(axis=1)
            count = pl.DataFrame({"run_id": scores.runs, "topics": size})
            # In the order of the topics: sums of threads would differ in the last digit.
            more = more.sort("run_id", "query_id").drop("query_id")
            sums = more.group_by("run_id", maintain_order=True).sum().join(count, on="run_id")
            means = sums.select("run_id", *(pl.col(name) / pl.col("topics") for name in theirs))
            frame = frame.join(means, on="run_id", how="left")
        notes.append(f"by ir_measures: {', '.join(theirs)}")
        if not ours:
            frame = frame.drop("NumRet")
    if posterior is not None:
        if not ours:
            raise BadSetting("--posterior needs a measure that Venire computes itself")
        uncertain = GradeProbabilities.read(posterior)
        found = draw_scores(
            uncertain, table, ours, draws=draws, seed=seed, topics=topics, ties=ties
        )
        low, high = found.interval()
        frame = _with_intervals(frame, found.runs, found.measures, low, high)
        notes += [
            f"95% intervals by {draws} qrels drawn from {posterior}, seed {seed}",
            *_apart(graded, uncertain),
        ]
        outside = int(((scores.mean < low) | (scores.mean > high)).sum())
        if outside:
            notes.append(
                f"{outside} of {scores.mean.size} scores lie outside their interval: the qrels "
                "have one grade a pair, the draws each grade as often as it is likely"
            )
    if sampling:
        names = [measure for measure in ours if measure.family.is_estimate]
        if not names:
            raise BadSetting(
                f"--sampling-intervals needs a measure of a sample: {', '.join(list_estimates())}"
            )
        sampled = sampling_error(graded, table, names, topics=topics, ties=ties)
        kept = sampled.scores
        frame = _with_intervals(frame, kept.runs, kept.measures, *sampled.interval())
        notes += ["95% intervals by the jackknife over the sample, topics as given", *sampled.notes]
    rows = frame.to_dicts()
    emit(
        "evaluate",
        rows,
        form=form,
        settings={
            "qrels": qrels,
            "runs": list(runs),
            "measures": [*map(str, ours), *theirs],
            "topics": topics,
            "ties": ties,
            "posterior": posterior,
            "draws": draws if posterior else None,
            "sampling_intervals": sampling,
            "seed": seed,
        },
        notes=notes,
        output=output,
    )


def _apart(graded: Any, uncertain: Any) -> list[str]:
    """Say that qrels and grade probabilities speak of different topics or pairs, if they do."""
    pair = ["query_id", "doc_id"]
    missing = graded.frame.join(uncertain.pairs, on=pair, how="anti").height
    more = uncertain.pairs.join(graded.frame, on=pair, how="anti").height
    if not missing and not more:
        return []
    return [
        f"the scores and the intervals are of different pairs: {missing:,} of the qrels have no "
        f"grade probabilities, {more:,} with probabilities are not in the qrels"
    ]


def _with_intervals(frame: Any, runs: list[str], measures: list[Any], low: Any, high: Any) -> Any:
    """Add low and high of each measure."""
    import polars as pl

    columns: dict[str, Any] = {"run_id": runs}
    for at, measure in enumerate(measures):
        columns[f"{measure} low"], columns[f"{measure} high"] = low[at], high[at]
    return frame.join(pl.DataFrame(columns), on="run_id", how="left", maintain_order="left")


@click.command("compare")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@MEASURES
@OVER
@TIE
@click.option("--permutations", type=int, default=10_000, show_default=True, help="Of each test.")
@click.option("--bootstraps", type=int, default=5_000, show_default=True, help="Of the interval.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the interval.")
@POSTERIOR
@DRAWS
@SEED
@KEEP
@OUTPUT
@FORMAT
def compare_command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    topics: str,
    ties: str,
    permutations: int,
    bootstraps: int,
    level: float,
    posterior: str | None,
    draws: int,
    seed: int,
    keep_going: bool,
    output: str | None,
    form: str,
) -> None:
    """Compare every pair of runs: difference, interval, paired tests, corrected for many pairs."""
    from dataclasses import asdict

    from venire.evaluation.paired_tests import compare_systems
    from venire.evaluation.score import score_runs
    from venire.formats.run_files import read_run_files
    from venire.tables.qrels import Qrels

    wanted = list(measures or ("AP",))
    graded = Qrels.read(qrels).require_rows(qrels)
    table = read_run_files(runs, keep_going=keep_going)
    notes = list(table.notes)
    if table.frame["run_id"].n_unique() < 2:
        raise BadSetting("comparing needs at least two runs")
    scores = score_runs(graded, table, wanted, topics=topics, ties=ties)
    rows: list[dict[str, Any]] = []
    for at, measure in enumerate(scores.measures):
        found = compare_systems(
            scores, at, permutations=permutations, bootstraps=bootstraps, level=level, seed=seed
        )
        rows += [{"measure": str(measure), **asdict(pair)} for pair in found]
    if posterior is not None:
        from venire.evaluation.uncertain import GradeProbabilities, draw_scores

        drawn = draw_scores(
            GradeProbabilities.read(posterior), table, scores.measures,
            draws=draws, seed=seed, topics=topics, ties=ties,
        )  # fmt: skip
        names = [str(measure) for measure in drawn.measures]
        for row in rows:
            at = names.index(row["measure"])
            row["first_better"] = drawn.better(row["first"], row["second"], at)
        notes.append(f"first_better: share of {draws} qrels drawn from {posterior}, seed {seed}")
    shared = int(scores.counted.all(axis=0).sum())
    emit(
        "compare",
        rows,
        form=form,
        settings={
            "qrels": qrels,
            "runs": list(runs),
            "measures": [str(measure) for measure in scores.measures],
            "topics": topics,
            "ties": ties,
            "permutations": permutations,
            "bootstraps": bootstraps,
            "level": level,
            "posterior": posterior,
            "draws": draws if posterior else None,
            "seed": seed,
        },
        notes=[*notes, *graded.notes, *scores.notes, f"over {shared} topics that all runs count"],
        output=output,
    )
