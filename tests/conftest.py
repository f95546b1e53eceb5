"""A browser for the tests that look at pages."""

import os

import pytest

from tools.browser import NO_CHROMIUM, find_chromium, open_chromium


@pytest.fixture(scope="session")
def browser():
    """Return the system's Chromium; without one the test is skipped, and fails in continuous integration."""
    chromium = find_chromium()
    if not chromium:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(NO_CHROMIUM)
    with open_chromium(chromium) as browser:
        yield browser
