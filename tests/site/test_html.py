"""Every page is valid where a browser would have to guess: tags that fit together, and ids that exist once.

And what is folded says by its title what it holds.
"""

import re
from collections import Counter

import pytest
from built_site import KOREAN, PAGES, parsed
from tinyhtml5.parser import HTMLParser

from tools import notebooks


@pytest.mark.parametrize("page", ["404", "search", "genindex", *PAGES, *KOREAN])
def test_a_parser_finds_nothing_to_repair_and_each_id_once(html, page):
    parser = HTMLParser()
    tree = parser.parse((html / f"{page}.html").read_text(encoding="utf-8"))
    assert parser.errors == []
    ids = Counter(tag.get("id") for tag in tree.iter() if isinstance(tag.tag, str))
    assert [name for name, count in ids.items() if name and count > 1] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("notebooks/")])
def test_a_fold_has_the_title_of_its_cell(html, page):
    cells = notebooks.read(notebooks.ROOT / f"{page}.ipynb").cells
    folded = [cell.source for cell in cells if "hide-input" in cell.metadata.get("tags", [])]
    titles = [re.search(r"^# @title (.+)$", source, re.MULTILINE) for source in folded]
    shown = parsed(html / f"{page}.html").css("details.above-input > summary")
    library = f"Part of the library: transformer_lib/{notebooks.module_name(notebooks.ROOT / page)}.py"
    assert [fold.text(separator=" ", strip=True) for fold in shown] == [title[1] if title else library for title in titles]
