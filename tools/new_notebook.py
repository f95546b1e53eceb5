"""Start a chapter: `python -m tools.new_notebook 06_attention "Scaled dot-product and multi-head attention"`."""

import argparse
import re

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import address, notebooks

ARC = [
    "Where we are",
    "The thing itself",
    "What breaks without it",
    "The idea by hand",
    "The component",
    "See it",
    "What it buys",
    "Exercises",
    "Quiz",
    "What to remember",
    "Workshop",
]


def build(path, title):
    """Return a chapter that holds its title, the two cells with the address, and a heading for each step of the arc."""
    number = int(path.stem[:2])
    stamped = address.cells_for(path, *address.stored_address())
    hidden = {"tags": ["remove-cell"]}
    cells = [
        new_markdown_cell(f"# {number} · {title} (한국어 용어)\n\n> One line: what this chapter builds.", id="title"),
        new_markdown_cell(stamped["colab-badge"], id="colab-badge", metadata=hidden),
        new_code_cell(stamped["set-up"], id="set-up", metadata=hidden),
    ]
    cells[-1].metadata.update(notebooks.folding(cells[-1]))
    cells += [new_markdown_cell(f"## {heading}", id=heading.lower().replace(" ", "-")) for heading in ARC]
    return new_notebook(cells=cells, metadata=notebooks.METADATA)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.new_notebook", description=__doc__.splitlines()[0])
    parser.add_argument("stem", help="number and module name, such as 06_attention")
    parser.add_argument("title", nargs="?", help="the chapter's title; without it, the module's name")
    options = parser.parse_args(arguments)
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", options.stem):
        parser.error(f"the stem must look like 06_attention, and this came: {options.stem!r}")
    path = notebooks.FOLDER / f"{options.stem}.ipynb"
    if path.exists():
        raise SystemExit(f"{path.relative_to(notebooks.ROOT)} is there already.")
    module = notebooks.module_name(path)
    title = options.title or module.replace("_", " ").capitalize()
    notebooks.write_text(path, notebooks.as_text(build(path, title)))
    print(
        f"Wrote notebooks/{path.name}. Next (`make test` finds nearly everything that you forget):\n"
        f"  1. _toc.yml: the line `- file: notebooks/{path.stem}`; the last cell of the chapter before: the link Next\n"
        f"  2. a stem that the drawing of the model does not know: a line in CHAPTERS and a box in\n"
        f"     transformer_lib/teaching/figures/model_map.py, then make picture\n"
        f"  3. write the chapter in Jupyter; what belongs to the library stands in cells that begin with `#| export`\n"
        f"     (a chapter that exports nothing is named in WITHOUT_MODULE in tests/notebooks/reading.py)\n"
        f"  4. tests/test_{module}.py; transformer_lib/teaching/exercises/{module}.py and its test in tests/teaching/;\n"
        f"     transformer_lib/teaching/quizzes/{module}.py\n"
        f"  5. book/glossary.md: each new term with its Korean name\n"
        f"  6. make run NB={path.stem}, make check NB={path.stem}, make architecture, then make test"
    )


if __name__ == "__main__":
    main()
