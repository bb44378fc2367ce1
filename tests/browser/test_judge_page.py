"""The judge page in a real browser."""

import json
import shutil
import statistics
from urllib.parse import urlsplit

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import undefer

from server_for_tests import Server
from studies_for_tests import make_study
from venire.server.store.judging import Batch, Campaign, Event, Judgment, Lease
from venire.server.store.people import Membership, SignIn
from venire.server.store.session import Store
from venire.server.store.studies import Document, Study
from venire.server.studies import accounts

EVIL = (
    "<script>window.hacked=1</script> <img src=x onerror='window.hacked=2'>\n\n"
    "[click](javascript:window.hacked=3) \u202egnirts lacol\u202c \u05e9\u05dc\u05d5\u05dd\n\n"
    + "wind and water. "
    * 30
)


@pytest.fixture(scope="module")
def page_server(tmp_path_factory, empty_sqlite):
    """A server with a study; each test makes its own people."""
    folder = tmp_path_factory.mktemp("judge")
    shutil.copy(empty_sqlite, folder / "venire.db")
    url = f"sqlite:///{folder / 'venire.db'}"
    store = Store(url)
    study, campaign, _ = make_study(
        store, topics=1, documents=30, gold=8, people=0, campaign={"overlap": 50}
    )
    server = Server(url, folder)
    yield server, store, study, campaign
    server.stop()
    store.close()


@pytest.fixture
def judge(page_server, context):
    """Somebody signed in on the judge page; what they are is in the attributes."""
    server, store, study, campaign = page_server
    with store.writing() as session:
        login = f"judge{session.scalar(select(func.count()).select_from(Membership))}"
        user = accounts.create_user(session, "Judge", login, "correct horse")
        session.add(Membership(study_id=study, user_id=user.id, role="annotator"))
        cookie = accounts.sign_in(session, user.id)
    context.add_cookies([{"name": "venire_session", "value": cookie, "url": server.url}])
    page = context.new_page()
    page.goto(f"{server.url}/judge/{campaign}")
    page.locator("#document[data-lease]").wait_for()
    page.store, page.user, page.login, page.server = store, user.id, login, server
    return page


def labels(page):
    """Labels that the server holds now, by lease."""
    with page.store.reading() as session:
        rows = session.execute(
            select(Lease.id, Judgment.label)
            .join(Judgment, Judgment.seq == Lease.judgment_seq)
            .where(Lease.annotator_id == page.user)
        )
        return dict(rows.all())


def shown(page):
    return page.locator("#document").get_attribute("data-lease")


def press(page, key):
    """Press a key and wait until another document is there."""
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.getElementById('document').dataset.lease !== before"
        " || document.getElementById('finish')",
        arg=before,
    )
    return before


def all_saved(page):
    page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")


def test_a_whole_batch_by_keyboard_alone(judge):
    given = {}
    for place in range(12):
        key = str(place % 3)
        given[press(judge, key)] = int(key)
    judge.keyboard.press("u")
    judge.wait_for_function("() => !document.getElementById('finish')")
    last = press(judge, "2")
    given[last] = 2
    all_saved(judge)
    assert labels(judge) == given
    judge.keyboard.press("Enter")
    judge.wait_for_function("() => document.getElementById('count').textContent.startsWith('0 of')")
    with judge.store.reading() as session:
        states = session.scalars(
            select(Batch.state).where(Batch.annotator_id == judge.user).order_by(Batch.opened_at)
        ).all()
    assert states == ["finished", "open"]


