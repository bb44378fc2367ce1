"""``venire study reset-password``: a link with which an account gets a new password."""

from __future__ import annotations

import click

from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit


@click.command("reset-password")
@click.argument("login")
@click.option(
    "--url", default="http://127.0.0.1:8000", show_default=True,
    help="Address of the web application.",
)  # fmt: skip
@DATABASE
@FORMAT
def command(login: str, url: str, database: str, form: str) -> None:
    """Create a link with which the account LOGIN gets a new password.

    The link works once, within a day. It signs out all browsers of the account and revokes its
    tokens.
    """
    from venire.server.studies.accounts import create_password_reset, find_account

    with open_store(database) as store, store.writing() as session:
        user = find_account(session, login)
        secret = create_password_reset(session, user.id, None)
    row = {"login": login, "link": f"{url.rstrip('/')}/reset/{secret}"}
    settings = {"login": login, "database": database}
    emit("study reset-password", [row], form=form, settings=settings,
         notes=["the link is shown only once"])  # fmt: skip
