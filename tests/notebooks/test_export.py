"""The library is what the notebooks export, and it stands on its own."""

import json
import subprocess
import sys

from reading import CHAPTERS, WITHOUT_MODULE

from tools import notebooks
from tools.run_notebook import tool

CHAPTER_MODULES = [name for path in CHAPTERS if (name := notebooks.module_name(path)) not in WITHOUT_MODULE]

IMPORT_EACH = """
import importlib, json, sys
needless = {}
for module in json.load(sys.stdin):
    importlib.import_module(f"transformer_lib.{module}")
    needless[module] = [name for name in ("transformer_lib.teaching", "matplotlib", "IPython") if name in sys.modules]
print(json.dumps(needless))
"""


def test_library_is_what_the_notebooks_export(project):
    for name in CHAPTER_MODULES:
        (project / "transformer_lib" / f"{name}.py").unlink()
    subprocess.run([tool("nbdev-export")], cwd=project, check=True, capture_output=True)
    for name in (*CHAPTER_MODULES, "__init__"):
        written, committed = ((root / "transformer_lib" / f"{name}.py").read_bytes() for root in (project, notebooks.ROOT))
        assert written == committed, f"{name}: run `make run`"


def test_every_module_has_its_tests():
    assert not [name for name in CHAPTER_MODULES if not (notebooks.ROOT / "tests/unit" / f"test_{name}.py").is_file()]


def test_no_module_loads_what_only_teaching_needs():
    modules = [path.stem for path in (notebooks.ROOT / "transformer_lib").glob("[a-z]*.py")]
    done = subprocess.run([sys.executable, "-c", IMPORT_EACH], input=json.dumps(modules), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not any(json.loads(done.stdout).values())
