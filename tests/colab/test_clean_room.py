"""Every notebook runs as in Colab: the package installed from what is published, and no file of the course beside it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import notebooks

# Runs a notebook's code cells with one folder in front of Python's own packages, and the checkout taken out.
RUN = """
import pathlib, sys
target, notebook = map(pathlib.Path, sys.argv[1:])
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
sys.path[:] = [str(target), *(folder for folder in sys.path if not (pathlib.Path(folder) / "transformer_lib").exists())]

import importlib, pkgutil
import nbformat
import transformer_lib
for module in pkgutil.walk_packages(transformer_lib.__path__, "transformer_lib."):
    importlib.import_module(module.name)
assert pathlib.Path(transformer_lib.__file__).is_relative_to(target), transformer_lib.__file__

from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in nbformat.read(notebook, as_version=4).cells:
    if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", []):
        if not shell.run_cell(cell.source, store_history=True).success:
            sys.exit(f"the cell `{cell.id}` failed")
try:
    import tools
except ModuleNotFoundError:
    print("ran outside the checkout")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder that holds the package as pip installs it, built from what git would publish of it."""
    source = tmp_path_factory.mktemp("source")
    for name in ["pyproject.toml", "README.md"]:
        shutil.copy(notebooks.ROOT / name, source)
    shutil.copytree(
        notebooks.ROOT / "transformer_lib",
        source / "transformer_lib",
        ignore=shutil.ignore_patterns("__pycache__", "_modidx.py"),
    )
    shutil.copytree(notebooks.ROOT / "benchmarks" / "results", source / "benchmarks" / "results")
    target = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*install, *offline, str(source)], check=True)
    return target


def test_only_the_library_is_installed(installed):
    names = {path.name for path in installed.iterdir()}
    assert names == {"transformer_lib", next(name for name in names if name.endswith(".dist-info"))}
    library = notebooks.ROOT / "transformer_lib"
    published = [p.relative_to(library) for p in library.rglob("*.py") if p.name != "_modidx.py"]
    assert published
    records = notebooks.ROOT / "benchmarks" / "results"
    published += [Path("records", path.name) for path in records.glob("*.json")]
    missing = [path for path in published if not (installed / "transformer_lib" / path).is_file()]
    assert not missing


@pytest.mark.parametrize("path", notebooks.all_notebooks(), ids=lambda path: path.stem)
def test_notebook_runs_outside_the_checkout(path, installed, tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUN, str(installed), str(path)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    assert done.stdout.endswith("ran outside the checkout\n")


def test_torch_is_not_installed_again(installed):
    """pip leaves a torch alone that satisfies the library's own requirement; this one must stay loose."""
    (metadata,) = installed.glob("*.dist-info/METADATA")
    required = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist: torch")]
    assert required == ["Requires-Dist: torch>=2.6"]
