"""The exercises' engine: it calls the reader's function, compares what comes back, and prints one line about it.

An exercise is a table: the right answer with its praise, then the answer of each likely mistake with the hint that helps:

    @exercise(cases=[(2, 3), (4, 5)], hint="Each row has its own bias")
    def parameters(rows, columns):
        yield rows * columns + rows, "one weight for each pair, and one bias for each row"
        yield rows * columns, "the biases are missing"

An answer is a number, an array, a text, a list of texts, or a tuple of these, in which `...` stands for anything.
"""

import copy
import functools
import reprlib
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from transformer_lib._language import _

__all__ = ["Attempt", "Hint", "_", "check", "compare", "exercise", "expect", "normal", "numbers", "same"]

SHOWN = 8  # arrays up to this size are written out


class Hint(Exception):
    """What is wrong with the reader's answer, in words that help to put it right."""


def check(judge: Callable[[Callable], str]) -> Callable[[object], None]:
    """Turn `judge`, which gets the reader's function and returns praise or raises `Hint`, into one that prints a line."""

    @functools.wraps(judge)
    def report(attempt: object) -> None:
        mark, name = "✗", judge.__name__
        try:
            if attempt is None:
                raise NotImplementedError
            if not callable(attempt):
                given = reprlib.repr(attempt)
                raise Hint(_("hand over the function itself, as in {name}({name}); this is {given}", name=name, given=given))
            mark, words = "✓", judge(Attempt(attempt))
        except NotImplementedError as stub:
            mark, words = "○", str(stub) or _("not attempted yet")
        except Hint as hint:
            words = str(hint)
        except Exception as problem:
            words = _("the answer could not be checked ({problem})", problem=type(problem).__name__)
        print(" ".join(f"{mark} {name}: {words}".split()))

    return report


def exercise(cases: Sequence[tuple], hint: str, parts: Sequence[str] = ()) -> Callable:
    """Turn a table into a check. `hint` is for unknown mistakes; `parts` names the two things, where the reader returns two."""

    def decorate(answers: Callable[..., Iterator]) -> Callable[[object], None]:
        @check
        @functools.wraps(answers)
        def judge(attempt: Callable) -> str:
            found = []
            try:
                for case in cases:
                    result = attempt(*case)
                    if parts and not same(result, (..., ...)):
                        raise Hint(_("return two things: {first} and {second}", first=parts[0], second=parts[1]))
                    names = parts or [_("the result")]
                    if len(cases) > 1:
                        names = [_("{what} for {call}", what=name, call=attempt.call) for name in names]
                    found.append((result, [*answers(*copy.deepcopy(case))], names))
            finally:  # also after an error: what was wrong before it says more
                praise = compare(found, hint) if found else ""
            return praise

        judge.cases = cases
        return judge

    return decorate


def compare(found: Sequence[tuple], hint: str) -> str:
    """Return the praise, or raise `Hint`; `found` has for each case the result, its table, and the names of its parts."""
    praise = found[0][1][0][1]  # a table begins with the right answer
    fits = [[line for answer, line in table if same(result, answer)] for result, table, *_ in found]
    denied = {line for lines, (_, table, _) in zip(fits, found) for _, line in table if line not in lines}
    if praise not in denied:
        return praise
    wrong = [n for n, lines in enumerate(fits) if praise not in lines]
    if hints := [line for n in wrong for line in fits[n] if line not in denied]:
        raise Hint(hints[0])
    result, table, names = found[wrong[0]]
    right = table[0][0]
    for part, given, expected in zip(names, result, right) if len(names) > 1 else [(*names, result, right)]:
        expect(given, expected, hint, part)


def expect(value: Any, expected: Any, hint: str, what: str = "") -> None:
    """Raise `Hint` (what should have come, what came, `hint`) unless `value` is the `same` as `expected`."""
    if same(value, expected):
        return
    says = {"what": what or _("the result"), "hint": hint}
    right = _array(expected)
    if right is None:
        raise Hint(_("{what} should be {right}, not {given}. {hint}", right=repr(expected), given=reprlib.repr(value), **says))
    array = numbers(value, right.shape, what, hint)
    if array.size <= SHOWN:
        raise Hint(_("{what} should be {right}, not {given}. {hint}", right=_text(right), given=_text(array), **says))
    worst = np.unravel_index(np.argmax(np.abs(array - right)), right.shape)
    says |= {"right": right[worst], "given": array[worst], "place": [*map(int, worst)]}
    raise Hint(_("{what} should have {right:.6g} at {place}, not {given:.6g}. {hint}", **says))


