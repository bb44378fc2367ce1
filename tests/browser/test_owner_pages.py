"""Owner pages in a real Chromium: axe, both widths, both colour schemes, and what scripts do."""

import json
import re
import sys
import threading
import time
from pathlib import Path

import pytest
import uvicorn

sys.path.insert(0, str(Path(__file__).parents[1] / "server" / "owner"))
from owner_world import RULES, World

from venire.server.jobs.queue import submit_job
from venire.server.jobs.worker import run_pending
from venire.server.store.judging import Batch, Campaign
from venire.server.studies import accounts, invitations
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.workers import add_worker
from venire.server.web.pages.common import TABS

KINDS = ("agreement", "aggregate", "evaluate", "trust")
CROWD = {
    "repeatability": {"groups": ["Wave 1", "qrels:old"], "permutations": 5, "bootstrap": 20},
    "annotators": {"most": 2, "draws": 10},
    "next-best": {"budget": 2},
    "forecast": {"grades": "qrels:old", "replays": 2},
}
MORE = ("data?part=documents", "data?part=files", "data?part=gold", "topic?query_id=q1",
        "document?doc_id=d1&query_id=q1")  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A study in which everything has happened."""
    world = World(tmp_path_factory.mktemp("owner-pages"))
    for _ in range(3):
        for name in ("ben", "chi"):
            world.judge(name, lambda pair: 2 * (pair % 2))
    with world.store.writing() as session:
        invitations.create_invitation(session, world.study, "annotator", name="Fay")
        for kind in KINDS:
            submit_job(session, world.study, kind, {"bootstrap": 20} if kind == "agreement" else {})
        for kind, settings in CROWD.items():
            submit_job(session, world.study, kind, settings)
    run_pending(world.store)
    yield world
    world.store.close()


@pytest.fixture(scope="module")
def address(world):
    """Where the application is served."""
    server = uvicorn.Server(uvicorn.Config(world.app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://localhost:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def page(world, address, context):
    """A window in which the owner is signed in; what the policy refuses is a fault."""
    secret = world.store.write(lambda session: accounts.sign_in(session, world.users["ada"]))
    context.add_cookies([{"name": "venire_session", "value": secret, "url": address}])
    page = context.new_page()
    said = []

    def heard(message):
        if message.type == "error":
            said.append(message.text)

    page.on("console", heard)
    yield page
    assert said == []


def paths(world):
    yield from ("/studies", "/account")
    for tab in (*TABS, *MORE):
        yield f"{world.here}/{tab}".rstrip("/")


@pytest.mark.parametrize(
    ("scheme", "rules"),
    [
        pytest.param("light", {"resultTypes": ["violations"]}, id="light"),
        # Dark differs in colours only.
        pytest.param("dark", {"runOnly": ["color-contrast"]}, id="dark", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing_serious(world, address, page, scheme, rules):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    found = []
    for path in paths(world):
        page.goto(address + path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        result = axe.run(page, options=rules or None).response
        for fault in result["violations"]:
            if fault["impact"] in ("serious", "critical"):
                nodes = [node["html"][:200] for node in fault["nodes"][:3]]
                found.append((path, fault["id"], nodes))
    assert not found, json.dumps(found, indent=1)


def test_nothing_is_wider_than_the_window(world, address, page):
    wide = []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for path in paths(world):
            page.goto(address + path)
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                wide.append((path, width, over))
    assert not wide


def test_charts_are_drawn(world, address, page):
    for kind in KINDS:
        page.goto(f"{address}{world.here}/{kind}")
        page.wait_for_selector("[data-chart] .main-svg")


def test_the_pool_is_previewed_without_a_change(world, address, page):
    page.goto(f"{address}{world.here}/pool")
    page.select_option("#strategy", "depth")
    page.fill("#depth", "1")
    page.click("#preview")
    page.wait_for_selector("#result:not([hidden])")
    assert "Preview" in page.inner_text("#result")
    assert "good" in page.inner_text("#result table")


def test_instructions_show_as_they_are_written(world, address, page):
    page.goto(f"{address}{world.here}/annotation")
    page.fill("#instructions", "# Hello\n\n<img src=x onerror=alert(1)>")
    page.wait_for_selector("#rendered h1:has-text('Hello')")
    assert page.locator("#rendered img").count() == 0


def test_a_grade_is_added_and_a_link_made(world, address, page):
    page.goto(f"{address}{world.here}/annotation")
    page.click("#add-grade")
    assert page.locator("[data-row]").count() == 4
    page.click("summary:has-text('Invite an annotator')")
    page.click("text=Create invitation link")
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect(page.locator("#invite-link")).to_have_value(re.compile("/invite/"))


@pytest.mark.parametrize("kind", ["aggregate", "evaluate", "trust"])
def test_what_a_form_offers_first_runs(world, address, page, kind):
    page.goto(f"{address}{world.here}/{kind}")
    with page.expect_response(lambda answer: answer.request.method == "POST") as sent:
        page.locator("main form.card button.primary").click()
    assert sent.value.status == 200, sent.value.text()
    page.locator("[data-job]").wait_for()
    run_pending(world.store)
    page.locator("[data-job]").wait_for(state="detached")
    assert "failed" not in page.locator("main").inner_text()


@pytest.mark.parametrize("kind", ["aggregate", "trust"])
def test_the_decision_comes_first_and_its_tables_are_downloaded(world, address, page, kind):
    page.goto(f"{address}{world.here}/{kind}")
    headings = page.locator(".main-part h2").all_inner_texts()
    page.set_viewport_size({"width": 390, "height": 800})
    first, form = page.locator(".main-part"), page.locator(".beside > form")
    assert first.bounding_box()["y"] < form.bounding_box()["y"]
    page.set_viewport_size({"width": 1280, "height": 800})
    assert headings[0] in ("What to do", "Can this order be trusted?")
    links = page.locator("main a[download]")
    assert links.count()
    for link in links.all():
        with page.expect_download() as saved:
            link.click()
        name = saved.value.suggested_filename
        assert name in ("pairs_to_judge.csv", "panels.csv")
        assert len(saved.value.path().read_text().splitlines()) > 1, name
    if kind == "aggregate":
        page.get_by_role("link", name="Evaluate runs with these grades").click()
        page.wait_for_url("**/evaluate")


def test_what_was_said_goes_when_it_is_sent_again(world, address, page):
    page.goto(f"{address}{world.here}/annotation")
    form = page.locator("form", has=page.locator("#relevant_from"))
    form.get_by_role("button", name="Save scale").click()
    form.locator(".success").wait_for()
    page.route("**/api/studies/*", lambda route: None)
    form.get_by_role("button", name="Save scale").click()
    form.locator(".success").wait_for(state="detached")


def test_a_click_on_a_heading_sorts(world, address, page):
    page.goto(f"{address}{world.here}/evaluate")
    page.click("th button:has-text('AP')")
    first = page.locator("table[data-sort] tbody tr").first
    scores = page.locator("table[data-sort] tbody tr td:nth-child(2)").all_inner_texts()
    assert scores == sorted(scores, reverse=True)
    assert first.is_visible()


def test_a_key_settles_and_goes_on(world, address, page):
    page.goto(f"{address}{world.here}/adjudication")
    before = page.inner_text(".queue p")
    with page.expect_navigation():
        page.keyboard.press("1")
    assert page.inner_text(".queue p") != before


def test_the_overview_follows_without_a_reload(world, address, page):
    page.goto(f"{address}{world.here}")
    field = page.locator("[data-campaign] [data-field=open]").first
    field.evaluate("(one) => (one.textContent = 'stale')")
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect(field).not_to_have_text("stale", timeout=20_000)


def test_the_crowd_page_at_both_widths(world, address, page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{address}{world.here}/crowd")
        page.wait_for_function("document.querySelectorAll('[data-chart] .main-svg').length >= 4")
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        faults = [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
                  for one in axe.run(page).response["violations"]
                  if one["impact"] in ("serious", "critical")]  # fmt: skip
        assert not faults, json.dumps(faults, indent=1)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_forecast_is_asked_for_and_kept_from_the_page(world, address, page):
    page.goto(f"{address}{world.here}/crowd")
    page.select_option("#plan-grades", "qrels:old")
    page.fill("#plan-overlap", "1, 2")
    page.fill("#plan-replays", "2")
    page.click("#plan button:has-text('Simulate')")
    page.wait_for_selector("#plan [data-job]")
    assert run_pending(world.store) == 1
    page.locator("#plan [data-job]").wait_for(state="detached")
    assert page.locator("#keep-design option").count() == 2
    # What was asked for still stands in the form.
    assert page.input_value("#plan-overlap") == "1, 2"
    assert page.input_value("#plan-replays") == "2"
    page.click("#plan button:has-text('Save')")
    page.wait_for_selector("#plan h3:has-text('Forecast and actual')")


def test_more_judgments_are_asked_for_with_one_confirmation(world, address, page):
    page.goto(f"{address}{world.here}/crowd")
    asked = []
    page.on("dialog", lambda one: (asked.append(one.message), one.accept()))
    page.click("#next button:has-text('Request 2 judgments')")
    page.wait_for_selector("#next .notice:has-text('were requested')")
    assert len(asked) == 1


def test_the_planner_s_rows_are_low_and_its_design_is_named(world, address, page):
    page.goto(f"{address}{world.here}/crowd")
    rows = page.locator("[aria-label=Designs] tbody tr")
    assert all(row.bounding_box()["height"] < 60 for row in rows.all())
    design = page.locator("#keep-design option:checked").inner_text().removesuffix(" (best)")
    page.get_by_role("button", name="Save forecast", exact=True).click()
    page.locator("form[data-send$=forecasts] [role=status]", has_text=design).wait_for()


def test_a_worker_copies_an_earlier_code(world, address, context, monkeypatch):
    with world.store.writing() as session:
        wave = create_campaign(session, world.study, "Wave of workers", RULES)
        open_campaign(session, wave.id)
        monkeypatch.setattr(world, "campaign", wave.id)
        secret = invitations.create_invitation(
            session, world.study, "annotator", campaign_id=world.campaign
        )
        user = add_worker(session, wave, "W1")
        world.users["worker"] = user.id
    batch = world.judge("worker", 2)
    with world.store.reading() as session:
        campaign = session.get(Campaign, world.campaign)
        valid = session.get(Batch, batch).valid
        code = campaign.code_done if valid else campaign.code_failed
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
    page = context.new_page()
    page.goto(f"{address}/c/{secret}?workerId=W1")
    assert page.url == f"{address}/work"
    page.get_by_role("button", name="Copy the code of batch 1").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == code
