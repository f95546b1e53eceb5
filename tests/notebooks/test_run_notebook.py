"""`make run` executes a notebook in place, and leaves one that fails as it was."""

import subprocess
import sys

from nbformat.v4 import new_code_cell, new_notebook

from tools import notebooks


def run(project, *cells):
    path = project / "notebooks" / "98_sample.ipynb"
    code = [
        new_code_cell(source, id=f"cell-{number}", metadata={"tags": ["hide-input"], "more": 1})
        for number, source in enumerate(cells)
    ]
    notebooks.write(path, new_notebook(cells=code))
    before = path.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "tools.run_notebook", "98"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    return done, path, before


def test_run_executes_tidies_and_exports(project):
    done, path, _ = run(project, "#| default_exp sample", "#| export\nanswer = 42", "print( answer )")
    assert done.returncode == 0, done.stderr
    cells = notebooks.read(path).cells
    assert [cell.execution_count for cell in cells] == [1, 2, 3]
    assert cells[2].source == "print(answer)" and cells[2].outputs[0].text == "42\n"
    assert cells[2].metadata == {"tags": ["hide-input"], "jupyter": {"source_hidden": True}, "cellView": "form"}
    assert "answer = 42" in (project / "transformer_lib" / "sample.py").read_text(encoding="utf-8")


def test_a_notebook_that_fails_stays_as_it_was(project):
    done, path, before = run(project, "1 / 0")
    assert done.returncode and "ZeroDivisionError" in done.stderr
    assert path.read_text(encoding="utf-8") == before
