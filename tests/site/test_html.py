"""Every page is valid where a browser would have to guess: tags that fit together, and ids that exist once."""

from collections import Counter

import pytest
from built_site import PAGES
from tinyhtml5.parser import HTMLParser


@pytest.mark.parametrize("page", ["404", "search", "genindex", *PAGES])
def test_a_parser_finds_nothing_to_repair_and_each_id_once(html, page):
    parser = HTMLParser()
    tree = parser.parse((html / f"{page}.html").read_text(encoding="utf-8"))
    assert parser.errors == []
    ids = Counter(tag.get("id") for tag in tree.iter() if isinstance(tag.tag, str))
    assert [name for name, count in ids.items() if name and count > 1] == []
