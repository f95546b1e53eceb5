"""Every link of every page leads somewhere: inside the site to a file and a place in it, outside it to https."""

from urllib.parse import unquote, urlsplit

import pytest
from built_site import KOREAN, PAGES, parsed, places


@pytest.mark.parametrize("page", ["index", *PAGES, *KOREAN])
def test_links_lead_somewhere(html, page):
    source = html / f"{page}.html"
    broken = []
    for tag in parsed(source).css("[href]"):
        link = urlsplit(tag.attributes["href"])
        if link.scheme or link.netloc:
            if link.scheme != "https":
                broken.append(tag.attributes["href"])
            continue
        target = (source.parent / unquote(link.path)).resolve() if link.path else source
        found = target.is_file() and target.is_relative_to(html)
        if found and link.fragment and target.suffix == ".html":
            found = unquote(link.fragment) in places(target)
        if not found:
            broken.append(tag.attributes["href"])
    assert broken == []
