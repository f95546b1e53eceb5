"""What holds for every check: one line, never an error, and words that help."""

import copy
import inspect
import math
import pkgutil
import re
import signal
import threading
import time
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from helpers import destroy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from transformer_lib.teaching import exercises
from transformer_lib.teaching.exercises import Hint, compare, exercise, expect, check, normal, numbers

needs_alarm = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no SIGALRM")


@exercise(cases=[(2,), (3,)], hint="Add x to itself")
def double(x):
    """The reader's `double(x)` is 2x."""
    yield 2 * x, "twice as much"
    yield x**2, "that is the square"


def stub(x):
    raise NotImplementedError


def ends_early(x):
    numbers = [1]
    return numbers[x]


def fails_in_a_library(x):
    return torch.nn.Linear(2, 2)(torch.ones(3))


def leaves(x):
    raise SystemExit


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
        (lambda x: 7, ["the result for (2) should be 4, not 7. Add x to itself"]),
        (lambda x: 4, ["the result for (3) should be 6, not 4. Add x to itself"]),
        (lambda x: [1, 2], ["should be 4, not [1, 2]"]),
        (lambda x: np.ones((3, 4)), ["should be one number, not numbers of the shape (3, 4)"]),
        (lambda x: math.nan, ["should be 4, not nan"]),
        (lambda x: 4.001, ["should be 4, not 4.001"]),
        (lambda x: 4.00041, ["should be 4, not 4.00041"]),
        (lambda x: "four", ["should be a number, not a str: 'four'"]),
        (lambda x: "4", ["should be a number, not a str: '4'"]),
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


def test_arguments_are_written_out_where_they_say_something(says):
    def pieces():
        yield 1

    @check
    def call(attempt):
        attempt(2, ["a"], torch.full((2,), 0.5), torch.tensor([1, 2]), torch.zeros(17), pieces(), stub, torch.nn.ReLU())

    shown = "(2, ['a'], array of shape (2,), [1, 2], array of shape (17,), pieces, stub, ReLU)"
    assert says(call, lambda *arguments: fails_in_a_library(1)).startswith(f"✗ call: {shown} raises RuntimeError")


def test_a_fault_in_the_check_itself_does_not_raise(says):
    @check
    def broken(attempt):
        raise ArithmeticError("ours")

    assert says(broken, lambda: 1) == "✗ broken: the answer could not be checked (ArithmeticError)"


def test_an_exercise_keeps_its_name_and_its_words():
    assert (double.__name__, double.__doc__) == ("double", "The reader's `double(x)` is 2x.")


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1.0, 2.0), np.array([1, 2]), torch.tensor([1, 2]), torch.ones(2).bfloat16(), [torch.tensor(1.0), Fraction(2)]],
)
def test_lists_arrays_and_tensors_are_numbers(value):
    assert numbers(value, (2,)).shape == (2,)


@pytest.mark.parametrize(
    "value",
    [[[1], [1, 2]], {"a": 1}, 1j, 10**400, "12", ["1", "2"], SimpleNamespace(detach=3), torch.ones(1, device="meta")],
)
def test_all_else_is_not(value):
    with pytest.raises(Hint, match="the result should be numbers, not a"):
        numbers(value, (2,))


def test_a_single_number_is_asked_for_by_its_name():
    assert numbers(torch.tensor(2.0)) == 2
    with pytest.raises(Hint, match="the sum should be a number, not a str: 'x'"):
        numbers("x", what="the sum")
    with pytest.raises(Hint, match=r"the sum should be one number, not numbers of the shape \(1,\)"):
        numbers([2], what="the sum")


