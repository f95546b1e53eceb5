"""Where the built site is, which pages it has, and what belongs to it."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
PAGES = list(parse_toc_yaml(ROOT / "_toc.yml"))
KOREAN = [f"ko/{page}" for page in PAGES]


@cache
def parsed(path):
    return LexborHTMLParser(path.read_text(encoding="utf-8"))


@cache
def places(path):
    """What a link into the page may name."""
    return {tag.attributes[key] for key in ("id", "name") for tag in parsed(path).css(f"[{key}]")}


def leaves_the_site(url, site):
    """Whether `url` is anything but a file of the site at `site`, or data that stands in the page itself."""
    asked, allowed = urlsplit(url), urlsplit(site)
    if asked.scheme in ("data", "blob"):
        return False
    same_place = (asked.scheme, asked.netloc) == (allowed.scheme, allowed.netloc)
    return not (same_place and asked.path.startswith(allowed.path.rstrip("/") + "/"))


def load_figures(page):
    """Load what a page would load only when a reader comes near."""
    page.evaluate(
        """() => Promise.allSettled([...document.images].map(image => {
            image.loading = 'eager'
            return image.decode()
        }))"""
    )


def requests_elsewhere(seen, site):
    return [url for url in seen.requests if leaves_the_site(url, site)]


def untypeset_formulas(page):
    """Formulas that are not there for eyes and ears, and what looks like the source of one in the text."""
    whole = "mjx-container:has(> mjx-math[aria-hidden=true]):has(> mjx-assistive-mml > math)"
    faulty = f"nodes => nodes.filter(node => !node.querySelector('{whole}')).map(node => node.textContent)"
    broken = page.eval_on_selector_all(".math", faulty)
    broken += page.eval_on_selector_all("mjx-merror, .math [tabindex]", "nodes => nodes.map(node => node.outerHTML)")
    prose = page.evaluate(
        """() => {
            const article = document.querySelector('.bd-article').cloneNode(true);
            article.querySelectorAll('code, pre, script, style, mjx-container').forEach(node => node.remove());
            return article.textContent;
        }"""
    )
    return broken + [found.group() for found in re.finditer(r"\\[(\[]|\$\$|\$[^$\n]*[\\_^{][^$\n]*\$", prose)]
