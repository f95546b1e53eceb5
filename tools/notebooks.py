"""Where the notebooks are, and the one way their files are read and written."""

import os
import tempfile
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"

# The same on every machine: the version of the Python that ran a notebook is not part of the notebook.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}

# Cells with one of these tags are out of the way on the site. The same is said to JupyterLab and to Colab.
FOLDED = {"hide-input", "remove-input", "hide-cell", "remove-cell"}


def folding(cell):
    """Return the metadata that fold a code cell in JupyterLab and in Colab, if its tags fold it on the site."""
    if FOLDED & set(cell.metadata.get("tags", [])):
        return {"cellView": "form", "jupyter": {"source_hidden": True}}
    return {}


def all_notebooks():
    """Return the path of every chapter, in the course's order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.ipynb"))


def module_name(path):
    """Return the name of a chapter's module: `05_positional_encoding.ipynb` is `positional_encoding`."""
    return Path(path).stem.split("_", 1)[1]


def find(name):
    """Return the chapter called `name`: its number (`05`), its stem, its module or its file name.

    Raises `SystemExit`, listing the chapters there are, where `name` is none of them.
    """
    wanted = Path(name).name.removesuffix(".ipynb")
    for path in all_notebooks():
        if wanted in (path.stem, path.stem[:2], path.stem[:2].lstrip("0"), module_name(path)):
            return path
    known = "\n".join(f"  {path.stem}" for path in all_notebooks()) or "  (none yet)"
    raise SystemExit(f"There is no notebook called {name!r}. These are there:\n{known}")


def read(path):
    """Return the notebook stored at `path`."""
    return nbformat.read(path, as_version=4)


def as_text(notebook):
    """Return the text of a notebook's file: nbformat's layout, which ends with a newline."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def write_text(path, text):
    """Write a file in one step, so that an interrupted command leaves the old file and never half of the new one."""
    path = Path(path)
    # The leading dot hides the unfinished file from nbdev and Jupyter Book.
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(unfinished, path.stat().st_mode if path.exists() else 0o644)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
