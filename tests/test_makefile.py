"""`make test` works in a folder whose name has a space and Korean letters; the tools that it calls do nothing here."""

import os
import shutil
import subprocess

import pytest

from tools.notebooks import ROOT

TOOLS = ("python", "jupyter-book", "ruff", "codespell")


@pytest.mark.parametrize("book", [0, 3])
def test_make_test_says_whether_the_site_was_built(tmp_path, book):
    folder = tmp_path / "한글 이름"
    (folder / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    for name in (
        "requirements.txt",
        "pyproject.toml",
        "setup.py",
        ".venv/ready",
    ):  # the last is newest: nothing to install
        (folder / name).touch()
    for name in TOOLS:
        (folder / ".venv/bin" / name).write_text(f"#!/bin/sh\nexit {book if name == 'jupyter-book' else 0}\n", encoding="utf-8")
        (folder / ".venv/bin" / name).chmod(0o755)
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "BUILT"))}
    ended = subprocess.run(
        ["make", "test"], cwd=folder, env=outside | {"LC_ALL": "C"}, capture_output=True, text=True, check=False
    )
    assert bool(ended.returncode) == bool(book), ended.stdout + ended.stderr
    assert (folder / "_build/built").read_text(encoding="utf-8") == ("2\n" if book else "0\n")
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
