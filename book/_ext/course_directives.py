"""What a page of `book/` shows of the library and of other pages: directives for tables, drawings, figures and links."""

import inspect
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.parsers.rst import directives
from languages import FOLDER
from sphinx.util.docutils import SphinxDirective

from transformer_lib import teaching
from transformer_lib._language import say
from transformer_lib.teaching.figures import COLOURS, pages, plots
from transformer_lib.teaching.quizzes import chapter_quiz

# As `tools/minutes.py` writes it, and `tools/translate/generate.py`.
MINUTES = re.compile(
    r"^\*(?:About (\d+) minutes of reading, (\d+) of exercises\.(?: The workshop below takes (\d+) more\.)?"
    r"|읽는 데 약 (\d+)분, 연습 문제 (\d+)분\.(?: 워크숍까지 읽으면 (\d+)분이 더 걸립니다\.)?)\*$",
    re.MULTILINE,
)
SWATCH = (
    '<span aria-hidden="true" style="display: inline-block; width: 3em; height: 1em; vertical-align: middle; '
    'border: 1px solid currentColor; background: {colour}"></span>'
)
LIBRARY_PAGE = "book/api"
LIBRARY_PLACE = "<!-- One section for each chapter's module is put here. -->"
LIBRARY_SECTION = """## {stem}

{builds}

```{{eval-rst}}
.. automodule:: transformer_lib.{stem}
```
"""


def chapters(env):
    """Return the page of each chapter by the name of its module, in the order of their numbers."""
    found = (re.fullmatch(r"notebooks/\d\d_(\w+)", page) for page in sorted(env.found_docs))
    return {chapter[1]: chapter[0] for chapter in found if chapter}


class HtmlDirective(SphinxDirective):
    """Inserts the HTML that `html` returns, if any. It may change although the page's source stays the same."""

    def run(self):
        self.env.note_reread()
        html = self.html()
        return [nodes.raw("", html, format="html")] if html else []

    def link(self, page):
        return self.env.app.builder.get_relative_uri(self.env.docname, page)


class ModelMap(HtmlDirective):
    """`{model-map}`: the drawing of the whole model, each box linked to its chapter's page where it has one."""

    def html(self):
        links = {stem: self.link(page) for stem, page in chapters(self.env).items()}
        return teaching.model_map(links=links)._repr_html_()


class ChapterQuiz(HtmlDirective):
    """`{chapter-quiz}`: the cards of the library's quiz whose name is the argument."""

    required_arguments = 1

    def html(self):
        return chapter_quiz(self.arguments[0])._repr_html_()


class RoleColours(HtmlDirective):
    """`{role-colours}`: a table of the roles and their colours, read from the library's figure style."""

    def html(self):
        rows = "".join(
            f'<tr><th scope="row">{role}</th><td>{SWATCH.format(colour=colour)} <code>{colour}</code></td></tr>'
            for role, colour in COLOURS.items()
        )
        head = f'<thead><tr><th scope="col">{say("role")}</th><th scope="col">{say("colour")}</th></tr></thead>'
        return f'<table class="table">{head}<tbody>{rows}</tbody></table>'


class ChapterMinutes(HtmlDirective):
    """`{chapter-minutes}`: the chapters with the minutes that stand under their titles, summed.

    A chapter that does not say its minutes fails the build.
    """

    def html(self):
        rows, sums = [], [0, 0, 0]
        for page in chapters(self.env).values():
            notebook = nbformat.read(Path(self.env.doc2path(page)), as_version=4)
            text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
            title = re.search(r"^# (.+)$", text, re.MULTILINE)
            minutes = MINUTES.search(text)
            if not (title and minutes):
                raise self.error(f"{page} does not say how many minutes it takes")
            groups = minutes.groups()
            numbers = [int(number or 0) for number in (groups[:3] if groups[0] else groups[3:])]
            sums = [total + number for total, number in zip(sums, numbers, strict=True)]
            cells = "".join(f"<td>{number}</td>" for number in numbers)
            rows.append(f'<tr><td><a href="{self.link(page)}">{title[1]}</a></td>{cells}</tr>')
        hours = "".join(f"<td>{total / 60:.0f} {say('hours')}</td>" for total in sums)
        names = (say("chapter"), say("reading"), say("exercises"), say("workshop"))
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        table = f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}'
        table = f"{table}<tr><td>{say('together')}</td>{hours}</tr></tbody></table>"
        return f'<div class="pst-scrollable-table-container">{table}</div>'