def test_cannot_judge_comment_and_help_by_keyboard(judge):
    first = shown(judge)
    judge.keyboard.press("c")
    judge.locator("#comment-text").fill("2 strange numbers")
    judge.locator("#comment button[type=submit]").click()
    judge.keyboard.press("?")
    judge.locator("#help[open]").wait_for()
    judge.keyboard.press("1")  # while a dialog is open, no grade
    judge.keyboard.press("Escape")
    assert shown(judge) == first
    judge.keyboard.press("s")
    judge.locator("#cannot[open]").wait_for()
    press(judge, "1")
    all_saved(judge)
    with judge.store.reading() as session:
        lease = session.get(Lease, first)
        assert lease.state == "cannot"
        assert session.get(Judgment, lease.judgment_seq).reason == "broken"
        kinds = session.scalars(
            select(Event.kind).where(Event.annotator_id == judge.user).order_by(Event.seq)
        ).all()
    assert kinds == ["comment", "cannot"]


def test_what_cannot_be_judged_in_practice_holds_nobody_up(judge):
    rules = {"practice_size": 2, "overlap": 2}
    _, campaign, _ = make_study(judge.store, gold=8, people=0, campaign=rules)
    with judge.store.writing() as session:
        study = session.get(Campaign, campaign).study_id
        session.add(Membership(study_id=study, user_id=judge.user, role="annotator"))
    judge.goto(f"{judge.server.url}/judge/{campaign}")
    judge.locator("#help[open]").wait_for()
    judge.keyboard.press("Enter")
    judge.locator("#document[data-lease]").wait_for()
    judge.keyboard.press("s")
    press(judge, "1")
    judge.keyboard.press("ArrowLeft")
    judge.locator("#grades [aria-keyshortcuts=s][aria-pressed=true]").wait_for()


def test_keys_with_modifiers_and_held_keys_do_nothing(judge):
    before = shown(judge)
    for key in ("Control+1", "Alt+1", "Meta+1"):
        judge.keyboard.press(key)
    judge.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: '1', repeat: true}))")
    judge.wait_for_timeout(200)
    assert shown(judge) == before
    assert labels(judge) == {}


def test_five_documents_offline_and_back(judge, context):
    judge.wait_for_timeout(800)  # five are fetched ahead
    context.set_offline(True)
    given = [press(judge, "1") for _ in range(5)]
    banner = judge.locator("#banner")
    banner.get_by_text("5 judgments are saved in this browser").wait_for()
    assert labels(judge) == {}
    context.set_offline(False)
    judge.evaluate("window.dispatchEvent(new Event('online'))")
    all_saved(judge)
    assert labels(judge) == dict.fromkeys(given, 1)
    assert banner.is_hidden()


def test_unsent_judgments_outlive_a_closed_page(judge, context):
    context.route("**/events", lambda route: route.abort())
    given = [press(judge, "2"), press(judge, "2")]
    judge.locator("#banner").get_by_text("2 judgments are saved in this browser").wait_for()
    context.unroute("**/events")
    address = judge.url
    judge.close()
    again = context.new_page()
    again.goto(address)
    again.locator("#document[data-lease]").wait_for()
    all_saved(again)
    assert labels_of(judge.store, judge.user) == dict.fromkeys(given, 2)


def test_unsent_judgments_of_a_batch_that_ran_out_are_sent(judge, context):
    context.route("**/events", lambda route: route.abort())
    given = [press(judge, "2"), press(judge, "2")]
    judge.locator("#banner").get_by_text("2 judgments are saved in this browser").wait_for()
    context.unroute("**/events")
    address = judge.url
    judge.close()
    with judge.store.writing() as session:
        old = session.scalar(select(Batch).where(Batch.annotator_id == judge.user))
        old.expires_at = old.opened_at
    again = context.new_page()
    again.goto(address)
    again.locator("#document[data-lease]").wait_for()
    all_saved(again)
    assert labels_of(judge.store, judge.user) == dict.fromkeys(given, 2)
    with judge.store.writing() as session:  # also where it is another batch that is open now
        session.scalar(select(Batch).where(Batch.annotator_id == judge.user)).state = "expired"
    context.route("**/events", lambda route: route.abort())
    late = press(again, "1")
    again.locator("#banner").get_by_text("1 judgment is saved in this browser").wait_for()
    context.unroute("**/events")
    again.close()
    third = context.new_page()
    third.goto(address)
    third.locator("#document[data-lease]").wait_for()
    all_saved(third)
    assert shown(third) not in [*given, late]
    assert labels_of(judge.store, judge.user) == {**dict.fromkeys(given, 2), late: 1}


