"""No page is heavy: what a reader's first visit transfers, all its figures included, from a server that compresses text."""

from statistics import median

import pytest
from built_site import PAGES, load_figures

HEAVIEST = 900_000  # bytes
CHAPTER = 500_000  # half of the chapters stay below


@pytest.fixture(scope="module")
def weights(visit, server):
    """How many bytes each page transfers. Every page is opened in a window of its own, whose cache is empty."""
    weights = {}
    for name in PAGES:
        page = visit(f"{server}/{name}.html").page
        load_figures(page)
        weights[name] = page.evaluate("performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)")
        page.close()
    return weights


def test_no_page_is_heavy(weights):
    assert {name: weight for name, weight in weights.items() if weight > HEAVIEST} == {}


def test_the_chapter_in_the_middle_is_light(weights):
    chapters = {name: weight for name, weight in weights.items() if name.startswith("notebooks/")}
    assert median(chapters.values()) <= CHAPTER, chapters
