"""No bare comparison in the tests and benchmarks themselves, and a check of the check."""

import ast

import pytest
from comparisons import bare_comparisons

from tools import notebooks

pytestmark = pytest.mark.pitfall(33)

FILES = sorted([*notebooks.ROOT.glob("tests/**/*.py"), *notebooks.ROOT.glob("benchmarks/**/*.py")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(notebooks.ROOT)))
def test_no_bare_comparison(path):
    assert not bare_comparisons(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "code",
    [
        "a == b",
        "a < b < c",
        "not a",
        "x and a == b",
        "(a == b).all()",
        "(a == b).all().item()",
        "torch.allclose(a, b)",
        "torch.equal(a, b)",
        "np.isclose(a, b)",
        "if c:\n    a == b",
        "print(a == b)",
        "print('equal:', torch.equal(a, b))",
        "print(f'equal: {a == b}')",
        "print(bool((a == b).all()))",
        "a == b, c",
    ],
)
def test_a_bare_comparison_is_found(code):
    assert bare_comparisons(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "assert a == b",
        "same = a == b",
        "assert torch.equal(a, b)",
        "torch.testing.assert_close(a, b)",
        "print(a)",
        "show(a == b)",
        "run(mask=a == b)",
        "print(f'{a:.3f}')",
        "[x for x in y if x == 1]",
    ],
)
def test_other_statements_are_left_alone(code):
    assert not bare_comparisons(ast.parse(code))
