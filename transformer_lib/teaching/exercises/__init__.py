"""Checks for the exercises: each prints one line about the reader's function, and never raises."""

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

__all__ = ["Hint", "exercise", "expect_close", "expect_formula", "expect_shape", "formula", "softmax"]

# How long one call of the reader's function may take. The exercises need far less than a second.
SECONDS = 5.0


class Hint(Exception):
    """What is wrong with the reader's answer, in words that help to put it right."""


class _NotAttempted(Exception):
    """The reader's function is still the stub."""


class _TooLong(BaseException):
    """The time is over. Not an `Exception`, so that an `except Exception` inside the reader's loop lets it pass."""


def exercise(check: Callable[[Callable], str]) -> Callable[[object], None]:
    """Turn `check` into a function that prints one line about the reader's function, and never raises.

    `check(attempt)` calls the reader's function as `attempt(...)`, raises `Hint` when something is wrong, and returns
    one line that says what was shown. The line that is printed starts with ✓ (right), ○ (not attempted yet) or ✗.

    A call that takes longer than `SECONDS`, such as an endless loop, is interrupted and gets a hint. That works in the
    main thread, where notebooks run their cells, of systems with the signal SIGALRM: Linux (so Colab too) and macOS.
    Elsewhere, as on Windows, nothing interrupts it but the reader.
    """

    @functools.wraps(check)
    def report(attempt: object) -> None:
        name = check.__name__
        try:
            line = f"✓ {name}: {check(_watched(attempt, name))}"
        except _NotAttempted as stub:
            line = f"○ {name}: not attempted yet{stub}"
        except Hint as hint:
            line = f"✗ {name}: {hint}"
        except Exception as problem:
            line = f"✗ {name}: the answer could not be checked ({type(problem).__name__})"
        print(" ".join(line.split()))

    return report


def expect_shape(value: Any, shape: tuple[int, ...], what: str = "the result") -> np.ndarray:
    """Return `value` (tensor, array, list or number) as an array; raise `Hint` unless it has `shape`."""
    array = _array(value, what)
    if array.shape != shape:
        raise Hint(f"{what} has shape {array.shape}, expected {shape}")
    return array


def expect_close(value: Any, expected: Any, hint: str, what: str = "the result") -> None:
    """Raise `Hint` (what came, what was expected, `hint`) unless `value` has the shape and numbers of `expected`.

    Answers in single precision pass: the tolerance is 1e-4, relative to the largest expected number.
    """
    array = expect_shape(value, np.shape(expected), what)
    if not _close(array, expected):
        raise Hint(f"{what} is {_show(array)}, expected {_show(np.asarray(expected, dtype=float))}. {hint}")


def expect_formula(
    attempt: Callable, cases: Sequence[tuple], right: Callable, mistakes: Sequence[tuple[Callable, str]], hint: str
) -> None:
    """Compare `attempt` with the formula `right` on all `cases`, and recognise the usual mistakes.

    `mistakes` holds pairs of a wrong formula and its hint: the first formula that explains every one of the reader's
    results gives the hint; where none does, `hint` is given with the first case that differs. `formula` says the same
    in fewer words where every formula takes the reader's arguments.
    """
    results = [attempt(*case) for case in cases]

    def explained_by(formula: Callable) -> bool:
        return all(_agrees(result, formula(*case)) for result, case in zip(results, cases, strict=True))

    if explained_by(right):
        return
    for formula, mistake in mistakes:
        if explained_by(formula):
            raise Hint(mistake)
    for result, case in zip(results, cases, strict=True):
        expect_close(result, right(*case), hint, what=f"the result for {_arguments(case)}")


