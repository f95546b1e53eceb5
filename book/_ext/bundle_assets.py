"""Give all pages one stylesheet, with the rules that they can use, and one script, which waits until a page is read.

The theme and its extensions bring a dozen sheets, and four fifths of their rules are for parts that no page has: they name a
class that stands in no page and in no script. They bring a dozen scripts too. A browser shows nothing before it has read all
sheets and asked for all scripts.
"""

import os
import posixpath
import re
import zlib
from itertools import groupby, pairwise
from pathlib import Path
from urllib.parse import urlsplit

import tinycss2
from content_policy import set_policy
from languages import FOLDER, said, say_labels
from selectolax.lexbor import LexborHTMLParser

SHEET, SCRIPT = "site.css", "site.js"
SHEETS, SCRIPTS = 'link[rel="stylesheet"][href*="_static/"]', 'script[src*="_static/"]'
# It stands between the scripts, and only a choice of versions, which we have not, reads it.
PAGE_NAME = 'script:lexbor-contains("DOCUMENTATION_OPTIONS.pagename")'
# The theme's script chooses light or dark. It waits too, and until then a page would have none of its colours.
THEME_AT_ONCE = """
    if (document.documentElement.dataset.mode === "auto") document.documentElement.dataset.theme =
        matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"
"""
NESTED = ("media", "supports", "layer", "container")


def name_of(tag):
    """Return what a page's link or script loads, seen from the folder `_static`."""
    address = tag.attributes.get("src") or tag.attributes["href"]
    return urlsplit(address).path.rpartition("_static/")[2]


def names_in(pages, scripts):
    """Return every class of the pages, and every word of a script that might be one."""
    names = set()
    for page in pages:
        names.update(*((tag.attributes["class"] or "").split() for tag in page.css("[class]")))
        scripts = [*scripts, *(script.text() for script in page.css("script"))]
    return names.union(*(re.findall(r"[A-Za-z_][\w-]*", script) for script in scripts))


