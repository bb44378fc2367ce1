"""The answer to a fault of the server has the security headers of every other answer."""

from starlette.testclient import TestClient

from venire.server.web.guard import HEADERS


def test_a_fault_has_the_headers_and_tells_nothing(app):
    @app.get("/fault")
    def fail():
        raise ZeroDivisionError("secret")

    client = TestClient(app, raise_server_exceptions=False)
    answer = client.get("/fault")
    assert answer.status_code == 500
    assert answer.json()["code"] == "fault"
    assert "secret" not in answer.text
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "default-src" in answer.headers["content-security-policy"]
