"""Every link of every page leads somewhere: inside the site to a file and a place in it, outside it to https."""

from functools import cache
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from built_site import PAGES


@cache
def parsed(path):
    return BeautifulSoup(path.read_bytes(), "html.parser")


@cache
def places(path):
    return {tag[key] for key in ("id", "name") for tag in parsed(path).find_all(attrs={key: True})}


@pytest.mark.parametrize("page", ["index", *PAGES])
def test_links_lead_somewhere(html, page):
    source = html / f"{page}.html"
    broken = []
    for tag in parsed(source).find_all(href=True):
        link = urlsplit(tag["href"])
        if link.scheme or link.netloc:
            if link.scheme != "https":
                broken.append(tag["href"])
            continue
        target = (source.parent / unquote(link.path)).resolve() if link.path else source
        found = target.is_file() and target.is_relative_to(html)
        if found and link.fragment and target.suffix == ".html":
            found = unquote(link.fragment) in places(target)
        if not found:
            broken.append(tag["href"])
    assert broken == []
