"""What is done to a page between reading and writing: anchors for cells, titles of folds, links of maps, texts of figures."""

import json
import re
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.util import logging

from transformer_lib._language import _

logger = logging.getLogger(__name__)

CODE_WIDTH = 88  # characters that fit beside each other, as course.css has it
TITLE = re.compile(r"^# @title (.+)$", re.MULTILINE)
HANGUL = re.compile(r"([가-힣]+(?:[ ·-]+[가-힣]+)*)")
GAP = re.compile(r"\S {2,}\S")  # between two columns
CODE = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)


def first_nodes(doctree):
    """Return, for the index of each cell, the first node that stands for it on the page."""
    first = {}
    for node in doctree.findall(nodes.Element):
        if "cell_index" in node:
            first.setdefault(node["cell_index"], node)
        elif isinstance(node, nodes.section | nodes.Body) and (node.line or 0) > 10_000:
            # MyST-NB begins each Markdown cell at a line of its own: 10,000 times the place of the cell, counted from 1.
            first.setdefault(node.line // 10_000 - 1, node)
    return first


def anchor_cells(app, doctree):
    """Give each cell of a chapter an anchor: the cell `causal-mask` is `#cell-causal-mask`."""
    page = app.env.docname
    if not page.startswith("notebooks/"):
        return
    cells = json.loads(Path(app.env.doc2path(page)).read_text(encoding="utf-8"))["cells"]
    known = app.env.metadata[page].setdefault("myst_slugs", {})
    for index, node in first_nodes(doctree).items():
        anchor = f"cell-{cells[index]['id']}"
        if isinstance(node, nodes.section | nodes.container):
            node["ids"].append(anchor)
        else:
            node.parent.insert(node.parent.index(node), nodes.target("", "", ids=[anchor]))
        known[anchor] = (0, anchor, anchor)


def name_cells(app, doctree):
    """Say above a cell that goes into the library where it goes, and on a folded cell its own title."""
    module = f"transformer_lib/{PurePosixPath(app.env.docname).name.partition('_')[2]}.py"
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"):
        code = block.astext() if (block := cell.next_node(nodes.literal_block)) else ""
        exported = code.startswith("#| export\n")
        title = TITLE.search(code)
        if exported:
            block.rawsource = code.removeprefix("#| export\n")
            block[:] = [nodes.Text(block.rawsource)]
        if cell.get("hide_mode") and (title or exported):
            cell["prompt_show"] = cell["prompt_hide"] = title[1] if title else f"{_('Part of the library:')} {module}"
        elif exported:
            cell["classes"].append("exported")
            where = nodes.literal("", module)
            cell.insert(0, nodes.paragraph("", _("Part of the library:") + " ", where, classes=["exported-to"]))


def link_maps(app, doctree):
    """Let the boxes of a chapter's map lead to the chapters' pages; in a notebook they lead to the notebooks."""
    for drawing in doctree.findall(nodes.raw):
        if 'class="tl-map"' in drawing.astext():
            drawing[:] = [nodes.Text(re.sub(r'(href="\d\d_\w+)\.ipynb(?=")', r"\1.html", drawing.astext()))]


def describe_figures(app, doctree):
    """Give each figure its alternative text: the plain text beside the picture, which is dropped later."""
    for bundle in doctree.findall(lambda node: isinstance(node, nodes.container) and node.get("nb_element") == "mime_bundle"):
        text = " ".join(" ".join(part.astext() for part in bundle.children if part["mime_type"] == "text/plain").split())
        for image in bundle.findall(nodes.image):
            # "<Figure size 640x480 with 1 Axes>" is what matplotlib says about a figure that has no description.
            if not text or text.startswith("<"):
                logger.warning("a figure has no alternative text: show it with teaching.figures", location=image)
            image["alt"] = image.get("alt") or text


def mark_wide_columns(app, doctree):
    """Mark printed tables that are too wide: they scroll, where other long lines break."""
    for text in doctree.findall(nodes.literal_block):
        wide = [line for line in text.astext().splitlines() if len(line) > CODE_WIDTH]
        if 2 * sum(bool(GAP.search(line)) for line in wide) > len(wide):
            text["classes"].append("wide-columns")


def glue_punctuation(app, doctree):
    """Keep the sign after a formula on the formula's line."""
    for formula in list(doctree.findall(nodes.math)):
        line, after = formula.parent, formula.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (sign := re.match(r"[.,;:!?)]+", after)):
            place = line.index(formula)
            glued = nodes.inline("", "", formula, nodes.Text(sign[0]), classes=["glued"])
            line[place : place + 2] = [glued, nodes.Text(after[sign.end() :])]


def mark_korean(app, doctree):
    """Say of Korean words on an English page that they are Korean, to voices and fonts."""
    for text in [] if app.config.language == "ko" else list(doctree.findall(nodes.Text)):
        if HANGUL.search(text) and not isinstance(text.parent, CODE):
            pieces = [nodes.inline("", piece, classes=["language-ko"]) if HANGUL.match(piece) else nodes.Text(piece)
                      for piece in HANGUL.split(text)]  # fmt: skip
            place = text.parent.index(text)
            text.parent[place : place + 1] = pieces


def name_toggles(app, page, template, context, doctree):
    """Give what opens a chapter in the sidebar a name, for those who do not see its arrow."""
    if make := context.get("generate_toctree_html"):
        named = '<summary aria-label="{}">'.format(_("pages below this one"))
        context["generate_toctree_html"] = lambda *given, **more: str(make(*given, **more)).replace("<summary>", named)


def setup(app):
    app.connect("html-page-context", name_toggles, priority=900)  # after the theme
    for change in (anchor_cells, name_cells, link_maps, describe_figures, mark_wide_columns, glue_punctuation, mark_korean):
        app.connect("doctree-read", change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
