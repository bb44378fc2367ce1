"""A real Chromium, Debian's, driven by playwright."""

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
]


@pytest.fixture(scope="session")
def chromium_path():
    """Where Chromium is; it is installed with apt where that is allowed."""
    found = os.environ.get("VENIRE_CHROMIUM") or shutil.which("chromium")
    if not found and shutil.which("apt-get") and os.geteuid() == 0:
        # Tests on several cores ask at once; the first installs, the others wait.
        with (Path(tempfile.gettempdir()) / "venire-chromium.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = shutil.which("chromium") or _installed()
    if not found:
        pytest.skip("no Chromium, and apt may not install it here: browser tests are skipped")
    return found


def _installed():
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        subprocess.run(["apt-get", "-qq", *command], capture_output=True, check=False)
    return shutil.which("chromium")


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
