"""A study made by version 0.1.0 opens after the migration with everything as it was.

The database file and the facts about it were written by the code of 0.1.0; see
`tests/golden/make_old_study.py`.
"""

import gzip
import json
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest
from alembic import command
from sqlalchemy import JSON, Integer, MetaData, create_engine, func, select, text
from sqlalchemy.exc import DBAPIError
from starlette.testclient import TestClient

from golden.study_facts import read_facts
from venire.server.jobs.worker import run_pending
from venire.server.judging.events import record
from venire.server.judging.review import decide
from venire.server.store import judging, people, studies, work
from venire.server.store.base import now
from venire.server.store.judging import Batch, BatchReason, Judgment, Lease
from venire.server.store.schema import METADATA, find_differences, make_config, upgrade
from venire.server.store.session import Store
from venire.server.studies import accounts
from venire.server.studies.collection_folder import read_folder
from venire.server.studies.exports import EXPORT_KINDS, export_study
from venire.server.studies.grades import read_grades
from venire.server.studies.judgments import read_judgments
from venire.server.studies.overview import read_overview
from venire.server.web.app import create_app

GOLDEN = Path(__file__).parents[2] / "golden"
FACTS = json.loads(gzip.decompress((GOLDEN / "study-0.1.0.json.gz").read_bytes()))
ROOM = SimpleNamespace(
    **{
        model.__name__: model
        for model in (
            judging.Campaign,
            judging.Task,
            judging.Batch,
            judging.Lease,
            judging.Event,
            judging.Judgment,
            work.Decision,
            work.Job,
            work.JobPart,
        )
    },
    results=SimpleNamespace(judgments=read_judgments, grades=read_grades),
    overview=SimpleNamespace(overview=read_overview),
    exports=SimpleNamespace(KINDS=EXPORT_KINDS, export=export_study),
    is_held=lambda batch: batch.reason_code == BatchReason.HELD,
)


@pytest.fixture(scope="module")
def old_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("old") / "venire.db"
    path.write_bytes(gzip.decompress((GOLDEN / "study-0.1.0.db.gz").read_bytes()))
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def old_store(request, old_file, tmp_path):
    """The study of 0.1.0, not migrated: its file, or its rows in the tables of then."""
    if request.param == "sqlite":
        path = tmp_path / "venire.db"
        path.write_bytes(old_file.read_bytes())
        store = Store(f"sqlite:///{path}")
        yield store
        store.close()
        return
    store = Store(request.getfixturevalue("empty_postgres"))
    upgrade_to(store, "0003")
    copy_rows(old_file, store)
    yield store
    store.close()


def upgrade_to(store, revision):
    """Make the tables as they were at a revision."""
    config = make_config()
    with store.engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()


def copy_rows(old_file, store):
    """Copy all rows of the SQLite file into the same tables of PostgreSQL."""
    source = create_engine(f"sqlite:///{old_file}")
    tables = MetaData()
    tables.reflect(store.engine)
    with source.connect() as old, store.engine.begin() as new:
        for table in tables.sorted_tables:
            if table.name == "alembic_version":
                continue
            for column in table.columns:
                if isinstance(column.type, JSON):
                    column.type = JSON(none_as_null=True)
            names = table.columns.keys()
            # The types of the code make Python values of SQLite's times, booleans and JSON.
            query = select(*(METADATA.tables[table.name].c[name] for name in names))
            rows = [dict(zip(names, row, strict=True)) for row in old.execute(query)]
            if rows:
                new.execute(table.insert(), rows)
            for column in table.primary_key:
                if isinstance(column.type, Integer):
                    name = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
                    most = new.scalar(select(func.max(column))) or 1
                    new.execute(text(f"SELECT setval({name}, {most})"))
    source.dispose()


def by_key(rows):
    key = "seq" if "seq" in rows[0] else "id" if "id" in rows[0] else None
    return {row[key] if key else (row["job_id"], row["name"]): row for row in rows}


def check_tables(tables):
    """Every column that the old code read has the value that it read."""
    for name, rows in FACTS["tables"].items():
        new = by_key(tables[name])
        assert set(new) == set(by_key(rows)), name
        for key, row in by_key(rows).items():
            assert {column: new[key][column] for column in row} == row, (name, key)


def test_everything_is_as_it_was(old_store, tmp_path):
    upgrade(old_store)
    assert find_differences(old_store) == []
    facts = read_facts(old_store, FACTS["study"], ROOM, tmp_path / "facts")
    check_tables(facts.pop("tables"))
    assert facts == {name: FACTS[name] for name in facts}
    assert len(facts["held"]) == 2
    upgrade(old_store)  # a second one changes nothing
    again = read_facts(old_store, FACTS["study"], ROOM, tmp_path / "again")
    check_tables(again.pop("tables"))
    assert again == facts


