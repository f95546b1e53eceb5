"""`make run`, tried on small notebooks in a project of their own."""

import os
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import minutes, notebooks
from tools.run_notebook import formatted, tidied

MARKED = "#| default_exp tiny\nimport os"
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
COMPONENT = '#| export\ndef double(number):\n    "Return twice the number."\n    return 2 * number'


@pytest.fixture
def small_project(tmp_path):
    """A project with the course's tools and settings, one notebook and nothing else."""
    shutil.copytree(notebooks.ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(notebooks.ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "transformer_lib").mkdir()
    (tmp_path / "transformer_lib" / "__init__.py").write_text('"""Small."""\n', encoding="utf-8")
    return tmp_path


def write(project, *cells, name="01_tiny.ipynb"):
    """Write a notebook as an editor might leave it, with metadata and counts of an earlier day."""
    notebook = new_notebook(
        cells=[new_markdown_cell("# 1 · Tiny\n\n> Doubles a number.", id="title"), *cells],
        metadata={"kernelspec": {"name": "another", "display_name": "Another"}, "language_info": {"name": "python"}},
    )
    path = project / "notebooks" / name
    path.write_text(notebooks.as_text(notebook), encoding="utf-8")
    return path


def run(project, *names):
    # As a person's terminal has it: the tests' own settings must not stand in for the command's.
    settings = {name: value for name, value in os.environ.items() if name != "TRANSFORMER_LIB_QUIET"}
    command = [sys.executable, "-m", "tools.run_notebook", *names]
    return subprocess.run(command, cwd=project, env=settings, capture_output=True, text=True)


def good_cells():
    stale = [new_output("stream", text="from another day")]
    return [
        new_code_cell(MARKED, id="set-up", metadata={"tags": ["remove-cell"], "collapsed": True}),
        new_code_cell(COMPONENT, id="double"),
        new_code_cell("", id="empty", execution_count=9, outputs=stale),
        new_code_cell("print(os.environ['TRANSFORMER_LIB_QUIET'])\nprint('once')", id="prints", execution_count=7),
        new_code_cell("import time\nprint('a', flush=True)\ntime.sleep(0.2)\nprint('b')", id="in-pieces"),
        new_code_cell("from transformer_lib.tiny import double as exported\nexported(21)", id="import-exported"),
        new_code_cell("os.path.basename(os.getcwd())", id="folder"),
        new_code_cell("1 / 0", id="fails-on-purpose", metadata={"tags": ["raises-exception"]}),
    ]


def test_runs_tidies_and_exports(small_project):
    path = write(small_project, *good_cells())
    done = run(small_project, "01")
    assert done.returncode == 0, done.stderr
    assert "01_tiny" in done.stderr

    notebook = notebooks.read(path)
    cells = {cell.id: cell for cell in notebook.cells}
    assert list(cells) == ["title", *(cell.id for cell in good_cells())]
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == [1, 2, None, 3, 4, 5, 6, 7]
    assert cells["set-up"].metadata == {"tags": ["remove-cell"], **FOLDED}
    assert cells["double"].metadata == {}
    assert cells["empty"].outputs == []
    assert cells["prints"].outputs[0].text == "1\nonce\n"
    assert [output.text for output in cells["in-pieces"].outputs] == ["a\nb\n"]
    # The component was exported before the notebook ran, so it can be imported in it.
    assert cells["import-exported"].outputs[0].data["text/plain"] == "42"
    assert cells["folder"].outputs[0].data["text/plain"] == "'notebooks'"
    assert cells["fails-on-purpose"].outputs[0].ename == "ZeroDivisionError"
    assert notebook.metadata == notebooks.METADATA
    assert "def double" in (small_project / "transformer_lib" / "tiny.py").read_text(encoding="utf-8")

    first = path.read_bytes()
    assert run(small_project).returncode == 0  # no name: every notebook
    assert path.read_bytes() == first
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_failing_notebook_keeps_its_file(small_project):
    path = write(
        small_project,
        new_code_cell(MARKED, id="set-up"),
        new_code_cell("value = 1\nvalue / 0", id="divides-by-zero"),
    )
    before = path.read_bytes()
    done = run(small_project, "01_tiny.ipynb")
    assert done.returncode == 1
    assert "divides-by-zero" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_unknown_name_lists_the_notebooks(small_project):
    write(small_project, new_code_cell(MARKED, id="set-up"))
    done = run(small_project, "02_missing")
    assert done.returncode == 1
    assert "'02_missing'" in done.stderr
    assert "01_tiny" in done.stderr


def test_tidy_executes_nothing_and_keeps_outputs(small_project):
    shown = [new_output("stream", text="from another day\n")]
    plot = {"tags": ["hide-input", "mine"], "jupyter": {"outputs_hidden": True}, "scrolled": True}
    path = write(
        small_project,
        new_code_cell(MARKED, id="set-up", execution_count=1),
        new_code_cell(COMPONENT, id="double", execution_count=2, metadata={"cellView": "form"}),
        new_code_cell(
            "# @title A plot\nsize = {'a':1}\n%time size", id="plot", execution_count=3, metadata=plot, outputs=shown
        ),
        new_code_cell("raise SystemExit('executed')", id="not-now", execution_count=9),
        new_markdown_cell("A note.", id="note", metadata={"tags": ["remove-cell"]}),
    )
    done = run(small_project, "--tidy", "01")
    assert done.returncode == 0, done.stderr
    notebook = notebooks.read(path)
    cells = {cell.id: cell for cell in notebook.cells}
    assert [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"] == [1, 2, 3, 9]
    assert cells["plot"].source == '# @title A plot\nsize = {"a": 1}\n%time size'
    assert cells["plot"].outputs == shown
    assert cells["plot"].metadata == {"tags": ["hide-input", "mine"], **FOLDED}
    assert (cells["double"].source, cells["double"].metadata) == (COMPONENT, {})
    assert cells["note"].metadata == {"tags": ["remove-cell"]}
    assert notebook.metadata == notebooks.METADATA
    assert "def double" in (small_project / "transformer_lib" / "tiny.py").read_text(encoding="utf-8")

    first = path.read_bytes()
    assert run(small_project, "--tidy").returncode == 0  # no name: every notebook
    assert path.read_bytes() == first


@pytest.mark.parametrize("option", [[], ["--tidy"]])
def test_code_that_is_not_python_keeps_its_file(small_project, option):
    path = write(small_project, new_code_cell("def (:", id="broken"))
    before = path.read_bytes()
    done = run(small_project, *option, "01")
    assert (done.returncode, path.read_bytes()) == (1, before)
    assert "01_tiny.ipynb" in done.stderr and "Traceback" not in done.stderr


def test_new_chapter_has_the_arc(project):
    arguments = [sys.executable, "-m", "tools.new_notebook", "99_sample", "A sample"]
    done = subprocess.run(arguments, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "notebooks/99_sample" in done.stdout
    path = project / "notebooks" / "99_sample.ipynb"
    notebook = notebooks.read(path)
    assert notebook.cells[0].source.startswith("# 99 · A sample")
    assert [cell.id for cell in notebook.cells[:4]] == ["title", "colab-badge", "set-up", "where-we-are"]

    before = path.read_bytes()
    assert tidied(formatted(path)).encode() == before, "it is laid out as `make tidy` would do it"
    assert subprocess.run(arguments, cwd=project, capture_output=True).returncode == 1
    assert path.read_bytes() == before
    assert run(project, "99").returncode == 0
    assert notebooks.read(path).cells[2].execution_count == 1


@pytest.mark.parametrize(
    "call", ['model_map("masks")', 'chapter_quiz("masks")', "live.softmax_temperature()", 'live.attention_steps("mask")']
)
def test_tidy_draws_again_what_the_library_draws_alone(call):
    data = {"text/html": "<p>old</p>", "text/plain": "old"}
    old = [new_output("execute_result", data, execution_count=count) for count in (1, 2)]
    cell = new_code_cell(f"# @title Old\n{call}", id="drawn", execution_count=1, outputs=old[:1])
    other = new_code_cell("table()", id="measured", execution_count=2, outputs=old[1:])
    after = nbformat.reads(tidied(notebooks.as_text(new_notebook(cells=[cell, other]))), as_version=4).cells
    assert after[0].outputs[0].data["text/html"].startswith(("<div", "<figure"))
    assert after[0].outputs[0].execution_count == 1
    assert after[1].outputs[0].data["text/html"] == "<p>old</p>"


def test_tidy_writes_the_minutes_of_a_walk_and_a_workshop():
    cells = [
        new_markdown_cell("# 1 · Title\n\n*About 1 minutes of reading, 2 of exercises.*\n\n" + "word " * 750, id="title"),
        new_code_cell("a = 1\n\n" * 24, id="code"),
        new_markdown_cell("## Exercises\n\nDifficulty: ★☆☆ · 5 minutes\n\n" + "word " * 300, id="exercises"),
        new_markdown_cell("## Workshop\n\n" + "word " * 225, id="workshop"),
    ]
    notebook = new_notebook(cells=cells)
    minutes.stamp(notebook)
    assert "*About 12 minutes of reading, 5 of exercises. The workshop below takes 3 more.*" in notebook.cells[0].source


def test_a_home_that_cannot_be_written_to_adds_no_warning(tmp_path):
    """Matplotlib would give one in the first notebook that draws; what the tests set, its kernel inherits."""
    (tmp_path / "file").touch()  # in a file there are no folders, not even for the administrator
    environment = {name: value for name, value in os.environ.items() if name not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME")}
    environment |= {"HOME": str(tmp_path / "file" / "home"), "PYTHONPATH": str(notebooks.ROOT)}

    def warning(code):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=notebooks.ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    assert "MPLCONFIGDIR" in warning("import matplotlib")
    assert warning("import conftest, matplotlib") == ""
