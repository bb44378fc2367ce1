"""The application in this process, on SQLite."""

import shutil

import pytest
from starlette.testclient import TestClient

from venire.server.store.session import Store
from venire.server.studies import accounts
from venire.server.web.app import create_app


@pytest.fixture
def own_store(tmp_path, empty_sqlite):
    """A store on a database of its own."""
    shutil.copy(empty_sqlite, tmp_path / "venire.db")
    store = Store(f"sqlite:///{tmp_path / 'venire.db'}")
    yield store
    store.close()


@pytest.fixture
def app(own_store, tmp_path):
    """The application; ``app.state.first`` is the first link."""
    return create_app(own_store, media=tmp_path / "media", address="http://venire.test")


@pytest.fixture
def client(app):
    """Nobody, at a browser."""
    with TestClient(app, base_url="http://venire.test", follow_redirects=False) as client:
        yield client


@pytest.fixture
def signed_in(app, own_store):
    """A function that gives a browser in which a user is signed in."""
    clients = []

    def enter(user_id):
        with own_store.writing() as session:
            secret = accounts.sign_in(session, user_id)
        client = TestClient(app, base_url="http://venire.test", follow_redirects=False)
        client.cookies.set("venire_session", secret)
        clients.append(client)
        return client

    yield enter
    for client in clients:
        client.close()
