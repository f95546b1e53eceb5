"""The exercises' engine: it calls the reader's function, compares what comes back, and prints one line about it.

An exercise is a table. The function below `@exercise` gets the arguments of the reader's function; it yields the right answer
with the line that praises it, and then the answer of each likely mistake with the hint that helps:

    @exercise(cases=[(2, 3), (4, 5)], hint="Each row has its own bias")
    def parameters(rows, columns):
        yield rows * columns + rows, "one weight for each pair, and one bias for each row"
        yield rows * columns, "the biases are missing"

The first hint whose answers explain the results of all cases that name it is given; where none does, the first wrong result and
`hint`. An answer is a number, an array, a text, a list of texts, or the class of an exception; several may share a line. Where
the reader returns several things, `parts` names them, an answer is a tuple, and `...` in it stands for anything. What no
table can tell has `@check` above a function that raises `Hint`.
"""

import copy
import functools
import reprlib
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["Hint", "check", "compare", "exercise", "expect", "forward_of", "normal", "numbers", "same"]

SHOWN = 16  # arrays up to this size are written out
_WRITER = reprlib.Repr()
_WRITER.maxstring = _WRITER.maxother = 80


class Hint(Exception):
    """What is wrong with the reader's answer, in words that help to put it right."""


class _NotAttempted(Exception):
    """The reader's function is still the stub."""


def check(judge: Callable[[Callable], str]) -> Callable[[object], None]:
    """Turn `judge`, which gets the reader's function and returns praise or raises `Hint`, into one that prints a line."""

    @functools.wraps(judge)
    def report(attempt: object) -> None:
        mark, name = "✗", judge.__name__
        try:
            if attempt is None or attempt is ...:
                raise _NotAttempted
            if not callable(attempt):
                raise Hint(f"hand over the function itself, as in {name}({name}); this is {_WRITER.repr(attempt)}")
            mark, words = "✓", judge(_Attempt(attempt))
        except _NotAttempted as stub:
            mark, words = "○", f"not attempted yet{stub}"
        except Hint as hint:
            words = str(hint)
        except Exception as problem:
            words = f"the answer could not be checked ({type(problem).__name__})"
        print(" ".join(f"{mark} {name}: {words}".split()))

    return report


def exercise(cases: Sequence[tuple], hint: str, parts: Sequence[str] = ()) -> Callable:
    """Turn a generator of answers into a function that prints one line about the reader's function, as `check` does."""

    def decorate(answers: Callable[..., Iterator]) -> Callable[[object], None]:
        @functools.cache
        def table(n: int) -> list[tuple[Any, str]]:
            return list(answers(*copy.deepcopy(cases[n])))

        @check
        @functools.wraps(answers)
        def judge(attempt: Callable) -> str:
            results = []
            for case in cases:
                try:
                    result = attempt(*case)
                    several = parts and (isinstance(result, list | tuple) or getattr(result, "ndim", 0))
                    result = tuple(result) if several else (result,)
                    if parts and len(result) != len(parts):
                        raise Hint(f"return {('two', 'three')[len(parts) - 2]} things: {', '.join(parts[:-1])} and {parts[-1]}")
                    results.append(result)
                except Hint as problem:
                    results.append(problem)
                    break
            where = [f" for {_written(case)}" if len(cases) > 1 else "" for case in cases]
            return _line(results, [table(n) for n in range(len(results))], hint, parts, where)

        judge.cases = cases
        return judge

    return decorate


def compare(result: Any, answers: Sequence[tuple[Any, str]], hint: str, where: str = "") -> str:
    """Compare one result with `answers` as `exercise` does; return the praise, or raise `Hint`."""
    return _line([(result,)], [answers], hint, (), [where])


def expect(value: Any, expected: Any, hint: str, what: str = "the result") -> None:
    """Raise `Hint` (what should have come, what came, `hint`) unless `value` is the `same` as `expected`."""
    if same(value, expected):
        return
    difference, right = f"be {expected!r}, not {_WRITER.repr(value)}", _array(expected)
    if right is not None and not (difference := _misfit(value, right.shape)):
        array = _array(value)
        wrong = np.argwhere(~_close(array, right))
        first = tuple(wrong[0].tolist())
        difference = f"have {right[first]:.6g} at {list(first)}, not {array[first]:.6g} ({len(wrong)} of {array.size} differ)"
        if array.size <= SHOWN:
            difference = f"be {_shown(right)}, not {_shown(array)}"
    raise Hint(f"{what} should {difference}. {hint}")


def numbers(value: Any, shape: tuple[int, ...] = (), what: str = "the result") -> np.ndarray:
    """Return `value` (tensor, array, list or number) as an array; raise `Hint` unless it has `shape`."""
    if misfit := _misfit(value, shape):
        raise Hint(f"{what} should {misfit}")
    return _array(value)


def _misfit(value: Any, shape: tuple[int, ...]) -> str:
    """Return what `value` should be and is, where it is not made of numbers or has another shape."""
    array = _array(value)
    if array is None:
        return f"be {'numbers' if shape else 'a number'}, not {_WRITER.repr(value)}"
    wanted = f"have the shape {shape}, not" if shape else "be one number, not numbers of the shape"
    return "" if array.shape == shape else f"{wanted} {array.shape}"


