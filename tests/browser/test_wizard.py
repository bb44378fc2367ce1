"""The wizard in a real Chromium, on digits: from a new study to every pool in groups."""

import json
import shutil

import numpy as np
import pytest
from sqlalchemy import func, select

from digits_for_tests import Digits
from server_for_tests import Server
from studies_for_tests import judge_batch, make_study
from venire.cli.main import main
from venire.grouping.vectors import Vectors
from venire.server.store.people import Membership
from venire.server.store.session import Store
from venire.server.store.studies import Pair
from venire.server.studies import accounts, files, pools
from venire.server.studies.collection_folder import import_folder
from venire.server.studies.studies import create_study, get_study

pytest.importorskip("sklearn.datasets", reason="needs the extra [images]")
METHODS = {"leader": ["0.9", "0.8"], "k-means": ["8", "16"]}
SPELLED = "leader(cosine=0.9|0.8),k-means(size=8|16)"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return Digits(tmp_path_factory.mktemp("digits"))


@pytest.fixture(scope="module")
def wizard_server(tmp_path_factory, empty_sqlite):
    folder = tmp_path_factory.mktemp("wizard")
    shutil.copy(empty_sqlite, folder / "venire.db")
    store = Store.at(folder)
    with store.writing() as session:
        ada = accounts.create_user(session, "Ada", "ada", "correct horse", may_create=True)
        cookie = accounts.sign_in(session, ada.id)
    server = Server(store.url, folder)
    server.store, server.cookie, server.ada, server.folder = store, cookie, ada.id, folder
    yield server
    server.stop()
    store.close()


@pytest.fixture(scope="module")
def imported(wizard_server, digits):
    """A study with all images and its pool; found by hand what the first test does by mouse."""
    from venire.formats.study_folder import read_study_folder

    with wizard_server.store.writing() as session:
        study = create_study(session, "Digits", owner_id=wizard_server.ada).id
        folder = read_study_folder(digits.collection)
        import_folder(session, study, folder, media=wizard_server.folder / "media")
        pools.build_pool(session, study, "qrels", {"qrels": "truth"})
    return study


@pytest.fixture
def page(wizard_server, context):
    """The owner, signed in; what the policy refuses is a fault."""
    context.add_cookies(
        [{"name": "venire_session", "value": wizard_server.cookie, "url": wizard_server.url}]
    )
    page = context.new_page()
    said = []

    def heard(message):
        if message.type == "error":
            said.append(message.text)

    page.on("console", heard)
    yield page
    assert said == []


def step(page, number):
    page.locator(f"[data-go='{number}']").click()
    page.locator(f"[data-step='{number}']").wait_for()


def shot(page, folder, name):
    """A picture of the whole page, to be looked at."""
    page.wait_for_timeout(400)
    page.screenshot(path=folder / f"{name}.png", full_page=True)


def put_vectors(page, path):
    """Put in vectors of one's own, in step 1."""
    summary = page.locator("[data-step='1'] details summary").first
    if page.locator("#up-vectors").is_hidden():
        summary.click()
    page.locator("#up-vectors").set_input_files(path)
    with page.expect_navigation():
        page.get_by_role("button", name="Upload", exact=True).click()
    page.locator(f"#encoder option[value='{path.stem}']").wait_for(state="attached")
    page.locator("#encoder").select_option(path.stem)


def choose_methods(page, wanted):
    """Leave only these values of these methods."""
    for box in page.locator(".method legend input").all():
        if box.is_enabled() and box.is_checked():
            box.uncheck()
    for method, values in wanted.items():
        for value in values:
            page.get_by_role("checkbox", name=f"{method} ", exact=False).and_(
                page.locator(f"[aria-label$=' {value}']")
            ).check(force=True)


def run(page):
    page.locator("#run:not([disabled])").wait_for(timeout=120_000)
    with page.expect_navigation(url="**/simulation?job=*"):
        page.locator("#run").click()
    page.locator(".verdict").wait_for(timeout=180_000)


def by_setting(rows):
    return sorted(rows, key=lambda row: (row["setting"], row["annotator"]))


def axe_finds_nothing(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]}).response
    assert [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ] == []


def result_of(wizard_server, page):
    job = page.url.split("job=")[1].split("#")[0]
    study = page.url.split("/studies/")[1].split("/")[0]
    found = page.request.get(f"{wizard_server.url}/api/studies/{study}/jobs/{job}").json()
    return study, found


