"""`make check` takes what belongs to one chapter, and nothing of another."""

import re
import subprocess

import pytest
from reading import CHAPTERS

from tools import notebooks
from tools.check_chapter import commands


def test_a_chapter_is_checked_with_its_own_tests():
    path = notebooks.find("08")
    lint, layout, test = commands(path)
    files = ["notebooks/08_masks.ipynb", "tests/test_masks.py", "tests/teaching/test_exercises_masks.py"]
    assert lint[-3:] == layout[-3:] == files
    chosen = subprocess.run([*test, "-n0", "--collect-only"], cwd=notebooks.ROOT, capture_output=True, text=True)
    assert chosen.returncode == 0, chosen.stdout[-2000:]
    items = re.findall(r"^(?:notebooks|tests)/\S+::.*$", chosen.stdout, re.MULTILINE)
    assert {item.split("::")[0] for item in items} >= {*files, "tests/notebooks/test_export.py"}
    assert any("test_solutions.py" in item and "08_masks" in item for item in items)
    assert "tests/notebooks/test_structure.py::test_chapter_arc[08_masks]" in items
    others = [path.stem for path in CHAPTERS if path.stem != "08_masks"]
    assert not [item for item in items if any(other in item for other in others)]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_file_that_is_named_is_there(path):
    lint, *_ = commands(path)
    assert all((notebooks.ROOT / file).is_file() for file in lint[2:])
