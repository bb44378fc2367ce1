"""MTurk's layout in Chromium: by keyboard, entities as tables, nothing loaded from elsewhere."""

import csv
import io
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import polars as pl
import pytest

from studies_for_tests import AT, make_study
from venire.server.platforms.task_export import export_tasks
from venire.server.store.schema import upgrade
from venire.server.store.session import Store
from venire.server.studies.documents import put_documents
from venire.server.studies.pools import build_pool
from venire.server.studies.tasks import sync_study

ENTITY = """<http://x/d0> <http://www.w3.org/2000/01/rdf-schema#label> "Santana"@en .
<http://x/d0> <http://x/genre> "Latin rock" .
"""


@pytest.fixture
def site(tmp_path):
    """A small server that shows the first HIT and keeps what is posted to it."""
    store = Store(f"sqlite:///{tmp_path / 'venire.db'}")
    upgrade(store)
    study, wave, _ = make_study(
        store, topics=1, documents=3, people=0, campaign={"batch_size": 4, "gold_size": 1}
    )
    with store.writing() as session:
        named = {"doc_id": ["http://x/d0"], "kind": "entity", "title": ["d0"], "body": [ENTITY]}
        put_documents(session, study, pl.DataFrame(named))
        build_pool(session, study, "all", {})
        sync_study(session, study)
        made = export_tasks(session, wave, "mturk", AT)
    store.close()
    row = next(csv.DictReader(io.StringIO(made.files["mturk-3.csv"].decode())))
    page = made.files["mturk-layout.html"].decode()
    for name, value in row.items():
        page = page.replace("${" + name + "}", value)
    posted, asked = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self._send(page)

        def do_POST(self):
            size = int(self.headers["Content-Length"])
            posted.append(parse_qs(self.rfile.read(size).decode(), keep_blank_values=True))
            self._send("thanks")

        def _send(self, text):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    # What MTurk puts in the place of its own address in its sandbox; here it is ours.
    page = page.replace("https://www.mturk.com/mturk/externalSubmit", f"{url}/submit")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield url, row["hit"], posted, asked
    server.shutdown()
    server.server_close()


def test_a_hit_is_judged_by_keyboard(context, site):
    url, hit, posted, asked = site
    page = context.new_page()
    page.goto(f"{url}/hit?assignmentId=A1&workerId=W1")
    assert page.locator("fieldset").count() == 5
    table = page.locator("table")
    assert table.count() == 1
    assert "Genre" in " ".join(table.locator("th").all_inner_texts()).title()
    assert "Santana" in page.locator("article").filter(has=table).inner_text()
    for key in ("2", "0", "1", "s", "2"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    page.keyboard.press("Enter")
    page.wait_for_url("**/submit")
    (form,) = posted
    assert form["assignmentId"] == ["A1"]
    assert form["hit"] == [hit]
    given = [form[f"grade_{at}"][0] for at in range(1, 6)]
    assert given == ["2", "0", "1", "cannot: broken", "2"]
    # Nothing but the page itself (and the icon browsers ask for) was loaded.
    assert {path.partition("?")[0] for path in asked} <= {"/hit", "/favicon.ico", "/submit"}


def test_a_preview_cannot_be_answered(context, site):
    url, *_ = site
    page = context.new_page()
    page.goto(f"{url}/hit?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    page.keyboard.press("2")
    assert page.locator("input:checked").count() == 0
    assert page.locator("button").is_disabled()