def test_two_people_at_one_browser_send_their_own_only(judge, context):
    judge.wait_for_timeout(800)
    context.route("**/events", lambda route: route.abort())
    given = press(judge, "2")
    judge.locator("#banner").get_by_text("1 judgment is saved in this browser").wait_for()
    with judge.store.writing() as session:
        mine = session.scalar(select(Membership).where(Membership.user_id == judge.user))
        bob = accounts.create_user(session, "Bob", f"bob{judge.user}", "correct horse")
        session.add(Membership(study_id=mine.study_id, user_id=bob.id, role="annotator"))
        cookie = accounts.sign_in(session, bob.id)
    own = next(one for one in context.cookies() if one["name"] == "venire_session")
    context.add_cookies([{"name": "venire_session", "value": cookie, "url": judge.server.url}])
    context.unroute("**/events")
    second = context.new_page()
    second.goto(judge.url)
    second.locator("#document[data-lease]").wait_for()
    press(second, "1")
    all_saved(second)
    assert len(labels_of(judge.store, bob.id)) == 1
    assert labels(judge) == {}
    # The first page finds out, keeps what it has, and lets its own person in again.
    judge.evaluate("window.dispatchEvent(new Event('online'))")
    judge.locator("#again-title").get_by_text("Someone else is signed in").wait_for()
    assert labels(judge) == {}
    context.add_cookies([{**own, "value": own["value"]}])
    judge.reload()
    judge.locator("#document[data-lease]").wait_for()
    all_saved(judge)
    assert labels(judge) == {given: 2}
    assert len(labels_of(judge.store, bob.id)) == 1


def labels_of(store, user):
    with store.reading() as session:
        rows = session.execute(
            select(Lease.id, Judgment.label)
            .join(Judgment, Judgment.seq == Lease.judgment_seq)
            .where(Lease.annotator_id == user)
        )
        return dict(rows.all())


def test_a_reload_in_the_middle_shows_the_same_document(judge):
    for _ in range(3):
        press(judge, "0")
    here = shown(judge)
    all_saved(judge)
    judge.reload()
    judge.locator("#document[data-lease]").wait_for()
    assert shown(judge) == here
    assert judge.locator("#count").inner_text() == "3 of 12 judged"


def test_signed_out_in_the_middle_nothing_is_lost(judge):
    with judge.store.writing() as session:
        session.execute(delete(SignIn).where(SignIn.user_id == judge.user))
    judge.wait_for_timeout(800)
    given = press(judge, "1")
    judge.locator("#again[open]").wait_for()
    judge.locator("#again-password").fill("wrong password")
    judge.keyboard.press("Enter")
    judge.locator("#again-error").get_by_text("Wrong login or password").wait_for()
    judge.locator("#again-password").fill("correct horse")
    judge.keyboard.press("Enter")
    all_saved(judge)
    assert judge.locator("#again[open]").count() == 0
    assert labels(judge) == {given: 1}


def test_a_second_tab_looks_on_and_takes_over(judge, context):
    second = context.new_page()
    second.goto(judge.url)
    second.locator("#banner").get_by_text("open in another tab").wait_for()
    second.keyboard.press("1")
    second.wait_for_timeout(200)
    assert labels(judge) == {}
    judge.close()
    second.locator("#banner").wait_for(state="hidden")
    second.locator(".grade:not([disabled])").first.wait_for()
    press(second, "1")


ENTITY = """<urn:a> <http://www.w3.org/2000/01/rdf-schema#label> "A" .
<urn:a> <urn:site> <https://example.org/page> .
<urn:a> <urn:site> <javascript:alert(1)> .
<urn:a> <urn:site> "data:text/html,x"^^<http://www.w3.org/2001/XMLSchema#anyURI> .
"""


