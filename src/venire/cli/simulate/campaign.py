"""``venire simulate campaign`` and ``venire study next``: what to spend, and on what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from venire.cli.shared.database import DATABASE, opened
from venire.cli.shared.options import SEED
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting
from venire.progress import silent

F = TypeVar("F", bound=Callable[..., Any])


def _several(name: str, default: str, text: str) -> Callable[[F], F]:
    return click.option(name, default=default, show_default=True, metavar="N,...", help=text)


@click.command("campaign")
@click.argument("truth", metavar="QRELS")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_several("--depth", "10", "Depths of the pool.")
@_several("--overlap", "1,3,5", "Judgments of each document.")
@_several("--batch-size", "10", "Documents of a batch, without gold.")
@_several("--gold", "2", "Gold in a batch.")
@_several("--gold-errors", "0", "Gold a batch may have wrong.")
@click.option("--spam", type=float, default=0.1, show_default=True,
              help="Share of batches whose labels are chance.")  # fmt: skip
@click.option("--accuracy", type=float, default=0.8, show_default=True,
              help="How often the others give the right grade.")  # fmt: skip
@click.option("--pilot", metavar="JUDGMENTS",
              help="Judgments of pairs of QRELS that show how people judge.")  # fmt: skip
@click.option("--seconds", type=float, help="Of one judgment; 15, or the pilot's median.")
@click.option("--price", type=float, default=0.02, show_default=True, help="Of one judgment.")
@click.option("--fee", type=float, default=0.2, show_default=True,
              help="Share that the platform adds.")  # fmt: skip
@click.option("--pay-rejected", is_flag=True, help="Pay for batches that do not count too.")
@click.option("-m", "--measure", default="AP", show_default=True, metavar="M",
              help="Of the systems.")  # fmt: skip
@click.option("--replays", type=click.IntRange(min=2), default=20, show_default=True,
              help="How often each design is played.")  # fmt: skip
@SEED
@click.option("-o", "--output", "folder", metavar="DIR", help="Write report.html and designs.csv.")
@FORMAT
def command(
    truth: str,
    runs: tuple[str, ...],
    depth: str,
    overlap: str,
    batch_size: str,
    gold: str,
    gold_errors: str,
    spam: float,
    accuracy: float,
    pilot: str | None,
    seconds: float | None,
    price: float,
    fee: float,
    pay_rejected: bool,
    measure: str,
    replays: int,
    seed: int,
    folder: str | None,
    form: str,
) -> None:
    """Say what designs of a campaign would cost and how good their grades would be.

    They are played on QRELS, the known grades of a collection like the one to be judged.
    """
    from venire.formats.run_files import read_run_files
    from venire.simulation.campaigns.designs import Crowd, crowd_of_pilot, forecast, grid
    from venire.tables.judgments import Judgments
    from venire.tables.qrels import Qrels

    designs = grid(
        depth=_numbers(depth, "--depth"),
        overlap=_numbers(overlap, "--overlap"),
        batch_size=_numbers(batch_size, "--batch-size"),
        gold_size=_numbers(gold, "--gold"),
        gold_errors=_numbers(gold_errors, "--gold-errors"),
    )
    known = Qrels.read(truth).require_rows(truth)
    table = read_run_files(runs)
    notes = list(table.notes)
    given: dict[str, Any] = {"price": price, "fee": fee, "pay_rejected": pay_rejected}
    if seconds is not None:
        given["seconds"] = seconds
    if pilot is None:
        crowd = Crowd(spam=spam, accuracy=accuracy, **given)
    else:
        crowd = crowd_of_pilot(Judgments.read(pilot, repeats="last"), known, **given)
    found = forecast(
        known, table, designs, crowd, measure=measure, replays=replays, seed=seed, progress=silent
    )
    from venire.report.forecast import played_with, shown, write_forecast

    notes += [played_with(found.settings["crowd"]), *found.notes]
    if folder:
        write_forecast(found, folder)
        if form != "json":
            notes.append(f"written to {folder}; look at report.html there")
    settings = {"truth": truth, "runs": list(runs), "pilot": pilot, **found.settings, "seed": seed}
    rows = shown(found.rows) if form == "table" else found.rows
    emit("simulate campaign", rows, form=form, settings=settings, notes=notes, digits=3)


def _numbers(text: str, option: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise BadSetting(f"{option} is whole numbers such as 1,3,5, not {text!r}") from None


@click.command("next")
@click.argument("study")
@click.option("--campaign", required=True, metavar="NAME", help="The campaign.")
@click.option("--budget", type=click.IntRange(min=1), default=100, show_default=True,
              help="Pairs to choose, one more judgment each.")  # fmt: skip
@click.option("--by", type=click.Choice(("ranking", "grade")), default="ranking",
              show_default=True, help="What a judgment is to change.")  # fmt: skip
@click.option("--apply", is_flag=True, help="Ask the campaign's annotators for these judgments.")
@DATABASE
@FORMAT
def next_command(
    study: str, campaign: str, budget: int, by: str, apply: bool, database: str, form: str
) -> None:
    """Choose the pairs of STUDY that one more judgment is worth most for."""
    from venire.errors import DataError
    from venire.server.studies.campaigns import find_campaign, raise_overlap
    from venire.server.studies.results import judgments
    from venire.server.studies.studies import find_study
    from venire.server.studies.studies import read_runs as runs_of
    from venire.simulation.campaigns.next_best import next_best

    with opened(database) as store, store.writing() as session:
        found = find_study(session, study).id
        wave = find_campaign(session, found, campaign).id
        table = judgments(session, found, wave)
        if not len(table):
            raise DataError(f"the campaign {campaign!r} has no judgments that count yet")
        chosen = next_best(
            table, budget, by=by, runs=runs_of(session, found) if by == "ranking" else None
        )
        notes = list(chosen.notes)
        if apply and chosen.frame.height:
            pairs = list(chosen.frame.select("query_id", "doc_id").iter_rows())
            n = raise_overlap(session, wave, pairs, reason=f"next best judgment by {by}")
            notes.append(f"{n:,} documents get one more judgment")
    settings = {"study": study, "campaign": campaign, "budget": budget, "by": by, "apply": apply,
                "database": database}  # fmt: skip
    rows = chosen.frame.to_dicts()
    if form == "table":
        rows = [{**row, "gain": f"{row['gain']:.2e}"} for row in rows]
    emit("study next", rows, form=form, settings=settings, notes=notes)
