"""What holds for every check: one line, never an error, and words that help."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_formula, expect_shape


@exercise
def double(attempt):
    expect_formula(attempt, [(2,), (3,)], lambda x: 2 * x, [(lambda x: x**2, "that is the square")], "Add x to itself")
    return "twice as much"


@pytest.fixture
def says(capsys):
    def check(attempt):
        assert double(attempt) is None
        line, rest = capsys.readouterr().out.split("\n", 1)
        assert rest == ""
        return line

    return check


def stub(x):
    raise NotImplementedError


def ends_early(x):
    numbers = [1]
    return numbers[x]


def fails_in_a_library(x):
    return torch.nn.Linear(2, 2)(torch.ones(3))


def leaves(x):
    raise SystemExit


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def fails_silently(x):
    raise Unprintable


@pytest.mark.parametrize(
    "answer", [lambda x: 2 * x, lambda x: np.float32(2 * x), lambda x: torch.tensor(2.0 * x, requires_grad=True)]
)
def test_a_right_answer_is_praised(says, answer):
    assert says(answer) == "✓ double: twice as much"


@pytest.mark.parametrize("attempt", [stub, None, ...])
def test_a_stub_is_not_attempted_yet(says, attempt):
    assert says(attempt) == "○ double: not attempted yet"


@pytest.mark.parametrize("nothing", [None, ...])
def test_a_function_that_returns_nothing_is_not_attempted_yet(says, nothing):
    assert says(lambda x: nothing) == "○ double: not attempted yet: the function returns nothing (is a `return` missing?)"


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda x: x**2, ["that is the square"]),
        (lambda x: 7, ["(2) is 7, expected 4", "Add x to itself"]),
        (lambda x: [1, 2], ["has shape (2,), expected ()"]),
        (lambda x: math.nan, ["is nan, expected 4"]),
        (lambda x: "four", ["is a str: 'four', expected numbers"]),
        (lambda: 4, ["(2) raises TypeError", "takes 0 positional arguments but 1 was given"]),
        (4, ["hand over the function itself, as in double(double); this is an int: 4"]),
        (ends_early, ["(2) raises IndexError: list index out of range", "of your code: return numbers[x]"]),
        (fails_in_a_library, ["RuntimeError", "of your code: return torch.nn.Linear(2, 2)(torch.ones(3))"]),
        (leaves, ["raises SystemExit"]),
        (fails_silently, ["raises Unprintable", "of your code: raise Unprintable"]),
    ],
)
def test_a_wrong_answer_gets_a_hint(says, attempt, words):
    line = says(attempt)
    assert line.startswith("✗ double: ")
    for part in words:
        assert part in line


def test_the_line_of_an_error_is_the_readers(says):
    assert f"(line {fails_in_a_library.__code__.co_firstlineno + 1} of your code" in says(fails_in_a_library)


def test_a_fault_in_the_check_itself_does_not_raise(capsys):
    @exercise
    def broken(attempt):
        raise ArithmeticError("ours")

    broken(lambda: 1)
    assert capsys.readouterr().out == "✗ broken: the answer could not be checked (ArithmeticError)\n"


def test_the_check_keeps_its_name_and_its_words():
    assert double.__name__ == "double"


@pytest.mark.parametrize("value", [[1, 2], (1.0, 2.0), np.array([1, 2]), torch.tensor([1, 2]), torch.ones(2).bfloat16()])
def test_expect_shape_takes_lists_arrays_and_tensors(value):
    assert expect_shape(value, (2,)).shape == (2,)


@pytest.mark.parametrize(
    "value", [[[1], [1, 2]], {"a": 1}, 1j, 10**400, SimpleNamespace(detach=3), torch.ones(1, device="meta")]
)
def test_expect_shape_hints_at_what_is_not_numbers(value):
    with pytest.raises(Hint, match="expected numbers"):
        expect_shape(value, (2,))


def test_expect_close_names_what_came_and_what_was_expected():
    with pytest.raises(Hint, match=r"the pair is \[1, 2.5\], expected \[1, 3\]. Look again"):
        expect_close([1, 2.5], [1, 3], "Look again", what="the pair")


def test_expect_close_accepts_single_precision_and_not_more():
    expect_close(np.float32([1 / 3, 1000 / 3]), [1 / 3, 1000 / 3], "")
    with pytest.raises(Hint):
        expect_close([1.001], [1], "")
