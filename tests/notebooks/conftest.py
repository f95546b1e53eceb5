"""A copy of the project for the tests that write in it."""

import shutil

import pytest

from tools import notebooks

# What an export reads and writes; a copy of it is a project of its own.
PARTS = ["notebooks", "pyproject.toml", "transformer_lib"]


@pytest.fixture
def project(tmp_path):
    """Return the folder of a fresh copy of the project."""
    root = tmp_path / "project"
    root.mkdir()
    leftovers = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "_modidx.py")
    for part in PARTS:
        source = notebooks.ROOT / part
        if source.is_dir():
            shutil.copytree(source, root / part, ignore=leftovers)
        else:
            shutil.copy(source, root / part)
    return root
