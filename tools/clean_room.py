"""The library as pip installs it, in a folder of its own, and kernels that see it and nothing of the checkout: as in Colab."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools import notebooks

# Python runs this file at its start. The library of the checkout, installed editable, must not stand in for the installed one.
SITE_CUSTOMIZE = """\
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
"""


def build(folder):
    """Install what git would publish of the library into `folder / "installed"`, and return `folder`.

    Nothing is fetched: the dependencies are those of the running Python.
    """
    folder = Path(folder)
    source, target = folder / "source", folder / "installed"
    (folder / "elsewhere").mkdir(parents=True)
    source.mkdir()
    for name in ["pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-TEXT.md"]:
        shutil.copy(notebooks.ROOT / name, source)
    leftovers = shutil.ignore_patterns("__pycache__", "_modidx.py")
    shutil.copytree(notebooks.ROOT / "transformer_lib", source / "transformer_lib", ignore=leftovers)
    shutil.copytree(notebooks.ROOT / "benchmarks" / "results", source / "benchmarks" / "results")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*install, *offline, str(source)], check=True)
    (target / "sitecustomize.py").write_text(SITE_CUSTOMIZE, encoding="utf-8")
    return folder


def kernel_options(folder):
    """Return how a kernel is started in the clean room `folder`: its working folder and its environment."""
    folder = Path(folder)
    return {"cwd": str(folder / "elsewhere"), "env": os.environ | {"PYTHONPATH": str(folder / "installed")}}
