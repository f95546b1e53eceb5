"""Each page says what it may load and run, and a browser keeps it to that.

That no page of the book asks for more than it allows itself is `test_pages.py`'s to see: a browser complains about each try.
"""

from base64 import b64encode
from hashlib import sha256

import pytest
from built_site import PAGES
from selectolax.lexbor import LexborHTMLParser

OWN = {"'self'", "file:"}


@pytest.mark.parametrize("page", ["404", "search", "genindex", "_modules/transformer_lib/attention", *PAGES])
def test_a_page_allows_the_sites_files_and_the_scripts_that_stand_in_it(html, page):
    content = LexborHTMLParser((html / f"{page}.html").read_text(encoding="utf-8"))
    # Before anything that it is about; a character set has to stand within the first 1024 bytes.
    first, meta = (node for _, node in zip(range(2), content.head.iter(), strict=False))
    assert "charset" in first.attributes and meta.attributes.get("http-equiv") == "Content-Security-Policy"
    policy = dict(part.split(maxsplit=1) for part in meta.attributes["content"].split("; "))
    inline = [script.text() for script in content.css("script:not([src])")]
    inline += [value for tag in content.css("*") for name, value in tag.attributes.items() if name.startswith("on")]
    sums = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in inline}
    assert set(policy.pop("script-src").split()) - OWN - {"'unsafe-hashes'"} == sums
    assert set(policy.pop("style-src").split()) - OWN == {"'unsafe-inline'"}
    assert policy.pop("default-src") == policy.pop("base-uri") == "'none'"
    assert set(" ".join(policy.values()).split()) == OWN | {"data:"}
    assert not content.css("[href^='javascript:']")


@pytest.mark.parametrize("place", ["file", "http"])
def test_what_came_into_a_page_later_does_not_run(html, server, visit, place):
    seen = visit(f"{html.as_uri() if place == 'file' else server}/book/index.html")
    seen.page.evaluate(
        """async () => {
            const script = document.createElement('script')
            script.textContent = 'window.ran = "script"'
            document.body.append(script)
            document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.ran = 1">')
            setTimeout('window.ran = "text"')
            await new Promise(resolve => setTimeout(resolve, 100))
        }"""
    )
    refused = [complaint for complaint in seen.complaints if "Content Security Policy" in complaint]
    assert seen.page.evaluate("() => window.ran === undefined") and len(refused) == 3
    seen.page.close()
