"""Every page is valid where a browser would have to guess: tags that fit together, and ids that exist once."""

from collections import Counter

import pytest
from built_site import PAGES
from test_links import parsed
from tinyhtml5.parser import HTMLParser


@pytest.mark.parametrize("page", ["404", "search", "genindex", *PAGES])
def test_a_parser_finds_nothing_to_repair(html, page):
    parser = HTMLParser()
    parser.parse((html / f"{page}.html").read_text(encoding="utf-8"))
    assert parser.errors == []


@pytest.mark.parametrize("page", PAGES)
def test_each_id_stands_once(html, page):
    ids = Counter(tag["id"] for tag in parsed(html / f"{page}.html").find_all(id=True))
    assert [name for name, count in ids.items() if count > 1] == []
