"""Cut fonts down to the characters that the book shows: those of icons here, those of formulas in `typeset_formulas`.

The theme brings fonts of some two thousand icons, and a script, which our template `webpack-macros.html` leaves out. This
cuts from the fonts the icons that pages, scripts and the theme's own styles name, and puts them before the theme's fonts
in one stylesheet.
"""

import re
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import tinycss2
from fontTools import subset
from fontTools.ttLib import TTFont

THEME = "styles/pydata-sphinx-theme.css"
FONTS = "vendor/fontawesome/webfonts"
FAMILIES = [
    ("Font Awesome 6 Free", 900, "fa-solid-900.ttf"),
    ("Font Awesome 6 Brands", 400, "fa-brands-400.ttf"),
]
# A browser takes the height of a line from the font that has the space.
FONT_FACE = """@font-face {{
  font-family: "{family}";
  font-weight: {weight};
  font-display: block;
  src: url("data:font/woff;base64,{data}") format("woff");
  unicode-range: U+20, {characters};
}}
"""
# As in the theme, but nothing to read aloud.
ICON = '.fa-{name}::before {{ content: "\\{character:x}" / ""; }}\n'
ICONS = set(range(0xE000, 0xF900))  # where Unicode leaves room for a font's own characters


def cut_font(source, characters):
    """Return `source` as a WOFF font with no other characters than these; None where it has none of them."""
    options = subset.Options(name_IDs=["*"], notdef_outline=True)  # the names hold the license
    options.drop_tables += ["FFTM"]  # when a font editor saved the file
    font = TTFont(source, recalcTimestamp=False)  # the same bytes in each build
    kept = set(map(ord, characters)) & set(font.getBestCmap())
    if not kept:
        return None
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=kept)
    subsetter.subset(font)
    font.flavor = "woff"
    file = BytesIO()
    font.save(file)
    return file.getvalue()


def rules_in(rules):
    """Yield the rules that have selectors, also those inside of a `@media`."""
    for rule in rules:
        if rule.type == "qualified-rule":
            yield rule
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            yield from rules_in(tinycss2.parse_rule_list(rule.content))


def icons_of(styles):
    """Return the character of each `.fa-name` in the styles, and the characters of icons that other rules name."""
    icons, others = {}, set()
    for rule in rules_in(tinycss2.parse_stylesheet(styles)):
        characters = {ord(token.value) for token in rule.content if token.type == "string" and len(token.value) == 1}
        names = [token.value for token in rule.prelude if token.type == "ident" and token.value.startswith("fa-")]
        for name in names:
            icons.update((name.removeprefix("fa-"), character) for character in characters)
        if not names:
            others |= characters & ICONS
    return icons, others


def write_icons(app, exception):
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    icons, wanted = icons_of((static / THEME).read_text(encoding="utf-8"))
    for path in (static / "styles").glob("*.css"):
        wanted |= icons_of(path.read_text(encoding="utf-8"))[1]
    named = set()
    for path in [*Path(app.outdir).glob("**/*.html"), *static.glob("*.js"), *static.glob("scripts/*theme.js")]:
        named |= set(re.findall(r"\bfa-([\w-]+)", path.read_text(encoding="utf-8")))
    shown = {name: icons[name] for name in sorted(named) if name in icons}
    wanted = sorted(wanted | set(shown.values()))
    styles = "".join(ICON.format(name=name, character=character) for name, character in shown.items())
    for family, weight, name in FAMILIES:
        font = cut_font(static / FONTS / name, map(chr, wanted))
        if font:
            characters = ", ".join(f"U+{character:x}" for character in wanted)
            data = b64encode(font).decode()
            styles += FONT_FACE.format(family=family, weight=weight, data=data, characters=characters)
    (static / "icons.css").write_text(styles, encoding="utf-8")


def setup(app):
    app.connect("build-finished", write_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
