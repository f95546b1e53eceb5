"""The library stands on its own: what explains and draws it is loaded only by who asks for it."""

import json
import subprocess
import sys

from tools import notebooks

NOT_NEEDED = ("transformer_lib.teaching", "matplotlib", "IPython")

# In a fresh interpreter: nothing that the tests have loaded may stand in for what a module loads by itself.
IMPORT_EACH = """
import importlib, json, sys
modules, not_needed = json.load(sys.stdin)
loaded = {}
for module in modules:
    importlib.import_module(module)
    loaded[module] = [name for name in not_needed if name in sys.modules]
    for name in list(sys.modules):  # so that the next module that loads it is named too
        if name.startswith(tuple(not_needed)):
            del sys.modules[name]
print(json.dumps(loaded))
"""


def modules_outside_teaching():
    """Return the name of each module of the library outside `teaching`, the ones written by hand too."""
    paths = [path.relative_to(notebooks.ROOT) for path in (notebooks.ROOT / "transformer_lib").rglob("*.py")]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths if path.name != "_modidx.py"]
    return sorted(name for name in names if not name.startswith("transformer_lib.teaching"))


def test_no_module_loads_what_only_teaching_needs():
    modules = modules_outside_teaching()
    assert {"transformer_lib", "transformer_lib.attention", "transformer_lib._checks"} <= set(modules)
    given = json.dumps([modules, NOT_NEEDED])
    done = subprocess.run([sys.executable, "-c", IMPORT_EACH], cwd=notebooks.ROOT, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    assert list(loaded) == modules
    assert not {module: names for module, names in loaded.items() if names}
