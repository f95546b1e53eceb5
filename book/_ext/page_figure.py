"""The directive `{page-figure}`: a figure that `teaching.figures.pages` draws, on a page that is no notebook."""

import os
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from transformer_lib.teaching.figures import pages, plots


class PageFigure(SphinxDirective):
    """Insert the figure whose name is the argument; the text of the directive says what the figure shows.

    In the dark theme it is turned over, as the figures of chapters are; with `keep-white` it is not.
    """

    required_arguments = 1
    option_spec = {"keep-white": directives.flag}  # noqa: RUF012
    has_content = True

    def run(self):
        # The library or a record may change, and this page does not.
        self.env.note_reread()
        alt = " ".join(" ".join(self.content).split())
        if len(alt) < 30:
            raise self.error("say below the directive what the figure shows")
        figure = getattr(pages, self.arguments[0])()
        width = round(figure.get_figwidth() * 100)
        picture = Path(self.env.app.doctreedir, "page_figures", f"{self.arguments[0]}.png")
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(plots.png(figure))
        here = Path(self.env.doc2path(self.env.docname)).parent
        image = nodes.image(
            uri=os.path.relpath(picture, here), alt=alt, width=f"{width}px", classes=["page-figure", *self.options]
        )
        return [nodes.paragraph("", "", image)]


def setup(app):
    app.add_directive("page-figure", PageFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
