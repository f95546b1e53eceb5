"""Typeset the book's formulas while it is built, so that no page loads a script for them.

MathJax, from the package `sphinx-mathjax-offline`, runs in the engine `mini-racer` and writes what it would write in the
browser: HTML for the eye and MathML for a screen reader. All pages share one stylesheet and fonts cut to the characters
in it. So every document's formulas are kept in the environment, and each build typesets them all, each distinct one once.
"""

import re
import zlib
from importlib.metadata import files
from pathlib import Path

from cut_fonts import cut_font
from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.util import logging

logger = logging.getLogger(__name__)

PACKAGE = "sphinx-mathjax-offline"
# `loader` only because the file of the fonts asks for it.
PARTS = [
    "loader",
    "core",
    "adaptors/liteDOM",
    "input/tex-base",
    "input/tex/extensions/ams",
    "input/tex/extensions/boldsymbol",
    "input/tex/extensions/newcommand",
    "output/chtml",
    "output/chtml/fonts/tex",
    "a11y/assistive-mml",
]
SCRIPT = """
const {adaptors, a11y, handlers, input, mathjax, output} = MathJax._
const adaptor = adaptors.liteAdaptor.liteAdaptor()
const {AssistiveMmlHandler} = a11y['assistive-mml']
mathjax.mathjax.handlers.register(AssistiveMmlHandler(new handlers.html.HTMLHandler.HTMLHandler(adaptor)))
const font = new output.chtml.fonts.tex_ts.TeXFont({fontURL: 'formulas'})
const chtml = new output.chtml_ts.CHTML({font, adaptiveCSS: true, matchFontHeight: false})
const packages = ['base', 'ams', 'boldsymbol', 'newcommand']
const tex = new input.tex_ts.TeX({packages, formatError: (tex, error) => { throw error }})
const page = mathjax.mathjax.document('', {InputJax: tex, OutputJax: chtml})

function typeset(formula, display) {
    try {
        return {html: adaptor.outerHTML(page.convert(formula, {display}))}
    } catch (error) {
        return {error: error.message}
    }
}

function stylesheet() {
    return adaptor.textContent(chtml.styleSheet(page))
}
"""
# As large as the text around it: 0.442 is the height of MathJax's letter x.
SIZE = 'mjx-container[jax="CHTML"] {\n  font-size: calc(1ex / 0.442);\n}\n'

FONT_FACE = re.compile(r'@font-face [^{]*\{\s*font-family: (\S+);\s*src: url\("(formulas/(\S+\.woff))"\)[^}]*\}\s*')
OPERATOR = re.compile(r'<mjx-mo class="mjx-n"[^>]*><mjx-c class="mjx-c([0-9A-F]+)">')
LONG = 30  # characters
OPENS, CLOSES, MAY_BREAK = "([{", ")]}", "=+−≈<>≤≥→"
CHARACTERS = re.compile(r'([^{}]*)::(?:before|after) \{[^}]*content: "((?:\\[0-9A-F]+ ?|\\?[^"])*)"')


class MathJax:
    """MathJax, loaded once; it remembers which characters and styles the formulas needed."""

    def __init__(self):
        self.files = {file.as_posix().partition("/static/mathjax/")[2]: file for file in files(PACKAGE)}
        self.engine = MiniRacer()
        self.engine.eval("globalThis.MathJax = {}")
        for part in PARTS:
            self.engine.eval(self.files[f"{part}.js"].read_text(encoding="utf-8"))
        self.engine.eval(SCRIPT)

    def typeset(self, formula, display):
        """Return the formula's HTML, or raise ValueError with what MathJax says against it."""
        answer = self.engine.call("typeset", formula, display)
        if "error" in answer:
            raise ValueError(answer["error"])
        return with_breaks(answer["html"], display)

    def write_styles(self, folder):
        """Write the stylesheet for all formulas so far, and the fonts that it asks for."""
        styles = self.engine.call("stylesheet")
        wanted = {}
        for selector, text in CHARACTERS.findall(styles):
            # What is put together from pieces, such as a tall brace, names no font of its own.
            for family in re.findall(r"\.(TEX-\w+)", selector) or ["TEX", "TEX-S1", "TEX-S4", "TEX-A"]:
                wanted.setdefault(f"MJX{family}", set()).update(unescape(text))
        (folder / "formulas").mkdir(parents=True, exist_ok=True)

        def cut(face):
            family, url, name = face.groups()
            source = self.files[f"output/chtml/fonts/woff-v2/{name}"].locate()
            font = source.read_bytes() if family == "MJXZERO" else cut_font(source, wanted.get(family, ""))
            if font is None:
                return ""
            (folder / url).write_bytes(font)
            # A browser that keeps the font of an earlier build would miss the new characters.
            return face[0].replace(url, f"{url}?v={zlib.crc32(font):08x}")

        (folder / "formulas.css").write_text(FONT_FACE.sub(cut, styles) + SIZE, encoding="utf-8")


def with_breaks(html, display):
    """Let a formula that is wider than the page break before its signs, outside of brackets.

    A long one in the text may break inside them too: a display scrolls where it does not fit, and a line of text cannot.
    """
    depth, deepest = 0, int(not display and html.count("<mjx-c ") > LONG)

    def sign(operator):
        nonlocal depth
        character = chr(int(operator[1], 16))
        depth += (character in OPENS) - (character in CLOSES)
        return f"<wbr>{operator[0]}" if character in MAY_BREAK and depth <= deepest else operator[0]

    return OPERATOR.sub(sign, html)


def unescape(text):
    """Return the characters that a string of a stylesheet stands for."""
    return re.sub(r"\\(?:([0-9A-F]+) ?|(.))", lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)


def formula_of(node):
    """Return what MathJax shall read, and whether it stands on a line of its own."""
    display = isinstance(node, nodes.math_block)
    text = node.astext()
    if not display or node.get("nowrap"):
        return text, display
    # As Sphinx does: `\\` starts a line, and an empty line starts another equation.
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in text.split("\n\n") if part.strip()]
    rows = r"\\".join(parts)
    return (rows if len(parts) < 2 else rf"\begin{{aligned}}{rows}\end{{aligned}}"), display


def formulas(env):
    if not hasattr(env, "course_formulas"):
        env.course_formulas = {}
    return env.course_formulas


def collect(app, doctree):
    found = [(*formula_of(node), node.line) for kind in (nodes.math, nodes.math_block) for node in doctree.findall(kind)]
    formulas(app.env)[app.env.docname] = found


def purge(app, env, page):
    formulas(env).pop(page, None)


def merge(app, env, pages, other):
    formulas(env).update((page, formulas(other).get(page, [])) for page in pages)


def typeset_all(app, env):
    if app.builder.format != "html":
        return
    app.typeset_formulas = {}
    mathjax = MathJax()
    for page, found in formulas(env).items():
        for formula, display, line in found:
            if (formula, display) in app.typeset_formulas:
                continue
            try:
                app.typeset_formulas[formula, display] = mathjax.typeset(formula, display)
            except ValueError as error:
                logger.warning("MathJax does not understand `%s`: %s", " ".join(formula.split()), error, location=(page, line))
    mathjax.write_styles(Path(app.outdir, "_static"))


def visit(self, node):
    formula, display = formula_of(node)
    html = self.builder.app.typeset_formulas.get((formula, display), self.encode(formula))
    tag = "div" if display else "span"
    self.body.append(self.starttag(node, tag, "", CLASS="math notranslate nohighlight") + html + f"</{tag}>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("typeset", (visit, None), (visit, None))
    app.add_css_file("formulas.css")
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", typeset_all)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
