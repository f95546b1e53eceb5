"""Test one chapter, its notebook, module, exercises and structure: `python -m tools.check_chapter NAME`."""

import subprocess
import sys

from tools import notebooks


def selection(name):
    """Return pytest's arguments for the chapter called `name`: a number, a stem or a module."""
    path = notebooks.find(name)
    module = notebooks.module_name(path)
    files = [f"tests/test_{module}.py", f"tests/teaching/test_check_{module}.py"]
    present = [file for file in files if (notebooks.ROOT / file).exists()]
    structure = ["tests/notebooks/test_export.py", "tests/notebooks/test_solutions.py"]
    structure += [f"tests/notebooks/test_structure.py::{test}" for test in structure_tests(path)]
    return [str(path.relative_to(notebooks.ROOT)), *present, *structure]


def structure_tests(path):
    """Return the tests of the structure that look at this notebook."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/notebooks/test_structure.py"],
        cwd=notebooks.ROOT,
        capture_output=True,
        text=True,
    )
    return [line.split("::", 1)[1] for line in listed.stdout.splitlines() if f"[{path.stem}]" in line]


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tools.check_chapter NAME, such as 07, encoder or 07_encoder")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadscope", "--nbval", *selection(sys.argv[1])]
    raise SystemExit(subprocess.run(command, cwd=notebooks.ROOT).returncode)


if __name__ == "__main__":
    main()
