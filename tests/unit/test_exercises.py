"""What holds for the check of every exercise: one line, never an error, a hint for each mistake."""

import contextlib
import copy
import functools
import inspect
import io
import math
import pkgutil
import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
import torch
from helpers import destroy

from transformer_lib.teaching import exercises
from transformer_lib.teaching.exercises import exercise

CHAPTERS = [import_module(f"{exercises.__name__}.{module.name}") for module in pkgutil.iter_modules(exercises.__path__)]
CHECKS = {
    f"{chapter.__name__.split('.')[-1]}.{name}": check
    for chapter in CHAPTERS
    for name, check in vars(chapter).items()
    if hasattr(check, "__wrapped__") and check.__module__ == chapter.__name__ and not name.startswith("_")
}
TABLES = {name: check for name, check in CHECKS.items() if hasattr(check, "cases")}


def says(check, attempt):
    """Return the one line that `check` prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert check(attempt) is None
    line, rest = printed.getvalue().split("\n", 1)
    assert rest == ""
    return line


@exercise(cases=[(2, 5), (3, 4)], hint="Each row has its own bias")
def parameters(rows, columns):
    yield rows * columns + rows, "one bias for each row"
    yield rows * columns, "the biases are missing"
    if columns == 5:
        yield 12, "that is right here, and so no mistake"


@exercise(cases=[([3, 1], "b")], hint="Sort them, and double the word", parts=("the list", "the word"))
def both(values, word):
    yield (sorted(values), 2 * word), "sorted and doubled"
    yield (..., word), "the word is not doubled"


def stub(*arguments):
    raise NotImplementedError


def fails_in_a_library(*arguments):
    return torch.nn.Linear(2, 2)(torch.ones(3))


@pytest.mark.parametrize(
    ("check", "attempt", "line"),
    [
        (parameters, lambda r, c: torch.tensor(r * c + r, requires_grad=False), "✓ parameters: one bias for each row"),
        (parameters, lambda r, c: np.float32(r * c + r), "✓ parameters: one bias for each row"),
        (parameters, lambda r, c: r * c, "✗ parameters: the biases are missing"),
        # The first result is right and explains nothing; the second could be a mistake that the first is not.
        (parameters, lambda r, c: 12, "✗ parameters: the result for (3, 4) should be 15, not 12. Each row has its own bias"),
        (parameters, lambda r, c: r * c if r == 2 else [][0], "✗ parameters: the biases are missing"),
        (parameters, lambda r, c: r / 0, "✗ parameters: (2, 5) raises ZeroDivisionError: "),
        (parameters, lambda r, c: math.nan, "✗ parameters: the result for (2, 5) should be 12, not nan."),
        (parameters, lambda r, c: 12.002, "✗ parameters: the result for (2, 5) should be 12, not 12.002."),
        (
            parameters,
            lambda r, c: [1, 2],
            "✗ parameters: the result for (2, 5) should be one number, not numbers of the shape (2,)",
        ),
        (parameters, lambda r, c: "4", "✗ parameters: the result for (2, 5) should be a number, not '4'"),
        (parameters, lambda r: 4, "✗ parameters: (2, 5) raises TypeError: "),
        (parameters, lambda r, c: 12 if r == 2 else None, "✗ parameters: (3, 4) returns nothing: is a `return` missing"),
        (parameters, 4, "✗ parameters: hand over the function itself, as in parameters(parameters); this is 4"),
        (parameters, stub, "○ parameters: not attempted yet"),
        (parameters, None, "○ parameters: not attempted yet"),
        (parameters, lambda r, c: None, "○ parameters: not attempted yet: the function returns nothing"),
        (both, lambda values, word: (np.sort(values), 2 * word), "✓ both: sorted and doubled"),
        (both, lambda values, word: [[0, 0], word], "✗ both: the word is not doubled"),
        (both, lambda values, word: ([1, 4], "bb"), "✗ both: the list should be [1, 3], not [1, 4]. Sort them"),
        (both, lambda values, word: ([1, 3], 5), "✗ both: the word should be 'bb', not 5. Sort them"),
        (both, lambda values, word: "bb", "✗ both: return two things: the list and the word"),
    ],
)
def test_the_line_says_what_is_wrong(check, attempt, line):
    assert says(check, attempt).startswith(line)


def test_the_line_of_an_error_is_the_readers():
    line = f"(line {fails_in_a_library.__code__.co_firstlineno + 1} of your code: return torch.nn.Linear(2, 2)(torch.ones(3)))"
    assert line in says(parameters, fails_in_a_library)


ARGUMENTS = [torch.arange(3.0), np.arange(3.0), [1, 2], {1, 2}, {"a": [1]}, ([1], torch.zeros(2)), torch.nn.Linear(2, 2)]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=lambda argument: type(argument).__name__)
def test_each_call_gets_copies_of_its_own(argument):
    def found(thing):
        before = str([*thing.parameters()] if isinstance(thing, torch.nn.Module) else thing)
        destroy(thing)
        return before

    @exercise(cases=[(argument,), (argument,)], hint="")
    def look(thing):
        yield found(thing), "it is as it was"

    assert says(look, found) == "✓ look: it is as it was"


JUNK = [True, -1, math.inf, 1j, 10**400, "a", int, [], {"a": 1}, [[1], [1, 2]], (None, ...), (1, 2, 3), np.array("a")]
JUNK += [np.zeros((1, 0)), torch.full((3, 4), math.nan), torch.eye(4).bool(), torch.ones(1, device="meta")]
PROBLEMS = [ValueError("two\nlines"), SystemExit(1), RecursionError()]


@pytest.mark.parametrize("name", CHECKS)
def test_checks_never_raise(name):
    """Whatever the reader hands over."""

    def raises(problem):
        def attempt(*arguments):
            raise problem

        return attempt

    answers = [lambda *arguments, junk=junk: junk for junk in JUNK]
    for attempt in [JUNK, *answers, *map(raises, PROBLEMS)]:
        line = says(CHECKS[name], attempt)
        assert line[0] in "○✗" and "could not be checked" not in line
    assert says(CHECKS[name], stub) == f"○ {name.split('.')[-1]}: not attempted yet"


def tables(check):
    """Return a list of (answer, line) for each case."""
    return [list(inspect.unwrap(check)(*copy.deepcopy(case))) for case in check.cases]


def by_heart(answers):
    """Return a function that gives one answer after another, whatever it is asked."""
    answers = iter(answers)

    def attempt(*arguments):
        answer = next(answers)
        return tuple(0 if part is ... else part for part in answer) if isinstance(answer, tuple) else answer

    return attempt


@pytest.mark.parametrize("name", TABLES)
def test_each_answer_of_a_table_gets_its_own_line(name):
    """No mistake hides behind another one, and none is right. Where a case does not name it, the right answer is given."""
    table = tables(TABLES[name])
    praise = table[0][0][1]
    for line in dict.fromkeys(line for answers in table for _, line in answers):
        for variant in range(max(sum(line == other for _, other in answers) for answers in table)):
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
def test_where_the_shape_is_right_the_hint_speaks_of_the_content(name):
    line = says(TABLES[name], by_heart([changed(case[0][0]) for case in tables(TABLES[name])]))
    assert line.startswith("✗") and "should have the shape" not in line and not re.search(r"should be (.+), not \1\. ", line)


@functools.cache
def imported_again(chapter):
    """Return the module of a chapter as it is where the language is asked for before the import."""
    spec = spec_from_file_location(chapter, import_module(f"{exercises.__name__}.{chapter}").__file__)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def needs_a_name(*arguments):
    return a_name_that_nobody_gave


@pytest.mark.parametrize("attempt", [needs_a_name, 0.123, "a word", (1, 2, 3)], ids=["error", "number", "text", "triple"])
@pytest.mark.parametrize("name", CHECKS)
def test_a_korean_line_has_no_english_beside_code_and_what_is_the_readers(name, attempt, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LIB_LANGUAGE", "ko")
    chapter, check = name.split(".")
    line = says(getattr(imported_again(chapter), check), attempt if callable(attempt) else lambda *arguments: attempt)
    if callable(attempt):
        for whole in ("NameError: name 'a_name_that_nobody_gave' is not defined", "return a_name_that_nobody_gave"):
            assert whole in line
            line = line.replace(whole, "")
    assert re.search("[가-힣]", line)
    assert not re.search(r"[A-Za-z]+ [A-Za-z]{2,}", re.sub(r"([`*'\"])\S.*?\1|object is not callable", "", line))
