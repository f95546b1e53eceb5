"""Every page of the table of contents, in each language, opens as a file, whole and in shape; some are held to axe's rules."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from selectolax.lexbor import LexborHTMLParser
from sphinx_external_toc.parsing import parse_toc_yaml

ENGLISH = list(parse_toc_yaml(Path(__file__).parents[2] / "_toc.yml"))
PAGES = [*ENGLISH, *(f"ko/{page}" for page in ENGLISH)]
# What the theme, Sphinx and docutils get wrong themselves: the rule, and what the element's HTML holds.
NOT_OURS = [
    ("region", 'class="navbar-brand logo"'),
    ("aria-allowed-role", 'role="doc-biblioentry"'),
    ("scrollable-region-focusable", "mjx-container"),  # browsers make what scrolls a stop for the keyboard by themselves
]
HELD_TO_AXE = ["book/index", "book/explorer", "book/glossary", "book/api", "notebooks/11_schedule"]
HELD_TO_AXE += ["ko/book/index", "ko/book/explorer", "ko/notebooks/06_attention"]


@pytest.fixture(scope="module", params=PAGES)
def seen(request, visit, html):
    seen = visit(f"{html.as_uri()}/{request.param}.html", width=390)
    yield seen
    seen.page.close()


def test_nothing_is_missing_and_no_other_host_is_asked(seen, html):
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith((f"{html.as_uri()}/", "data:", "blob:"))] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_does_not_scroll_sideways(seen, width):
    seen.page.set_viewport_size({"width": width, "height": 900})
    # The theme moves its sidebars in and out.
    seen.page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_formulas_are_typeset(seen):
    raw = "nodes => nodes.filter(node => !node.querySelector('mjx-assistive-mml math')).map(node => node.textContent)"
    assert seen.page.eval_on_selector_all(".math", raw) == []
    assert seen.page.eval_on_selector_all("mjx-merror", "nodes => nodes.map(node => node.textContent)") == []
    prose = seen.page.evaluate(
        """() => {
            const article = document.querySelector('article').cloneNode(true)
            article.querySelectorAll('code, pre, script, style, .math').forEach(node => node.remove())
            return article.textContent
        }"""
    )
    assert re.findall(r"\\[(\[]|\$\$|\$[^$\n]*[\\_^{][^$\n]*\$", prose) == []


def test_images_are_loaded_and_described(seen):
    faulty = seen.page.evaluate(
        """() => Promise.all([...document.querySelectorAll('article img')].filter(image => image.checkVisibility())
            .map(image => { image.loading = 'eager'; return image.decode().then(() => image.alt.trim() ? '' : image.src) }))"""
    )
    assert [source for source in faulty if source] == []


@cache
def parsed(path):
    page = LexborHTMLParser(path.read_text(encoding="utf-8"))
    return page, {tag.attributes[key] for key in ("id", "name") for tag in page.css(f"[{key}]")}


@pytest.mark.parametrize("page", ["index", "search", "genindex", "book/licences", "ko/search", "ko/book/licences", *PAGES])
def test_links_lead_somewhere(html, page):
    source, broken = html / f"{page}.html", []
    for tag in parsed(source)[0].css("[href]"):
        link = urlsplit(tag.attributes["href"])
        target = (source.parent / unquote(link.path)).resolve() if link.path else source
        if link.scheme or link.netloc:
            found = link.scheme == "https"
        else:
            found = target.is_file() and (target.suffix != ".html" or unquote(link.fragment) in parsed(target)[1] | {""})
        if not found:
            broken.append(tag.attributes["href"])
    assert broken == []


def faults(page):
    """Return what axe finds on a page whose folds are open, but for what is not ours."""
    page.eval_on_selector_all("details", "nodes => nodes.forEach(node => { node.removeAttribute('name'); node.open = true })")
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    return [
        (rule["id"], node["html"], node["failureSummary"])
        for rule in Axe().run(page, options={"preload": False}).response["violations"]
        for node in rule["nodes"]
        if not any(rule["id"] == known and part in node["html"] for known, part in NOT_OURS)
    ]


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize("name", HELD_TO_AXE)
def test_axe_finds_nothing(visit, html, name, colour_scheme):
    page = visit(f"{html.as_uri()}/{name}.html", colour_scheme=colour_scheme).page
    page.wait_for_selector(f"html[data-theme={colour_scheme}]")
    assert faults(page) == []
    page.close()


def test_a_wrong_address_gets_a_page(visit, server):
    seen = visit(f"{server}/404.html")
    assert seen.page.get_by_role("heading", name="This page is not here").is_visible() and seen.complaints == []
    assert (
        seen.page.locator(".bd-links a", has_text="Attention as a repair").first.get_attribute("href").startswith("/notebooks/")
    )
    seen.page.close()