def formula(cases: Sequence[tuple], hint: str) -> Callable[[Callable[..., Iterator]], Callable[[object], None]]:
    """Turn a generator of answers into an exercise whose answer is a formula.

        @formula(cases=[(2, 3), (4, 5)], hint="Each row has its own bias")
        def parameters(rows, columns):
            \"""The reader's `parameters(rows, columns)` counts the parameters of a linear layer.\"""
            yield rows * columns + rows, "one weight for each pair, and one bias for each row"
            yield rows * columns, "the biases are missing"

    First comes the right answer, with the line that says what was shown, then each usual mistake with its hint. The
    reader's function is called on each of `cases` with the same arguments. The first answer that explains every result
    decides; where none does, `hint` is given with the first case that differs.
    """

    def decorate(answers: Callable[..., Iterator]) -> Callable[[object], None]:
        def nth(n: int) -> Callable:
            return lambda *case: list(answers(*case))[n][0]

        @exercise
        @functools.wraps(answers)
        def check(attempt: Callable) -> str:
            (_, shown), *mistakes = answers(*cases[0])
            wrong = [(nth(n), mistake) for n, (_, mistake) in enumerate(mistakes, start=1)]
            expect_formula(attempt, cases, nth(0), wrong, hint)
            return shown

        return check

    return decorate


def softmax(scores: Any, axis: int = -1) -> np.ndarray:
    """Return the softmax of an array of scores along `axis`; a score of -inf gets 0."""
    exponentials = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _watched(attempt: object, name: str) -> Callable:
    """Return the reader's function, with everything that can go wrong in it turned into a hint."""
    if attempt is None or attempt is Ellipsis:
        raise _NotAttempted()
    if not callable(attempt):
        raise Hint(f"hand over the function itself, as in {name}({name}); this is {_article(attempt)}")

    def call(*arguments: Any) -> Any:
        try:
            with _time_limit(SECONDS):
                result = attempt(*arguments)
        except NotImplementedError:
            raise _NotAttempted() from None
        except _TooLong:
            waited = f"{_arguments(arguments)} had no answer after {SECONDS:g} seconds, and was stopped"
            raise Hint(f"{waited}: is there a loop that never ends?") from None
        except (Exception, SystemExit) as problem:
            raise Hint(f"{_arguments(arguments)} raises {_describe(problem)}") from None
        if result is None or result is Ellipsis:
            raise _NotAttempted(": the function returns nothing (is a `return` missing?)")
        return result

    call.__wrapped__ = attempt
    return call


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` inside the block after `seconds`, where that is possible; leave signal and timer as they were."""
    alarm = getattr(signal, "SIGALRM", None)
    # Only the main thread may handle signals; a handler that C code has set could not be put back.
    if alarm is None or threading.current_thread() is not threading.main_thread() or signal.getsignal(alarm) is None:
        yield
        return
    running = True

    def stop(*_: object) -> None:
        if running:
            raise _TooLong

    handler_before = signal.signal(alarm, stop)
    # Again and again, because an `except:` inside the reader's loop may swallow the first ones.
    left_before, interval_before = signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)
    started = time.monotonic()
    try:
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(alarm, handler_before)
        if left_before:
            passed = time.monotonic() - started
            signal.setitimer(signal.ITIMER_REAL, max(left_before - passed, 1e-3), interval_before)


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


def _array(value: Any, what: str) -> np.ndarray:
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu().double()
        return np.asarray(value, dtype=float)
    except Exception:
        raise Hint(f"{what} is {_article(value)}, expected numbers") from None


def _close(array: np.ndarray, expected: Any) -> bool:
    expected = np.asarray(expected, dtype=float)
    scale = float(np.max(np.abs(expected), initial=0.0)) or 1.0
    return array.shape == expected.shape and bool(np.allclose(array, expected, rtol=1e-4, atol=1e-4 * scale))


def _agrees(value: Any, expected: Any) -> bool:
    try:
        return _close(_array(value, "the result"), expected)
    except Hint:
        return False


def _arguments(arguments: Sequence) -> str:
    """Return the arguments of a call as text: arrays by their shapes, all else as it is written."""
    shown = [
        f"array of shape {tuple(argument.shape)}" if hasattr(argument, "shape") else reprlib.repr(argument)
        for argument in arguments
    ]
    return f"({', '.join(shown)})"


def _show(array: np.ndarray) -> str:
    return _nested(array.tolist()) if array.size <= 16 else f"an array of shape {array.shape}"


def _nested(numbers: Any) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(map(_nested, numbers))}]"
    return _number(numbers)


def _number(value: float) -> str:
    if math.isfinite(value) and value == round(value) and abs(value) < 1e6:
        return str(round(value))
    return f"{value:.4g}"


def _article(value: object) -> str:
    kind = type(value).__name__
    try:
        shown = reprlib.repr(value)
    except Exception:
        shown = "?"
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}: {shown}"
