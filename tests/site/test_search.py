"""The site's search finds a term of the glossary by its English name and by its Korean one."""

import pytest


@pytest.mark.parametrize("name", ["attention", "어텐션", "residual connection", "잔차 연결"])
def test_a_term_is_found_by_either_name(visit, server, name):
    page = visit(f"{server}/search.html?q={name}").page
    first = page.locator("#search-results li").first
    first.wait_for()
    assert first.inner_text().split() == ["Glossary", *name.split()]
    assert first.locator("a").first.get_attribute("href").startswith("book/glossary.html#term-")
    page.close()
