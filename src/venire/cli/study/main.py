"""``venire study``: studies of a database: made, filled, looked at, exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from venire.cli.shared.database import DATABASE, media_of, opened
from venire.cli.shared.output import FORMAT, bar, emit
from venire.cli.simulate import campaign as campaigns
from venire.cli.study import crowd
from venire.errors import BadSetting, DataError, NotFound

ROLES = ("owner", "annotator", "viewer")


@click.group("study")
def group() -> None:
    """Make studies, fill them, see how they stand, take out what was judged."""


group.add_command(crowd.group)
group.add_command(campaigns.next_command)


@group.command("new")
@click.argument("name")
@click.option("--owner", metavar="LOGIN", help="The account it belongs to; by default the only one "
              "that may make studies.")  # fmt: skip
@DATABASE
@FORMAT
def new(name: str, owner: str | None, database: str, form: str) -> None:
    """Make a study called NAME; the database is made where there is none."""
    from venire.server.studies.accounts import maker
    from venire.server.studies.studies import create_study

    notes: list[str] = []
    with opened(database, make=True) as store, store.writing() as session:
        user = maker(session, owner)
        study = create_study(session, name, owner_id=user)
        if user is None:
            notes.append("it belongs to no account yet; let an owner in with: "
                         f"venire study invite {study.id} --role owner")  # fmt: skip
        row = {"study": study.name, "id": study.id}
    emit("study new", [row], form=form, settings={"database": database, "owner": owner},
         notes=notes)  # fmt: skip


@group.command("import")
@click.argument("study")
@click.argument("source")
@click.option("--media", metavar="DIR", help="Where pictures are kept; by default DIR/media.")
@DATABASE
@FORMAT
def import_command(study: str, source: str, media: str | None, database: str, form: str) -> None:
    """Put SOURCE into STUDY: a collection folder, a zip of one, or irds: and an ir_datasets id.

    STUDY is a name or an id. What was read and what was left out is printed, line by line; doing
    it again changes nothing that did not change.
    """
    import tempfile

    from venire.formats.study_folder import read_study_folder, unpack_study
    from venire.server.studies.importing import import_folder, keep_pictures
    from venire.server.studies.studies import find_study

    with tempfile.TemporaryDirectory(prefix="venire-") as place:
        path: str | Path = source
        if source.endswith(".zip") and Path(source).is_file():
            path = unpack_study(source, Path(place) / "study")
        with opened(database) as store:
            with store.reading() as session:
                try:
                    study_id = find_study(session, study).id
                except NotFound as error:
                    raise DataError(f"{error}; make it with: venire study new {study!r}") from None
            folder = read_study_folder(path)
            place_of_media = media_of(database, media)
            with bar() as progress:
                folder = keep_pictures(folder, place_of_media, progress)
            with store.writing() as session:
                rows = import_folder(session, study_id, folder, media=place_of_media)
    settings = {"study": study, "source": source, "database": database}
    emit("study import", rows, form=form, settings=settings, notes=[])


@group.command("invite")
@click.argument("study")
@click.option(
    "--role", type=click.Choice(ROLES), default="annotator", show_default=True,
    help="What the invited person may do.",
)  # fmt: skip
@click.option("--name", default="", help="For whom it is; shown to owners only.")
@click.option("--campaign", metavar="NAME", help="A link for a crowd platform, into this campaign.")
@click.option(
    "--url", default="http://127.0.0.1:8000", show_default=True,
    help="Where the web application is reached.",
)  # fmt: skip
@DATABASE
@FORMAT
def invite(
    study: str, role: str, name: str, campaign: str | None, url: str, database: str, form: str
) -> None:
    """Make a link that lets one person into STUDY, or a platform's workers into a campaign."""
    from venire.server.studies.accounts import invite as make
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.studies import find_study

    with opened(database) as store, store.writing() as session:
        found = find_study(session, study)
        wave = None if campaign is None else find_campaign(session, found.id, campaign).id
        secret = make(session, found.id, role, name=name, campaign_id=wave)
    path = f"invite/{secret}" if campaign is None else f"c/{secret}"
    row = {"role": role, "link": f"{url.rstrip('/')}/{path}"}
    settings = {"study": study, "role": role, "campaign": campaign, "database": database}
    emit("study invite", [row], form=form, settings=settings,
         notes=["the link is shown this once"])  # fmt: skip


@group.command("status")
@click.argument("study", required=False)
@DATABASE
@FORMAT
def status(study: str | None, database: str, form: str) -> None:
    """Say how STUDY stands, a row a campaign; without it, list the studies."""
    from venire.server.studies.overview import overview
    from venire.server.studies.studies import find_study, list_studies

    notes: list[str] = []
    with opened(database) as store, store.reading() as session:
        if study is None:
            rows = [
                {**row, "created_at": row["created_at"].isoformat(timespec="seconds")}
                for row in list_studies(session)
            ]
        else:
            found = overview(session, find_study(session, study).id)
            rows = [_campaign(row) for row in found["campaigns"]]
            notes = [f"{n:,} {what}" for what, n in found["counts"].items()]
            notes += [f"alarm: {alarm['text']}" for alarm in found["alarms"]]
    emit("study status", rows, form=form, settings={"study": study, "database": database},
         notes=notes, digits=2)  # fmt: skip


