"""The course's address reaches the settings and two cells of every notebook."""

import subprocess
import sys

import pytest

from tools import notebooks
from tools.address import cells_for, check_address, stored_address


def test_the_stored_address_stands_in_every_notebook():
    for path in notebooks.all_notebooks() + notebooks.deeper_notebooks():
        cells = {cell.id: cell.source for cell in notebooks.read(path).cells}
        assert cells_for(path, *stored_address()).items() <= cells.items(), "run `python -m tools.address --stamp`"


def test_an_address_is_set(project):
    address = "https://github.com/somebody/course"
    subprocess.run([sys.executable, "-m", "tools.address", address], cwd=project, check=True)
    assert f'repository = "{address}"' in (project / "pyproject.toml").read_text(encoding="utf-8")
    assert address in (project / "_config.yml").read_text(encoding="utf-8")
    for path in (project / "notebooks").glob("[0-9]*.ipynb"):
        cells = {cell.id: cell.source for cell in notebooks.read(path).cells}
        assert f'REPOSITORY = "{address}"' in cells["set-up"]
        assert f"somebody/course/blob/main/notebooks/{path.name}" in cells["colab-badge"]


@pytest.mark.parametrize("address", ["https://gitlab.com/a/b", "github.com/a/b", "https://github.com/a"])
def test_another_kind_of_address_is_refused(address):
    with pytest.raises(ValueError, match="must look like"):
        check_address(address, "main")
