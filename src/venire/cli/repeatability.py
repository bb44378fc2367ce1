"""``venire trust --campaign``: the same systems under several groups of annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from venire.cli.shared.options import pairs as read_pairs
from venire.cli.shared.output import emit
from venire.errors import BadSetting, DataError, VenireError

if TYPE_CHECKING:
    from venire.reliability.repeatability import Group
    from venire.tables.judgments import Judgments
    from venire.tables.runs import Runs


def run(
    campaigns: tuple[str, ...],
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    study: str | None,
    database: str,
    model: str,
    pairs: str,
    reading: dict[str, Any],
    folder: str | None,
    form: str,
    keep_going: bool,
    options: dict[str, Any],
) -> None:
    """Read the groups and the runs, compare, and print a row for each measure and two groups."""
    from venire.reliability.repeatability import MEASURES, compare_groups

    named = [_named(one, study) for one in campaigns]
    twice = next((name for name, _ in named if sum(name == one for one, _ in named) > 1), None)
    if twice is not None:
        raise BadSetting(f"--campaign {twice} is there twice; give each group a name of its own")
    groups, table, notes = _inputs(
        named, runs, study, database, model, reading, keep_going=keep_going
    )
    relevant = options.pop("relevant_from")
    found = compare_groups(
        groups,
        table,
        measures or MEASURES,
        pairs=pairs,
        relevant_from=1 if relevant is None else relevant,
        **options,
    )
    notes = [found.sentence, *notes, *found.notes]
    if folder:
        from venire.report.repeatability import write_repeatability

        write_repeatability(found, folder)
        if form != "json":
            notes.append(f"written to {folder}; look at report.html there")
    settings = {**found.settings, "model": model, "study": study, "seed": found.seed}
    emit("trust", found.orders, form=form, settings=settings, notes=notes)


def _named(text: str, study: str | None) -> tuple[str, str | None]:
    """Read NAME=FILE, or the name of a campaign of the study."""
    name, equals, path = text.partition("=")
    if not equals:
        if study is None:
            raise BadSetting(f"--campaign is written NAME=FILE, or --study names where {text} is")
        return text, None
    if not name.strip() or not path.strip():
        raise BadSetting(f"--campaign is written NAME=FILE; {text!r} is not")
    return name.strip(), path.strip()


def _inputs(
    named: list[tuple[str, str | None]],
    runs: tuple[str, ...],
    study: str | None,
    database: str,
    model: str,
    reading: dict[str, Any],
    *,
    keep_going: bool,
) -> tuple[dict[str, Group], Runs, list[str]]:
    from venire.formats.run_files import read_run_files

    notes: list[str] = []
    groups: dict[str, Group] = {}
    if study is None:
        table = read_run_files(runs, keep_going=keep_going)
        notes += table.notes
        for name, path in named:
            groups[name] = read_group(name, path or "", model, reading, notes)
        return groups, table, notes
    from venire.cli.shared.database import opened
    from venire.server.jobs.repeatability import group_of
    from venire.server.studies.studies import find_study
    from venire.server.studies.studies import read_runs as runs_of

    with opened(database) as store, store.reading() as session:
        found = find_study(session, study).id
        if runs:
            table = read_run_files(runs, keep_going=keep_going)
            notes += table.notes
        else:
            table = runs_of(session, found)
        for name, path in named:
            groups[name] = (
                group_of(session, found, name, model, notes)
                if path is None
                else read_group(name, path, model, reading, notes)
            )
    return groups, table, notes


def read_group(
    name: str, path: str, model: str, reading: dict[str, Any], notes: list[str]
) -> Group:
    """Read judgments, a study's raw record, or qrels; judgments are settled by a model."""
    from venire.formats import read_frame
    from venire.reliability.repeatability import Group
    from venire.tables.judgments import Judgments
    from venire.tables.qrels import Qrels

    columns = read_pairs(reading["columns"], "--columns")
    try:
        frame, source = read_frame(path)
    except VenireError:
        frame = None  # TREC qrels have no line of names: the reader of qrels says what is wrong
    if frame is None or columns.get("label", "label") not in frame.columns:
        qrels = Qrels.read(path).require_rows(path)
        notes += [f"{name}: {note}" for note in qrels.notes]
        return Group(qrels)
    rejected = None
    if {"counts", "batch_id", "batch_valid", "batch_kind"} <= set(frame.columns):
        rejected, frame = _raw(frame)
    table = Judgments.of(
        frame,
        columns=columns,
        scale=reading["scale"],
        drop_labels=reading["drop_labels"],
        repeats=reading["repeats"] or "last",
        source=source if rejected is None else None,
    )
    if not len(table):
        raise DataError(f"{path}: there is no judgment in it")
    notes += [f"{name}: {note}" for note in table.notes]
    return Group(settled(table, model), table, rejected)


def _raw(frame: pl.DataFrame) -> tuple[Any, pl.DataFrame]:
    """Return the share of rejected batches of a raw record, and the rows that count."""
    from venire.stats.proportion import wilson

    true = {"true": True, "True": True, "false": False, "False": False}
    frame = frame.with_columns(
        pl.col(name).cast(pl.String).replace_strict(true, default=None, return_dtype=pl.Boolean)
        for name in ("counts", "batch_valid")
    )
    batches = frame.filter((pl.col("batch_kind") == "work") & pl.col("batch_valid").is_not_null())
    batches = batches.unique("batch_id")
    bad = int((~batches["batch_valid"]).sum())
    return wilson(bad, batches.height), frame.filter(pl.col("counts"))


def settled(table: Judgments, model: str) -> Any:
    """Return the qrels of judgments by a model's most probable grade."""
    from venire.aggregation.registry import build

    return build(model, {}).fit(table).qrels()
