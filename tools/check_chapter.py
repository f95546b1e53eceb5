"""Test one chapter, `python -m tools.check_chapter NAME`: its notebook, its module, its exercises and its structure."""

import subprocess
import sys

from tools import notebooks
from tools.run_notebook import tool

OF_EVERY_CHAPTER = [
    "tests/notebooks/test_structure.py",
    "tests/notebooks/test_export.py",
    "tests/notebooks/test_solutions.py",
    "tests/notebooks/test_address.py::test_notebook_holds_the_address",
]


def commands(path):
    """Return the commands that check the chapter at `path`: ruff on its files, then pytest."""
    module = notebooks.module_name(path)
    names = [f"test_{module}.py", f"teaching/test_exercises_{module}.py", f"teaching/test_{module}_experiment.py"]
    tests = [f"tests/{name}" for name in names if (notebooks.ROOT / "tests" / name).exists()]
    files = [str(path.relative_to(notebooks.ROOT)), *tests]
    # What a test says of another chapter is left out; each such test is called after the chapter's stem.
    others = " or ".join(other.stem for other in notebooks.all_notebooks() if other != path)
    selection = ["-k", f"not ({others})"] if others else []
    processes = ["-n", "2", "--dist", "loadscope", "--no-loadscope-reorder"]
    return [
        [tool("ruff"), "check", *files],
        [tool("ruff"), "format", "--check", "--output-format", "concise", *files],
        [sys.executable, "-m", "pytest", "-q", *processes, "--nbval", *selection, *files, *OF_EVERY_CHAPTER],
    ]


def main():
    if len(sys.argv) != 2:
        raise SystemExit("Which chapter? A number, a stem or a module, such as 07: make check NB=07")
    path = notebooks.find(sys.argv[1])
    # All of them, so that one failure does not hide the others.
    failed = [command for command in commands(path) if subprocess.run(command, cwd=notebooks.ROOT).returncode]
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
