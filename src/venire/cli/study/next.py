"""``venire study next``: the pairs for which one more judgment helps most."""

from __future__ import annotations

import click

from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit
from venire.errors import DataError
from venire.simulation.campaigns.next_best import BY


@click.command("next")
@click.argument("study")
@click.option("--campaign", required=True, metavar="NAME", help="Name of the campaign.")
@click.option("--budget", type=click.IntRange(min=1), default=100, show_default=True,
              help="Number of pairs; each gets one more judgment.")  # fmt: skip
@click.option("--by", type=click.Choice(BY), default="ranking", show_default=True,
              help="Make the ranking of the runs more certain, or the grades.")  # fmt: skip
@click.option("--apply", is_flag=True, help="Ask the campaign's annotators for these judgments.")
@DATABASE
@FORMAT
def command(
    study: str, campaign: str, budget: int, by: str, apply: bool, database: str, form: str
) -> None:
    """Choose the pairs of STUDY for which one more judgment helps most."""
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.extra_judgments import raise_overlap
    from venire.server.studies.files import read_runs
    from venire.server.studies.judgments import read_judgments
    from venire.server.studies.studies import find_study
    from venire.simulation.campaigns.next_best import next_best

    with open_store(database) as store, store.writing() as session:
        study_id = find_study(session, study).id
        campaign_id = find_campaign(session, study_id, campaign).id
        table = read_judgments(session, study_id, campaign_id)
        if not len(table):
            raise DataError(f"the campaign {campaign!r} has no judgments that count yet")
        runs = read_runs(session, study_id) if by == "ranking" else None
        result = next_best(table, budget, by=by, runs=runs)
        notes = list(result.notes)
        if apply and result.frame.height:
            pairs = list(result.frame.select("query_id", "doc_id").iter_rows())
            n = raise_overlap(session, campaign_id, pairs, reason=f"next best judgment by {by}")
            notes.append(f"{n:,} documents get one more judgment")
    settings = {"study": study, "campaign": campaign, "budget": budget, "by": by, "apply": apply,
                "database": database}  # fmt: skip
    rows = result.frame.to_dicts()
    if form == "table":
        rows = [{**row, "gain": f"{row['gain']:.2e}"} for row in rows]
    emit("study next", rows, form=form, settings=settings, notes=notes)
