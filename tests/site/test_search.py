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
