"""What a class hands in becomes one table: stored lines are read, answers are run again where that is asked."""

import pytest
from reading import CHAPTERS, exercises, solution_code

from tools import collect, notebooks

CHAPTER = next(path for path in CHAPTERS if path.stem == "13_decoding")


@pytest.fixture
def handed_in(tmp_path):
    """A folder with three people's notebooks: one right answer, one that lies about it, one who removed a cell."""

    def write(place, change):
        notebook = notebooks.read(CHAPTER)
        change({cell.id: cell for cell in notebook.cells}, notebook)
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        notebooks.write_text(path, notebooks.as_text(notebook))

    _, stub, after = exercises(notebooks.read(CHAPTER))[0]
    check = stub.source.splitlines()[-1]
    (solution,) = solution_code(after)

    def right(cells, _):
        cells[stub.id].source = f"{solution}\n\n{check}"
        cells[stub.id].outputs[0].text = "✓ right\n"

    def lying(cells, _):
        cells[stub.id].outputs[0].text = "✓ right\n"

    def without(cells, notebook):
        notebook.cells.remove(cells[stub.id])

    write("ada/homework.ipynb", right)
    write("ben.ipynb", lying)
    write("cleo/13_decoding.ipynb", without)
    (tmp_path / "broken.ipynb").write_text("{", encoding="utf-8")
    (tmp_path / "foreign.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', encoding="utf-8"
    )
    return tmp_path


def rows(printed):
    lines = [line.split(" | ") for line in printed.splitlines() if line.startswith("| ")]
    return {line[0].removeprefix("| "): (line[1], line[-1].removesuffix(" |")) for line in lines[1:]}


def test_stored_lines_are_read(handed_in, capsys):
    collect.main([str(handed_in)])
    printed = capsys.readouterr()
    assert rows(printed.out) == {"ada": ("✓", "1 of 5"), "ben": ("✓", "1 of 5"), "cleo": ("–", "0 of 5")}
    assert "broken.ipynb is no notebook" in printed.err
    assert "foreign.ipynb is no chapter of this course" in printed.err


def test_answers_are_run_again(handed_in, capsys, monkeypatch):
    every = collect.exercises
    # The others are stubs, and take as long.
    monkeypatch.setattr(
        collect, "exercises", lambda notebook: {name: cell for name, cell in every(notebook).items() if name == "score"}
    )
    collect.main([str(handed_in), "--again"])
    assert rows(capsys.readouterr().out) == {"ada": ("✓", "1 of 1"), "ben": ("○", "0 of 1"), "cleo": ("–", "0 of 1")}


@pytest.mark.parametrize(("folder", "message"), [("nowhere", "there is no folder"), (".", "there is no notebook in")])
def test_a_wrong_folder_is_named(tmp_path, folder, message, capsys):
    with pytest.raises(SystemExit):
        collect.main([str(tmp_path / folder)])
    assert message in capsys.readouterr().err
