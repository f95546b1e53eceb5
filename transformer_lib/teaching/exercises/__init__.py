"""The exercises' engine: it calls the reader's function, compares what comes back, and prints one line about it.

An exercise is a table of answers. The function below `@exercise` gets the same arguments as the reader's function. It yields
the right answer first, with the line that praises it, and then the answer of each likely mistake, with the hint that helps:

    @exercise(cases=[(2, 3), (4, 5)], hint="Each row has its own bias")
    def parameters(rows, columns):
        \"""The reader's `parameters(rows, columns)` counts the parameters of a linear layer.\"""
        yield rows * columns + rows, "one weight for each pair, and one bias for each row"
        yield rows * columns, "the biases are missing"

The reader's function is called on each of `cases`, with copies of its own. The first hint whose answers explain every result
that they are named for is given; where none does, the first result that is wrong, and `hint`. An answer is a number, an array
(also a list or a tensor), a text or a list of texts. Several answers may share one line: with the praise, all are right; with
a hint, it is given for each of them. A case may name an answer that another does not name, and a hint may differ from case
to case. The class of an exception stands for a function that raises it.

Where the reader returns several things, `parts` names them, and an answer is a tuple: `...` in it stands for anything. Where
the text asks for a copy, `keep=True` refuses an answer that changes what it was given.

What no table can tell has `@judge` above a function that gets the reader's function itself, calls it and raises `Hint`.
"""

import copy
import functools
import math
import reprlib
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lib._language import say

__all__ = ["Hint", "compare", "exercise", "expect", "judge", "normal", "numbers", "same"]

# How long one call of the reader's function may take. The exercises need far less than a second.
SECONDS = 5.0
# Arrays up to this size are written out in a hint.
SHOWN = 16
_WRITER = reprlib.Repr()
_WRITER.maxstring = _WRITER.maxother = 80


class Hint(Exception):
    """What is wrong with the reader's answer, in words that help to put it right."""


class _NotAttempted(Exception):
    """The reader's function is still the stub."""


class _TooLong(BaseException):
    """The time is over. Not an `Exception`, so that an `except Exception` inside the reader's loop lets it pass."""


def judge(check: Callable[[Callable], str]) -> Callable[[object], None]:
    """Turn `check` into a function that prints one line about the reader's function, and never raises.

    `check(attempt)` calls the reader's function as `attempt(...)`, raises `Hint` when something is wrong, and returns
    one line that says what was shown. Each call gets copies of its arguments; the last ones are `attempt.handed`. The
    line that is printed starts with ✓ (right), ○ (not attempted yet) or ✗.

    A call that takes longer than `SECONDS`, such as an endless loop, is interrupted and gets a hint. That works in the
    main thread, where notebooks run their cells, of systems with the signal SIGALRM: Linux (so Colab too) and macOS.
    Elsewhere, as on Windows, nothing interrupts it but the reader.
    """

    @functools.wraps(check)
    def report(attempt: object) -> None:
        name = check.__name__
        try:
            line = f"✓ {name}: {say(check(_Attempt(attempt, name)))}"
        except _NotAttempted as stub:
            line = f"○ {name}: {say(f'not attempted yet{stub}')}"
        except Hint as hint:
            line = f"✗ {name}: {say(' '.join(str(hint).split()))}"
        except Exception as problem:
            line = f"✗ {name}: {say(f'the answer could not be checked ({type(problem).__name__})')}"
        print(" ".join(line.split()))

    return report


def exercise(
    cases: Sequence[tuple], hint: str, parts: Sequence[str] = (), keep: bool = False
) -> Callable[[Callable[..., Iterator]], Callable[[object], None]]:
    """Turn a generator of answers into a function that prints one line about the reader's function, as `judge` does.

    `cases` holds the arguments of each call, `hint` is given where no mistake is recognised, `parts` names what the
    reader returns where it is more than one thing, and `keep` asks that the arguments stay as they were.
    """
    where = [f" for {_written(case)}" if len(cases) > 1 and any(map(_is_content, case)) else "" for case in cases]

    def decorate(answers: Callable[..., Iterator]) -> Callable[[object], None]:
        @functools.cache
        def table(n: int) -> list[tuple[Any, str]]:
            return list(answers(*map(_copied, cases[n])))

        @judge
        @functools.wraps(answers)
        def check(attempt: Callable) -> str:
            results, changed = [], False
            for case in cases:
                try:
                    results.append(_split(attempt(*case), parts))
                except Hint as problem:
                    results.append(problem)
                    break
                changed |= keep and not all(map(np.array_equal, case, attempt.handed))
            praise = _told(results, [table(n) for n in range(len(results))], hint, parts, where)
            if changed:
                raise Hint("the result is right, but what was handed in has changed too: work on a copy")
            return praise

        check.cases = cases
        return check

    return decorate


def compare(result: Any, answers: Sequence[tuple[Any, str]], hint: str, where: str = "") -> str:
    """Compare one result with `answers` as `exercise` does; return the praise, or raise `Hint`."""
    return _told([(result,)], [answers], hint, (), [where])


