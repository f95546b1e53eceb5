"""The library is what the notebooks export, byte for byte."""

import subprocess

import pytest
from reading import CHAPTERS, WITHOUT_MODULE

from tools import notebooks
from tools.run_notebook import tool

LIBRARY = notebooks.ROOT / "transformer_lib"


def modules(library):
    """Return the bytes of each file of the library, by its path; `_modidx.py` is nbdev's own and git ignores it."""
    return {
        str(path.relative_to(library)): path.read_bytes()
        for path in library.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != "_modidx.py"
    }


def test_library_is_what_the_notebooks_export(project):
    # Without the old modules, one that no notebook exports any more is missed below.
    for module in (project / "transformer_lib").glob("[a-z]*.py"):
        module.unlink()
    before = {path: path.read_bytes() for path in project.rglob("*.ipynb")}
    subprocess.run([tool("nbdev-export")], cwd=project, check=True, capture_output=True)
    written, committed = modules(project / "transformer_lib"), modules(LIBRARY)
    assert sorted(written) == sorted(committed)
    different = [name for name in written if written[name] != committed[name]]
    assert not different, (
        "run `make run`. Where it is __init__.py: nbdev writes a list of modules there as soon as one module's "
        "docstring is longer than three lines; shorten that docstring"
    )
    assert before == {path: path.read_bytes() for path in project.rglob("*.ipynb")}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_has_a_module_and_tests(path):
    name = notebooks.module_name(path)
    if name not in WITHOUT_MODULE:
        assert (LIBRARY / f"{name}.py").is_file()
        assert (notebooks.ROOT / "tests" / f"test_{name}.py").is_file()


def test_every_module_has_a_chapter():
    found = {path.stem for path in LIBRARY.glob("[a-z]*.py")}
    assert found == {notebooks.module_name(path) for path in CHAPTERS} - WITHOUT_MODULE
