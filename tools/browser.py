"""The system's Chromium, for what needs a browser: the tests of the pages, and the book as PDF."""

import os
import shutil
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ON_MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
NO_CHROMIUM = "no Chromium found: install it (`sudo apt-get install chromium`), or name it, CHROMIUM=/path/to/chromium"

# What a browser does on its own account is not the site's doing.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


def find_chromium():
    """Return the path of a Chromium, or None where there is none."""
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, CHROMIUM_NAMES), CHROMIUM_ON_MACOS]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


@contextmanager
def open_chromium(path):
    """Start the Chromium at `path`; it ends with the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()
