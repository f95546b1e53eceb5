"""How the tests read a notebook: as cells, Markdown headings and syntax trees."""

import ast
import re

from IPython.core.inputtransformer2 import TransformerManager

from tools import notebooks

CHAPTERS = notebooks.all_notebooks()
PAGES = CHAPTERS + notebooks.deeper_notebooks()
# The only chapter that exports nothing.
WITHOUT_MODULE = {"bug_museum", "interpretation", "real_sentences"}

SOLUTION = re.compile(r"<details>\s*<summary>Solution</summary>(?P<inside>.*?)</details>", re.DOTALL)
PYTHON_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def cells_of(notebook, kind):
    """Return the cells of one kind, `code` or `markdown`."""
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def tags(cell):
    return cell.metadata.get("tags", [])


def tree(cell):
    """Return the syntax tree of a code cell, with magics such as `%pip` turned into calls first."""
    return ast.parse(TransformerManager().transform_cell(cell.source))


def is_exported(cell):
    return cell.cell_type == "code" and cell.source.startswith("#| export\n")


def holds_only_imports(cell):
    """Tell whether a cell is imports alone; an exported one may end in `_all_`, the names that the module offers too."""
    body = tree(cell).body
    if body and is_exported(cell) and ast.unparse(body[-1]).startswith("_all_ = ["):
        body = body[:-1]
    return bool(body) and all(isinstance(node, ast.Import | ast.ImportFrom) for node in body)


def prose(cell):
    """Return a Markdown cell's text without its fenced code."""
    return re.sub(r"^```.*?^```$", "", cell.source, flags=re.DOTALL | re.MULTILINE)


def headings(notebook, level):
    """Return the text of every Markdown heading of one level."""
    pattern = re.compile(rf"^{'#' * level} +(.+?)\s*$", re.MULTILINE)
    return [text for cell in cells_of(notebook, "markdown") for text in pattern.findall(prose(cell))]


def exercise_name(cell):
    """Return NAME of an exercise's stub, which ends in `exercise.CHECK(NAME)`; None for every other cell."""
    body = tree(cell).body
    match body[-1] if body else None:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("exercise" | "check")), [ast.Name(name)], [])):
            return name


def exercises(notebook):
    """Return (name, stub cell, the cell after it) of each exercise; the name is a function's or a class's."""
    following = [*notebook.cells[1:], None]
    return [
        (name, cell, after)
        for cell, after in zip(notebook.cells, following)
        if cell.cell_type == "code" and (name := exercise_name(cell))
    ]


def solution_code(cell):
    """Return the Python blocks of a Markdown cell's folded solution."""
    found = SOLUTION.search(cell.source) if cell is not None and cell.cell_type == "markdown" else None
    return PYTHON_BLOCK.findall(found["inside"]) if found else []


def output_texts(cell):
    """Return (kind, text) of everything in a code cell's outputs that is not an image in bytes."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append((output.name, output.text))
        found += [
            (kind, data if isinstance(data, str) else str(data))
            for kind, data in output.get("data", {}).items()
            if kind not in ("image/png", "image/jpeg")
        ]
    return found
