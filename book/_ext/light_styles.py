"""Give all pages one stylesheet with the rules that they can use, and let scripts wait until a page is read.

The theme and its extensions bring a dozen sheets, and four fifths of their rules are for parts that no page has: they name a
class that stands in no page and in no script. A browser shows nothing before it has read them all.
"""

import posixpath
import re
import zlib
from pathlib import Path

import tinycss2

NAME = "site.css"
LINK = re.compile(
    r'[ \t]*<link (?=[^>]*rel="stylesheet")[^>]*href="(?P<root>[^"]*_static/)(?P<sheet>[^"?]+\.css)[^"]*"[^>]*>\n?'
)
SCRIPT = re.compile(r'<script (?![^>]*\b(?:defer|async)\b)(?=[^>]*src="[^"]*_static/)(?![^>]*documentation_options)')
URL = re.compile(r"""url\((["']?)(?!["']?(?:data:|#|/|[a-z]+:))([^"')]+)\1\)""")
CLASS = re.compile(r"\.(-?[A-Za-z_](?:[\w-]|\\.)*)")
# What one of several, or none of them, has to match; and attributes, whose values may hold a point.
CONDITIONS = re.compile(r":(?:not|is|where|has)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\]]*\]")
NESTED = ("media", "supports", "layer", "container")


def names_in(pages, scripts):
    """Return every class of the pages, and every word of a script that might be one."""
    names = set()
    for page in pages:
        names.update(*(classes.split() for classes in re.findall(r'class="([^"]*)"', page)))
        scripts = [*scripts, *re.findall(r"<script\b[^>]*>(.+?)</script>", page, re.DOTALL)]
    return names.union(*(re.findall(r"[A-Za-z_][\w-]*", script) for script in scripts))


def used(rules, names):
    """Return the text of the rules whose selectors name none but `names`."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [tinycss2.serialize(part).strip() for part in split_at_commas(rule.prelude)]
            matching = [one for one in selectors if names.issuperset(classes_of(one))]
            if matching:
                kept.append(f"{','.join(matching)}{{{tinycss2.serialize(rule.content)}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTED and rule.content is not None:
            inner = used(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True), names)
            if inner:
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{''.join(inner)}}}")
        elif rule.type != "at-rule" or rule.lower_at_keyword not in ("charset", "import"):
            kept.append(rule.serialize())
    return kept


def split_at_commas(tokens):
    parts = [[]]
    for token in tokens:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def classes_of(selector):
    return {name.replace("\\", "") for name in CLASS.findall(CONDITIONS.sub("", selector))}


def rules_of(static, sheet):
    """Return the rules of a sheet and of those that it imports; addresses in them are seen from the folder `static`."""
    text = (static / sheet).read_text(encoding="utf-8")
    folder = posixpath.dirname(sheet)
    text = URL.sub(lambda address: f'url("{posixpath.normpath(posixpath.join(folder, address[2]))}")', text)
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword == "import":
            (address,) = [token.value for token in rule.prelude if token.type in ("string", "url")]
            yield from rules_of(static, posixpath.normpath(posixpath.join(folder, address)))
        else:
            yield rule


def sheets_in_order(pages, before):
    """Return the sheets of all pages, each behind the one that it follows on some page."""
    order = list(before)
    for page in pages:
        place = 0
        for link in LINK.finditer(page):
            if link["sheet"] != NAME and link["sheet"] not in order:
                order.insert(place, link["sheet"])
            place = order.index(link["sheet"]) + 1 if link["sheet"] in order else place
    return order


def write_styles(app, exception):
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    pages = {path: path.read_text(encoding="utf-8") for path in Path(app.outdir).glob("**/*.html")}
    # Pages of an earlier build have the one sheet already; its first line says what it was made of.
    old = static / NAME
    before = old.read_text(encoding="utf-8").partition("\n")[0].split()[1:-1] if old.exists() else []
    scripts = [path.read_text(encoding="utf-8") for path in static.glob("**/*.js") if "fontawesome" not in path.name]
    names = names_in(pages.values(), scripts)
    sheets = sheets_in_order(pages.values(), before)
    rules = [rule for sheet in sheets for rule in used(rules_of(static, sheet), names)]
    styles = "\n".join([f"/* {' '.join(sheets)} */", *rules, ""])
    old.write_text(styles, encoding="utf-8")

    for path, text in pages.items():
        links = list(LINK.finditer(text))
        if not links:
            continue
        one = f'<link rel="stylesheet" href="{links[0]["root"]}{NAME}?v={zlib.crc32(styles.encode()):08x}">\n'
        new = text[: links[0].start()] + one + LINK.sub("", text[links[0].end() :])
        if path.name != "search.html":  # its scripts call each other while they are read
            new = SCRIPT.sub("<script defer ", new)
        if new != text:
            path.write_text(new, encoding="utf-8")


def setup(app):
    app.connect("build-finished", write_styles, priority=900)  # when all sheets are written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
