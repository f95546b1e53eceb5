"""Give all pages one stylesheet, with the rules that they can use, and one script, which waits until a page is read.

The theme and its extensions bring a dozen sheets, and four fifths of their rules are for parts that no page has: they name a
class that stands in no page and in no script. They bring a dozen scripts too. A browser shows nothing before it has read all
sheets and asked for all scripts.
"""

import posixpath
import re
import zlib
from pathlib import Path

import tinycss2

SHEET, SCRIPT = "site.css", "site.js"
LINK = re.compile(
    r'[ \t]*<link (?=[^>]*rel="stylesheet")[^>]*href="(?P<root>[^"]*_static/)(?P<name>[^"?]+\.css)[^"]*"[^>]*>\n?'
)
TAG = re.compile(r'[ \t]*<script (?P<rest>[^>]*src="(?P<root>[^"]*_static/)(?P<name>[^"?]+\.js)[^"]*"[^>]*)></script>\n?')
# Scripts that a page fetches early; and the page's name, which stands between scripts and only a choice of versions reads.
NEEDLESS = re.compile(
    r"""[ \t]*<(?:link rel="preload" as="script"[^>]*|script>DOCUMENTATION_OPTIONS\.pagename[^<]*</script)>\n?"""
)
# Without it a browser prepares its first picture when it has read nothing but the head, shows an empty page, and begins anew.
WHOLE_COLUMN = '<link rel="expect" href="#pst-primary-sidebar" blocking="render">\n'
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
            if link["name"] != SHEET and link["name"] not in order:
                order.insert(place, link["name"])
            place = order.index(link["name"]) + 1 if link["name"] in order else place
    return order


def scripts_in_common(pages, static):
    """Return the scripts of the first page that all pages have, but for those that ask for their own tag."""
    tags = [[tag["name"] for tag in TAG.finditer(page)] for page in pages]
    common = [name for name in (tags or [[]])[0] if all(name in names for names in tags)]
    return [name for name in common if "currentScript" not in (static / name).read_text(encoding="utf-8")]


def without_map(script):
    return re.sub(r"^//# sourceMappingURL=.*$", "", script, flags=re.MULTILINE)


def with_one_script(page, together, address):
    """Return the page with the one script where the first of those that it is made of stood; the others wait as it does."""
    first = iter([True])

    def replace(tag):
        if tag["name"] in [SCRIPT, *together]:
            return f'<script defer src="{tag["root"]}{address}"></script>\n' if next(first, False) else ""
        return tag[0] if re.search(r"\b(defer|async)\b", tag["rest"]) else tag[0].replace("<script ", "<script defer ")

    return TAG.sub(replace, page)


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
    pages = {path: path.read_text(encoding="utf-8") for path in Path(app.outdir).glob("**/*.html")}
    pages = {path: text for path, text in pages.items() if LINK.search(text) and static not in path.parents}

    # Pages of an earlier build have the one sheet and the one script already.
    sheets = sheets_in_order(pages.values(), names_before(static / SHEET))
    scripts = [path.read_text(encoding="utf-8") for path in static.glob("**/*.js") if "fontawesome" not in path.name]
    names = names_in(pages.values(), scripts)
    rules = [rule for sheet in sheets for rule in used(rules_of(static, sheet), names)]
    sheet = write_together(static / SHEET, sheets, rules)

    # The search page keeps its scripts: they call each other while they are read.
    scripted = {path: text for path, text in pages.items() if path.name != "search.html"}
    bundled = any(f"_static/{SCRIPT}" in text for text in scripted.values())
    together = names_before(static / SCRIPT) if bundled else scripts_in_common(scripted.values(), static)
    # One that ends without a semicolon must not call what follows.
    parts = [f"{without_map((static / name).read_text(encoding='utf-8'))}\n;" for name in together]
    script = write_together(static / SCRIPT, together, parts)

    for path, text in pages.items():
        root = LINK.search(text)["root"]
        new = LINK.sub("", text.replace(WHOLE_COLUMN, ""))
        # Behind the scripts, for a script that stands in the page waits until the sheets before it are there.
        new = new.replace("</head>", f'{WHOLE_COLUMN}<link rel="stylesheet" href="{root}{sheet}">\n</head>', 1)
        if path in scripted:
            new = with_one_script(NEEDLESS.sub("", new), together, script)
        if new != text:
            path.write_text(new, encoding="utf-8")


def setup(app):
    app.connect("build-finished", bundle, priority=900)  # when all sheets are written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
