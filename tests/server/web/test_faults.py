"""A full disk, a database away, a busy port, clients that hang on, a parent that dies."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import event

from server_for_tests import Server
from studies_for_tests import make_study
from venire.cli.main import main
from venire.errors import StoreError
from venire.server.store.schema import upgrade
from venire.server.store.session import UNAVAILABLE, Store
from venire.server.studies import accounts
from venire.server.studies.studies import create_study


def test_a_full_disk_is_a_503_and_the_server_goes_on_by_itself(client, own_store):
    if not own_store.is_sqlite:
        pytest.skip("the limit of pages is SQLite's")
    make_study(own_store)
    with own_store.writing() as session:
        owner = accounts.create_user(session, "Ada", "ada", "a long password", may_create=True)
        client.cookies.set("venire_session", accounts.sign_in(session, owner.id))
    is_full = True

    @event.listens_for(own_store.engine, "begin")
    def limit(connection):
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        most = pages if is_full else 2**30
        connection.exec_driver_sql(f"PRAGMA max_page_count={most}")

    big = {"name": "x" * 200, "instructions": "y" * 100_000}
    answer = client.post("/api/studies", json=big)
    assert (answer.status_code, answer.json()["code"]) == (503, UNAVAILABLE)
    assert "Nothing was saved" in answer.json()["error"]
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["x-content-type-options"] == "nosniff"
    is_full = False
    assert client.post("/api/studies", json=big).status_code == 200


@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:1/venire", "sqlite:////proc/nowhere/venire.db"]
)
def test_a_database_that_is_away_is_one_line(url, capsys):
    assert main(["study", "status", "x", "--database", url]) == 2
    error = capsys.readouterr().err
    assert error.startswith("venire: The database cannot be used (")
    assert error.count("\n") == 1


def test_a_database_that_cannot_be_written_is_said(tmp_path):
    store = Store.at(tmp_path)
    upgrade(store)

    @event.listens_for(store.engine, "begin")
    def forbid(connection):
        connection.exec_driver_sql("PRAGMA query_only=ON")

    with pytest.raises(StoreError, match="readonly") as refused, store.writing() as session:
        create_study(session, "Study")
    assert refused.value.code == UNAVAILABLE
    store.close()


def serve(folder, *options):
    command = [sys.executable, "-c", "from venire.cli.main import entry; entry()"]
    command += ["serve", str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_busy_port_is_one_line_and_touches_nothing(tmp_path):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        done = serve(tmp_path / "data", "--port", str(port))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"venire: Cannot listen on 127.0.0.1:{port}: Address already in use. Stop the other "
        "program, or pass another --port.\n"
    )
    assert not (tmp_path / "data").exists()


def test_the_server_ends_in_time_whatever_clients_do(tmp_path):
    server = Server(f"sqlite:///{tmp_path / 'venire.db'}", tmp_path, "--shutdown-seconds", "1")
    clients = []
    for request in (b"GET /sign-in HTTP/1.1\r\nHost: x\r\nX: ", b"",
                    b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    b"Content-Length: 1000\r\n\r\n{"):  # fmt: skip
        client = socket.create_connection(("127.0.0.1", server.port))
        client.sendall(request)
        clients.append(client)
    time.sleep(0.2)
    server.process.terminate()
    try:
        server.process.wait(20)
    finally:
        server.process.kill()
        for client in clients:
            client.close()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads the processes of Linux")
def test_no_worker_is_left_when_the_parent_is_killed(tmp_path, postgres):
    server = Server(postgres, tmp_path, "--workers", "2")
    children = find_children(server.process.pid)
    assert len(children) >= 2
    server.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(map(is_running, children)):
        time.sleep(0.2)
    left = [pid for pid in children if is_running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def find_children(parent):
    """Process IDs of the children of a process."""
    children = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                children.append(int(folder.name))
    return children


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
