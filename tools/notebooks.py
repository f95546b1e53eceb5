"""Where the notebooks are, and how their files are read and written."""

from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"

# The same on every machine: the version of the Python that ran a notebook is not part of the notebook.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "nbconvert_exporter": "python", "pygments_lexer": "ipython3"},
}

# The site hides cells with one of these tags; JupyterLab and Colab are told to fold them.
FOLDED = {"hide-input", "remove-input", "hide-cell", "remove-cell"}


def folding(cell):
    """Return the metadata that fold a code cell in JupyterLab and in Colab, if its tags fold it on the site."""
    folded = FOLDED & set(cell.metadata.get("tags", []))
    return {"cellView": "form", "jupyter": {"source_hidden": True}} if folded else {}


def all_notebooks():
    """Return the path of every chapter, in the course's order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.ipynb"))


def deeper_notebooks():
    """Return the path of every page below a chapter."""
    return sorted((FOLDER / "deeper").glob("[0-9][0-9]_*.ipynb"))


def module_name(path):
    """Return the name of a chapter's module: `05_positional_encoding.ipynb` is `positional_encoding`."""
    return Path(path).stem.split("_", 1)[1]


def find(name):
    """Return the chapter called `name`: number (`05`), stem, module or file name; `deeper/05` is the page below it."""
    wanted = Path(name).name.removesuffix(".ipynb")
    for path in deeper_notebooks() if Path(name).parent.name == "deeper" else all_notebooks():
        if wanted in (path.stem, path.stem[:2], path.stem[:2].lstrip("0"), module_name(path)):
            return path
    raise SystemExit(f"There is no notebook called {name!r}; there are {', '.join(path.stem for path in all_notebooks())}")


def read(path):
    """Return the notebook stored at `path`."""
    return nbformat.read(path, as_version=4)


def write(path, notebook):
    """Store the notebook at `path`, in nbformat's layout."""
    Path(path).write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8", newline="\n")