@pytest.fixture
def entities(page_server):
    """The documents as entities, for one test."""
    _, store, _, _ = page_server
    with store.writing() as session:
        documents = session.scalars(select(Document).options(undefer(Document.body))).all()
        before = {one.id: (one.doc_id, one.kind, one.body) for one in documents}
        for one in documents:
            one.doc_id = f"urn:{one.doc_id}"
            one.kind, one.body = "entity", ENTITY.replace("urn:a", one.doc_id)
    yield
    with store.writing() as session:
        for one in session.scalars(select(Document)):
            one.doc_id, one.kind, one.body = before[one.id]


@pytest.mark.parametrize("allowed", [False, True])
def test_addresses_in_entities_are_links_only_where_the_study_lets_them(entities, judge, allowed):
    with judge.store.writing() as session:
        for study in session.scalars(select(Study)):
            study.settings = {**study.settings, "show_links": allowed}
    judge.reload()
    judge.locator("#document table.entity").wait_for()
    links = [link.get_attribute("href") for link in judge.locator("#document a").all()]
    assert links == (["https://example.org/page"] if allowed else [])


def test_hostile_documents_run_nothing(judge, context):
    server, store = judge.server, judge.store
    with store.writing() as session:
        session.execute(update(Document).values(body=EVIL))
    hosts = set()
    context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    judge.reload()
    judge.locator("#document[data-lease]").wait_for()
    for _ in range(6):
        press(judge, "1")
    assert judge.evaluate("window.hacked") is None
    article = judge.locator("#document article")
    assert article.locator("script, img, a").count() == 0
    assert "<script>window.hacked=1</script>" in article.inner_text()
    assert hosts == {urlsplit(server.url).netloc}


def test_the_browser_is_told_nothing_of_gold(judge):
    answer = judge.request.post(
        f"{judge.server.url}{urlsplit(judge.url).path}/next",
        data="{}",
        headers={"Content-Type": "application/json"},
    ).json()
    text = json.dumps(answer).lower()
    for word in ("gold", "rank", "score", "run", "relevance"):
        assert f'"{word}' not in text
    shapes = {tuple(sorted(item)) for item in answer["batch"]["items"]}
    assert len(shapes) == 1
    documents = [
        judge.request.get(f"{judge.server.url}/judge/documents/{item['lease']}").json()
        for item in answer["batch"]["items"]
    ]
    assert len({tuple(sorted(document)) for document in documents}) == 1


def test_from_key_to_next_document_is_under_50_ms(judge):
    judge.wait_for_timeout(1000)
    times = []
    for _ in range(11):
        judge.evaluate("performance.clearMarks()")
        press(judge, "1")
        marks = judge.evaluate(
            "['venire-key', 'venire-shown'].map(n => performance.getEntriesByName(n)[0]?.startTime)"
        )
        if None not in marks:
            times.append(marks[1] - marks[0])
    print(f"key to next document: median {statistics.median(times):.1f} ms of {len(times)}")
    assert len(times) >= 9


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_overlaps(judge, width, height, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    judge.emulate_media(color_scheme=scheme)
    judge.set_viewport_size({"width": width, "height": height})
    judge.wait_for_timeout(200)
    for step in ("document", "?", "s"):
        if step != "document":
            judge.keyboard.press(step)
        found = axe.Axe().run(judge, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
        bad = [
            (one["id"], [node["html"] for node in one["nodes"]])
            for one in found.response["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert bad == []
        assert judge.evaluate("document.documentElement.scrollWidth <= innerWidth")
        judge.keyboard.press("Escape")
    boxes = judge.evaluate(
        "['topic', 'document', 'grades'].map(id => {"
        " const b = document.getElementById(id).getBoundingClientRect();"
        " return [b.left, b.top, b.right, b.bottom]; })"
    )
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            apart = (
                one[2] <= other[0] + 1
                or other[2] <= one[0] + 1
                or one[3] <= other[1] + 1
                or other[3] <= one[1] + 1
            )
            assert apart, boxes