class PageFigure(SphinxDirective):
    """`{page-figure}`: a figure that `teaching.figures.pages` draws; the text of the directive says what it shows.

    In the dark theme it is turned over, as the figures of chapters are; with `keep-white` it is not. One that can be drawn
    stacked is, for a narrow window.
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
        name, draw = self.arguments[0], getattr(pages, self.arguments[0])
        can_be_stacked = "stacked" in inspect.signature(draw).parameters
        figure = draw()
        width = round(figure.get_figwidth() * 100)
        picture = self.store(name, figure, narrowest=plots.TABLET if can_be_stacked else plots.PHONE)
        here = Path(self.env.doc2path(self.env.docname)).parent
        image = nodes.image(
            uri=os.path.relpath(picture, here), alt=alt, width=f"{width}px", classes=["page-figure", *self.options]
        )
        if can_be_stacked:
            image["narrow"] = str(self.store(f"{name}_stacked", draw(stacked=True)))
        return [nodes.paragraph("", "", image)]

    def store(self, name, figure, **settings):
        """Return the path of the picture of `figure`, which is written beside the doctrees."""
        picture = Path(self.env.app.doctreedir, "page_figures", f"{name}.png")
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(plots.png(figure, **settings))
        return picture


class PrintedBook(HtmlDirective):
    """`{printed-book}`: links to the whole book as PDF and EPUB, each with its size; where no file is, nothing.

    `make print` keeps them in the folder `print` beside the English site, and each build of it takes them in from there, the
    Korean ones too.
    """

    def html(self):
        korean = self.config.language == FOLDER
        up = "../" * (self.env.docname.count("/") + korean)
        links = [
            f'<a href="{up}print/{path.name}">{path.suffix[1:].upper()}</a> ({path.stat().st_size / 1e6:.0f} MB)'
            for path in sorted(printed(self.env.app).glob("*"), reverse=True)
            if path.stem.endswith(f"-{FOLDER}") == korean
        ]
        files = ", ".join(links)
        return f'<p class="printed-book">{say(f"Or the whole book in one file: {files}.")}</p>' if files else ""


def printed(app):
    """Return the folder of the printed books: it stands beside the English site, whichever site is built."""
    return Path(os.environ.get("ENGLISH_DOCTREES", app.outdir)).parent / "print"


def take_in_printed(app, exception):
    if exception or app.builder.format != "html" or app.config.language == FOLDER:
        return
    shutil.rmtree(Path(app.outdir, "print"), ignore_errors=True)
    if printed(app).is_dir():
        shutil.copytree(printed(app), Path(app.outdir, "print"))


def list_modules(app, page, source):
    """List the library's modules on its page, so that a new chapter appears there by itself."""
    if page != LIBRARY_PAGE:
        return
    if LIBRARY_PLACE not in source[0]:
        raise ValueError(f"{LIBRARY_PAGE} must hold the line {LIBRARY_PLACE!r}")
    app.env.note_reread()
    sections = []
    for stem, page in chapters(app.env).items():
        if find_spec(f"transformer_lib.{stem}"):
            chapter, module = f"[](../{page}.ipynb)", f"`transformer_lib.{stem}`"
            sections.append(LIBRARY_SECTION.format(stem=stem, builds=say(f"Chapter {chapter} builds {module}.")))
    source[0] = source[0].replace(LIBRARY_PLACE, "\n".join(sections))


def setup(app):
    app.add_directive("model-map", ModelMap)
    app.add_directive("chapter-quiz", ChapterQuiz)
    app.add_directive("role-colours", RoleColours)
    app.add_directive("chapter-minutes", ChapterMinutes)
    app.add_directive("page-figure", PageFigure)
    app.add_directive("printed-book", PrintedBook)
    app.connect("build-finished", take_in_printed)
    app.connect("source-read", list_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