def expect(value: Any, expected: Any, hint: str, what: str = "the result") -> None:
    """Raise `Hint` (what should have come, what came, `hint`) unless `value` is the `same` as `expected`."""
    if not same(value, expected):
        raise Hint(f"{what} should {_difference(value, expected)}. {hint}")


def numbers(value: Any, shape: tuple[int, ...] = (), what: str = "the result") -> np.ndarray:
    """Return `value` (tensor, array, list or number) as an array; raise `Hint` unless it has `shape`."""
    if misfit := _misfit(value, shape):
        raise Hint(f"{what} should {misfit}")
    return _array(value)


def normal(*shapes: tuple[int, ...], seed: int = 0) -> tuple[Tensor, ...]:
    """Return one tensor of normally distributed numbers, in float64, for each of `shapes`."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)


def _told(
    results: Sequence, tables: Sequence[Sequence[tuple[Any, str]]], hint: str, parts: Sequence[str], where: Sequence[str]
) -> str:
    """Return the praise if every result is right; else raise the hint of the mistake that explains the results."""
    praise = tables[0][0][1]
    named = [{line for _, line in table} for table in tables]
    fitting = [
        {line for answer, line in table if _fits(result, answer, parts)} for result, table in zip(results, tables, strict=True)
    ]
    wrong = [n for n, lines in enumerate(fitting) if praise not in lines]
    if not wrong:
        return praise
    # What was wrong before says more than an error that followed.
    seen = range(len(results) - (len(wrong) > 1 and isinstance(results[-1], Hint)))
    for line in dict.fromkeys(line for table in tables for _, line in table):
        asked = [n for n in seen if line in named[n]]
        if any(n in wrong for n in asked) and all(line in fitting[n] for n in asked):
            raise Hint(line)
    n = wrong[0]
    if isinstance(results[n], Hint):
        raise results[n]
    right = tables[n][0][0]
    for given, expected, name in zip(results[n], right if parts else (right,), parts or ("the result",), strict=True):
        expect(given, expected, hint, what=f"{name}{where[n]}")
    raise AssertionError("a result that is wrong has no part that is")


def _fits(result: Any, answer: Any, parts: Sequence[str]) -> bool:
    """Tell whether the parts of a result are those of an answer, or what was raised is of its class."""
    if isinstance(result, Hint) or isinstance(answer, type):
        return isinstance(answer, type) and isinstance(getattr(result, "__cause__", None), answer)
    return all(map(same, result, answer if parts else (answer,)))


class _Attempt:
    """The reader's function, with everything that can go wrong in it turned into a hint."""

    def __init__(self, function: object, name: str) -> None:
        if function is None or function is Ellipsis:
            raise _NotAttempted()
        if not callable(function):
            raise Hint(f"hand over the function itself, as in {name}({name}); this is {_article(function)}")
        self.__wrapped__ = function
        self.answered = False

    def __call__(self, *arguments: Any) -> Any:
        self.handed = [_copied(argument) for argument in arguments]
        try:
            with _time_limit(SECONDS):
                result = self.__wrapped__(*self.handed)
        except _TooLong:
            waited = f"{_written(arguments)} had no answer after {SECONDS:g} seconds, and was stopped"
            raise Hint(f"{waited}: is there a loop that never ends?") from None
        except (Exception, SystemExit) as problem:
            if isinstance(problem, NotImplementedError) and not self.answered:
                raise _NotAttempted() from None
            raise Hint(f"{_written(arguments)} raises {_describe(problem)}") from problem
        if result is None or result is Ellipsis:
            if self.answered:
                raise Hint(f"{_written(arguments)} returns nothing: is a `return` missing at the end?")
            raise _NotAttempted(": the function returns nothing (is a `return` missing?)")
        self.answered = True
        return result


