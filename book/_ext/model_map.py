"""The directive `{model-map}`: the drawing of the whole model, each box linked to its chapter's page where it has one."""

import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from transformer_lib import teaching

CHAPTER = re.compile(r"notebooks/\d\d_(\w+)")


class ModelMap(SphinxDirective):
    """Insert the drawing."""

    def run(self):
        # A new chapter changes this page although its source stays the same.
        self.env.note_reread()
        links = {
            chapter[1]: self.env.app.builder.get_relative_uri(self.env.docname, page)
            for page in sorted(self.env.found_docs)
            if (chapter := CHAPTER.fullmatch(page))
        }
        return [nodes.raw("", str(teaching.model_map(links=links)), format="html")]


def setup(app):
    app.add_directive("model-map", ModelMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
