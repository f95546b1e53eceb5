"""A browser for the tests that look at pages; and why tests were skipped, said once however many there are."""

import os

import pytest
import shape_checks

from tools.browser import NO_CHROMIUM, find_chromium, open_chromium


@pytest.fixture(scope="session")
def browser():
    chromium = find_chromium()
    if not chromium:
        if os.environ.get("CI") == "true":
            pytest.fail(NO_CHROMIUM, pytrace=False)
        pytest.skip(NO_CHROMIUM)
    with open_chromium(chromium) as browser:
        yield browser


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    shape_checks.a_test_begins()


def pytest_terminal_summary(terminalreporter):
    for reason in sorted({report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])}):
        terminalreporter.write_line(reason, yellow=True)
