"""Cut fonts down to the characters that the book shows: those of icons here, those of formulas in `typeset_formulas`.

The theme brings fonts of some two thousand icons, and a script, which our template `webpack-macros.html` leaves out. This
cuts from the fonts the icons that pages, scripts and the theme's own styles name, and puts them before the theme's fonts
in one stylesheet.
"""

import re
from base64 import b64encode
from io import BytesIO
from pathlib import Path

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

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
CHARACTER = re.compile(r'"(?:\\([0-9a-f]{4,5})|([\ue000-\uf8ff]))"')


def cut_font(source, characters):
    """Return `source` as a WOFF font with no other characters than these; None where it has none of them."""
    options = subset.Options(name_IDs=["*"], notdef_outline=True)  # the names hold the license
    options.drop_tables += ["FFTM"]  # when a font editor saved the file
    font = TTFont(source)
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


def icons_of(styles):
    """Return the character of each `.fa-name` in the styles, and the characters that other rules name."""
    icons, others = {}, set()
    for selector, rule in RULE.findall(styles):
        characters = [int(code, 16) if code else ord(character) for code, character in CHARACTER.findall(rule)]
        names = re.findall(r"\.fa-([\w-]+):{1,2}before", selector)
        if names:
            icons.update((name, character) for name in names for character in characters)
        else:
            others.update(characters)
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
