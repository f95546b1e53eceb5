"""The directive `{chapter-minutes}`: a table of the chapters with the minutes that stand under their titles, summed."""

import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

MINUTES = re.compile(r"^\*About (\d+) minutes of reading, (\d+) of exercises\.\*$", re.MULTILINE)


class ChapterMinutes(SphinxDirective):
    """Insert the table; a chapter that does not say its minutes fails the build."""

    def run(self):
        self.env.note_reread()
        rows, sums = [], [0, 0]
        for page in sorted(page for page in self.env.found_docs if page.startswith("notebooks/")):
            notebook = nbformat.read(Path(self.env.doc2path(page)), as_version=4)
            text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
            title = re.search(r"^# (.+)$", text, re.MULTILINE)
            minutes = MINUTES.search(text)
            if not (title and minutes):
                raise self.error(f"{page} does not say how many minutes it takes")
            numbers = [int(number) for number in minutes.groups()]
            sums = [total + number for total, number in zip(sums, numbers, strict=True)]
            link = self.env.app.builder.get_relative_uri(self.env.docname, page)
            cells = "".join(f"<td>{number}</td>" for number in numbers)
            rows.append(f'<tr><td><a href="{link}">{title[1]}</a></td>{cells}</tr>')
        hours = "".join(f"<td>{total / 60:.0f} hours</td>" for total in sums)
        head = '<th scope="col">chapter</th><th scope="col">reading</th><th scope="col">exercises</th>'
        table = f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}'
        return [nodes.raw("", f"{table}<tr><td>together</td>{hours}</tr></tbody></table>", format="html")]


def setup(app):
    app.add_directive("chapter-minutes", ChapterMinutes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
