"""The course's address is written in one place, and its copies agree."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml
from reading import CHAPTERS

from tools import address, notebooks

ADDRESS = "https://github.com/someone/a-course"

# Runs a set-up cell as Jupyter would, where transformer_lib is missing, and prints what happened as JSON.
RUN_WITHOUT_LIBRARY = """
import json, sys
sys.modules["transformer_lib"] = None  # Python's own mark for a module that cannot be imported
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
installs = []
shell.register_magic_function(installs.append, magic_name="pip")
shell.showtraceback = lambda *arguments, **options: None
error = shell.run_cell(sys.stdin.read(), store_history=False).error_in_exec
print(json.dumps({"installs": installs, "error": type(error).__name__, "message": str(error)}))
"""


def copies(root):
    """Return the (repository, branch) that each copy of the address holds."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return config["repository"]["url"], config["repository"]["branch"], config["launch_buttons"]["colab_url"]


@pytest.fixture
def stamp(project, monkeypatch, capsys):
    """`python -m tools.address` in a copy of the project, without the seconds that a new process takes to start."""
    monkeypatch.setattr(notebooks, "ROOT", project)
    monkeypatch.setattr(notebooks, "FOLDER", project / "notebooks")

    def run(*arguments):
        code = 0
        try:
            address.main(arguments)
        except SystemExit as exit:
            if isinstance(exit.code, str):
                print(exit.code, file=sys.stderr)
            code = exit.code if isinstance(exit.code, int) else 1
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run


def contents(project):
    paths = [project / "pyproject.toml", project / "_config.yml", *(project / "notebooks").glob("*.ipynb")]
    return {path.name: path.read_bytes() for path in paths}


def sources(path):
    return {cell.id: cell.source for cell in notebooks.read(path).cells}


def set_up(repository):
    return address.cells_for(notebooks.FOLDER / "05_stem.ipynb", repository, "main")["set-up"]


def run_without_library(source):
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUN_WITHOUT_LIBRARY], input=source, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_config_holds_the_address():
    repository, branch = address.stored_address()
    assert copies(notebooks.ROOT) == (repository, branch, address.COLAB if repository else "")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_notebook_holds_the_address(path):
    expected = address.cells_for(path, *address.stored_address())
    assert expected.items() <= sources(path).items(), "run `python -m tools.address --stamp`"


def test_stamping_and_taking_it_back(project, stamp):
    assert stamp("").returncode == 0
    assert copies(project) == ("", "main", "")
    unset = contents(project)
    assert stamp(ADDRESS, "--branch", "course/2026").returncode == 0
    stamped = contents(project)
    assert all(stamped[name] != unset[name] for name in unset)

    assert copies(project) == (ADDRESS, "course/2026", "https://colab.research.google.com")
    for path in (project / "notebooks").glob("*.ipynb"):
        text = sources(path)
        assert f"blob/course/2026/notebooks/{path.name})" in text["colab-badge"]
        assert f'REPOSITORY = "{ADDRESS}"\nBRANCH = "course/2026"\n' in text["set-up"]

    again = stamp(f"{ADDRESS}.git/", "--branch", "course/2026")
    assert (again.returncode, again.stdout, contents(project)) == (0, "", stamped)
    assert stamp("--stamp").stdout == ""
    assert stamp("").returncode == 0
    assert contents(project) == unset


def test_stamping_changes_only_its_own_lines(project, stamp):
    before = contents(project)
    assert stamp(ADDRESS).returncode == 0
    after = contents(project)
    for name, most in {"pyproject.toml": 1, "_config.yml": 2}.items():
        old, new = before[name].splitlines(), after[name].splitlines()
        assert len(old) == len(new)
        assert sum(a != b for a, b in zip(old, new)) <= most
    for path in (project / "notebooks").glob("*.ipynb"):
        old, new = json.loads(before[path.name]), json.loads(after[path.name])
        changed = {a["id"] for a, b in zip(old["cells"], new["cells"], strict=True) if a != b}
        assert changed <= {"colab-badge", "set-up"}


@pytest.mark.parametrize(
    ("repository", "branch"),
    [
        ("http://github.com/someone/a-course", "main"),
        ("https://github.com/someone", "main"),
        ("https://github.com/someone/a-course/tree/main", "main"),
        ("https://gitlab.com/someone/a-course", "main"),
        ("https://github.com.example.org/someone/a-course", "main"),
        ("https://someone@github.com/someone/a-course", "main"),
        ('https://github.com/someone/a"course', "main"),
        ("https://github.com/someone/..", "main"),
        ("git@github.com:someone/a-course.git", "main"),
        (ADDRESS, "a branch"),
        (ADDRESS, "../main"),
        (ADDRESS, "a..b"),
        (ADDRESS, ""),
    ],
)
def test_bad_address_is_refused(repository, branch):
    with pytest.raises(ValueError, match="this came"):
        address.check_address(repository, branch)


@pytest.mark.parametrize("arguments", [["https://gitlab.com/someone/a-course"], [], [ADDRESS, "--stamp"]])
def test_bad_command_changes_nothing(project, stamp, arguments):
    before = contents(project)
    done = stamp(*arguments)
    assert done.returncode != 0
    assert "address" in done.stderr and "Traceback" not in done.stderr
    assert contents(project) == before


def test_error_in_one_notebook_leaves_every_file(project, stamp):
    last = sorted((project / "notebooks").glob("*.ipynb"))[-1]
    last.write_text(last.read_text(encoding="utf-8").replace('"id": "colab-badge"', '"id": "renamed"'), encoding="utf-8")
    before = contents(project)
    done = stamp(ADDRESS)
    assert (done.returncode, contents(project)) == (1, before)
    assert "no cell with the id `colab-badge`" in done.stderr


def test_unset_address_installs_nothing_and_says_what_to_set():
    happened = run_without_library(set_up(""))
    assert happened["installs"] == []
    assert happened["error"] == "RuntimeError"
    for words in ['REPOSITORY = ""', "https://github.com/OWNER/REPOSITORY", "nothing was installed", "pip install -e ."]:
        assert words in happened["message"]


def test_set_address_installs_once_from_there_and_leaves_torch_alone():
    happened = run_without_library(set_up(ADDRESS))
    assert happened["error"] == "NoneType", happened
    assert happened["installs"] == [f'install --quiet "transformer-lib @ git+{ADDRESS}@main"']
    assert "torch" not in set_up(ADDRESS)


def test_set_up_is_silent_where_the_library_is_installed(capfd):
    from IPython.core.inputtransformer2 import TransformerManager

    exec(TransformerManager().transform_cell(set_up(ADDRESS)), {})
    assert capfd.readouterr() == ("", "")
