"""The search: the chapter of a subject before what mentions it, also as a file."""

from urllib.parse import quote

import pytest

FIRST = {
    "RNN": "02_recurrent",
    "positional encoding": "05_positional_encoding",
    "encoder": "07_encoder",
    "masking": "08_masks",
    "cross attention": "09_decoder",
    "learning rate": "11_schedule",
    "training loop": "12_training",
    "bug museum": "18_bug_museum",
}


@pytest.mark.parametrize("query", FIRST)
def test_a_chapter_comes_before_its_mentions(visit, html, query):
    seen = visit(f"{html.as_uri()}/search.html?q={quote(query)}")
    first = seen.page.locator("#search-results li a").first
    assert first.get_attribute("href").partition("?")[0].partition("#")[0] == f"notebooks/{FIRST[query]}.html"
    assert seen.complaints == []
    seen.page.close()


@pytest.mark.parametrize("query", ["constructor", "__proto__"])
def test_a_name_of_javascript_is_a_word_also_where_nothing_is_stored(visit, server, query):
    page = visit(f"{server}/404.html").page
    page.set_content(f'<iframe sandbox="allow-scripts" width="1200" height="800" src="{server}/search.html?q={query}">')
    frame = page.frame_locator("iframe")
    frame.get_by_text("did not match any documents").wait_for()
    frame.locator(".theme-switch-button").locator("visible=true").first.click()
    frame.locator("html[data-theme=dark]").wait_for()
    page.close()
