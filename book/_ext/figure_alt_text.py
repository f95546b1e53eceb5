"""Give every figure of a notebook its alternative text.

A figure's output holds the picture and, beside it as plain text, what the picture shows. Jupyter Book shows the first
and drops the second; this carries the text over to the picture before that happens.
"""

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)


def is_mime_bundle(node):
    return isinstance(node, nodes.container) and node.get("nb_element") == "mime_bundle"


def describe_figures(app, doctree):
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


def setup(app):
    app.connect("doctree-read", describe_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