@pytest.mark.parametrize(
    ("value", "expected", "words"),
    [
        ([1, 2.5], [1, 3], "the pair should be [1, 3], not [1, 2.5]. Look again"),
        ([1, 2], [1, 3, 4], "the pair should be [1, 3, 4], not [1, 2]. Look again"),
        (np.ones((2, 3)), np.ones((3, 2)), "the pair should have the shape (3, 2), not (2, 3). Look again"),
        (np.ones(40), np.ones(50), "the pair should have the shape (50,), not (40,). Look again"),
        (
            np.arange(24).reshape(2, 3, 4),
            np.arange(24).reshape(2, 3, 4) % 23,
            "the pair should have 0 at [1, 2, 3], not 23 (1 of 24 numbers differ). Look again",
        ),
        (b"a", "a", "the pair should be a text, not a bytes: b'a'. Look again"),
        ("a b", "a", "the pair should be 'a', not 'a b'. Look again"),
        (["a", 1], ["a", "b"], "the pair should be a list of texts, not a list: ['a', 1]. Look again"),
        (["a"], ["a", "b"], "the pair should be ['a', 'b'], not ['a']. Look again"),
    ],
)
def test_a_hint_says_what_should_have_come_and_what_came(value, expected, words):
    with pytest.raises(Hint) as raised:
        expect(value, expected, "Look again", what="the pair")
    assert str(raised.value) == words


def test_single_precision_is_enough_and_less_is_not():
    expect(np.float32([1 / 3, 1000 / 3]), [1 / 3, 1000 / 3], "")
    expect([math.inf, math.nan, 1], [math.inf, math.nan, 1.00005], "")
    for value, expected in ((1.001, 1), (0.001, 0), ([0.2, 1000], [0.4, 1000])):
        with pytest.raises(Hint):
            expect(value, expected, "")


@exercise(cases=[(2, 5), (3, 4)], hint="Each row has its own bias")
def parameters(rows, columns):
    yield rows * columns + rows, "one weight for each pair, and one bias for each row"
    yield rows * columns, "the biases are missing"
    yield rows * columns + columns, "a bias belongs to a row"
    yield 10 * rows, f"{rows} rows make no {10 * rows}"
    if columns == 4:
        yield 44, "44 is said of the second case alone"
    else:
        yield 12, "that is right here, and so no mistake"


@pytest.mark.parametrize(
    ("attempt", "line"),
    [
        (lambda rows, columns: rows * (columns + 1), "✓ parameters: one weight for each pair, and one bias for each row"),
        (lambda rows, columns: rows * columns, "✗ parameters: the biases are missing"),
        (lambda rows, columns: rows * columns + columns, "✗ parameters: a bias belongs to a row"),
        # The first result is right and explains nothing; the second could also be a mistake, which the first is not.
        (lambda rows, columns: 12, "✗ parameters: the result for (3, 4) should be 15, not 12. Each row has its own bias"),
        (lambda rows, columns: 10 * rows, "✗ parameters: 2 rows make no 20"),
        (lambda rows, columns: 44 if rows == 3 else 12, "✗ parameters: 44 is said of the second case alone"),
        (lambda rows, columns: 44 if rows == 3 else 13, "✗ parameters: 44 is said of the second case alone"),
        (stub, "✗ parameters: (2, 5) raises TypeError: stub() takes 1 positional argument but 2 were given"),
        (None, "○ parameters: not attempted yet"),
    ],
)
def test_a_mistake_is_told_by_all_its_results(says, attempt, line):
    assert says(parameters, attempt) == line


def fails(x):
    return [][x]


@pytest.mark.parametrize("then", [fails, stub, lambda x: None, pytest.param(sleeps, marks=needs_alarm)])
def test_what_was_wrong_before_says_more_than_an_error_that_follows(says, monkeypatch, then):
    monkeypatch.setattr(exercises, "SECONDS", 0.1)
    line = says(parameters, lambda rows, columns: rows * columns if rows == 2 else then(rows))
    assert line == "✗ parameters: the biases are missing"


@pytest.mark.parametrize(
    ("then", "line"),
    [
        (fails, "(3) raises IndexError"),
        (stub, "(3) raises NotImplementedError"),
        (lambda x: None, "(3) returns nothing: is a `return` missing at the end?"),
    ],
)
def test_an_error_after_right_answers_is_told(says, then, line):
    assert line in says(double, lambda x: 4 if x == 2 else then(x))


