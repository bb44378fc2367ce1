"""``venire simulate annotators``: how many judgments a pair needs."""

from __future__ import annotations

import click

from venire.cli.shared.options import SEED, read_judgments, reading
from venire.cli.shared.output import FORMAT, emit


@click.command("annotators")
@click.argument("judgments")
@click.argument("runs", nargs=-1, metavar="RUN...")
@reading("By default the last, by judged_at or else by the order of the rows.")
@click.option("--most", type=click.IntRange(min=2), default=5, show_default=True,
              help="Greatest number of judgments a pair that is tried.")  # fmt: skip
@click.option(
    "--source", type=click.Choice(("judgments", "posterior")), default="judgments",
    show_default=True,
    help="Draw from the judgments of each pair, or from a fitted model where there are too few.",
)  # fmt: skip
@click.option("--rule", type=click.Choice(("mean", "majority")), default="mean",
              show_default=True, help="What settles the drawn labels.")  # fmt: skip
@click.option("--draws", type=click.IntRange(min=2), default=100, show_default=True,
              help="How often judgments are drawn.")  # fmt: skip
@click.option("-m", "--measure", "measures", multiple=True, metavar="M",
              help="Measures, repeatable; AP, nDCG and P@10 by default.")  # fmt: skip
@click.option("--truth", metavar="QRELS", help="Known grades: the order and grades to reach.")
@click.option("--target-tau", type=float, default=0.9, show_default=True,
              help="Mean tau that is enough.")  # fmt: skip
@click.option("--target-sd", type=float, help="Standard deviation of a score that is enough.")
@click.option("--price", type=float, help="Of one judgment; adds the cost.")
@SEED
@click.option("-o", "--output", "folder", metavar="DIR",
              help="Write report.html, annotators.csv and truth.csv.")  # fmt: skip
@FORMAT
def command(
    judgments: str,
    runs: tuple[str, ...],
    columns: str | None,
    scale: str | None,
    drop_labels: tuple[str, ...],
    repeats: str | None,
    most: int,
    source: str,
    rule: str,
    draws: int,
    measures: tuple[str, ...],
    truth: str | None,
    target_tau: float,
    target_sd: float | None,
    price: float | None,
    seed: int,
    folder: str | None,
    form: str,
) -> None:
    """Say what 1, 2, 3, ... judgments a pair do to scores and to the order of runs.

    Without RUN..., settled grades are compared with --truth only.
    """
    from venire.formats.run_files import read_run_files
    from venire.simulation.campaigns.annotators_needed import MEASURES, annotators_needed
    from venire.tables.qrels import Qrels

    table = read_judgments(judgments, columns=columns, scale=scale, drop_labels=drop_labels,
                           repeats=repeats or "last")  # fmt: skip
    loaded = read_run_files(runs) if runs else None
    notes = list(loaded.notes) if loaded is not None else []
    found = annotators_needed(
        table,
        loaded,
        measures or MEASURES,
        most=most,
        source=source,
        rule=rule,
        draws=draws,
        target_tau=target_tau,
        target_sd=target_sd,
        price=price,
        truth=None if truth is None else Qrels.read(truth),
        seed=seed,
    )
    from venire.report.annotators_needed import in_words, shown, write_annotators_needed

    notes = [*in_words(found), *notes, *found.notes]
    if folder:
        write_annotators_needed(found, folder)
        if form != "json":
            notes.append(f"written to {folder}; look at report.html there")
    emit(
        "simulate annotators",
        (shown(found.rows) if form == "table" else found.rows) or found.truth,
        form=form,
        settings={"judgments": judgments, "runs": list(runs), "truth": truth, **found.settings,
                  "seed": seed},
        notes=notes,
    )  # fmt: skip