def _campaign(row: dict[str, Any]) -> dict[str, Any]:
    pace = row["pace"]
    return {
        "campaign": row["campaign"],
        "state": row["state"],
        "documents": row["documents"],
        "done": row["done"],
        "places": row["asked"],
        "filled": row["filled"],
        "open": row["open"],
        "judgments": pace["judgments"],
        "per_hour": pace["per_hour"],
        "hours_left": pace["hours_left"],
        "rejected": row["rejected"]["value"],
    }


@group.command("settle")
@click.argument("study")
@click.argument("query_id", required=False)
@click.argument("doc_id", required=False)
@click.argument("grade", type=int, required=False)
@click.option("--reason", default="", help="Why; kept with the decision.")
@click.option("--undo", is_flag=True, help="Take back what was decided about the pair.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True,
    help="Disagreements to list.",
)  # fmt: skip
@DATABASE
@FORMAT
def settle_command(
    study: str,
    query_id: str | None,
    doc_id: str | None,
    grade: int | None,
    reason: str,
    undo: bool,
    limit: int,
    database: str,
    form: str,
) -> None:
    """Decide the GRADE of a topic's document; with STUDY alone, list the disagreements.

    The judgments stay as they are, and the last decision counts.
    """
    from venire.server.studies import adjudication
    from venire.server.studies.studies import find_study

    notes: list[str] = []
    with opened(database) as store, store.writing() as session:
        found = find_study(session, study).id
        if query_id is None:
            rows, total = adjudication.disagreements(session, found, limit=limit)
            rows = [_disagreement(row) for row in rows]
            notes.append(f"{len(rows)} of {total:,} pairs on which the labels differ")
        elif doc_id is None or (grade is None) is not undo:
            raise BadSetting("say QUERY_ID DOC_ID GRADE, or QUERY_ID DOC_ID --undo")
        else:
            pair = adjudication.find_pair(session, found, query_id, doc_id)
            if grade is None:
                decision = adjudication.unsettle(session, found, pair, None, reason)
            else:
                decision = adjudication.settle(session, found, pair, grade, None, reason)
            rows = [{"query_id": query_id, "doc_id": doc_id, "grade": grade,
                     "verdict": decision.verdict}]  # fmt: skip
    emit("study settle", rows, form=form, settings={"study": study, "database": database},
         notes=notes)  # fmt: skip


def _disagreement(row: dict[str, Any]) -> dict[str, Any]:
    labels = " ".join(f"{label}:{n}" for label, n in row["labels"].items())
    names = ("query_id", "doc_id", "judgments")
    return {**{name: row[name] for name in names}, "labels": labels, "entropy": row["entropy"]}


@group.command("export")
@click.argument("study")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="What to write; repeatable.")
@click.option(
    "--grades", "grades_from", default="adjudicated", show_default=True, metavar="SOURCE",
    help="majority, settled, adjudicated, job:ID or qrels:NAME.",
)  # fmt: skip
@click.option("--campaign", metavar="NAME", help="Raw judgments of this campaign only.")
@click.option(
    "-o", "--output", required=True, metavar="DIR|ZIP", help="A new folder, or a .zip file."
)
@click.option("--media", metavar="DIR", help="Where pictures are kept; by default DIR/media.")
@DATABASE
@FORMAT
def export_command(
    study: str,
    kinds: tuple[str, ...],
    grades_from: str,
    campaign: str | None,
    output: str,
    media: str | None,
    database: str,
    form: str,
) -> None:
    """Write what was judged in STUDY, with its manifest: qrels, raw judgments, judgment lists.

    The kind study writes the study itself as a collection folder, which import reads again.
    """
    from venire.formats.study_folder import write_study_folder
    from venire.server.studies.campaigns import find_campaign
    from venire.server.studies.exports import export
    from venire.server.studies.importing import as_folder
    from venire.server.studies.studies import find_study

    wanted = list(kinds or ("qrels",))
    if "study" in wanted and len(wanted) > 1:
        raise BadSetting("the kind study is written alone")
    with opened(database) as store:
        with store.reading() as session:
            found = find_study(session, study).id
            wave = None if campaign is None else find_campaign(session, found, campaign).id
        if wanted == ["study"]:
            with store.snapshot() as session:
                whole = as_folder(session, found, media_of(database, media))
            write_study_folder(whole, output)
            rows: list[dict[str, Any]] = [{"file": output}]
            notes: list[str] = []
        else:
            manifest = export(
                store, found, wanted, Path(output), grades_from=grades_from, campaign_id=wave
            ).manifest
            rows = [{"file": name, "sha256": sha} for name, sha in manifest["files"].items()]
            notes = manifest["notes"]
    settings = {"study": study, "kinds": wanted, "grades": grades_from, "campaign": campaign,
                "output": output, "database": database}  # fmt: skip
    emit("study export", rows, form=form, settings=settings, notes=notes)
