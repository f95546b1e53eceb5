"""What holds for every check: one line, never an error, and words that help."""

import math
import pkgutil
import signal
import threading
import time
from importlib import import_module
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from transformer_lib.teaching import exercises
from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_formula, expect_shape, formula, softmax


@exercise
def double(attempt):
    expect_formula(attempt, [(2,), (3,)], lambda x: 2 * x, [(lambda x: x**2, "that is the square")], "Add x to itself")
    return "twice as much"


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
    assert says(double, answer) == "✓ double: twice as much"


@pytest.mark.parametrize("attempt", [stub, None, ...])
def test_a_stub_is_not_attempted_yet(says, attempt):
    assert says(double, attempt) == "○ double: not attempted yet"


@pytest.mark.parametrize("nothing", [None, ...])
def test_a_function_that_returns_nothing_is_not_attempted_yet(says, nothing):
    assert (
        says(double, lambda x: nothing) == "○ double: not attempted yet: the function returns nothing (is a `return` missing?)"
    )


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
    line = says(double, attempt)
    assert line.startswith("✗ double: ")
    for part in words:
        assert part in line


def test_the_line_of_an_error_is_the_readers(says):
    assert f"(line {fails_in_a_library.__code__.co_firstlineno + 1} of your code" in says(double, fails_in_a_library)


def test_a_fault_in_the_check_itself_does_not_raise(says):
    @exercise
    def broken(attempt):
        raise ArithmeticError("ours")

    assert says(broken, lambda: 1) == "✗ broken: the answer could not be checked (ArithmeticError)"


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


@formula(cases=[(2, 5), (3, 4)], hint="Each row has its own bias")
def parameters(rows, columns):
    """How many parameters a linear layer has."""
    yield rows * columns + rows, "one weight for each pair, and one bias for each row"
    yield rows * columns, "the biases are missing"
    yield rows * columns + columns, "a bias belongs to a row"


@pytest.mark.parametrize(
    ("attempt", "line"),
    [
        (lambda rows, columns: rows * (columns + 1), "✓ parameters: one weight for each pair, and one bias for each row"),
        (lambda rows, columns: rows * columns, "✗ parameters: the biases are missing"),
        (lambda rows, columns: rows * columns + columns, "✗ parameters: a bias belongs to a row"),
        (lambda rows, columns: 12, "✗ parameters: the result for (3, 4) is 12, expected 15. Each row has its own bias"),
        (lambda rows, columns: (rows * columns,), "✗ parameters: the result for (2, 5) has shape (1,), expected ()"),
        (stub, "✗ parameters: (2, 5) raises TypeError: stub() takes 1 positional argument but 2 were given"),
        (None, "○ parameters: not attempted yet"),
    ],
)
def test_a_formula_is_told_by_its_answers(says, attempt, line):
    assert says(parameters, attempt) == line


def test_a_formula_keeps_its_name_and_its_words():
    assert (parameters.__name__, parameters.__doc__) == ("parameters", "How many parameters a linear layer has.")


def test_softmax_is_torchs():
    scores = np.array([[1.0, 2.0, -np.inf], [1000.0, 0.0, 0.0]])
    for axis in (0, 1):
        assert np.allclose(softmax(scores, axis), torch.tensor(scores).softmax(axis))
    assert np.allclose(softmax([0.0, 0.0]), [0.5, 0.5])


def loops_for_ever(x):
    while True:
        pass


def loops_through_errors(x):
    while True:
        try:  # noqa: SIM105
            loops_for_ever(x)
        except Exception:
            pass


def loops_through_everything(x):
    while True:
        try:  # noqa: SIM105
            len([x])
        except:  # noqa: E722
            pass


def sleeps(x):
    time.sleep(60)


ENDLESS = [loops_for_ever, loops_through_errors, loops_through_everything, sleeps]
needs_alarm = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no SIGALRM")


@needs_alarm
@pytest.mark.parametrize("attempt", ENDLESS)
def test_an_endless_loop_ends_in_a_message(says, monkeypatch, attempt):
    monkeypatch.setattr(exercises, "SECONDS", 0.2)
    start = time.monotonic()
    line = says(double, attempt)
    assert line == "✗ double: (2) had no answer after 0.2 seconds, and was stopped: is there a loop that never ends?"
    assert time.monotonic() - start < 10


@needs_alarm
@pytest.mark.parametrize("attempt", [loops_for_ever, lambda x: 2 * x, stub, ends_early])
def test_the_time_limit_leaves_nothing_behind(says, monkeypatch, attempt):
    """An alarm that somebody else has set rings as if no exercise had been checked."""
    monkeypatch.setattr(exercises, "SECONDS", 0.2)
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    try:
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        says(double, attempt)
        assert rung == []
        while not rung and time.monotonic() - start < 10:
            time.sleep(0.01)
        assert rung[0] - start >= 0.99
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        says(double, attempt)
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert len(rung) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_outside_the_main_thread_answers_are_checked(says):
    lines = []
    thread = threading.Thread(target=lambda: lines.append(says(double, lambda x: 2 * x)))
    thread.start()
    thread.join()
    assert lines == ["✓ double: twice as much"]


@needs_alarm
def test_an_endless_loop_ends_in_a_notebook():
    """In a kernel's main thread, as in Jupyter and Colab; the next cell runs as ever."""
    cells = [
        "from transformer_lib.teaching import exercises\n"
        "from transformer_lib.teaching.exercises import attention\n"
        "exercises.SECONDS = 0.2",
        "def split(x, num_heads):\n    while True:\n        pass\n\n\nattention.split(split)",
        "print('and on')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    said = ["".join(output.text for output in cell.outputs) for cell in notebook.cells]
    assert said[1].startswith("✗ split: ") and "had no answer after 0.2 seconds" in said[1]
    assert said[2] == "and on\n"


CHAPTERS = [import_module(f"{exercises.__name__}.{module.name}") for module in pkgutil.iter_modules(exercises.__path__)]
CHECKS = {
    f"{chapter.__name__.split('.')[-1]}.{name}": getattr(chapter, name) for chapter in CHAPTERS for name in chapter.__all__
}
ODD_THINGS = [int, range(2), b"", 10**400, np.array("a"), np.zeros((1, 0)), torch.ones(3).bool(), (torch.eye(2).bool(), None)]
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=5)
    | st.just(...)
    | st.just(object())
    | st.sampled_from([*ODD_THINGS, torch.zeros(0, 2), torch.full((2,), math.nan), torch.full((3, 4), math.nan), torch.eye(4)]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2) | st.tuples(inner, inner)
    ),
    max_leaves=6,
)
PROBLEMS = st.sampled_from([ValueError("two\nlines"), NotImplementedError(), SystemExit(1), RecursionError(), StopIteration()])


def raises(problem):
    def attempt(*arguments):
        raise type(problem)(*problem.args)  # one that is raised again would keep its way through all examples

    return attempt


@pytest.mark.parametrize("name", CHECKS)
@settings(max_examples=50)
@given(junk=JUNK, problem=PROBLEMS)
@example(junk=np.zeros((1, 0)), problem=ValueError("two\nlines"))  # compared with a word it is neither true nor false
def test_no_check_of_any_chapter_raises_whatever_the_reader_hands_over(says, name, junk, problem):
    for attempt in (junk, lambda *arguments: junk, raises(problem)):
        line = says(CHECKS[name], attempt)
        assert line[0] in "○✗"
        assert "could not be checked" not in line