def test_from_a_new_study_to_every_pool_in_groups(wizard_server, digits, page, tmp_path, capsys):
    # A new study, its folder, its pool.
    page.goto(f"{wizard_server.url}/studies")
    page.locator("#file").set_input_files(digits.zip())
    page.get_by_role("button", name="Import").click()
    page.get_by_role("link", name="Open the study").click(timeout=120_000)
    page.get_by_role("link", name="Pool", exact=True).click()
    page.locator("#strategy").select_option("qrels")
    with page.expect_navigation():
        page.get_by_role("button", name="Build pool").click()
    page.get_by_role("link", name="Simulation", exact=True).click()
    # Step 1: there is no encoder yet, and the step says so.
    page.locator("#no-encoder").wait_for()
    assert "No encoder yet" in page.locator("#no-encoder").inner_text()
    shot(page, tmp_path, "1-no-encoder")
    page.locator("#new-encoder").select_option("perceptual-hash")
    with page.expect_navigation():
        page.get_by_role("button", name="Compute vectors").click()
    page.locator("#encoder").wait_for(timeout=120_000)
    put_vectors(page, digits.pixels)
    page.get_by_text("10 queries of the pool with 2,000 labels, 400 of them relevant").wait_for()
    assert page.locator("[data-chosen='1']").inner_text() == "Qrels truth · pixels"
    shot(page, tmp_path, "1-ground-truth")
    # Step 2: without a pilot Typical is on, and the bounds are always there.
    step(page, 2)
    checked = [box.is_checked() for box in page.locator(".type h3 input").all()]
    assert checked == [False, True, False]
    assert page.get_by_text("Always simulated, as a bound.").count() == 2
    for name in ("Novice", "Expert"):
        page.get_by_role("checkbox", name=name).check()
    page.locator("#add-type").click()
    page.keyboard.type("careful")
    page.keyboard.press("Tab")
    card = page.locator(".type", has=page.locator(".name-of-own"))
    card.get_by_label("Accuracy on relevant images").fill("0.95")
    card.get_by_label("Accuracy on relevant images").press("Tab")
    assert page.locator("[data-chosen='2']").inner_text() == "novice, typical, expert, careful"
    shot(page, tmp_path, "2-annotators")
    axe_finds_nothing(page)
    # Step 3: values to try; going back has lost nothing.
    step(page, 3)
    choose_methods(page, METHODS)
    page.locator("#cosines .main-svg").first.wait_for()
    assert page.locator("#count-settings").inner_text().startswith("5 settings")
    shot(page, tmp_path, "3-methods")
    axe_finds_nothing(page)
    step(page, 2)
    assert page.locator(".name-of-own").input_value() == "careful"
    page.reload()
    assert card.get_by_label("Accuracy on relevant images").input_value() == "0.95"
    # Step 4: what will run.
    step(page, 4)
    page.locator("#queries").fill("4")
    page.locator("#queries").press("Tab")
    page.locator("#run:not([disabled])").wait_for(timeout=60_000)
    plan = page.locator("#plan").inner_text()
    assert plan.startswith("5 settings x 6 annotator types x 4 queries x 3 repetitions, "), plan
    shot(page, tmp_path, "4-summary")
    axe_finds_nothing(page)
    run(page)
    # Step 5: one sentence first, charts for each type, tables beside them.
    study, job = result_of(wizard_server, page)
    found = job["result"]
    assert page.locator(".verdict").inner_text() == found["verdict"]
    best = found["setting"]
    assert best != "one-at-a-time"
    for row in found["types"]:
        if row["setting"] == best and row["annotator"] in found["chosen"]:
            assert row["loss"] <= 0.02 + 1e-9
            assert row["saved"] > 0
    page.locator("#bars .main-svg").first.wait_for()
    page.get_by_role("tab", name="expert").click()
    page.locator("[data-table='expert']").wait_for()
    shot(page, tmp_path, "5-results")
    axe_finds_nothing(page)
    # The same numbers from the command line.
    capsys.readouterr()
    words = ["simulate", "grouping", str(digits.collection), "--vectors", str(digits.pixels)]
    own = "novice,typical,expert,careful(accuracy_relevant=0.95)"
    words += ["--methods", SPELLED, "--annotators", own, "--queries", "4", "--seed", "0"]
    assert main([*words, "--by", "type", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    # The page asks for the methods in its own order.
    assert by_setting(rows) == by_setting(found["types"])
    # A click on a point opens step 6 for it.
    page.locator("#scatter .point").first.click(force=True)
    page.locator("[data-step='6']").wait_for()
    page.locator("#setting").select_option(best)
    assert page.locator("#comparison tbody tr").count() == 6
    assert page.locator("#comparison td.good").count() >= 4
    shot(page, tmp_path, "6-choose")
    axe_finds_nothing(page)
    # It is proposed on the Annotation tab, and saved there.
    page.locator("#use").click()
    page.locator("#proposed").wait_for()
    assert page.locator("#grouping-setting").input_value() == best
    shot(page, tmp_path, "7-annotation")
    axe_finds_nothing(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Save and regroup all pools").click()
    page.get_by_text("Pools are judged in groups by").wait_for(timeout=60_000)
    with wizard_server.store.reading() as session:
        assert get_study(session, study).settings["grouping"] == {
            "encoder": "pixels",
            "setting": best,
        }
        grouped = select(func.count()).where(Pair.study_id == study, Pair.cluster.is_not(None))
        assert session.scalar(grouped) > 1500
    # The next simulation has the current setting among its settings.
    page.get_by_role("link", name="Simulation", exact=True).first.click()
    step(page, 3)
    assert "the current setting" in page.locator("#count-settings").inner_text()


@pytest.mark.slow
def test_hopeless_vectors_recommend_one_at_a_time(wizard_server, digits, imported, page):
    page.goto(f"{wizard_server.url}/studies/{imported}/simulation")
    put_vectors(page, digits.noise)
    step(page, 2)
    for name in ("Novice", "Expert"):
        page.get_by_role("checkbox", name=name).check()
    step(page, 3)
    choose_methods(page, {"leader": ["0.8", "0.7"], "k-means": ["16"]})
    step(page, 4)
    run(page)
    words = page.locator(".verdict").inner_text()
    assert words.startswith("Judge one image at a time (★): every grouping lost more than 2 points")
    step(page, 6)
    assert page.locator("#setting").input_value() == "one-at-a-time"


def test_annotators_of_a_pilot_are_types_and_on_by_default(wizard_server, page):
    store = wizard_server.store
    study, campaign, judges = make_study(
        store, topics=2, documents=8, gold=0, people=2, campaign={"gold_size": 0}
    )
    for person in judges:
        while judge_batch(store, campaign, person, lambda pair: pair % 2):
            pass
    names = [f"d{at}" for at in range(8)]
    with store.writing() as session:
        session.add(Membership(study_id=study, user_id=wizard_server.ada, role="owner"))
        files.put_vectors(session, study, Vectors.of(names, np.eye(8), encoder="eye"))
    page.goto(f"{wizard_server.url}/studies/{study}/simulation")
    page.get_by_text("2 annotators are measured against them").wait_for()
    step(page, 2)
    found = {
        card.get_attribute("aria-label"): card.locator("h3 input").is_checked()
        for card in page.locator(".type").all()
        if card.locator("h3 input").count()
    }
    assert found == {
        "pilot p0": True, "pilot p1": True, "Novice": False, "Typical": False, "Expert": False,
    }  # fmt: skip
    assert page.locator("[data-chosen='2']").inner_text() == "pilot p0, pilot p1"
    card = page.locator(".type[aria-label='pilot p0']")
    assert "measured: 8 of 8 correct, 0.63 to 1.00" in card.inner_text()


def test_a_summary_waits_for_the_labels_and_says_what_is_missing(
    wizard_server, imported, digits, page
):
    page.goto(f"{wizard_server.url}/studies/{imported}/simulation")
    put_vectors(page, digits.pixels)
    page.goto("about:blank")
    held = []
    page.route("**/simulation?truth=*", lambda route: held.append(route))
    page.goto(f"{wizard_server.url}/studies/{imported}/simulation#step-4")
    # What is typed before the labels are read would be overwritten: nothing can be.
    page.locator("#reading").wait_for()
    assert page.locator("#queries").is_hidden()
    held[0].continue_()
    page.locator("#queries").wait_for()
    assert page.locator("#queries").input_value() == "10"
    step(page, 2)
    page.get_by_role("checkbox", name="Typical").uncheck()
    step(page, 4)
    page.get_by_text("Choose at least one annotator type in step 2.").wait_for()
    assert page.locator("#run").is_disabled()


def test_wrong_numbers_are_said_where_they_are_typed(wizard_server, imported, digits, page):
    page.goto(f"{wizard_server.url}/studies/{imported}/simulation")
    put_vectors(page, digits.pixels)
    step(page, 3)
    other = page.get_by_label("Another min size for hdbscan")
    for wrong in ("1", "2.5", "abc"):
        other.fill(wrong)
        other.press("Tab")
        said = other.evaluate("(one) => one.validationMessage")
        assert said == "Must be a whole number >= 2."
    assert page.get_by_label("hdbscan min size 1").count() == 0
    other.fill("7")
    other.press("Tab")
    assert page.get_by_label("hdbscan min size 7").is_checked()
    choose_methods(page, {"k-means": ["16"]})
    step(page, 4)
    page.locator("#run:not([disabled])").wait_for()
    assert "k-means at 16" in page.locator("#summary").inner_text()
    page.locator("#repetitions").fill("200")
    assert page.locator("#run").is_disabled()
    assert page.locator("#plan-error").inner_text().startswith("Repetitions per query: ")
    page.locator("#repetitions").fill("2")
    page.locator("#repetitions").press("Tab")
    page.locator("#run:not([disabled])").wait_for()
    assert "x 2 repetitions" in page.locator("#plan").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_step_fits_its_window(wizard_server, imported, page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{wizard_server.url}/studies/{imported}/simulation")
    for number in range(1, 7):
        step(page, number)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) <= 0, number
