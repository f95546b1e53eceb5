"""Every folded solution passes the check of its own exercise."""

import contextlib
import io

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from reading import CHAPTERS, exercises, holds_only_imports, is_exported, solution_code

from tools import notebooks

EXERCISES = [
    pytest.param(path, name, stub, after, id=f"{path.stem}:{name}")
    for path in CHAPTERS
    for name, stub, after in exercises(notebooks.read(path))
]


@pytest.mark.parametrize(("path", "name", "stub", "after"), EXERCISES)
def test_solution_passes_its_check(path, name, stub, after):
    """A solution has what the reader has: the notebook's imports and its components, and nothing else."""
    namespace = {}
    for cell in notebooks.read(path).cells:
        if cell.cell_type == "code" and (is_exported(cell) or holds_only_imports(cell)):
            exec(TransformerManager().transform_cell(cell.source), namespace)
    (code,) = solution_code(after)
    exec(code, namespace)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(stub.source.splitlines()[-1], namespace)
    assert said.getvalue().startswith("✓"), said.getvalue()
