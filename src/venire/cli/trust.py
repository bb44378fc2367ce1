"""``venire trust``: how far a ranking of runs can be trusted."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.evaluate import DRAWS, KEEP, OVER, POSTERIOR, TIE
from venire.cli.shared.database import DATABASE
from venire.cli.shared.options import SEED, read_judgments, reading
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting, DataError, MissingColumns


def read_groups(path: str) -> dict[str, str]:
    """Read a table with the columns run (or run_id) and group."""
    from venire.formats import read_frame

    frame, _ = read_frame(path)
    if "run_id" in frame.columns and "run" not in frame.columns:
        frame = frame.rename({"run_id": "run"})
    missing = [name for name in ("run", "group") if name not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, path, renamed=False)
    out: dict[str, str] = {}
    for run, group in frame.select("run", "group").iter_rows():
        if run is None or group is None:
            raise DataError(f"{path}: a row has no run or no group")
        if out.setdefault(str(run), str(group)) != str(group):
            raise DataError(f"{path}: run {run} is in two groups, {out[str(run)]} and {group}")
    return out


def _explained(row: dict[str, Any]) -> str:
    step = "" if row["next_step"] == "none" else f"; next: {row['next_step']}"
    return f"{row['risk']}: the number is the {row['what']}{step}"


@click.command("trust")
@click.argument("qrels", required=False, metavar="QRELS")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option(
    "--campaign",
    "campaigns",
    multiple=True,
    metavar="NAME=FILE",
    help="A group of annotators: judgments or qrels; or a campaign of --study. Repeatable; then "
    "there is no QRELS.",
)
@click.option("--study", metavar="NAME", help="Where campaigns without a FILE, and runs, are.")
@DATABASE
@click.option(
    "--model", default="majority", show_default=True, help="What settles a campaign's judgments."
)
@click.option(
    "--pairs",
    type=click.Choice(("shared", "own")),
    default="shared",
    show_default=True,
    help="Score campaigns on the pairs all of them judged, or each on its own.",
)
@click.option(
    "--relevant-from", type=int, help="Smallest relevant grade, for the agreement of campaigns."
)
@click.option(
    "--judgments",
    metavar="FILE",
    help="Judgments by others of pairs of the qrels; without them two risks are not checked.",
)
@reading("By default the last, by judged_at or else by the order of the rows.")
@POSTERIOR
@DRAWS
@click.option(
    "--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Depth of the pool."
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    help="What ranks the runs, as ir_measures spells it: AP (the default), nDCG@10, AP(rel=2). "
    "Repeatable with --campaign; there AP, nDCG and P@10 are the default.",
)
@click.option(
    "--groups",
    metavar="FILE",
    help="A table with the columns run, group: runs of one group are left out together.",
)
@OVER
@TIE
@click.option(
    "--permutations",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Of each test.",
)
@KEEP
@SEED
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    help="Write report.html and a CSV file for each table.",
)
@FORMAT
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    campaigns: tuple[str, ...],
    study: str | None,
    database: str,
    model: str,
    pairs: str,
    relevant_from: int | None,
    judgments: str | None,
    columns: str | None,
    scale: str | None,
    drop_labels: tuple[str, ...],
    repeats: str | None,
    posterior: str | None,
    draws: int,
    depth: int,
    measures: tuple[str, ...],
    groups: str | None,
    topics: str,
    ties: str,
    permutations: int,
    keep_going: bool,
    seed: int,
    folder: str | None,
    form: str,
) -> None:
    """Say how far the ranking of runs under QRELS can be trusted: one row a risk.

    RUN is a run as for venire evaluate, or a folder with *.run files.

    The verdict is green, amber, red, or not checked, with the number that decides it, the
    reason, and the cheapest next step. With --campaign, systems are ranked under each group of
    annotators instead: one row a measure and two groups.
    """
    if campaigns:
        if judgments or posterior or groups:
            raise BadSetting("--judgments, --posterior and --groups are not for --campaign")
        from venire.cli.repeatability import run as compare_campaigns

        compare_campaigns(
            campaigns,
            runs if qrels is None else (qrels, *runs),
            measures=measures,
            study=study,
            database=database,
            model=model,
            pairs=pairs,
            reading={"columns": columns, "scale": scale, "drop_labels": drop_labels,
                     "repeats": repeats},
            folder=folder,
            form=form,
            keep_going=keep_going,
            options={"relevant_from": relevant_from, "topics": topics, "ties": ties,
                     "permutations": permutations, "seed": seed},
        )  # fmt: skip
        return
    if qrels is None or not runs:
        raise click.UsageError("name QRELS and RUN..., or the groups with --campaign NAME=FILE")
    if study is not None or relevant_from is not None:
        raise BadSetting("--study and --relevant-from are for --campaign")
    if len(measures) > 1:
        raise BadSetting("name one measure; several are for --campaign")
    measure = measures[0] if measures else "AP"
    from venire.evaluation.uncertain import GradeProbabilities
    from venire.formats.run_files import read_run_files
    from venire.reliability.summary import assess_ranking
    from venire.tables.qrels import Qrels

    if judgments is None and (columns or scale or drop_labels or repeats):
        raise BadSetting(
            "--columns, --scale, --drop-label and --repeats say how --judgments is read"
        )
    graded = Qrels.read(qrels).require_rows(qrels)
    table = read_run_files(runs, keep_going=keep_going)
    notes = list(table.notes)
    others = None
    if judgments is not None:
        others = read_judgments(
            judgments,
            columns=columns,
            scale=scale,
            drop_labels=drop_labels,
            repeats=repeats or "last",
        )
    result = assess_ranking(
        graded,
        table,
        measure,
        judgments=others,
        posterior=None if posterior is None else GradeProbabilities.read(posterior),
        draws=draws,
        depth=depth,
        groups=None if groups is None else read_groups(groups),
        topics=topics,
        ties=ties,
        permutations=permutations,
        seed=seed,
    )
    notes += result.notes
    if folder:
        from venire.report.trust import write_trust

        write_trust(result, folder)
        if form != "json":
            notes.append(f"written to {folder}; look at report.html there")
    rows = result.rows
    if form == "table":
        # One line a risk must fit a screen; what the number is, and what to do, follow.
        notes = [*(_explained(row) for row in rows), *notes]
        rows = [
            {name: row[name] for name in ("risk", "verdict", "number", "reason")} for row in rows
        ]
        for row in rows:
            row["number"] = "-" if row["number"] is None else f"{row['number']:.4f}"
    emit(
        "trust",
        rows,
        form=form,
        settings={
            "qrels": qrels,
            "runs": list(runs),
            "judgments": judgments,
            "columns": columns,
            "scale": scale,
            "drop_labels": list(drop_labels),
            "repeats": repeats or "last" if judgments else None,
            "posterior": posterior,
            "draws": draws if posterior else None,
            "depth": depth,
            "measure": str(result.leave_one_out.measure),
            "groups": groups,
            "topics": topics,
            "ties": ties,
            "permutations": permutations,
            "seed": seed,
        },
        notes=notes,
    )
