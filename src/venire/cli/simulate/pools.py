"""``venire simulate``: what a pool, another assessor or grouped judging would have done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli.pool import numbers
from venire.cli.shared.options import SEED, pairs
from venire.cli.shared.output import FORMAT, emit
from venire.cli.simulate import annotators, campaign
from venire.cli.simulate import grouping as simulate_grouping
from venire.errors import BadSetting, DataError

if TYPE_CHECKING:
    from venire.tables.qrels import Qrels
    from venire.tables.runs import Runs

TRUTH = click.argument("truth", metavar="COLLECTION|QRELS")
RUNS = click.argument("runs", nargs=-1, metavar="RUN...")
MEASURE = click.option(
    "-m", "--measure", default="AP", show_default=True, metavar="M", help="Of the systems."
)
RELEVANT = click.option(
    "--relevant-from", type=int, default=1, show_default=True, help="Least relevant grade."
)
TIES = click.option(
    "--ties",
    type=click.Choice(("trec", "docid-ascending", "file-order")),
    default="trec",
    show_default=True,
    help="Which of equally scored documents come first.",
)
OUTPUT = click.option("-o", "--output", metavar="FILE", help="Write the result to a file.")


@click.group("simulate")
def group() -> None:
    """Try pools, assessors and grouped judging out on grades that are known."""


group.add_command(simulate_grouping.command)
group.add_command(annotators.command)
group.add_command(campaign.command)


@group.command("pools")
@TRUTH
@RUNS
@click.option(
    "--depth", "depths", metavar="K,...", help="Depths of the pool; 10,20,50,100 by default."
)
@click.option("--members", metavar="RUN,...", help="Runs that make the pool; all by default.")
@click.option(
    "--by",
    type=click.Choice(("depth", "run", "left-out")),
    default="depth",
    show_default=True,
    help="A row a depth; or a row a run, by one pool or as if it had not contributed.",
)
@MEASURE
@RELEVANT
@TIES
@OUTPUT
@FORMAT
def pools_command(
    truth: str,
    runs: tuple[str, ...],
    depths: str | None,
    members: str | None,
    by: str,
    measure: str,
    relevant_from: int,
    ties: str,
    output: str | None,
    form: str,
) -> None:
    """Score systems by simulated pools, against the truth.

    The first argument is qrels, or a collection folder with its qrels (Cranfield too). Without
    RUN..., the runs of the collection are taken, or its documents are searched with the twelve
    systems of venire retrieve.
    """
    from venire.simulation.pools.replay import Pools

    if by != "depth" and depths is None:
        raise BadSetting(f"--by {by} is of one pool; name its --depth")
    wanted = numbers("10,20,50,100" if depths is None else depths, "--depth", int)
    if by != "depth" and len(wanted) > 1:
        raise BadSetting(f"--by {by} is of one pool; name one --depth")
    chosen = None
    if members is not None:
        chosen = [name.strip() for name in members.split(",") if name.strip()]
        if not chosen:
            raise BadSetting("--members names at least one run")
    if chosen and by == "left-out":
        raise BadSetting("leaving one out is of the pool of all runs, without --members")
    qrels, table, size, notes = read_truth(truth, runs, ties)
    lab = Pools.of(
        qrels,
        table,
        deepest=max(wanted),
        measure=measure,
        relevant_from=relevant_from,
        ties=ties,
    )
    notes += lab.notes
    if by == "run":
        scores = lab.scores(wanted[0], chosen)
        rows = scores.frame.to_dicts()
        notes.append(said(scores.tau, scores.swapped, scores.found_share))
    elif by == "left-out":
        rows = lab.leave_one_out(wanted[0]).to_dicts()
    elif chosen:
        every = [lab.scores(depth, chosen) for depth in wanted]
        rows = [
            {
                "depth": one.depth,
                "found_share": one.found_share,
                "tau": one.tau,
                "swapped": one.swapped,
            }
            for one in every
        ]
    else:
        rows = lab.depths(wanted, collection_size=size).to_dicts()
    emit(
        "simulate pools",
        rows,
        form=form,
        settings={
            "truth": truth,
            "runs": lab.table.runs,
            "depths": wanted,
            "members": chosen,
            "by": by,
            "measure": str(lab.measure),
            "relevant_from": relevant_from,
            "ties": ties,
        },
        notes=notes,
        output=output,
    )


@group.command("assessors")
@TRUTH
@RUNS
@click.option(
    "--keep",
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
@click.option("--depth", type=int, default=20, show_default=True, help="Of the assessor's pool.")
@click.option("--favour", metavar="RUN", help="The assessor accepts what this run ranks first.")
@click.option("--top", type=int, default=5, show_default=True, help="How much of that run.")
@click.option(
    "--accept",
    type=float,
    default=0.5,
    show_default=True,
    help="Probability that a document there that is not relevant becomes relevant.",
)
@click.option("--seeds", type=int, default=30, show_default=True, help="Number of simulations.")
@SEED
@click.option(
    "--by",
    type=click.Choice(("quantity", "seed", "run")),
    default="quantity",
    show_default=True,
    help="Medians and quartiles, a row a simulation, or a row a run.",
)
@MEASURE
@RELEVANT
@TIES
@OUTPUT
@FORMAT
def assessors_command(
    truth: str,
    runs: tuple[str, ...],
    keep: str,
    false_positives: float,
    depth: int,
    favour: str | None,
    top: int,
    accept: float,
    seeds: int,
    seed: int,
    by: str,
    measure: str,
    relevant_from: int,
    ties: str,
    output: str | None,
    form: str,
) -> None:
    """Score systems by a made-up second assessor.

    The second takes the place of the first, and the systems are scored again. The arguments
    are those of venire simulate pools. The first simulation has the seed --seed,
    the next one more, and so on.
    """
    from venire.simulation.pools.assessors import SecondAssessor
    from venire.simulation.pools.substitution import substitute

    assessor = SecondAssessor(
        keep=read_keep(keep),
        false_positives=false_positives,
        depth=depth,
        favour=favour,
        top=top,
        accept=accept,
    )
    qrels, table, _, notes = read_truth(truth, runs, ties)
    found = substitute(
        qrels,
        table,
        assessor,
        seeds=range(seed, seed + seeds),
        measure=measure,
        relevant_from=relevant_from,
        ties=ties,
    )
    rows: list[dict[str, Any]]
    if by == "quantity":
        rows = found.summary()
    elif by == "seed":
        rows = found.frame.to_dicts()
    else:
        rows = found.by_run()
    settings = {"truth": truth, "runs": found.runs, **found.settings, "seed": seed, "seeds": seeds}
    notes = [*notes, *found.notes]
    emit("simulate assessors", rows, form=form, settings=settings, notes=notes, output=output)


def read_truth(
    truth: str, runs: tuple[str, ...], ties: str
) -> tuple[Qrels, Runs, int | None, list[str]]:
    """Return qrels, runs, the number of documents where it is known, and notes."""
    from pathlib import Path

    from venire.formats.collection import read_collection
    from venire.formats.run_files import read_run_files
    from venire.retrieval.systems import search_documents
    from venire.tables.qrels import Qrels

    given = read_run_files(runs) if runs else None
    if not Path(truth).is_dir():
        if given is None:
            raise BadSetting(f"{truth} is qrels, so name the runs too")
        qrels = Qrels.read(truth).require_rows(truth)
        return qrels, given, None, [*qrels.notes, *given.notes]
    found = read_collection(truth)
    if len(found.qrels) != 1:
        names = ", ".join(found.qrels) or "none"
        raise DataError(f"{truth}: a simulation needs one file of qrels, and there is {names}")
    (qrels,) = found.qrels.values()
    notes = list(found.notes)
    if given is None and len(found.runs):
        given = found.runs
    elif given is None:
        given = search_documents(found.documents, found.topics, ties=ties)
        notes.append("searched with the twelve systems of venire retrieve")
    return qrels, given, found.documents.height or None, [*notes, *given.notes]


def read_keep(text: str) -> float | dict[int, float]:
    """Read ``0.7`` or ``2=0.9,1=0.5``."""
    try:
        if "=" not in text:
            return float(text)
        return {int(grade): float(rate) for grade, rate in pairs(text, "--keep").items()}
    except ValueError as error:
        if isinstance(error, BadSetting):
            raise
        raise BadSetting(f"--keep is 0.7 or 2=0.9,1=0.5, not {text!r}") from None


def said(tau: float | None, swapped: int, found: float | None) -> str:
    """Return what a pool does to the order of the systems, in words."""
    first = "tau is undefined" if tau is None else f"tau with the true order is {tau:.4f}"
    share = "" if found is None else f"; the pool has {found:.1%} of the relevant documents"
    return f"{first}, {swapped} pairs of systems change places{share}"
