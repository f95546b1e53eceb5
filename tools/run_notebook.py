"""Run notebooks in place, tidy them, and export the library: `python -m tools.run_notebook [--tidy] [NAME ...]`.

Without a name, every notebook runs, in order. A notebook that fails keeps its file as it was. With --tidy nothing is executed,
outputs and counts stay: only the layout of code and file and the metadata are put in order, as after an edit in Jupyter, and
what the library draws alone (the map, the quiz, a figure that answers) is drawn again. Both write the minutes under the title.
"""

import argparse
import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

from tools import minutes, notebooks

TIDY = ["clean", "--preserve-cell-outputs", "--preserve-execution-counts", "--preserve-cell-metadata-field", "tags"]


def tool(name):
    """Return the path of a command installed beside the running Python, whether or not that folder is on PATH."""
    return str(Path(sys.executable).with_name(name))


def export():
    """Write the library's modules again from the notebooks."""
    subprocess.run([tool("nbdev-export")], cwd=notebooks.ROOT, check=True)


def execute(path):
    """Return the notebook at `path`, run from its first to its last cell in a fresh kernel.

    Raises `SystemExit` with the cell's id and the traceback where a cell fails that is not tagged `raises-exception`.
    """
    notebook = nbformat.reads(formatted(path), as_version=4)
    notebook.metadata = dict(notebooks.METADATA)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=None,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        # What a cell prints arrives in pieces that differ from run to run; joined, the stored bytes do not.
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
    )
    with client.setup_kernel(), tqdm(notebook.cells, desc=path.stem, unit="cell") as bar:
        for position, cell in enumerate(bar):
            bar.set_postfix_str(cell.id)
            try:
                client.execute_cell(cell, position)
            except CellExecutionError as error:
                bar.close()
                raise SystemExit(
                    f"{path.name}: the cell `{cell.id}` failed. The notebook's file is as it was.\n\n{error}"
                ) from None
    return notebook


def formatted(path):
    """Return the text of the notebook at `path` with its code as ruff lays it out; magics and `#|` lines stay as they are.

    Raises `SystemExit` where the code is not Python.
    """
    command = [tool("ruff"), "format", "--quiet", "--stdin-filename", str(path), "-"]
    done = subprocess.run(command, input=path.read_text(encoding="utf-8"), capture_output=True, encoding="utf-8")
    if done.returncode:
        raise SystemExit(f"{path.name}: the notebook's file is as it was.\n\n{done.stderr}")
    return done.stdout


def drawn_alone(source):
    """Return what the last line of a cell draws, if it needs nothing from the notebook; else None."""
    last = source.rstrip().rpartition("\n")[2]
    try:
        call = ast.parse(last, mode="eval").body
    except SyntaxError:
        return None
    match call:
        case ast.Call(ast.Name("model_map" | "chapter_quiz"), [ast.Constant()], []):
            from transformer_lib.teaching import model_map
            from transformer_lib.teaching.quizzes import chapter_quiz

            names = {"model_map": model_map, "chapter_quiz": chapter_quiz}
        case ast.Call(ast.Attribute(ast.Name("live"), _), [] | [ast.Constant()], []):
            from transformer_lib.teaching.figures import live

            names = {"live": live}
        case _:
            return None
    return eval(last, names)


def tidied(text):
    """Return a notebook's text without what changes from one editor to the next.

    Of the cells' metadata the tags are kept, and those that fold a cell are written anew from the tags.
    """
    cleaned = subprocess.run([tool("nb-clean"), *TIDY], input=text, capture_output=True, encoding="utf-8", check=True)
    notebook = nbformat.reads(cleaned.stdout, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.update(notebooks.folding(cell))
        results = [output for output in cell.outputs if output.output_type == "execute_result"]
        if results and (drawing := drawn_alone(cell.source)) is not None:
            results[-1].data = nbformat.from_dict({"text/html": drawing._repr_html_(), "text/plain": repr(drawing)})
    minutes.stamp(notebook)
    notebook.metadata = nbformat.from_dict(notebooks.METADATA)
    return notebooks.as_text(notebook)


def tidy(paths):
    """Put the files of notebooks in order without executing them, and export the library."""
    for path in paths:
        notebooks.write_text(path, tidied(formatted(path)))
    export()


def run(paths):
    """Execute, tidy and write each notebook, with the library exported before and after."""
    # Kernels inherit these: no progress bar in a stored output, and sums in one order on every machine.
    os.environ["TRANSFORMER_LIB_QUIET"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # The library of this checkout, even where another one is installed.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(notebooks.ROOT), os.environ.get("PYTHONPATH")]))
    export()
    for path in paths:
        notebooks.write_text(path, tidied(notebooks.as_text(execute(path))))
    export()


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.run_notebook", description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="05, positional_encoding or 05_positional_encoding; none: all of them")
    parser.add_argument("--tidy", action="store_true", help="put the file in order and execute nothing")
    given = parser.parse_args(arguments)
    work = tidy if given.tidy else run
    work([notebooks.find(name) for name in given.name] or notebooks.all_notebooks())


if __name__ == "__main__":
    main()
