"""Every folded solution passes the check of its own exercise."""

import contextlib
import copy
import io

import pytest
from helpers import destroy
from IPython.core.inputtransformer2 import TransformerManager
from reading import CHAPTERS, exercises, holds_only_imports, is_exported, solution_code

from tools import notebooks

EXERCISES = [
    pytest.param(path, name, stub, after, id=f"{path.stem}:{name}")
    for path in CHAPTERS
    for name, stub, after in exercises(notebooks.read(path))
]


# Their texts ask that what is handed in stays as it was.
ASK_FOR_A_COPY = {"sees_future"}


def in_place(solution):
    """Return a function with the solution's results that leaves nothing of its arguments."""

    def answer(*arguments):
        result = copy.deepcopy(solution(*arguments))
        destroy(arguments)
        return result

    return answer


@pytest.mark.parametrize(("path", "name", "stub", "after"), EXERCISES)
def test_solution_passes_its_check(path, name, stub, after):
    """A solution has what the reader has: the notebook's imports and its components, and nothing else.

    It may work in place, unless the text asks for a copy.
    """
    namespace = {}
    for cell in notebooks.read(path).cells:
        if cell.cell_type == "code" and (is_exported(cell) or holds_only_imports(cell)):
            exec(TransformerManager().transform_cell(cell.source), namespace)
    (code,) = solution_code(after)
    exec(code, namespace)

    def said():
        with contextlib.redirect_stdout(io.StringIO()) as line:
            exec(stub.source.splitlines()[-1], namespace)
        return line.getvalue()

    assert said().startswith("✓"), said()
    if isinstance(namespace[name], type):
        return
    namespace[name] = in_place(namespace[name])
    assert said().startswith("✗" if name in ASK_FOR_A_COPY else "✓"), said()
