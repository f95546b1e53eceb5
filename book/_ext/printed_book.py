"""The directive `{printed-book}`: links to the whole book as PDF and EPUB, where `make print` has made them.

It keeps them in the folder `print` beside the site, and each build of the site takes them in from there.
"""

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def folder(app):
    return Path(app.outdir).parent / "print"


class PrintedBook(SphinxDirective):
    """Insert the links, each with its size; where there is no file yet, nothing."""

    def run(self):
        # What there is changes although the page's source stays the same.
        self.env.note_reread()
        up = "../" * self.env.docname.count("/")
        links = [
            f'<a href="{up}print/{path.name}">{path.suffix[1:].upper()}</a> ({path.stat().st_size / 1e6:.0f} MB)'
            for path in sorted(folder(self.env.app).glob("*"), reverse=True)
        ]
        if not links:
            return []
        return [nodes.raw("", f'<p class="printed-book">Or the whole book in one file: {", ".join(links)}.</p>', format="html")]


def take_in(app, exception):
    if exception or app.builder.format != "html":
        return
    shutil.rmtree(Path(app.outdir, "print"), ignore_errors=True)
    if folder(app).is_dir():
        shutil.copytree(folder(app), Path(app.outdir, "print"))


def setup(app):
    app.add_directive("printed-book", PrintedBook)
    app.connect("build-finished", take_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