@exercise(cases=[(4.0,), (0.0,)], hint="Turn it over")
def inverse(x):
    if x:
        yield 1 / x, "or 0 where there is none"
        yield x, "turn it over"
    else:
        yield 0, "or 0 where there is none"
        yield math.inf, "or 0 where there is none"
        yield ZeroDivisionError, "0 has no inverse"


@pytest.mark.parametrize(
    ("attempt", "line"),
    [
        (lambda x: 1 / x if x else 0, "✓ inverse: or 0 where there is none"),
        (lambda x: 1 / x if x else np.float64("inf"), "✓ inverse: or 0 where there is none"),
        (lambda x: 1 / x, "✗ inverse: 0 has no inverse"),
        (lambda x: 0.25 if x else fails(0), "✗ inverse: (0.0) raises IndexError"),
        (lambda x: x or fails(0), "✗ inverse: turn it over"),
    ],
)
def test_a_table_may_have_two_right_answers_and_an_exception(says, attempt, line):
    assert says(inverse, attempt).startswith(line)


@exercise(cases=[([3, 1], "b")], hint="Sort them, and double the word", parts=("the list", "the word"))
def both(values, word):
    yield (sorted(values), 2 * word), "sorted and doubled"
    yield (..., word), "the word is not doubled"
    yield (values, ...), "the list is not sorted"


@pytest.mark.parametrize(
    ("attempt", "line"),
    [
        (lambda values, word: (np.sort(values), 2 * word), "✓ both: sorted and doubled"),
        (lambda values, word: [[0, 0], word], "✗ both: the word is not doubled"),
        (lambda values, word: (values, "x"), "✗ both: the list is not sorted"),
        (lambda values, word: ([1, 3], 5), "✗ both: the word should be a text, not an int: 5. Sort them, and double the word"),
        (lambda values, word: ([1, 4], "bb"), "✗ both: the list should be [1, 3], not [1, 4]. Sort them"),
        (lambda values, word: [1, 3, 4], "✗ both: return two things: the list and the word"),
        (lambda values, word: torch.tensor(1), "✗ both: return two things: the list and the word"),
        (lambda values, word: "bb", "✗ both: return two things: the list and the word"),
    ],
)
def test_several_results_are_named(says, attempt, line):
    assert says(both, attempt).startswith(line)


def test_one_result_is_compared_as_a_table_does():
    answers = [(2.0, "right"), (3.0, "one too many")]
    assert compare(torch.tensor(2), answers, "Count") == "right"
    for value, words in ((3, "one too many"), (4, "the result of the run should be 2, not 4. Count")):
        with pytest.raises(Hint) as raised:
            compare(value, answers, "Count", where=" of the run")
        assert str(raised.value) == words


def test_normal_numbers_come_from_a_seed():
    one, other = normal((2, 3), (4,), seed=1)
    assert one.shape == (2, 3) and other.shape == (4,) and one.dtype == torch.float64
    assert one.equal(normal((2, 3), seed=1)[0]) and not one.equal(normal((2, 3), seed=2)[0])


ARGUMENTS = [torch.arange(3.0), np.arange(3.0), [1, 2], {1, 2}, {"a": [1]}, ([1], torch.zeros(2)), torch.nn.Linear(2, 2)]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=lambda argument: type(argument).__name__)
def test_each_call_gets_copies_of_its_own(says, argument):
    def content(thing):
        return str([thing.training, *thing.parameters()] if isinstance(thing, torch.nn.Module) else thing)

    def found(thing):
        before = content(thing)
        destroy(thing)
        assert content(thing) != before
        return before

    @exercise(cases=[(argument,), (argument,)], hint="")
    def look(thing):
        yield found(thing), "it is as it was"

    before = content(argument)
    assert says(look, found) == "✓ look: it is as it was"
    assert content(argument) == before


def test_a_check_sees_what_the_answer_has_changed(says):
    given = [1, 2]

    @check
    def keeps(attempt):
        attempt(given)
        return "kept" if attempt.handed == [given] else "changed"

    assert says(keeps, lambda values: values[0]) == "✓ keeps: kept"
    assert says(keeps, lambda values: values.pop()) == "✓ keeps: changed"
    assert given == [1, 2]


