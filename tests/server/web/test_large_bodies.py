"""Who asks is known before a large body is read. The attack: 300 MB spooled for nobody."""

import pytest

from venire.server.studies import accounts
from venire.server.web.route import MOST_FILES, SMALL_BODY

MEGABYTE = b"x" * 1_000_000


class Body:
    """A body that counts how much of it was read."""

    def __init__(self, parts):
        self.parts, self.read = parts, 0

    def __iter__(self):
        for part in self.parts:
            self.read += len(part)
            yield part


def form(files, size=MEGABYTE):
    for number in range(files):
        head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{number}"\r\n\r\n'
        yield head.encode() + size + b"\r\n"
    yield b"--b--\r\n"


@pytest.mark.parametrize("path", ["/api/studies/import", "/api/studies/x/uploads/topics"])
def test_nobody_s_upload_is_not_read(client, path):
    answer = client.post(
        path, content=Body(form(3)), headers={"content-type": "multipart/form-data; boundary=b"}
    )
    assert answer.status_code == 401
    answer = client.post(path, content=Body([MEGABYTE] * 3))  # of unknown length
    assert answer.status_code == 401
    answer = client.post(path, headers={"authorization": "Bearer venire_made-up"}, content=MEGABYTE)
    assert answer.status_code == 401


@pytest.mark.parametrize("path", ["/sign-in", "/invite/made-up", "/reset/made-up"])
def test_the_pages_of_strangers_take_small_bodies_only(client, path):
    body = b'{"login": "' + b"x" * (SMALL_BODY + 1) + b'"}'
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    small = client.post(path, content=b"{}", headers={"content-type": "application/json"})
    assert small.status_code == 422


def test_a_form_with_many_parts_is_refused(client, own_store):
    with own_store.writing() as session:
        user = accounts.create_user(session, "Ada", "ada", "a long password", may_create=True)
        client.cookies.set("venire_session", accounts.sign_in(session, user.id))
    answer = client.post(
        "/api/studies/import",
        content=b"".join(form(MOST_FILES + 1, b"x")),
        headers={"content-type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 400
    fields = b"".join(
        f'--b\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\nx\r\n'.encode()
        for n in range(400)
    )
    answer = client.post(
        "/api/studies/import",
        content=fields + b"--b--\r\n",
        headers={"content-type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 400