def test_every_batch_has_the_code_of_its_reason(old_store):
    upgrade(old_store)
    codes = {}
    for batch in FACTS["tables"]["Batch"]:
        decisions = [
            decision
            for decision in FACTS["tables"]["Decision"]
            if (decision["kind"], decision["subject"]) == ("batch", batch["id"])
        ]
        last = decisions[-1] if decisions else {"decided_by": None, "facts": {}}
        rules = {"gold": "gold-wrong", "speed": "too-fast"}
        words = {
            "": "",
            "practice": "practice",
            "gold right": "gold-right",
            "held: it ended before any of its gold was judged": "held",
        }
        if last["decided_by"] is not None:
            codes[batch["id"]] = "owner"
        elif "rule" in last["facts"]:
            codes[batch["id"]] = rules[last["facts"]["rule"]]
        elif batch["kind"] == "qualification":
            codes[batch["id"]] = "qualification"
        else:
            codes[batch["id"]] = words[batch["reason"]]
    with old_store.reading() as session:
        found = dict(session.execute(select(Batch.id, Batch.reason_code)).all())
    assert found == codes
    assert set(codes.values()) == {
        "", "practice", "qualification", "gold-right", "gold-wrong", "too-fast", "held", "owner",
    }  # fmt: skip


@pytest.mark.parametrize("table", ["event", "judgment", "decision"])
def test_what_was_written_can_still_not_be_changed(old_store, table):
    upgrade(old_store)
    for statement in (f"UPDATE {table} SET seq = seq", f"DELETE FROM {table}"):
        with pytest.raises(DBAPIError, match="never changed"), old_store.writing() as session:
            session.execute(text(statement))


def test_no_program_can_write_a_code_that_is_none(old_store):
    upgrade(old_store)
    with pytest.raises(DBAPIError, match="reason_code"), old_store.writing() as session:
        session.execute(text("UPDATE batch SET reason_code = 'x'"))


def test_work_goes_on_where_it_was(old_store):
    upgrade(old_store)
    with old_store.reading() as session:
        batch = session.scalars(
            select(Batch).where(Batch.state == "open", Batch.outside.is_(None)).order_by(Batch.id)
        ).first()
        lease = session.scalars(
            select(Lease).where(Lease.batch_id == batch.id, Lease.state == "live")
        ).first()
        last = session.scalar(select(func.max(Judgment.seq)))
    event = {"id": str(uuid.uuid4()), "kind": "label", "lease": lease.id, "label": 1}
    (answer,) = old_store.write(lambda s: record(s, batch.id, batch.annotator_id, [event], now()))
    assert answer["status"] == "saved"
    with old_store.reading() as session:
        assert session.scalar(select(func.max(Judgment.seq))) == last + 1
    # A repeated event of then gets the answer of then.
    (old,) = [row for row in FACTS["tables"]["Event"] if row["outcome"].get("reason") ==
              "this batch is finished"]  # fmt: skip
    again = {"id": old["id"], "kind": "label", "lease": old["lease_id"], "label": 0}
    (answer,) = old_store.write(
        lambda s: record(s, old["batch_id"], old["annotator_id"], [again], now())
    )
    assert answer == {"id": old["id"], **old["outcome"]}


def test_a_held_batch_can_be_accepted(old_store):
    upgrade(old_store)
    owner = FACTS["owner"]
    for batch in FACTS["held"]:
        old_store.write(lambda s, b=batch: decide(s, b, True, "seen", owner, now()))
    with old_store.reading() as session:
        found = {session.get(Batch, batch).reason_code for batch in FACTS["held"]}
        assert found == {BatchReason.OWNER}
        alarms = read_overview(session, FACTS["study"])["alarms"]
    assert "held" not in {alarm["kind"] for alarm in alarms}


def test_the_job_that_waited_is_done(old_store):
    upgrade(old_store)
    (waiting,) = [job["id"] for job in FACTS["tables"]["Job"] if job["state"] == "waiting"]
    assert run_pending(old_store) == 1
    with old_store.reading() as session:
        job = session.get(work.Job, waiting)
    assert (job.state, job.message) == ("done", "")


def test_every_page_opens(old_store, tmp_path):
    app = create_app(old_store, media=tmp_path / "media")
    client = TestClient(app, base_url="http://localhost")
    secret = old_store.write(lambda session: accounts.sign_in(session, FACTS["owner"]))
    client.cookies.set("venire_session", secret)
    here = f"/studies/{FACTS['study']}"
    pages = ["", "data", "pool", "annotation", "simulation", "annotators", "agreement",
             "adjudication", "aggregate", "evaluate", "trust", "crowd", "export"]  # fmt: skip
    for page in pages:
        answer = client.get(f"{here}/{page}".rstrip("/"), headers={"Accept": "text/html"})
        assert answer.status_code == 200, (page, answer.text[:2000])
    assert "Wind tunnels" in client.get(here).text


def test_the_study_goes_out_as_a_folder(old_store):
    upgrade(old_store)
    with old_store.reading() as session:
        study = session.get(studies.Study, FACTS["study"])
        folder = read_folder(session, study.id)
        assert session.scalar(select(func.count()).select_from(people.User)) > 10
    assert folder.settings["scale"]["names"] == ["Off topic", "Related", "On topic"]
    assert folder.settings["campaign"] == {"overlap": 2, "batch_size": 4, "gold_size": 1}
    assert set(folder.runs) == {"good", "poor"}
    assert len(folder.gold) == 18
