"""Typeset the book's formulas while it is built, so that no page loads a script for them.

MathJax, from the package `sphinx-mathjax-offline`, runs in the engine `mini-racer` and writes what it would write in the
browser: HTML for the eye and MathML for a screen reader. All pages share one stylesheet and fonts cut to the characters
in it. So every document's formulas are kept in the environment, and each build typesets them all, each distinct one once.
"""

import zlib
from importlib.metadata import files
from pathlib import Path

import tinycss2
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

// Lets a formula that is wider than the page break before its signs, outside of brackets. A long one in the text may break
// inside them too: a display scrolls where it does not fit, and a line of text cannot.
function addBreaks(html, display) {
    let depth = 0
    const deepest = !display && adaptor.tags(html, 'mjx-c').length > 30 ? 1 : 0
    for (const operator of adaptor.tags(html, 'mjx-mo')) {
        const code = /^mjx-c([0-9A-F]+)$/.exec(adaptor.getAttribute(adaptor.firstChild(operator), 'class') ?? '')
        if (!code || adaptor.getAttribute(operator, 'class') !== 'mjx-n') continue
        const character = String.fromCodePoint(parseInt(code[1], 16))
        depth += '([{'.includes(character) - ')]}'.includes(character)
        if ('=+−≈<>≤≥→'.includes(character) && depth <= deepest) adaptor.insert(adaptor.node('wbr'), operator)
    }
    return html
}

// Several equations in one display, with \\quad between them, stay whole as long as each fits into a line.
function keepEquationsWhole(html) {
    const math = adaptor.tags(html, 'mjx-math')[0]
    const children = [...adaptor.childNodes(math)]
    const isWide = (space) => parseFloat(adaptor.getStyle(space, 'width')) >= 1
    const isQuad = (child) => adaptor.tags(child, 'mjx-mspace').some(isWide)
    if (!children.some(isQuad)) return
    let equation = null
    for (const child of children) {
        adaptor.remove(child)
        if (isQuad(child)) {
            for (const next of [adaptor.node('wbr'), child, adaptor.node('wbr')]) adaptor.append(math, next)
            equation = null
        } else {
            if (!equation) adaptor.append(math, (equation = adaptor.node('mjx-mrow')))
            adaptor.append(equation, child)
        }
    }
}

function typeset(formula, display) {
    try {
        const html = addBreaks(page.convert(formula, {display}), display)
        if (display) keepEquationsWhole(html)
        return {html: adaptor.outerHTML(html)}
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
        return answer["html"]

    def write_styles(self, folder):
        """Write the stylesheet for all formulas so far, and the fonts that it asks for."""
        rules = tinycss2.parse_stylesheet(self.engine.call("stylesheet"))
        wanted = {}
        for rule in rules:
            if rule.type == "qualified-rule":
                families = [token.value for token in rule.prelude if token.type == "ident" and token.value.startswith("TEX-")]
                # What is put together from pieces, such as a tall brace, names no font of its own.
                for family in families or ["TEX", "TEX-S1", "TEX-S4", "TEX-A"]:
                    text = (token.value for token in rule.content if token.type == "string")
                    wanted.setdefault(f"MJX{family}", set()).update(*text)
        (folder / "formulas").mkdir(parents=True, exist_ok=True)
        kept = [rule for rule in rules if rule.type != "at-rule" or self.write_font(folder, rule, wanted)]
        (folder / "formulas.css").write_text(tinycss2.serialize(kept) + SIZE, encoding="utf-8")

    def write_font(self, folder, face, wanted):
        """Write the font of a `@font-face`, cut to the characters that are wanted of it; return whether there are any."""
        (family,) = (token.value for token in face.content if token.type == "ident" and token.value.startswith("MJX"))
        (address,) = (token.arguments[0] for token in face.content if token.type == "function" and token.name == "url")
        source = self.files[f"output/chtml/fonts/woff-v2/{Path(address.value).name}"].locate()
        font = source.read_bytes() if family == "MJXZERO" else cut_font(source, wanted.get(family, ""))
        if font is None:
            return False
        (folder / address.value).write_bytes(font)
        # A browser that keeps the font of an earlier build would miss the new characters.
        address.representation = f'"{address.value}?v={zlib.crc32(font):08x}"'
        return True


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
