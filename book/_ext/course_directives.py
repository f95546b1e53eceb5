"""What a page of `book/` shows of the library: directives for the map, a quiz, colours and figures, and the printed book."""

import inspect
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from transformer_lib import teaching
from transformer_lib._language import _, language
from transformer_lib.teaching.figures import COLOURS, pages, plots
from transformer_lib.teaching.quizzes import chapter_quiz

SWATCH = (
    '<span aria-hidden="true" style="display: inline-block; width: 3em; height: 1em; vertical-align: middle; '
    'border: 1px solid currentColor; background: {colour}"></span>'
)
LIBRARY_PAGE = "book/api"
LIBRARY_PLACE = "<!-- One section for each chapter's module is put here. -->"
LIBRARY_SECTION = """## {stem}

{intro}

```{{literalinclude}} ../tests/examples/test_{stem}.txt
:language: pycon
```

```{{eval-rst}}
.. automodule:: transformer_lib.{stem}
```
"""


def chapters(env):
    """Return the page of each chapter by the name of its module, in the order of their numbers."""
    found = (re.fullmatch(r"notebooks/\d\d_(\w+)", page) for page in sorted(env.found_docs))
    return {chapter[1]: chapter[0] for chapter in found if chapter}


class HtmlDirective(SphinxDirective):
    """Inserts the HTML that `html` returns. The library may change and the page not, so each build reads it again."""

    def run(self):
        self.env.note_reread()
        return [nodes.raw("", self.html(), format="html")]


class ModelMap(HtmlDirective):
    """`{model-map}`: the drawing of the whole model, each box linked to its chapter's page."""

    def html(self):
        uri = self.env.app.builder.get_relative_uri
        links = {stem: uri(self.env.docname, page) for stem, page in chapters(self.env).items()}
        return teaching.model_map(links)


class ChapterQuiz(HtmlDirective):
    """`{chapter-quiz}`: the cards of the library's quiz whose name is the argument."""

    required_arguments = 1

    def html(self):
        return chapter_quiz(self.arguments[0])._repr_html_()


class RoleColours(HtmlDirective):
    """`{role-colours}`: a table of the roles and their colours, read from the library's figure style."""

    def html(self):
        row = '<tr><th scope="row">{role}</th><td>{swatch} <code>{colour}</code></td></tr>'.format
        rows = (row(role=role, colour=colour, swatch=SWATCH.format(colour=colour)) for role, colour in COLOURS.items())
        head = "".join(f'<th scope="col">{name}</th>' for name in (_("role"), _("colour")))
        return f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


class PrintedBook(HtmlDirective):
    """`{printed-book}`: a link to the whole book as PDF, if `make print` has made it; the site holds a copy."""

    def html(self):
        name = "building-the-transformer-ko.pdf" if language() == "ko" else "building-the-transformer.pdf"
        book = Path(__file__).parents[2] / "_build" / "print" / name
        if not book.is_file():
            return ""
        shutil.copy(book, self.env.app.outdir)
        link = f'<a href="{"../" * self.env.docname.count("/")}{book.name}">PDF</a> ({book.stat().st_size / 1e6:.0f} MB)'
        text = _("Or the whole book in one file: {link}.", link=link)
        return f'<p class="printed-book">{text}</p>'


class PageFigure(SphinxDirective):
    """`{page-figure}`: a figure that `teaching.figures.pages` draws; the text of the directive says what it shows.

    A narrow window shows the stacked drawing, if there is one.
    """

    required_arguments = 1
    has_content = True

    def run(self):
        self.env.note_reread()
        name, draw = self.arguments[0], getattr(pages, self.arguments[0])
        # The words in a picture are English: on another page its text stands below it, too.
        below = [nodes.paragraph("", "", nodes.raw("", f"<small>{' '.join(self.content)}</small>", format="html"))]
        below *= language() != "en"
        if "stacked" not in inspect.signature(draw).parameters:
            return [self.picture(name, draw()), *below]
        wide = self.picture(name, draw(), "wide-window", narrowest=plots.TABLET)
        return [wide, self.picture(f"{name}_stacked", draw(stacked=True), "narrow-window"), *below]

    def picture(self, name, figure, *classes, **settings):
        path = Path(self.env.app.doctreedir, "page_figures", f"{name}.png")
        path.parent.mkdir(exist_ok=True)
        width = f"{round(figure.get_figwidth() * 100)}px"
        path.write_bytes(plots.png(figure, **settings))
        uri = os.path.relpath(path, Path(self.env.doc2path(self.env.docname)).parent)
        alt = " ".join(" ".join(self.content).split())
        image = nodes.image(uri=uri, alt=alt, width=width, classes=["page-figure", *classes])
        return nodes.paragraph("", "", image)


def list_modules(app, page, source):
    """List the library's modules on its page, so that a new chapter appears there by itself."""
    if page == LIBRARY_PAGE:
        app.env.note_reread()
        modules = {stem: page for stem, page in chapters(app.env).items() if find_spec(f"transformer_lib.{stem}")}
        intro = _("Chapter [](../{page}.ipynb) builds `transformer_lib.{stem}`. An example, which `make test` runs:")
        section = LIBRARY_SECTION.replace("{intro}", intro)
        sections = (section.format(stem=stem, page=page) for stem, page in modules.items())
        source[0] = source[0].replace(LIBRARY_PLACE, "\n".join(sections))


def choose_language(app, config):
    """Let the library speak the language of the book, whatever the shell asks for."""
    os.environ["TRANSFORMER_LIB_LANGUAGE"] = config.language


def setup(app):
    app.connect("config-inited", choose_language)
    app.add_directive("model-map", ModelMap)
    app.add_directive("chapter-quiz", ChapterQuiz)
    app.add_directive("role-colours", RoleColours)
    app.add_directive("page-figure", PageFigure)
    app.add_directive("printed-book", PrintedBook)
    app.connect("source-read", list_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
