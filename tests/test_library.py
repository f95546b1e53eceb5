"""What holds for the library as a whole: it stands on its own."""

import subprocess
import sys

import pytest

from tools import notebooks

LIBRARY = notebooks.ROOT / "transformer_lib"
MODULES = sorted(path.stem for path in LIBRARY.glob("*.py") if path.stem not in ("__init__", "_modidx"))
LOOK = """
import importlib, sys
importlib.import_module("transformer_lib." + sys.argv[1])
wrong = ("transformer_lib.teaching", "matplotlib", "IPython")
print(*sorted(name for name in sys.modules if name.startswith(wrong)))
"""


@pytest.mark.parametrize("module", MODULES)
def test_a_module_needs_no_teaching_and_no_pictures(module):
    """In a fresh interpreter: what explains the components may import them, never the other way round."""
    done = subprocess.run([sys.executable, "-c", LOOK, module], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
