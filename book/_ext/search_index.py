"""The search: chapters first where a term is explained, and no drawing's words between the text's.

Sphinx searches for words. Which chapter explains a term, the glossary knows: its links say so.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

GLOSSARY = "book/glossary"
SCRIPTS = {"search_terms.js": 600, "search.js": 700}  # after Sphinx's own


class Drawing(nodes.Element):
    """HTML whose words are labels: it is written as it is, and not searched."""


class HideDrawings(SphinxPostTransform):
    """Take the map of the course out of the search; its words stood in every chapter's excerpt."""

    default_priority = 900  # when MyST-NB has chosen what it shows of an output
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.raw)):
            if node.get("format") == "html" and 'class="tl-map"' in node.astext():
                node.replace_self(Drawing(html=node.astext()))


def visit_drawing(self, node):
    self.body.append(node["html"])
    raise nodes.SkipNode


def chapters_of(env):
    """Return, for each name of a term in small letters, the pages that the glossary's links name, the explaining one first."""
    found = {}
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        targets = [link["reftarget"] for link in item.findall(addnodes.pending_xref) if "notebooks/" in link["reftarget"]]
        pages = [f"notebooks/{Path(target.partition('#')[0]).stem}" for target in targets]
        found |= {term.astext().lower(): pages for term in item.findall(nodes.term)}
    return found


def write_terms(app, error):
    if error is None and app.builder.format == "html" and GLOSSARY in app.env.found_docs:
        text = json.dumps(chapters_of(app.env), ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", "search_terms.js").write_text(f"const SEARCH_TERMS = {text};\n", encoding="utf-8")


def add_scripts(app, pagename, templatename, context, doctree):
    if pagename == "search":
        for name, priority in SCRIPTS.items():
            app.add_js_file(name, priority=priority, defer="defer")  # after what it builds on


def pages_with_entries(app, env):
    """Keep the terms of the glossary in the search, however often the book is built.

    Sphinx keeps the search's words and titles from one build to the next, but not its index entries: those of a page that is
    not written again are lost. So each build writes the pages again that have entries.
    """
    return [page for page, entries in env.get_domain("index").entries.items() if entries]


def setup(app):
    app.add_node(Drawing, html=(visit_drawing, None))
    app.add_post_transform(HideDrawings)
    app.connect("env-updated", pages_with_entries)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
