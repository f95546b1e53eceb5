"""nbval runs every notebook as in Colab: the package installed from what is published, and no file of the course beside it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools import clean_room, notebooks

LOOK = """
import importlib, importlib.util, json, os, pkgutil, sys
import transformer_lib
for module in pkgutil.walk_packages(transformer_lib.__path__, "transformer_lib."):
    importlib.import_module(module.name)
beside = [name for name in ("tools", "benchmarks", "conftest") if importlib.util.find_spec(name)]
beside += [finder.__module__ for finder in sys.meta_path if "__editable__" in getattr(finder, "__module__", "")]
print(json.dumps({"library": transformer_lib.__file__, "folder": os.getcwd(), "beside": beside}))
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """Return the clean room of this run; where nbval is off, one that is built for these tests."""
    if built := os.environ.get("TRANSFORMER_LIB_CLEAN_ROOM"):
        return Path(built)
    return clean_room.build(tmp_path_factory.mktemp("clean") / "room")


def test_a_kernel_sees_the_installed_library_and_no_checkout(room):
    """Every module can be imported, the ones of the library come from the clean room, and nothing of the checkout is there."""
    options = clean_room.kernel_options(room)
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, **options)
    seen = json.loads(done.stdout)
    assert Path(seen["library"]).is_relative_to(room), seen
    assert Path(seen["folder"]).is_relative_to(room) and not Path(seen["folder"]).is_relative_to(notebooks.ROOT)
    assert seen["beside"] == []


def test_nbval_starts_its_kernels_in_the_clean_room(pytestconfig):
    """The hook of conftest.py, seen from a notebook: it fails where the kernel is one of the checkout."""
    cells = [nbformat.v4.new_code_cell(LOOK + "assert not beside and 'installed' in transformer_lib.__file__")]
    folder = notebooks.ROOT / "_build" / "clean-room-test"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "probe.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax", str(path)]
    done = subprocess.run(command, cwd=notebooks.ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout[-2000:]


def test_only_the_library_is_installed(room):
    installed = room / "installed"
    names = {path.name for path in installed.iterdir()} - {"sitecustomize.py", "__pycache__"}
    assert names == {"transformer_lib", "bin", next(name for name in names if name.endswith(".dist-info"))}
    assert {path.name for path in (installed / "bin").iterdir()} == {"transformer-train", "transformer-translate"}
    library = notebooks.ROOT / "transformer_lib"
    published = [p.relative_to(library) for p in library.rglob("*.py") if p.name != "_modidx.py"]
    assert published
    records = notebooks.ROOT / "benchmarks" / "results"
    published += [Path("records", path.name) for path in records.glob("*.json")]
    missing = [path for path in published if not (installed / "transformer_lib" / path).is_file()]
    assert not missing


def test_torch_is_not_installed_again(room):
    """pip leaves a torch alone that satisfies the library's own requirement; this one must stay loose."""
    (metadata,) = (room / "installed").glob("*.dist-info/METADATA")
    required = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist: torch")]
    assert required == ["Requires-Dist: torch>=2.6"]
