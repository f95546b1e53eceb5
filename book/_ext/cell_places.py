"""Give each cell of a chapter a place that a link can name: the cell `causal-mask` is `#cell-causal-mask`."""

import json
from pathlib import Path

from docutils import nodes


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


def setup(app):
    app.connect("doctree-read", give_places)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
