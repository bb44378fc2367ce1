"""``venire aggregate``: judgments in, grades with their uncertainty out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from venire.aggregation.registry import DEFAULT
from venire.cli.shared.options import SEED, pairs, read_judgments, reading, setting_value
from venire.cli.shared.output import FORMAT, bar, emit
from venire.errors import BadSetting

RULES = ("mode", "rounded-mean", "real")


@click.command("aggregate")
@click.argument("judgments")
@click.option(
    "--model",
    default=DEFAULT,
    show_default=True,
    help="Name of a model, or all: every model, the mixture with each difficulty.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the model, for example difficulty=item or restarts=3. Repeatable.",
)
@reading("By default the last where judged_at says which that is, all where nothing does.")
@click.option("--gold", "gold_path", metavar="QRELS", help="Known grades to score the result by.")
@click.option(
    "--gold-columns",
    metavar="OURS=THEIRS,...",
    help="Column names of the gold file, for example doc_id=item,relevance=truth.",
)
@click.option("--gold-column", metavar="NAME", help="Column of known grades to score by.")
@click.option(
    "--clamp",
    "clamp_path",
    metavar="QRELS",
    help="Known grades to hold fixed while the annotators are learnt.",
)
@click.option(
    "--calibrate",
    "calibrate_path",
    metavar="QRELS",
    help="Known grades, 50 or more, that correct the scale and the probabilities after the fit.",
)
@click.option("--qrels", "qrels_path", metavar="FILE", help="Write the grades as qrels.")
@click.option(
    "--rule",
    type=click.Choice(RULES),
    default="mode",
    show_default=True,
    help="How a grade becomes one number in the qrels.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    help="Write items, annotators, difficulty, bounds (Parquet and CSV) and report.html.",
)
@click.option(
    "--threads", type=click.IntRange(min=1), help="Number of threads; all processors by default."
)
@SEED
@FORMAT
def command(
    judgments: str,
    model: str,
    settings: tuple[str, ...],
    columns: str | None,
    scale: str | None,
    drop_labels: tuple[str, ...],
    repeats: str | None,
    gold_path: str | None,
    gold_columns: str | None,
    gold_column: str | None,
    clamp_path: str | None,
    calibrate_path: str | None,
    qrels_path: str | None,
    rule: str,
    folder: str | None,
    threads: int | None,
    seed: int,
    form: str,
) -> None:
    """Infer a grade for every judged pair from the labels in JUDGMENTS.

    JUDGMENTS is CSV, TSV, JSON Lines or Parquet (gz, xz, zst too; - is standard input) with
    the columns query_id, doc_id, annotator_id, label.
    """
    from venire.aggregation.calibration import calibrate
    from venire.aggregation.check.truth import against_gold
    from venire.aggregation.registry import chosen
    from venire.engine import Threads
    from venire.report.folder import check_folder, write_posteriors
    from venire.tables.qrels import Qrels
    from venire.tables.schema import counted

    given = {name: setting_value(value) for item in settings for name, value in _one(item)}
    models = chosen(model, given)
    if len(models) > 1 and qrels_path:
        raise BadSetting("--qrels writes the grades of one model; name it with --model")
    if folder == "-":
        raise BadSetting("-o is a folder; a table goes to standard output by itself")
    if folder:
        check_folder(folder)
    if gold_path and gold_column:
        raise BadSetting("give --gold or --gold-column, not both")
    table = read_judgments(
        judgments, columns=columns, scale=scale, drop_labels=drop_labels, repeats=repeats
    )
    gold = None
    if gold_column:
        gold = table.gold(gold_column)
    elif gold_path:
        theirs = pairs(gold_columns, "--gold-columns") or None
        gold = Qrels.read(gold_path, columns=theirs).require_rows(gold_path)
    clamp = Qrels.read(clamp_path).require_rows(clamp_path) if clamp_path else None
    known = Qrels.read(calibrate_path).require_rows(calibrate_path) if calibrate_path else None
    notes = [
        f"{counted(len(table), 'judgment')}, {counted(table.codes.n_annotators, 'annotator')}, "
        f"{counted(table.codes.n_items, 'item')}",
        *table.notes,
        *(gold.notes if gold else ()),
    ]
    if table.codes.n_annotators == 1:
        notes.append("only one annotator: nothing tells their errors from the truth")
    if table.scale.size == 1:
        notes.append("only one label was used: every grade is that label")
    rows: list[dict[str, Any]] = []
    results: list[tuple[str, Any]] = []
    engine = Threads(threads)
    with bar() as progress:
        for name, aggregator in models:
            posterior = aggregator.fit(
                table, gold=clamp, seed=seed, engine=engine, progress=progress
            )
            if known is not None:
                posterior = calibrate(posterior, known, seed=seed)
            row = {"model": name, **_row(posterior)}
            if gold is not None:
                truth = against_gold(posterior, gold)
                row |= {
                    "mse": truth.mse,
                    "pearson": truth.pearson,
                    "ndcg": truth.ndcg,
                    "accuracy": truth.accuracy,
                }
                scored = f"{counted(truth.items, 'known pair')} of "
                scored += counted(truth.queries, "query", "queries")
                _add(notes, [*truth.notes, f"scored on {scored}"])
            rows.append(row)
            results.append((name, posterior))
            own = [note for note in posterior.notes if note not in table.notes]
            _add(notes, [f"{name}: {note}" for note in own])
    if qrels_path:
        # First, because ids that TREC files cannot say must not leave a folder behind.
        results[0][1].qrels(rule).write(qrels_path)
    if folder:
        write_posteriors(results, folder, rows=rows, notes=notes, gold=gold)
    if qrels_path == "-":
        for note in notes:
            click.echo(f"note: {note}", err=True)
        return
    if folder and form != "json":
        notes.append(f"written to {folder}; look at {folder}/report.html")
    emit(
        "aggregate",
        rows,
        form=form,
        settings={
            "model": model,
            "models": {name: dict(vars(aggregator)) for name, aggregator in models},
            "columns": columns,
            "scale": list(table.scale.names),
            "drop_labels": list(drop_labels),
            "repeats": repeats,
            "rule": rule,
            "seed": seed,
        },
        notes=notes,
    )


def _one(item: str) -> list[tuple[str, str]]:
    """Read NAME=VALUE,NAME=VALUE; a part without a name goes on with the value before it."""
    parts: list[str] = []
    for part in item.split(","):
        if parts and "=" not in part:
            parts[-1] = f"{parts[-1]},{part}"
        else:
            parts.append(part)
    out: list[tuple[str, str]] = []
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadSetting(f"--set is written name=value; {part!r} is not")
        out.append((name.strip(), value.strip()))
    return out


def _add(notes: list[str], more: Any) -> None:
    notes.extend(note for note in more if note not in notes)


def _row(posterior: Any) -> Mapping[str, Any]:
    """Return what is said of a result whether or not there is gold."""
    bounds = posterior.bounds
    chosen = bounds.filter(bounds["restart"] == posterior.restart) if bounds.height else bounds
    return {
        "items": posterior.items.height,
        "mean_sd": float(posterior.items["sd"].mean() or 0.0),
        "iterations": chosen.height,
        "converged": posterior.converged,
    }
