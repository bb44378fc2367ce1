"""``venire study invite``: links for people and for crowd platforms."""

from __future__ import annotations

import click

from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit

ROLES = ("owner", "annotator", "viewer")


@click.command("invite")
@click.argument("study")
@click.option(
    "--role", type=click.Choice(ROLES), default="annotator", show_default=True,
    help="Role of the invited person.",
)  # fmt: skip
@click.option("--name", default="", help="Name of the person; only owners see it.")
@click.option("--campaign", metavar="NAME", help="Invite a platform's workers to this campaign.")
@click.option(
    "--url", default="http://127.0.0.1:8000", show_default=True,
    help="Address of the web application.",
)  # fmt: skip
@DATABASE
@FORMAT
def command(
    study: str, role: str, name: str, campaign: str | None, url: str, database: str, form: str
) -> None:
    """Create a link that invites a person to STUDY, or a platform's workers to a campaign."""
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.invitations import create_invitation, read_signing_key
    from venire.server.studies.studies import find_study

    with open_store(database) as store, store.writing() as session:
        study_id = find_study(session, study).id
        campaign_id = None if campaign is None else find_campaign(session, study_id, campaign).id
        secret = create_invitation(session, study_id, role, name=name, campaign_id=campaign_id)
        key = read_signing_key(session, secret)
    path = f"invite/{secret}" if campaign is None else f"c/{secret}"
    row = {"role": role, "link": f"{url.rstrip('/')}/{path}"}
    if key is not None:
        row["signing_key"] = key
    settings = {"study": study, "role": role, "campaign": campaign, "database": database}
    emit("study invite", [row], form=form, settings=settings,
         notes=["the link is shown only once"])  # fmt: skip
