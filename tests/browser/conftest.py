"""A real Chromium, Debian's, driven by playwright.

The headless shell is the same engine without the browser's own windows. It needs half the
processor time, so it is preferred to ``chromium``.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No process ahead of need, and none per site: every test has one site.
    "--disable-features=SpareRendererForSitePerProcess",
    "--disable-site-isolation-trials",
]
PROGRAMS = ("chromium-headless-shell", "chromium")


def find_chromium():
    """Return the path of the first installed program, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@pytest.fixture(scope="session")
def chromium_path():
    """The path of Chromium; it is installed with apt where that is allowed."""
    path = os.environ.get("VENIRE_CHROMIUM") or find_chromium()
    if not path and shutil.which("apt-get") and os.geteuid() == 0:
        # Workers ask at the same time: the first installs, the others wait.
        with (Path(tempfile.gettempdir()) / "venire-chromium.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            path = find_chromium() or install_chromium()
    if not path:
        pytest.skip("no Chromium, and apt may not install it here: browser tests are skipped")
    return path


def install_chromium():
    """Install the first program that apt has; return its path, or None."""
    for command in (
        ["update"],
        *(["install", "-y", "--no-install-recommends", p] for p in PROGRAMS),
    ):
        if not find_chromium():
            subprocess.run(["apt-get", "-qq", *command], capture_output=True, check=False)
    return find_chromium()


@pytest.fixture(scope="session")
def browser(chromium_path):
    """One browser for all tests."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser):
    """A window of its own, with no cookies; a fault in a script fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(30_000)
    faults = []
    context.on("weberror", lambda fault: faults.append(str(fault.error)))
    yield context
    context.close()
    assert faults == []
