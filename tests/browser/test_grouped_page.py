"""A grouped pool judged in a real Chromium, by keyboard and mouse."""

import io
import shutil

import numpy as np
import polars as pl
import pytest
from PIL import Image
from sqlalchemy import select

from server_for_tests import Server
from venire.grouping.settings import Setting
from venire.server.store.judging import Batch, Event, Judgment, Lease
from venire.server.store.people import Membership
from venire.server.store.session import Store
from venire.server.store.studies import Pair
from venire.server.studies import accounts, pools
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.documents import put_documents
from venire.server.studies.groups import put_groups
from venire.server.studies.pictures import store_picture
from venire.server.studies.studies import create_study
from venire.server.studies.topics import put_topics

SIZES = {"red": 10, "green": 5}
SINGLE = 3
GRADES = [
    {"value": 0, "name": "Not relevant", "definition": "Something else."},
    {"value": 1, "name": "Relevant", "definition": "What was looked for."},
]
RULES = {"practice_size": 0, "gold_size": 0, "overlap": 9}


def picture(rng, colour):
    """A square with noise: no two are the same."""
    base = {"red": (200, 60, 50), "green": (60, 160, 80)}.get(colour, rng.integers(0, 255, 3))
    pixels = np.clip(base + rng.normal(0, 18, (160, 160, 3)), 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="module")
def grouped_server(tmp_path_factory, empty_sqlite):
    """A server with one topic: three images by themselves, a group of ten, a group of five."""
    folder = tmp_path_factory.mktemp("grouped")
    shutil.copy(empty_sqlite, folder / "venire.db")
    store, rng = Store.at(folder), np.random.default_rng(0)
    colours = [name for name, size in SIZES.items() for _ in range(size)] + ["own"] * SINGLE
    with store.writing() as session:
        study = create_study(session, "Squares", settings={"grades": GRADES}).id
        put_topics(session, study, pl.DataFrame({"query_id": ["q"], "title": ["red squares"]}))
        keys = [store_picture(picture(rng, colour), store.media) for colour in colours]
        ids = [f"{colour}{at}" for at, colour in enumerate(colours)]
        frame = pl.DataFrame({"doc_id": ids, "kind": "image", "path": keys})
        put_documents(session, study, frame)
        pools.build_pool(session, study, "all", {})
        names = list(SIZES)
        groups = {
            pair: names.index(colours[at])
            for at, pair in enumerate(session.scalars(select(Pair.id).order_by(Pair.id)))
            if colours[at] in SIZES
        }
        put_groups(session, study, Setting.parse("leader"), "colours", groups)
        campaign = create_campaign(session, study, "Wave 1", RULES).id
        open_campaign(session, campaign)
    server = Server(store.url, folder)
    server.store, server.study, server.campaign = store, study, campaign
    yield server
    server.stop()
    store.close()


@pytest.fixture
def judge(grouped_server, context):
    """Somebody signed in on the judge page."""
    store = grouped_server.store
    with store.writing() as session:
        user = accounts.create_user(session, "Judge", f"judge{id(context)}", "correct horse")
        session.add(
            Membership(study_id=grouped_server.study, user_id=user.id, role="annotator")
        )  # fmt: skip
        cookie = accounts.sign_in(session, user.id)
    context.add_cookies([{"name": "venire_session", "value": cookie, "url": grouped_server.url}])
    page = context.new_page()
    page.user, page.store = user.id, store
    return page


def shown(page):
    return page.locator("#document").get_attribute("data-lease")


def press(page, key):
    """Press a key that judges, and wait for what comes next."""
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.getElementById('document').dataset.lease !== before", arg=before
    )
    return before


def leases_in(page, selector):
    """Leases of the images shown, in their order."""
    found = page.locator(f"{selector} img").evaluate_all("all => all.map((one) => one.src)")
    return [one.split("/judge/images/")[1].split("?")[0] for one in found]


def axe_finds_nothing(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]}).response
    assert [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ] == []
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0


