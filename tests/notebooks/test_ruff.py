"""Ruff's settings reach every folder, and leave alone what others write."""

import re
import subprocess

from nbformat.v4 import new_code_cell, new_notebook

from tools import notebooks
from tools.run_notebook import formatted, tool

LONG = "value = [" + ", ".join(["100"] * 18) + "]\n"  # 98 columns


def named_by_ruff(project, *arguments):
    """Return the files in which ruff finds something, of those that the test has written."""
    command = [tool("ruff"), *arguments, "--no-cache", "--output-format", "concise"]
    said = subprocess.run(command, cwd=project, capture_output=True, text=True).stdout
    return set(re.findall(r"^(\S*written_here\.\w+):", said, re.MULTILINE))


def write(project, code):
    """Write the same code as a module of each kind and as a notebook, and return where."""
    folders = ["", "tools/", "transformer_lib/", "transformer_lib/teaching/", "transformer_lib/teaching/exercises/"]
    places = [f"{folder}written_here.py" for folder in folders] + ["transformer_lib/_written_here.py"]
    for place in places:
        (project / place).write_text(code, encoding="utf-8")
    notebook = new_notebook(cells=[new_code_cell(code.strip(), id="some-code")])
    (project / "notebooks" / "written_here.ipynb").write_text(notebooks.as_text(notebook), encoding="utf-8")
    return {*places, "notebooks/written_here.ipynb"}


def test_every_file_is_linted(project):
    places = write(project, "import os\n")
    assert named_by_ruff(project, "check") == places - {"notebooks/written_here.ipynb"}
    places = write(project, "print('{}'.format(1))\n")
    assert named_by_ruff(project, "check") == places - {"transformer_lib/written_here.py"}


def test_every_file_but_the_generated_ones_is_laid_out(project):
    places = write(project, "value = {'a':1}\n")
    assert named_by_ruff(project, "format", "--check") == places - {"transformer_lib/written_here.py"}


def test_a_page_is_narrower_than_a_file(project):
    write(project, LONG)
    assert named_by_ruff(project, "format", "--check") == {"notebooks/written_here.ipynb"}


def test_what_jupyter_and_nbdev_read_stays(project):
    code = "#| export\n# @title A table\n%pip install nothing\n!ls\nvalue = 1;"
    write(project, code)
    path = project / "notebooks" / "written_here.ipynb"
    assert formatted(path) == path.read_text(encoding="utf-8")
