"""``venire study new``: create a study."""

from __future__ import annotations

import click

from venire.cli.shared.database import DATABASE, open_store
from venire.cli.shared.output import FORMAT, emit


@click.command("new")
@click.argument("name")
@click.option("--owner", metavar="LOGIN", help="Account of the owner; by default the only account "
              "that may create studies.")  # fmt: skip
@DATABASE
@FORMAT
def command(name: str, owner: str | None, database: str, form: str) -> None:
    """Create a study NAME, and the database if it does not exist."""
    from venire.server.studies.accounts import choose_owner
    from venire.server.studies.studies import create_study

    notes: list[str] = []
    with open_store(database, make=True) as store, store.writing() as session:
        user = choose_owner(session, owner)
        study = create_study(session, name, owner_id=user)
        if user is None:
            notes.append("it belongs to no account yet; invite an owner with: "
                         f"venire study invite {study.id} --role owner")  # fmt: skip
        row = {"study": study.name, "id": study.id}
    emit("study new", [row], form=form, settings={"database": database, "owner": owner},
         notes=notes)  # fmt: skip
