"""Checks for the exercises of chapter 12, The training loop."""

import inspect
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np

from transformer_lib.teaching.exercises import Hint, exercise, expect_formula, expect_shape, formula

__all__ = ["clip_together", "joined_loss", "sentences_that_fit", "write_safely"]


@exercise
def clip_together(attempt: Callable) -> str:
    """The reader's `clip_together(gradients, max_norm)` shortens all gradients by one factor, if they are too long."""

    def scaled(factor: Callable) -> Callable:
        return lambda gradients, max_norm: [g * factor(gradients, g, max_norm) for g in gradients]

    def length(gradients: list[np.ndarray]) -> float:
        return math.sqrt(sum((g**2).sum() for g in gradients))

    mistakes = [
        (lambda gradients, max_norm: gradients, "they are too long together, and nothing is shortened"),
        (
            scaled(lambda gs, g, most: most / length(gs)),
            "these were short enough: they must stay as they are, not grow to max_norm",
        ),
        (
            scaled(lambda gs, g, most: min(1, most / length([g]))),
            "each is shortened alone, and so the direction of them all changes: one length, one factor",
        ),
        (
            lambda gs, most: [np.clip(g, -most, most) for g in gs],
            "each number is cut off alone, and so the direction changes: multiply all of them by one factor",
        ),
        (
            scaled(lambda gs, g, most: min(1, most / sum(length([one]) for one in gs))),
            "the lengths are added; the length of all is the root of the sum of all squares",
        ),
        (
            scaled(lambda gs, g, most: min(1, most / length(gs) ** 2)),
            "the root is missing: the length is the root of the sum of squares",
        ),
    ]
    cases = [
        ([np.array([3.0, 1.0]), np.array([[4.0, -2.0]])], 1.0),
        ([np.array([0.3, 0.1]), np.array([[0.2], [0.1]])], 1.0),
        ([np.array([-6.0]), np.array([2.0, 3.0])], 3.5),
    ]
    right = scaled(lambda gs, g, most: min(1, most / length(gs)))
    for gradients, max_norm in cases:
        given = attempt([g.copy() for g in gradients], max_norm)
        if not isinstance(given, list | tuple) or len(given) != len(gradients):
            raise Hint(f"return a list of {len(gradients)} gradients, as many as came in; this is {type(given).__name__}")
        found = [expect_shape(one, g.shape, "a gradient") for one, g in zip(given, gradients, strict=True)]
        expected = right(gradients, max_norm)
        for mistake, hint in mistakes:
            wrong = mistake(gradients, max_norm)
            if _alike(found, wrong) and not _alike(wrong, expected):
                raise Hint(hint)
        if not _alike(found, expected):
            raise Hint(
                "Take the length of all gradients as one vector; if it is above max_norm, multiply each by max_norm / length"
            )
    return "one length, one factor: shorter, and in the same direction"


