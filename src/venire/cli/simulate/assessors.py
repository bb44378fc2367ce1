"""``venire simulate assessors``: systems scored by a simulated second assessor."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import MEASURE, OUTPUT_FILE, RELEVANT_FROM, SEED, TIES
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting


def read_rates(
    context: click.Context, parameter: click.Parameter, text: str
) -> float | dict[int, float]:
    """Read one probability, or one per grade: ``0.7`` or ``2=0.9,1=0.5``."""
    try:
        if "=" not in text:
            return float(text)
        pairs = [part.split("=", 1) for part in text.split(",") if part.strip()]
        return {int(grade): float(rate) for grade, rate in pairs}
    except ValueError:
        raise BadSetting(
            f"must be a probability, or one per grade: 0.7 or 2=0.9,1=0.5 (got {text!r})",
            argument=parameter.name or "",
            value=text,
        ) from None


@click.command("assessors")
@click.argument("truth", metavar="COLLECTION|QRELS")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option(
    "--keep",
    callback=read_rates,
    required=True,
    metavar="P|GRADE=P,...",
    help="Probability that a relevant document stays relevant: 0.7, or 2=0.9,1=0.5.",
)
@click.option(
    "--false-positives",
    type=float,
    default=0.04,
    show_default=True,
    help="Probability that a document of the pool that is not relevant becomes relevant.",
)
@click.option(
    "--depth", type=int, default=20, show_default=True, help="Depth of the assessor's pool."
)
@click.option("--favour", metavar="RUN", help="Run that the assessor favours.")
@click.option(
    "--top",
    type=int,
    default=5,
    show_default=True,
    help="With --favour: number of top documents of that run which the assessor may accept.",
)
@click.option(
    "--accept",
    type=float,
    default=0.5,
    show_default=True,
    help="Probability that a top document that is not relevant becomes relevant.",
)
@click.option(
    "--seeds",
    type=int,
    default=30,
    show_default=True,
    help="Number of simulations. Simulation i uses seed --seed + i, with i from 0.",
)
@SEED
@click.option(
    "--by",
    type=click.Choice(("quantity", "seed", "run")),
    default="quantity",
    show_default=True,
    help="Print medians and quartiles, one row per simulation, or one row per run.",
)
@MEASURE
@RELEVANT_FROM
@TIES
@OUTPUT_FILE
@FORMAT
def command(
    truth: str,
    runs: tuple[str, ...],
    by: str,
    output: str | None,
    form: str,
    **options: Any,
) -> None:
    """Score systems by a simulated second assessor.

    The second assessor replaces the first, and the systems are scored again. The arguments are
    those of venire simulate pools.
    """
    result = venire.simulate_assessors(truth, runs or None, **options)
    rows: dict[str, Any] = {
        "quantity": result.summary,
        "seed": result.frame.to_dicts,
        "run": result.by_run,
    }
    emit(
        "simulate assessors",
        rows[by](),
        form=form,
        settings={
            "truth": truth,
            "runs": result.runs,
            **result.settings,
            "seed": options["seed"],
            "seeds": options["seeds"],
        },
        notes=result.notes,
        output=output,
    )
