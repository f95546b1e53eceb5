"""Execute notebooks in place and export the library: `python -m tools.run_notebook [--tidy] [NAME ...]`.

Without a name, every notebook runs, in order. A notebook that fails keeps its file as it was. With --tidy nothing is executed:
code is laid out and what Jupyter adds to a file is taken away, as after an edit of text.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tools import notebooks


def tool(name):
    """Return the path of a command installed beside the running Python, whether or not that folder is on PATH."""
    return str(Path(sys.executable).with_name(name))


def execute(notebook, path):
    """Run all cells in a fresh kernel; raise nbclient's `CellExecutionError` where one fails."""
    NotebookClient(
        notebook,
        timeout=None,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,  # what a cell prints arrives in pieces that differ from run to run
        record_timing=False,
        store_widget_state=False,
    ).execute()


def tidy(notebook):
    """Keep of the metadata the cells' tags, and what folds a tagged cell in JupyterLab and Colab."""
    for cell in notebook.cells:
        kept = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
        cell.metadata = nbformat.from_dict({**kept, **(notebooks.folding(cell) if cell.cell_type == "code" else {})})
    notebook.metadata = nbformat.from_dict(notebooks.METADATA)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.run_notebook", description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="05, positional_encoding, deeper/05; none: all of them")
    parser.add_argument("--tidy", action="store_true", help="execute nothing")
    options = parser.parse_args(arguments)
    # Kernels inherit these: no progress bar in a stored output, and the library of this checkout.
    os.environ |= {"TRANSFORMER_LIB_QUIET": "1", "PYTHONPATH": str(notebooks.ROOT)}
    subprocess.run([tool("nbdev-export")], cwd=notebooks.ROOT, check=True)
    for path in [notebooks.find(name) for name in options.name] or notebooks.all_notebooks() + notebooks.deeper_notebooks():
        subprocess.run([tool("ruff"), "format", "--quiet", path], check=True)
        notebook = notebooks.read(path)
        if not options.tidy:
            print(f"running {path.stem}", flush=True)
            execute(notebook, path)
        tidy(notebook)
        notebooks.write(path, notebook)
    subprocess.run([tool("nbdev-export")], cwd=notebooks.ROOT, check=True)


if __name__ == "__main__":
    main()