def look(page, folder, name):
    """A picture, to be looked at."""
    page.wait_for_timeout(300)
    page.screenshot(path=folder / f"{name}.png")
    axe_finds_nothing(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_grouped_pool_from_the_first_image_to_the_end(grouped_server, judge, width, tmp_path):
    page, want = judge, {}
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{grouped_server.url}/judge/{grouped_server.campaign}")
    # Images by themselves come first.
    page.locator("#document[data-lease] figure").wait_for()
    for key in ("1", "0", "1"):
        assert page.locator(".strip").count() == 0
        want[press(page, key)] = int(key)
    sizes = []
    # The first group: labelled in one action, undone, one corrected, labelled again.
    page.locator(".strip").wait_for()
    look(page, tmp_path, "group")
    sizes.append(int(page.locator(".group h2").inner_text().split()[0]))
    assert page.locator(".strip .tile").count() == min(sizes[0], 8)
    press(page, "1")
    page.keyboard.press("u")
    page.locator(".strip").wait_for()
    assert page.locator("#count").inner_text() == "3 of 18 judged"
    page.keyboard.press("o")
    page.locator(".pick").first.wait_for()
    first = leases_in(page, ".pick")
    assert len(first) == sizes[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.locator(".pick[aria-pressed=true] .own").inner_text() == "Relevant"
    page.keyboard.press("Space")
    assert page.locator(".pick[aria-pressed=true] .own").inner_text() == "Not relevant"
    look(page, tmp_path, "open")
    want |= dict.fromkeys(first, 1) | {first[1]: 0}
    press(page, "1")
    # The second: a range marked with the mouse, split off, and judged apart.
    page.locator(".strip").wait_for()
    sizes.append(int(page.locator(".group h2").inner_text().split()[0]))
    assert sorted(sizes) == sorted(SIZES.values())
    page.get_by_role("button", name="Open").click()
    second = leases_in(page, ".pick")
    page.locator(".pick").nth(1).click()
    page.locator(".pick").nth(3).click(modifiers=["Shift"])
    assert page.locator(".pick[aria-pressed=true]").count() == 3
    look(page, tmp_path, "marked")
    page.get_by_role("button", name="Split off marked").click()
    page.get_by_role("heading", name=f"{sizes[1] - 3} similar images").wait_for()
    page.keyboard.press("u")
    page.get_by_role("heading", name=f"{sizes[1]} similar images").wait_for()
    page.keyboard.press("o")
    for at in (1, 2, 3):
        page.locator(".pick").nth(at).click()
    page.keyboard.press("x")
    page.get_by_role("heading", name=f"{sizes[1] - 3} similar images").wait_for()
    rest = [one for at, one in enumerate(second) if at not in (1, 2, 3)]
    assert set(leases_in(page, ".strip")) <= set(rest)
    press(page, "0")
    want |= dict.fromkeys(rest, 0)
    page.get_by_role("heading", name="3 similar images").wait_for()
    page.keyboard.press("1")
    want |= dict.fromkeys(second[1:4], 1)
    # The review round: relevant first, a click changes the grade.
    page.locator(".review").wait_for()
    heads = page.locator(".review h3").all_inner_texts()
    relevant = [one for one, label in want.items() if label == 1]
    assert heads[0] == f"Relevant ({len(relevant)})"
    assert heads[1] == f"Not relevant ({18 - len(relevant)})"
    look(page, tmp_path, "review")
    changed = leases_in(page, ".review .grid >> nth=0 >> .pick")[0]
    assert want[changed] == 1
    page.locator(".review .grid").first.locator(".pick").first.click()
    page.get_by_role("heading", name=f"Relevant ({len(relevant) - 1})", exact=True).wait_for()
    page.keyboard.press("u")
    page.get_by_role("heading", name=heads[0], exact=True).wait_for()
    page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")
    title = page.locator("#topic-title").inner_text()
    page.reload()
    page.locator(".review").wait_for()
    assert page.locator("#topic-title").inner_text() == title != ""
    page.locator(".review .grid").first.locator(".pick").first.click()
    want[changed] = 0
    page.get_by_role("heading", name=f"Relevant ({len(relevant) - 1})", exact=True).wait_for()
    page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")
    with page.store.reading() as session:
        rows = session.execute(
            select(Lease.id, Judgment.label)
            .join(Judgment, Judgment.seq == Lease.judgment_seq)
            .where(Lease.annotator_id == page.user)
        )
        assert dict(rows.all()) == want
        apart = session.scalars(select(Lease.cluster).where(Lease.id.in_(second[1:4]))).all()
        assert len(set(apart)) == 1
        others = session.scalars(select(Lease.cluster).where(Lease.id.in_(rest))).all()
        assert set(apart).isdisjoint(others)
        events = session.execute(
            select(Event.kind, Event.payload).where(Event.annotator_id == page.user)
            .order_by(Event.seq)
        ).all()  # fmt: skip
    kinds = [kind for kind, _ in events]
    assert kinds == [
        *["label"] * 3, "group", "undo", "look", "group", "label",
        "look", "split", "split", "look", "split", "group", "group", *["label"] * 3,
    ]  # fmt: skip
    # Every judging action has its time, so that speed can be measured.
    assert all(
        payload["active_ms"] > 0 for kind, payload in events if kind in ("group", "split", "label")
    )
    page.locator("#finish").click()
    page.get_by_role("heading", name="No more documents to judge").wait_for()
    with page.store.reading() as session:
        assert session.scalars(
            select(Batch.state).where(Batch.annotator_id == page.user)
        ).all() == ["finished"]  # fmt: skip