def used(rules, names):
    """Return the text of the rules whose selectors name none but `names`."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [list(tokens) for comma, tokens in groupby(rule.prelude, lambda token: token == ",") if not comma]
            matching = [tinycss2.serialize(one).strip() for one in selectors if classes_of(one) <= names]
            if matching:
                kept.append(f"{','.join(matching)}{{{tinycss2.serialize(rule.content)}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTED and rule.content is not None:
            inner = used(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True), names)
            if inner:
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{''.join(inner)}}}")
        elif rule.type != "at-rule" or rule.lower_at_keyword not in ("charset", "import"):
            kept.append(rule.serialize())
    return kept


def classes_of(selector):
    """Return the classes that have to be there. In brackets stand others, of which one or none has to, and attributes."""
    return {name.value for point, name in pairwise(selector) if point == "." and name.type == "ident"}


def rules_of(static, sheet):
    """Return the rules of a sheet and of those that it imports; addresses in them are seen from the folder `static`."""
    folder = posixpath.dirname(sheet)
    text = (static / sheet).read_text(encoding="utf-8")
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword == "import":
            (address,) = [token.value for token in rule.prelude if token.type in ("string", "url")]
            yield from rules_of(static, posixpath.normpath(posixpath.join(folder, address)))
        else:
            move_addresses(rule.content or [], folder)
            yield rule


def move_addresses(tokens, folder, quoted=False):
    """Let the addresses in `tokens`, which are seen from `folder`, be seen from the folder above it."""
    for token in tokens:
        if token.type == "url" or (quoted and token.type == "string"):
            address = urlsplit(token.value)
            if address.path and not address.scheme:
                moved = f'"{posixpath.normpath(posixpath.join(folder, token.value))}"'
                token.representation = moved if quoted else f"url({moved})"
        elif token.type == "function":
            move_addresses(token.arguments, folder, quoted=token.lower_name == "url")
        else:
            move_addresses(getattr(token, "content", []), folder)


def sheets_in_order(pages, before):
    """Return the sheets of all pages, each behind the one that it follows on some page."""
    order = list(before)
    for page in pages:
        place = 0
        for name in map(name_of, page.css(SHEETS)):
            if name != SHEET and name not in order:
                order.insert(place, name)
            place = order.index(name) + 1 if name in order else place
    return order


def scripts_in_common(pages, static):
    """Return the scripts of the first page that all pages have, but for those that ask for their own tag."""
    tags = [[name_of(tag) for tag in page.css(SCRIPTS)] for page in pages]
    common = [name for name in (tags or [[]])[0] if all(name in names for names in tags)]
    return [name for name in common if "currentScript" not in (static / name).read_text(encoding="utf-8")]


def without_map(script):
    return re.sub(r"^//# sourceMappingURL=.*$", "", script, flags=re.MULTILINE)


def load_one_sheet(page, address):
    """Let the page load the one sheet, last in its head: a script that stands in the page waits for the sheets before it."""
    link, *others = page.css(SHEETS)
    for tag in others:
        tag.decompose()
    link.attrs["href"] = address
    page.head.insert_child(link, move=True)


def load_one_script(page, together, address):
    """Let the page load the one script where the first of those stood that it is made of; the others wait as it does."""
    one, *others = (tag for tag in page.css(SCRIPTS) if name_of(tag) in (SCRIPT, *together))
    for tag in [*others, *page.css(PAGE_NAME)]:
        tag.decompose()
    one.attrs["src"] = address
    for tag in page.css(f"{SCRIPTS}:not([async]):not([defer])"):
        tag.attrs["defer"] = "defer"


def names_before(path):
    """Return what the file of an earlier build was made of, which its first line says."""
    return path.read_text(encoding="utf-8").partition("\n")[0].split()[1:-1] if path.exists() else []


def write_together(path, names, parts):
    """Write the parts in one file; return its address, with the sum that changes when it does."""
    text = "\n".join([f"/* {' '.join(names)} */", *parts, ""])
    path.write_text(text, encoding="utf-8")
    return f"{path.name}?v={zlib.crc32(text.encode()):08x}"


def bundle(app, exception):
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    others = {static, Path(app.outdir, FOLDER)}  # the Korean site has its own
    paths = [path for path in Path(app.outdir).glob("**/*.html") if others.isdisjoint(path.parents)]
    texts = {path: path.read_text("utf-8") for path in paths}
    all_pages = {path: LexborHTMLParser(text) for path, text in texts.items()}
    pages = {path: page for path, page in all_pages.items() if page.css_first(SHEETS)}

    # Pages of an earlier build have the one sheet and the one script already.
    sheets = sheets_in_order(pages.values(), names_before(static / SHEET))
    scripts = [path.read_text(encoding="utf-8") for path in static.glob("**/*.js") if "fontawesome" not in path.name]
    names = names_in(pages.values(), scripts)
    rules = [rule for sheet in sheets for rule in used(rules_of(static, sheet), names)]
    sheet = write_together(static / SHEET, sheets, rules)

    # The search page keeps its scripts: they call each other while they are read.
    scripted = {path: page for path, page in pages.items() if path.name != "search.html"}
    bundled = any(page.css_first(f'script[src*="_static/{SCRIPT}"]') for page in scripted.values())
    together = names_before(static / SCRIPT) if bundled else scripts_in_common(scripted.values(), static)
    # One that ends without a semicolon must not call what follows.
    parts = [f"{without_map(said(static / name))}\n;" for name in together]
    script = write_together(static / SCRIPT, together, parts)

    for path, page in all_pages.items():
        to_static = Path(os.path.relpath(static, path.parent)).as_posix()
        if path in pages:
            say_labels(page)
            load_one_sheet(page, f"{to_static}/{sheet}")
        if path in scripted:
            load_one_script(page, together, f"{to_static}/{script}")
        set_policy(page)
        if page.html != texts[path]:
            path.write_text(page.html, encoding="utf-8")


def setup(app):
    app.add_js_file(None, body=THEME_AT_ONCE)
    app.connect("build-finished", bundle, priority=900)  # when all sheets are written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
