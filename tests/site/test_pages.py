"""Every page of the table of contents, opened from a server: it works, and it is complete by itself."""

from statistics import median

import pytest
from built_site import PAGES, load_figures, requests_elsewhere, untypeset_formulas

from transformer_lib.teaching import record

NARROW, WIDE = 390, 1280
# What a reader's first visit transfers, all figures included, from a server that compresses text.
HEAVIEST = 900_000  # bytes
CHAPTER = 500_000  # half of the chapters stay below
# On a processor four times slower, as `benchmarks/first_paint.py` measured it.
FIRST_PAINT = 1.0  # seconds
SHIFT = 0.1


def resize(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    # The theme moves its sidebars in and out over a quarter of a second.
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")


def weight(page):
    return page.evaluate("performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)")


@pytest.fixture(scope="module")
def weights():
    """How many bytes the pages transferred that were opened from the server, each in a window with an empty cache."""
    return {}


@pytest.fixture(scope="module", params=PAGES)
def opened(request, visit, server, weights):
    seen = visit(f"{server}/{request.param}.html")
    load_figures(seen.page)
    weights[request.param] = weight(seen.page)
    yield seen
    seen.page.close()


def test_nothing_fails_to_load_and_no_script_complains(opened):
    assert opened.complaints == []


def test_no_request_leaves_the_site(opened, server):
    assert opened.requests and requests_elsewhere(opened, server) == []


def test_one_stylesheet_and_one_script_are_all_it_asks_for(opened, server):
    sheets = [url.partition("?")[0] for url in opened.requests if ".css" in url]
    assert sheets == [f"{server}/_static/site.css"]
    # What the theme and its extensions bring; the translator has scripts of its own besides.
    scripts = [url.partition("?")[0].removeprefix(f"{server}/_static/") for url in opened.requests if ".js" in url]
    brought = [name for name in scripts if not name.startswith("translator/")]
    assert brought == ["site.js", "design-tabs.js"]


def test_formulas_are_typeset(opened):
    assert untypeset_formulas(opened.page) == []


def test_icons_come_from_the_font_of_the_icons_that_pages_show(opened):
    nameless = """nodes => nodes.filter(node => getComputedStyle(node, '::before').content === 'none')
        .map(node => node.className)"""
    assert opened.page.eval_on_selector_all("[class*='fa-']", nameless) == []
    assert [url for url in opened.requests if "fontawesome" in url] == []


def test_images_are_loaded_and_described(opened):
    images = opened.page.eval_on_selector_all(
        "img", "nodes => nodes.map(node => [node.src.slice(0, 200), node.complete && node.naturalWidth > 0, node.alt.trim()])"
    )
    assert [source for source, loaded, alt in images if not (loaded and alt)] == []


# A page opens wide, and becomes narrow once: large pages take their time over a new width.
def test_code_does_not_scroll_sideways(opened):
    resize(opened.page, WIDE)
    too_long = """nodes => nodes.filter(node => node.scrollWidth > node.clientWidth)
        .map(node => node.textContent.split('\\n').reduce((a, b) => a.length < b.length ? b : a))"""
    assert opened.page.eval_on_selector_all("pre:not(.wide-columns pre)", too_long) == []


def test_printed_tables_keep_their_columns(opened):
    """A printed line of columns that breaks would put its last number below its first: such a table scrolls instead."""
    resize(opened.page, WIDE)
    broken = """nodes => nodes.filter(node => getComputedStyle(node).whiteSpace === 'pre-wrap' && node.checkVisibility())
        .map(node => node.textContent.split('\\n').filter(line => line.length > 92))
        .filter(wide => wide.length > 2 && wide.every(line => /\\S {3,}\\S/.test(line)))"""
    assert opened.page.eval_on_selector_all(".cell_output pre", broken) == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_page_does_not_scroll_sideways(opened, width):
    resize(opened.page, width)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_formulas_in_the_text_fit_a_phone(opened):
    resize(opened.page, NARROW)
    cut = f"nodes => nodes.filter(node => node.getBoundingClientRect().right > {NARROW}).map(node => node.textContent)"
    assert opened.page.eval_on_selector_all(".bd-article p:not(table p) span.math mjx-container", cut) == []


def test_no_page_is_heavy(opened):
    assert weight(opened.page) <= HEAVIEST


def test_the_chapter_in_the_middle_is_light(weights, visit, server):
    for page in PAGES:
        if page.startswith("notebooks/") and page not in weights:  # where this test runs alone
            seen = visit(f"{server}/{page}.html")
            load_figures(seen.page)
            weights[page] = weight(seen.page)
            seen.page.close()
    chapters = {page: bytes_sent for page, bytes_sent in weights.items() if page.startswith("notebooks/")}
    assert median(chapters.values()) <= CHAPTER, chapters


def test_every_page_was_measured_to_show_something_within_a_second_and_to_stay_where_it_is():
    numbers = record("first_paint")["numbers"]
    pages = {page: numbers[page] for page in PAGES}
    assert {page: measured for page, measured in pages.items() if measured["first_paint_s"] > FIRST_PAINT} == {}
    assert {page: measured for page, measured in pages.items() if measured["layout_shift"] > SHIFT} == {}