def _copied(argument: Any) -> Any:
    """Return the reader's own copy of `argument`, so that an answer may work in place; what cannot be copied, as it is."""
    try:
        return copy.deepcopy(argument)
    except Exception:  # a generator, for one
        return argument


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` inside the block after `seconds`, where that is possible; leave signal and timer as they were."""
    alarm = getattr(signal, "SIGALRM", None)
    # Only the main thread may handle signals; a handler that C code has set could not be put back.
    if alarm is None or threading.current_thread() is not threading.main_thread() or signal.getsignal(alarm) is None:
        yield
        return
    running = [True]
    handler_before = signal.signal(alarm, lambda *_: running and _stop())
    # Again and again, because an `except:` inside the reader's loop may swallow the first ones.
    left_before, interval_before = signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)
    started = time.monotonic()
    try:
        yield
    finally:
        running.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(alarm, handler_before)
        if left_before:
            passed = time.monotonic() - started
            signal.setitimer(signal.ITIMER_REAL, max(left_before - passed, 1e-3), interval_before)


def _stop() -> None:
    raise _TooLong


def _describe(problem: BaseException) -> str:
    """Return the type, the message and, where it is known, the line of the reader's code that raised `problem`."""
    try:
        message = str(problem)
    except Exception:
        message = ""
    described = f"{type(problem).__name__}: {message}" if message else type(problem).__name__
    frames = traceback.extract_tb(problem.__traceback__)[1:]
    # The error may come from deep inside a library; the reader can change the last line of their own file.
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    if own and own[-1].line:
        described += f" (line {own[-1].lineno} of your code: {own[-1].line})"
    return described


def _split(result: Any, parts: Sequence[str]) -> tuple:
    """Return the parts of a result, one where `parts` names none; raise `Hint` unless there are as many as are named."""
    if not parts:
        return (result,)
    try:
        found = tuple(result) if isinstance(result, list | tuple) or hasattr(result, "shape") else ()
    except Exception:
        found = ()
    if len(found) != len(parts):
        *first, last = parts
        raise Hint(f"return {('one', 'two', 'three')[len(first)]} things: {', '.join(first)} and {last}")
    return found


def _plain(value: Any) -> Any:
    """Return `value` with arrays in the place of tensors, also inside lists."""
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.detach().cpu().double().numpy() if hasattr(value, "detach") else value


def _array(value: Any) -> np.ndarray | None:
    """Return `value` as an array, or None where it is not made of numbers."""
    try:
        array = np.asarray(_plain(value))
        return None if array.dtype.kind in "USc" else array.astype(float)
    except Exception:
        return None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(part, str) for part in value)


def same(given: Any, expected: Any) -> bool:
    """Tell whether `given` is `expected`: the same text or texts, or numbers of the same shape that agree.

    Numbers agree where they differ by at most 1e-4 of the largest that is expected, so that answers in single precision
    pass. This is the only tolerance that the exercises have.
    """
    if expected is ...:
        return True
    if isinstance(expected, str):
        return isinstance(given, str) and given == expected
    if _is_texts(expected):
        return _is_texts(given) and list(given) == list(expected)
    array, expected = _array(given), _array(expected)
    return array is not None and array.shape == expected.shape and bool(_close(array, expected).all())


def _close(array: np.ndarray, expected: np.ndarray) -> np.ndarray:
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)) or 1.0
    return np.asarray(np.isclose(array, expected, rtol=0, atol=1e-4 * scale, equal_nan=True))


def _difference(given: Any, expected: Any) -> str:
    """Return what `given` should be and is: its kind, its shape or its content, whichever is wrong."""
    if isinstance(expected, str) or _is_texts(expected):
        kind = "a text" if isinstance(expected, str) else "a list of texts"
        right_kind = isinstance(given, str) if isinstance(expected, str) else _is_texts(given)
        return f"be {expected!r}, not {given!r}" if right_kind else f"be {kind}, not {_article(given)}"
    array, expected = _array(given), _array(expected)
    small = array is not None and max(array.size, expected.size) <= SHOWN
    if not (small and max(array.ndim, expected.ndim) <= 1) and (misfit := _misfit(given, expected.shape)):
        return misfit
    if small:
        return _apart(expected, array, "be {}, not {}")
    differ = ~_close(array, expected)
    place = tuple(np.argwhere(differ)[0].tolist())
    return _apart(
        expected[place], array[place], f"have {{}} at {list(place)}, not {{}} ({differ.sum()} of {differ.size} numbers differ)"
    )


def _misfit(given: Any, shape: tuple[int, ...]) -> str | None:
    """Return what `given` should be and is, where it is not made of numbers or has another shape."""
    array = _array(given)
    if array is None:
        return f"be {'numbers' if shape else 'a number'}, not {_article(given)}"
    if array.shape == shape:
        return None
    return f"have the shape {shape}, not {array.shape}" if shape else f"be one number, not numbers of the shape {array.shape}"


def _apart(expected: Any, given: Any, words: str) -> str:
    """Write both with as many digits as it takes to tell them apart."""
    for digits in (4, 8, 17):
        one, other = _nested(expected.tolist(), digits), _nested(given.tolist(), digits)
        if one != other:
            break
    return words.format(one, other)


def _nested(numbers: Any, digits: int) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(_nested(part, digits) for part in numbers)}]"
    if math.isfinite(numbers) and numbers == round(numbers) and abs(numbers) < 1e6:
        return str(round(numbers))
    return f"{numbers:.{digits}g}"


def _is_content(argument: Any) -> bool:
    """Tell whether `argument` can be written out: no function, no iterator, and no array of many numbers or of fractions."""
    if hasattr(argument, "shape"):
        array = _array(argument)
        return array is not None and array.size <= SHOWN and bool((array == array.round()).all())
    return not callable(argument) and not isinstance(argument, Iterator)


def _written(arguments: Sequence) -> str:
    """Return the arguments of a call as text."""
    return f"({', '.join(map(_text, arguments))})"


def _text(argument: Any) -> str:
    if _is_content(argument):
        return str(argument.tolist()) if hasattr(argument, "shape") else _WRITER.repr(argument)
    if hasattr(argument, "shape"):
        return f"array of shape {tuple(argument.shape)}"
    return getattr(argument, "__name__", type(argument).__name__)


def _article(value: object) -> str:
    kind = type(value).__name__
    try:
        shown = _WRITER.repr(value)
    except Exception:
        shown = "?"
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}: {shown}"
