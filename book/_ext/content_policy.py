"""A page says itself what it may load and run: a Content-Security-Policy, with the sum of each script that stands in it.

Nothing of another host; no script that came into the page later; no program made of text (`eval`). Styles may stand in the
page: formulas and figures have hundreds, and none of them can run anything.
"""

from base64 import b64encode
from hashlib import sha256

from selectolax.lexbor import LexborHTMLParser

META = 'meta[http-equiv="Content-Security-Policy"]'
OWN = "'self' file:"  # a page that is opened as a file has no host of its own
ALLOWED = {
    "default-src": "'none'",
    "script-src": OWN,
    "style-src": f"{OWN} 'unsafe-inline'",
    "img-src": f"{OWN} data:",
    "font-src": f"{OWN} data:",
    "connect-src": OWN,
    "worker-src": OWN,
    "form-action": OWN,
    "base-uri": "'none'",
}


def sums(texts):
    """Return each different text's sum, as a policy writes it."""
    return [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in dict.fromkeys(texts)]


def policy_of(page):
    """Return the policy of a page: the scripts that stand in it, and what the theme's buttons do, as they are now."""
    scripts = sums(script.text() for script in page.css("script:not([src])"))
    handlers = sums(button.attributes["onclick"] for button in page.css("[onclick]"))
    allowed = {**ALLOWED, "script-src": " ".join([OWN, *scripts, *(["'unsafe-hashes'", *handlers] if handlers else [])])}
    return "; ".join(f"{what} {where}" for what, where in allowed.items())


def set_policy(page):
    """Write the page's policy into its head: behind its character set, and before all that the policy is about.

    A page without a character set is the one that only leads to the first page. It holds no script.
    """
    charset = page.css_first("meta[charset]")
    if charset is None:
        return
    if page.css_first(META) is None:
        charset.insert_after(LexborHTMLParser('<meta http-equiv="Content-Security-Policy">').css_first("meta"))
    page.css_first(META).attrs["content"] = policy_of(page)