def test_where_a_copy_is_asked_for_an_answer_in_place_is_refused(says):
    @exercise(cases=[([3, 1],), ([1, 3],)], hint="Sort them", keep=True)
    def in_order(values):
        yield sorted(values), "in order"

    assert says(in_order, sorted) == "✓ in_order: in order"
    changed = "the result is right, but what was handed in has changed too: work on a copy"
    assert says(in_order, lambda values: values.sort() or values) == f"✗ in_order: {changed}"
    assert "should be [1, 3], not [3, 1]" in says(in_order, lambda values: values.reverse() or sorted(values)[::-1])


ENDLESS = [loops_for_ever, loops_through_errors, loops_through_everything, sleeps]


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
    monkeypatch.setattr(exercises, "SECONDS", 0.1)
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    try:
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        says(double, attempt)
        assert rung == []
        while not rung and time.monotonic() - start < 10:
            time.sleep(0.01)
        assert rung[0] - start >= 0.39
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


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.__name__.split(".")[-1])
@settings(max_examples=50)
@given(junk=JUNK, problem=PROBLEMS)
@example(junk=np.zeros((1, 0)), problem=ValueError("two\nlines"))  # compared with a word it is neither true nor false
def test_no_check_of_a_chapter_raises_whatever_the_reader_hands_over(says, chapter, junk, problem):
    for name in chapter.__all__:
        for attempt in (junk, lambda *arguments: junk, raises(problem)):
            line = says(getattr(chapter, name), attempt)
            assert line[0] in "○✗", name
            assert "could not be checked" not in line, name


TABLES = {name: check for name, check in CHECKS.items() if hasattr(check, "cases")}


def tables(check):
    """Return a list of (answer, line) for each case."""
    return [list(inspect.unwrap(check)(*copy.deepcopy(case))) for case in check.cases]


def by_heart(answers):
    """Return a function that gives one answer after another, whatever it is asked; a class of exceptions is raised."""
    answers = iter(answers)

    def attempt(*arguments):
        answer = next(answers)
        if isinstance(answer, type):
            raise answer
        return tuple(0 if part is ... else part for part in answer) if isinstance(answer, tuple) else answer

    return attempt


@pytest.mark.parametrize("name", CHECKS)
def test_a_stub_of_any_chapter_is_not_attempted_yet(says, name):
    def stub(*arguments):
        raise NotImplementedError

    assert says(CHECKS[name], stub) == f"○ {name.split('.')[-1]}: not attempted yet"


HINTS = [
    pytest.param(name, line, variant, id=f"{name}: {line}")
    for name, check in TABLES.items()
    for table in [tables(check)]
    for line in dict.fromkeys(line for answers in table for _, line in answers)
    for variant in range(max(sum(line == other for _, other in answers) for answers in table))
]


@pytest.mark.parametrize(("name", "line", "variant"), HINTS)
def test_each_answer_of_a_table_gets_its_own_line(says, name, line, variant):
    """No mistake hides behind another one, and none is right. Where a case does not name it, the right answer is given."""
    table = tables(TABLES[name])
    praise = table[0][0][1]
    named = [[answer for answer, other in case if other == line] or [case[0][0]] for case in table]
    attempt = by_heart([answers[min(variant, len(answers) - 1)] for answers in named])
    mark = "✓" if line == praise else "✗"
    assert says(TABLES[name], attempt) == f"{mark} {name.split('.')[-1]}: {line}"


def changed(answer):
    """Return another answer of the same kind and shape."""
    if isinstance(answer, str):
        return answer + "!"
    if isinstance(answer, torch.Tensor):
        return answer.double() * 2 + 1.25
    if isinstance(answer, list | tuple):
        return type(answer)(map(changed, answer))
    return answer * 2 + 1.25


@pytest.mark.parametrize("name", TABLES)
def test_where_the_shape_is_right_the_hint_speaks_of_the_content(says, name):
    line = says(TABLES[name], by_heart([changed(case[0][0]) for case in tables(TABLES[name])]))
    assert line.startswith("✗")
    assert "should have the shape" not in line
    assert not re.search(r"should be (.+), not \1\. ", line)
