"""What is done to pages between reading and writing them: places for cells, marks, descriptions, and where lines may break."""

import json
import re
from pathlib import Path, PurePosixPath

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from sphinx.util import logging

from transformer_lib._language import language, say
from transformer_lib.teaching.corpora.english_french import grammar_corpus

logger = logging.getLogger(__name__)

# Code in a table: after a sign that parts names, and before the next word of a name such as TokenEmbedding.
PLACES = re.compile(r"(?<=[/_.(,=:])(?=[^\s/_.(,=:<&])|(?<=[a-z])(?=[A-Z])")
PRE = '<span class="pre">'  # before each word, as Sphinx writes code
LONG = 16  # shorter code stays in one piece
CODE_WIDTH = 88  # characters that fit beside each other, as course.css has it
TITLE = re.compile(r"^# @title (.+)$", re.MULTILINE)
HANGUL = re.compile(r"([가-힣]+(?:[ ·-]+[가-힣]+)*)")
WORD = re.compile(r"[^\W\d_]+")
# The words of the made-up sentences.
ENGLISH, FRENCH = ({word for text in texts for word in WORD.findall(text)} for texts in zip(*grammar_corpus(2000, 0, 1).train))
NOTEBOOK_LINK = re.compile(r'(href="\d\d_\w+)\.ipynb(?=")')
MOST_ROWS = 12  # of a table that is printed in the middle of the text
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns


def first_nodes(doctree):
    """Return, for the index of each cell, the first node that stands for it on the page."""
    first = {}
    for node in doctree.findall(nodes.Element):
        if "cell_index" in node:
            index = node["cell_index"]
        elif isinstance(node, nodes.section | nodes.Body) and (node.line or 0) > 10_000:
            # MyST-NB begins each Markdown cell at a line of its own: 10,000 times the place of the cell, counted from 1.
            index = node.line // 10_000 - 1
        else:
            continue
        first.setdefault(index, node)
    return first


def give_places(app, doctree):
    """Give each cell of a chapter a place that a link can name: the cell `causal-mask` is `#cell-causal-mask`."""
    name = app.env.docname
    if not name.startswith("notebooks/"):
        return
    cells = json.loads(Path(app.env.doc2path(name)).read_text(encoding="utf-8"))["cells"]
    known = app.env.metadata[name].setdefault("myst_slugs", {})
    for index, node in first_nodes(doctree).items():
        place = f"cell-{cells[index]['id']}"
        if isinstance(node, nodes.section | nodes.container):
            node["ids"].append(place)
        else:
            node.parent.insert(node.parent.index(node), nodes.target("", "", ids=[place]))
        known[place] = (0, place, place)


def module_of(app):
    return f"transformer_lib/{PurePosixPath(app.env.docname).name.partition('_')[2]}.py"


def name_folds(app, doctree):
    """Let a folded cell say on the page what JupyterLab and Colab say: its own title, or where its code goes."""
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and node.get("hide_mode")):
        code = cell.next_node(nodes.literal_block).astext()
        if title := TITLE.search(code):
            cell["prompt_show"] = say(title[1])
        elif code.startswith("#| export\n"):
            cell["prompt_show"] = say(f"Part of the library: {module_of(app)}")


def link_maps(app, doctree):
    """Let the boxes of a chapter's map lead to the chapters' pages; in a notebook they lead to the notebooks."""
    for drawing in doctree.findall(nodes.raw):
        if 'class="tl-map"' in drawing.astext():
            drawing[:] = [nodes.Text(NOTEBOOK_LINK.sub(r"\1.html", drawing.astext()))]


def fold_long_tables(app, doctree):
    """Fold a printed table of more than a dozen rows: its caption says how many there are."""
    for output in doctree.findall(is_output):
        for text in list(output.findall(nodes.literal_block)):
            rows = text.astext().strip().splitlines()
            if len(rows) <= MOST_ROWS or 2 * sum(bool(GAP.search(row)) for row in rows) <= len(rows):
                continue
            title = TITLE.search(output.parent.next_node(nodes.literal_block).astext())
            name = say(f"{title[1] if title else 'Printed'}: a table of {len(rows)} rows")
            text.replace_self(HideCodeCellNode("", text.deepcopy(), prompt_show=name, classes=["below-input"]))


def visit_fold(self, node):
    self.body.append(f'<details class="admonition hide {" ".join(node["classes"])}">')
    self.body.append(f'<summary><p class="admonition-title">{self.encode(node["prompt_show"])}</p></summary>')


