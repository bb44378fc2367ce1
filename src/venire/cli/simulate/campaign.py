"""``venire simulate campaign``: what designs of a campaign cost, and how good their grades are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

import venire
from venire.cli.shared.options import MEASURE, SEED, output_folder, read_numbers
from venire.cli.shared.output import FORMAT, emit, write_folder

F = TypeVar("F", bound=Callable[..., Any])


def _numbers(name: str, default: str, text: str) -> Callable[[F], F]:
    return click.option(
        name,
        callback=read_numbers(),
        default=default,
        show_default=True,
        metavar="N,...",
        help=text,
    )


@click.command("campaign")
@click.argument("truth", metavar="QRELS")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_numbers("--depth", "10", "Depths of the pool.")
@_numbers("--overlap", "1,3,5", "Judgments per document.")
@_numbers("--batch-size", "10", "Documents per batch, without gold.")
@_numbers("--gold", "2", "Gold documents per batch.")
@_numbers("--gold-errors", "0", "Maximum number of wrong gold answers in a valid batch.")
@click.option("--spam", type=float, default=0.1, show_default=True,
              help="Share of batches with random labels.")  # fmt: skip
@click.option("--accuracy", type=float, default=0.8, show_default=True,
              help="Probability of the right grade in the other batches.")  # fmt: skip
@click.option("--pilot", metavar="JUDGMENTS",
              help="Judgments of pairs in QRELS: their errors replace --spam and --accuracy, "
              "their median seconds --seconds.")  # fmt: skip
@click.option("--seconds", type=float, help="Seconds per judgment; 15 or the pilot's median.")
@click.option("--price", type=float, default=0.02, show_default=True, help="Price per judgment.")
@click.option("--fee", type=float, default=0.2, show_default=True,
              help="Platform fee, as a share of the payment.")  # fmt: skip
@click.option("--pay-rejected", is_flag=True, help="Pay for rejected batches too.")
@MEASURE
@click.option("--replays", type=click.IntRange(min=2), default=20, show_default=True,
              help="Number of replays per design.")  # fmt: skip
@SEED
@output_folder("report.html and designs.csv")
@FORMAT
def command(
    truth: str, runs: tuple[str, ...], output: str | None, form: str, **options: Any
) -> None:
    """Forecast the cost and the grade quality of campaign designs.

    Each design is replayed on QRELS, the known grades of a collection similar to yours.
    """
    from venire.report.forecast import describe_crowd, round_judgments

    result = venire.simulate_campaign(truth, runs, **options)
    emit(
        "simulate campaign",
        round_judgments(result.rows) if form == "table" else result.rows,
        form=form,
        settings={
            "truth": truth,
            "runs": list(runs),
            "pilot": options["pilot"],
            **result.settings,
            "seed": options["seed"],
        },
        notes=[
            *result.advice,
            describe_crowd(result.settings["crowd"]),
            *result.notes,
            *write_folder(result, output, form),
        ],
        digits=3,
    )
