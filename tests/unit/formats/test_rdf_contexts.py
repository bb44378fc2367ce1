"""No JSON-LD context is fetched or opened: the attack, with a listening socket and a file."""

import json
import socket
import threading

import pytest

from venire.errors import BadLine
from venire.formats import rdf


@pytest.fixture
def listener():
    """A web server that notes who asks."""
    asked = []
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.2)
    done = threading.Event()

    def listen():
        while not done.is_set():
            try:
                client, _ = server.accept()
            except TimeoutError:
                continue
            asked.append(client)
            client.close()

    thread = threading.Thread(target=listen)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/context.jsonld", asked
    done.set()
    thread.join()
    server.close()


def wrap(address):
    """Contexts that name an address, in every place that a context can stand."""
    yield address
    yield [address]
    yield [[address]]
    yield [{}, [[{"p": "http://e/p"}, [address]]]]
    yield {"p": {"@id": "http://e/p", "@context": [[address]]}}
    yield {"@version": 1.1, "@import": address}
    yield {"p": {"@id": "http://e/p", "@context": {"@version": 1.1, "@import": address}}}


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("checked", [True, False])
def test_nothing_is_fetched_or_opened(tmp_path, listener, monkeypatch, place, checked):
    address, asked = listener
    secret = tmp_path / "context.jsonld"
    secret.write_text(json.dumps({"@context": {"a": "http://secret.example/of-a-file"}}))
    if not checked:  # without the check of the document there is still no loader
        monkeypatch.setattr(rdf, "_refuse_remote_contexts", lambda text, name: text)
    for source in (address, secret.as_uri()):
        context = list(wrap(source))[place]
        path = tmp_path / "entities.jsonld"
        path.write_text(json.dumps({"@context": context, "@id": "http://e/1", "a": "x", "p": "y"}))
        try:
            triples = rdf.read_triples(path)
        except BadLine:
            continue
        assert not checked
        assert "secret" not in str(triples)
    assert asked == []