def mark_exported(app, doctree):
    """Mark the cells of a notebook that go into the library, and say where."""
    if not app.env.docname.startswith("notebooks/"):
        return
    module = module_of(app)
    for code in list(doctree.findall(nodes.literal_block)):
        cell = code.parent.parent
        if not code.astext().startswith("#| export\n") or "tag_hide-input" in cell["classes"]:
            continue
        cell["classes"].append("exported")
        said = say("Part of the library:")
        cell.insert(0, nodes.paragraph("", f"{said} ", nodes.literal("", module), classes=["exported-to"]))


def is_mime_bundle(node):
    return isinstance(node, nodes.container) and node.get("nb_element") == "mime_bundle"


def describe_figures(app, doctree):
    """Give every figure of a notebook its alternative text.

    A figure's output holds the picture and, beside it as plain text, what the picture shows. Jupyter Book shows the first
    and drops the second; this carries the text over to the picture before that happens.
    """
    for bundle in doctree.findall(is_mime_bundle):
        texts = [part.astext() for part in bundle.children if part["mime_type"] == "text/plain"]
        text = " ".join(" ".join(texts).split())
        for image in bundle.findall(nodes.image):
            if image.get("alt"):
                continue
            # "<Figure size 640x480 with 1 Axes>" is what matplotlib says about a figure that nobody described.
            if not text or text.startswith("<"):
                logger.warning("a figure has no alternative text: show it with teaching.figures", location=image)
            else:
                image["alt"] = text


def is_output(node):
    return isinstance(node, nodes.container) and "cell_output" in node["classes"]


def mark_wide_columns(app, doctree):
    """Mark printed tables that are too wide, so that their columns stay columns."""
    for output in doctree.findall(is_output):
        for text in output.findall(nodes.literal_block):
            wide = [line for line in text.astext().splitlines() if len(line) > CODE_WIDTH]
            if 2 * sum(bool(GAP.search(line)) for line in wide) > len(wide):
                text["classes"].append("wide-columns")


def glue_punctuation(app, doctree):
    """Keep the sign after a formula on the formula's line."""
    for formula in list(doctree.findall(nodes.math)):
        line, after = formula.parent, formula.next_node(descend=False, siblings=True)
        sign = re.match(r"[.,;:!?)]+", after.astext()) if isinstance(after, nodes.Text) else None
        if sign is None or isinstance(line, nodes.title):
            continue
        place = line.index(formula)
        rest = after.astext()[sign.end() :]
        glued = nodes.inline("", "", formula, nodes.Text(sign[0]), classes=["glued"])
        line[place : place + 2] = [glued, nodes.Text(rest)] if rest else [glued]


def spoken(text, language):
    """Return text that a voice reads as this language: `lang="ko"`."""
    return nodes.inline("", text, classes=[f"language-{language}"])


def is_code(node):
    return isinstance(node, nodes.literal | nodes.literal_block | nodes.math | nodes.math_block | nodes.raw | nodes.comment)


def name_languages(app, doctree):
    """Say of Korean words, and of phrases in italics that are French, which language they are."""
    if language() == "ko":  # docstrings are the library's, in English
        for block in doctree.findall(lambda node: isinstance(node, nodes.Body) and "docstring of" in (node.source or "")):
            block["classes"].append("language-en")
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        if is_code(parent):
            continue
        words = set(WORD.findall(text.lower()))
        if isinstance(parent, nodes.emphasis) and words <= FRENCH and not words <= ENGLISH:
            parent["classes"].append("language-fr")
        elif language() == "ko":
            # An example that lives from English. Single words and names, a Korean voice reads as well.
            if isinstance(parent, nodes.emphasis) and len(words) > 1 and not HANGUL.search(text):
                parent["classes"].append("language-en")
        elif HANGUL.search(text):
            pieces = [
                spoken(piece, "ko") if HANGUL.match(piece) else nodes.Text(piece) for piece in HANGUL.split(text) if piece
            ]
            place = parent.index(text)
            parent[place : place + 1] = pieces


def in_table(node):
    return isinstance(node, nodes.table) or (node.parent is not None and in_table(node.parent))


def visit_literal(self, node):
    type(self).visit_literal(self, node)
    node["begins"] = len(self.body)


def depart_literal(self, node):
    """Let long code in a table break, where a browser would break it anywhere or nowhere."""
    words = range(node["begins"], len(self.body) if in_table(node) else 0)
    for place in words:
        word = self.body[place].removeprefix(PRE).removesuffix("</span>")
        if word != self.body[place] and len(word) >= LONG:
            self.body[place] = f"{PRE}{PLACES.sub('<wbr>', word)}</span>"
    type(self).depart_literal(self, node)


def setup(app):
    changes = give_places, name_folds, link_maps, mark_exported, describe_figures
    for change in (*changes, mark_wide_columns, fold_long_tables, glue_punctuation, name_languages):
        app.connect("doctree-read", change)
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_HideCellInput))
    app.add_node(nodes.literal, override=True, html=(visit_literal, depart_literal))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