def _alike(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return all(np.allclose(one, other, rtol=1e-4, atol=1e-6) for one, other in zip(some, others, strict=True))


@formula(
    cases=[([0.3, 0.9], [4, 2]), ([2.0], [7]), ([1.0, 2.0, 4.0], [10, 5, 1])],
    hint="Turn each mean back into a sum (times its tokens), add, and divide by all tokens",
)
def joined_loss(means: list[float], tokens: list[int]) -> Iterator:
    """The reader's `joined_loss(means, tokens)` is the loss per token of all micro-batches together."""
    total = sum(m * n for m, n in zip(means, tokens, strict=True))
    yield total / sum(tokens), "the parts join to the loss of one large batch"
    yield sum(means) / len(means), "this is a mean of means: the parts have different numbers of tokens"
    yield sum(means), "this is the sum: with k parts the step would be k times too large"
    yield total, "now divide by the number of all tokens"
    yield total / len(means), "divide by the number of all tokens, not by the number of parts"
    yield sum(means) / sum(tokens), "these are means already: multiply each by its tokens before you divide"


@exercise
def sentences_that_fit(attempt: Callable) -> str:
    """The reader's `sentences_that_fit(lengths, max_tokens)` says how many fit, padding included."""

    def fitting(fits: Callable) -> Callable:
        return lambda lengths, budget: max(n for n in range(1, len(lengths) + 1) if fits(n, lengths[:n], budget))

    def summed(lengths: list[int], budget: int) -> int:
        return fitting(lambda n, taken, budget: sum(taken) <= budget)(lengths, budget)

    right = fitting(lambda n, taken, budget: n * taken[-1] <= budget)
    expect_formula(
        attempt,
        cases=[([3, 3, 4, 9, 10], 20), ([2, 3, 5, 5, 5], 20), ([1, 1, 1], 20), ([2, 6, 6, 6, 9], 18), ([4, 5], 5)],
        right=right,
        mistakes=[
            (summed, "this adds the lengths: in a rectangle each sentence takes as much as the longest"),
            (
                lambda lengths, budget: max(
                    1, fitting(lambda n, taken, budget: n == 1 or n * taken[-1] < budget)(lengths, budget)
                ),
                "a batch may fill its budget to the last token: compare with <=",
            ),
            (lambda lengths, budget: budget // lengths[0], "longer sentences follow, and they make the rectangle wider"),
            (
                lambda lengths, budget: min(len(lengths), budget // lengths[0]),
                "the rectangle is as wide as its longest sentence",
            ),
            (lambda lengths, budget: budget // lengths[-1], "the longest of all need not be in this batch"),
            (lambda lengths, budget: right(lengths, budget) - 1, "one less than fit: is the last one that fits counted?"),
        ],
        hint="The first n sentences fit if n times the longest of them, lengths[n - 1], is at most max_tokens",
    )
    return "a batch is a rectangle, and padding takes space too"


class _Killed(BaseException):
    """Stands for the moment when a process is killed."""


@contextmanager
def _at_each_moment(attempt: Callable, look: Callable[[], None]) -> Iterator[None]:
    """Call `look` between any two operations of Python code while the reader's function `attempt` runs, and what it calls."""
    code = getattr(inspect.unwrap(attempt), "__code__", None)
    running = 0

    def trace(frame: FrameType, event: str, argument: object) -> Callable | None:
        nonlocal running
        own = frame.f_code is code
        running += own and event == "call"
        # What stands around the reader's function takes many steps too, and touches no file.
        if not running:
            return None
        frame.f_trace_opcodes = True
        look()
        running -= own and event == "return"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@exercise
def write_safely(attempt: Callable) -> str:
    """The reader's `write_safely(path, pieces)` leaves the old file whole until the new one is complete."""
    with tempfile.TemporaryDirectory() as folder:
        path, witness = Path(folder, "run.pt"), Path(folder, "witness")
        seen = []

        def look() -> None:
            """Remember the first moment at which there is neither the old file nor the new one."""
            if seen:
                return
            if not os.path.exists(path):
                seen.append("for a moment there is no file of that name: os.replace takes the old one's place in one step")
                return
            with open(path, "rb") as file:
                content = file.read()
            if content not in (b"old", b"new weights"):
                seen.append(
                    "the old file itself is written over, so for a moment it is not whole: write to another file first"
                    if os.path.samefile(path, witness)
                    else "the new file takes the name before it is whole: close it first, or what was written waits in a buffer"
                )

        def pieces(killed: bool) -> Iterator[bytes]:
            yield b"new "
            yield b"weights"
            if killed:
                raise _Killed

        path.write_bytes(b"old")
        os.link(path, witness)
        for killed in (True, False):
            try:
                with _at_each_moment(attempt, look):
                    attempt(path, pieces(killed))
            except _Killed:
                pass
            look()
            if seen:
                raise Hint(seen[0])
            content = path.read_bytes()
            if killed and content != b"old":
                raise Hint("the run was killed while it wrote, and the name stands for a file that is not complete")
        if content != b"new weights":
            raise Hint(f"at the end the file should hold b'new weights', but it holds {content!r}")
    return "at each moment there is one whole file, the old one or the new one"
