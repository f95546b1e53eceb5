"""A browser for the tests that look at pages; and why tests were skipped, said once however many there are."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ON_MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
NO_CHROMIUM = "no Chromium found: install it (`sudo apt-get install chromium`), or name it, CHROMIUM=/path/to/chromium"


def find_chromium():
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, CHROMIUM_NAMES), CHROMIUM_ON_MACOS]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


@pytest.fixture(scope="session")
def browser():
    chromium = find_chromium()
    if not chromium:
        if os.environ.get("CI") == "true":
            pytest.fail(NO_CHROMIUM, pytrace=False)
        pytest.skip(NO_CHROMIUM)
    # What a browser does on its own account is not the site's doing.
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=quiet)
        yield browser
        browser.close()


def pytest_terminal_summary(terminalreporter):
    for reason in sorted({report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])}):
        terminalreporter.write_line(reason, yellow=True)