def normal(*shapes: tuple[int, ...], seed: int = 0) -> tuple[Tensor, ...]:
    """Return one tensor of normally distributed numbers, in float64, for each of `shapes`."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)


def same(given: Any, expected: Any) -> bool:
    """Tell whether both are the same text or texts, or numbers of one shape within 1e-4 of the largest that is expected."""
    if expected is ... or isinstance(expected, str):
        return expected is ... or (isinstance(given, str) and given == expected)
    if _array(expected) is None:  # a list of texts
        return isinstance(given, list | tuple) and all(isinstance(part, str) for part in given) and [*given] == [*expected]
    array, expected = _array(given), _array(expected)
    return array is not None and array.shape == expected.shape and bool(_close(array, expected).all())


def _line(results: Sequence, tables: Sequence, hint: str, parts: Sequence[str], where: Sequence[str]) -> str:
    """Return the praise if every result is right; else raise the hint of the mistake that explains the results."""
    praise = tables[0][0][1]
    fitting = [{line for answer, line in table if _fits(result, answer, parts)} for result, table in zip(results, tables)]
    wrong = [n for n, lines in enumerate(fitting) if praise not in lines]
    if not wrong:
        return praise
    # What was wrong before says more than an error that followed.
    seen = range(len(results) - (len(wrong) > 1 and isinstance(results[-1], Hint)))
    for line in dict.fromkeys(line for table in tables for _, line in table):
        asked = [n for n in seen if any(line == other for _, other in tables[n])]
        if set(asked) & set(wrong) and all(line in fitting[n] for n in asked):
            raise Hint(line)
    if isinstance(results[wrong[0]], Hint):
        raise results[wrong[0]]
    right = tables[wrong[0]][0][0]
    for given, expected, name in zip(results[wrong[0]], right if parts else (right,), parts or ("the result",)):
        expect(given, expected, hint, what=f"{name}{where[wrong[0]]}")


def _fits(result: Any, answer: Any, parts: Sequence[str]) -> bool:
    if isinstance(result, Hint) or isinstance(answer, type):
        return isinstance(answer, type) and isinstance(getattr(result, "__cause__", None), answer)
    return all(map(same, result, answer if parts else (answer,)))


class _Attempt:
    """The reader's function, with everything that can go wrong in it turned into a hint; `handed` are its own copies."""

    def __init__(self, function: Callable) -> None:
        self.__wrapped__, self.answered = function, False

    def __call__(self, *arguments: Any) -> Any:
        call, self.handed = _written(arguments), copy.deepcopy(arguments)
        try:
            result = self.__wrapped__(*self.handed)
        except (Exception, SystemExit) as problem:
            if isinstance(problem, NotImplementedError) and not self.answered:
                raise _NotAttempted from None
            # The error may come from deep inside a library; the reader can change the last line of their own file.
            frames = traceback.extract_tb(problem.__traceback__)[1:]
            own = [frame for frame in frames if frame.filename == frames[0].filename and frame.line]
            line = f" (line {own[-1].lineno} of your code: {own[-1].line})" if own else ""
            said = traceback.format_exception_only(problem)[-1].strip()
            raise Hint(f"{call} raises {said}{line}") from problem
        if result is None or result is ...:
            if self.answered:
                raise Hint(f"{call} returns nothing: is a `return` missing at the end?")
            raise _NotAttempted(": the function returns nothing (is a `return` missing?)")
        self.answered = True
        return result


def _array(value: Any) -> np.ndarray | None:
    """Return `value` as an array of floats, or None where it is not made of numbers."""
    plain = lambda part: part.detach().cpu().double().numpy() if hasattr(part, "detach") else part
    try:
        array = np.asarray([*map(plain, value)] if isinstance(value, list | tuple) else plain(value))
        return None if array.dtype.kind in "USc" else array.astype(float)
    except Exception:
        return None


def _close(array: np.ndarray, expected: np.ndarray) -> np.ndarray:
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)) or 1.0
    return np.asarray(np.isclose(array, expected, rtol=0, atol=1e-4 * scale, equal_nan=True))


def _shown(array: np.ndarray | np.floating) -> str:
    """Write out an array with as many digits as tell numbers apart that are not the `same`."""
    return f"[{', '.join(map(_shown, array))}]" if array.ndim else f"{array:.6g}"


def _written(arguments: Sequence) -> str:
    """Return the arguments of a call as text: values, names of functions, and shapes of arrays that are not short and whole."""
    return f"({', '.join(map(_text, arguments))})"


def _text(part: Any) -> str:
    if not hasattr(part, "shape"):
        return getattr(part, "__name__", None) or _WRITER.repr(part)
    array = _array(part)
    short = array is not None and array.size <= SHOWN and (array == array.round()).all()
    return _shown(array) if short else f"array of shape {tuple(part.shape)}"


def forward_of(module: object) -> Callable:
    """Return the reader's module as a function in which everything that can go wrong is a hint."""
    if not isinstance(module, torch.nn.Module):
        raise Hint("the class should be an nn.Module")
    return _Attempt(module.forward)