def numbers(value: Any, shape: tuple[int, ...] = (), what: str = "", hint: str = "") -> np.ndarray:
    """Return `value` (tensor, array, list or number) as an array; raise `Hint` unless it has `shape`."""
    array, says = _array(value), {"what": what or _("the result"), "hint": hint}
    if array is None and shape:
        raise Hint(_("{what} should be numbers, not {given}. {hint}", given=reprlib.repr(value), **says))
    if array is None:
        raise Hint(_("{what} should be a number, not {given}. {hint}", given=reprlib.repr(value), **says))
    if array.shape != shape and shape:
        raise Hint(_("{what} should have the shape {right}, not {given}. {hint}", right=shape, given=array.shape, **says))
    if array.shape != shape:
        raise Hint(_("{what} should be one number, not numbers of the shape {given}. {hint}", given=array.shape, **says))
    return array


def normal(*shapes: tuple[int, ...], seed: int = 0) -> tuple[torch.Tensor, ...]:
    """Return one tensor of normally distributed numbers, in float64, for each of `shapes`."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)


def same(given: Any, expected: Any) -> bool:
    """Tell whether both are one text, numbers of one shape within 1e-4 of the largest expected, or several such things."""
    if isinstance(expected, str):
        return isinstance(given, str) and given == expected
    array, right = _array(given), _array(expected)
    if isinstance(expected, tuple) or right is None:
        several = isinstance(given, list | tuple) or getattr(given, "ndim", 0)
        return bool(several) and len(given) == len(expected) and all(e is ... or same(g, e) for g, e in zip(given, expected))
    near = 1e-4 * (np.max(np.abs(right), initial=0.0, where=np.isfinite(right)) or 1.0)
    return array is not None and array.shape == right.shape and np.allclose(array, right, rtol=0, atol=near, equal_nan=True)


def _array(value: Any) -> np.ndarray | None:
    """Return `value` as an array of floats, or None where it is not made of numbers."""
    plain = lambda part: part.detach().cpu().double().numpy() if hasattr(part, "detach") else part
    try:
        array = np.asarray([*map(plain, value)] if isinstance(value, list | tuple) else plain(value))
        return None if array.dtype.kind in "USc" else array.astype(float)
    except Exception:
        return None


def _text(value: Any) -> str:
    """Write out a value; of a function it is the name, of an array with many numbers the shape."""
    if not hasattr(value, "shape"):
        return getattr(value, "__name__", None) or reprlib.repr(value)
    if np.prod(value.shape) > SHOWN:
        return _("array of shape {shape}", shape=tuple(value.shape))
    return np.array2string(_array(value), separator=", ", formatter={"float": "{:.6g}".format})


class Attempt:
    """The reader's function, with everything that can go wrong in it turned into a hint; `handed` are its own copies."""

    def __init__(self, function: Callable) -> None:
        self.function, self.answered = function, False

    def __call__(self, *arguments: Any) -> Any:
        self.call, self.handed = f"({', '.join(map(_text, arguments))})", copy.deepcopy(arguments)
        try:
            result = self.function(*self.handed)
        except (Exception, SystemExit) as problem:
            if isinstance(problem, NotImplementedError) and not self.answered:
                raise NotImplementedError from None
            # The error may come from deep inside a library; the reader can change the line of their own function.
            own = traceback.extract_tb(problem.__traceback__)[1:2]
            words = _("{call} raises {error}", call=self.call, error=traceback.format_exception_only(problem)[-1])
            for frame in own:
                words += " " + _("(line {line} of your code: {code})", line=frame.lineno, code=frame.line)
            raise Hint(words) from problem
        if result is None:
            if self.answered:
                raise Hint(_("{call} returns nothing: is a `return` missing at the end?", call=self.call))
            raise NotImplementedError(_("not attempted yet: the function returns nothing (is a `return` missing?)"))
        self.answered = True
        return result
