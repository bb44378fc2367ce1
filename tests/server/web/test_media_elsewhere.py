"""Images kept where fsspec reaches: here its memory, as it would be a bucket."""

import io
import shutil
import uuid
import zipfile

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from venire.errors import BadSetting
from venire.formats.source import folder_at
from venire.server.jobs.worker import run_pending
from venire.server.store.session import Store
from venire.server.studies import accounts
from venire.server.web.app import create_app

pytest.importorskip("upath", reason="needs the extra [cloud]")


@pytest.fixture
def ada(tmp_path, empty_sqlite):
    """An owner at a browser; the images are elsewhere."""
    shutil.copy(empty_sqlite, tmp_path / "venire.db")
    store = Store(f"sqlite:///{tmp_path / 'venire.db'}")
    media = folder_at(f"memory://{uuid.uuid4().hex}/media")
    app = create_app(store, media=media, exports=tmp_path / "exports")
    with store.writing() as session:
        user = accounts.create_user(session, "Ada", "ada", "correct horse", may_create=True)
        secret = accounts.sign_in(session, user.id)
    client = TestClient(app, base_url="http://venire.test", follow_redirects=False)
    client.cookies.set("venire_session", secret)
    client.store, client.media = store, media
    yield client
    client.close()
    store.close()


def archive():
    out = io.BytesIO()
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("topics.tsv", "query_id\ttitle\nq1\tred\n")
        for at in range(3):
            image = io.BytesIO()
            pixels = rng.integers(0, 256, (40, 30, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(image, "PNG")
            made.writestr(f"images/{at}.png", image.getvalue())
    return out.getvalue()


def test_images_are_put_in_shown_encoded_and_taken_out(ada, tmp_path):
    files = {"file": ("reds.zip", archive())}
    made = ada.post("/api/studies/import", files=files).json()
    study = made["study_id"]
    assert sorted(path.suffix for path in ada.media.rglob("*.*")) == [".png"] * 3 + [".webp"] * 3
    shown = ada.get(f"/studies/{study}/image", params={"doc_id": "1"})
    assert shown.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(shown.content)) as image:
        assert image.size == (30, 40)
    settings = {"encoder": "colour-histogram", "hashes": False}
    job = ada.post(f"/api/studies/{study}/jobs", json={"kind": "encode", "settings": settings})
    assert run_pending(ada.store) == 1
    (row,) = ada.get(f"/api/studies/{study}/jobs/{job.json()['job_id']}").json()["result"]["rows"]
    assert row["documents"] == 3
    folder = ada.get(f"/api/studies/{study}/folder")
    names = zipfile.ZipFile(io.BytesIO(folder.content)).namelist()
    assert sum(name.endswith(".png") for name in names) == 3
    again = ada.post("/api/studies/import", files={"file": ("b.zip", folder.content)}).json()
    assert {row["what"]: row for row in again["rows"]}["documents"]["added"] == 3


def test_places_that_cannot_be_reached():
    with pytest.raises(BadSetting, match="nope://x cannot be reached"):
        folder_at("nope://x")
