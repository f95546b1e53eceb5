"""The site's search finds a term of the glossary by its English name and by each Korean one."""

import pytest


@pytest.mark.parametrize("name", ["attention", "어텐션", "residual connection", "잔차 연결", "스킵 연결"])
def test_a_term_is_found_by_each_name(visit, server, name):
    page = visit(f"{server}/search.html?q={name}").page
    page.locator("#search-results .search-summary", has_text="found").wait_for()
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    page.close()
    assert any(link.startswith("book/glossary.html#term-") for link in found)
