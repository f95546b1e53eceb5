"""Checks for the exercises of chapter 12, The training loop."""

import errno
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

from transformer_lib.teaching.exercises import Hint, check, exercise

__all__ = ["clip_together", "joined_loss", "sentences_that_fit", "write_safely"]


def _length(gradients: list[np.ndarray]) -> float:
    return math.sqrt(sum((g**2).sum() for g in gradients))


@exercise(
    cases=[
        ([np.array([3.0, 1.0]), np.array([[4.0, -2.0]])], 1.0),
        ([np.array([0.3, 0.1]), np.array([[0.2], [0.1]])], 1.0),
        ([np.array([-6.0]), np.array([2.0, 3.0])], 3.5),
    ],
    hint="Take the length of all gradients as one vector; if it is above max_norm, multiply each by max_norm / length",
    parts=("the first gradient", "the second gradient"),
)
def clip_together(gradients: list[np.ndarray], max_norm: float) -> Iterator:
    """The reader's `clip_together(gradients, max_norm)` shortens all gradients by one factor, if they are too long."""

    def shortened(length: float) -> list[np.ndarray]:
        return [g * min(1, max_norm / length) for g in gradients]

    length = _length(gradients)
    yield shortened(length), "one length, one factor: shorter, and in the same direction"
    yield gradients, "they are too long together, and nothing is shortened"
    yield (
        [g * max_norm / length for g in gradients],
        "gradients that are short enough must stay as they are, and not grow to max_norm",
    )
    yield (
        [g * min(1, max_norm / _length([g])) for g in gradients],
        "each is shortened alone, and so the direction of them all changes: one length, one factor",
    )
    yield (
        [g.clip(-max_norm, max_norm) for g in gradients],
        "each number is cut off alone, and so the direction changes: multiply all of them by one factor",
    )
    yield (
        shortened(sum(_length([g]) for g in gradients)),
        "the lengths are added; the length of all is the root of the sum of all squares",
    )
    yield shortened(length**2), "the root is missing: the length is the root of the sum of squares"


@exercise(
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


@exercise(
    cases=[([3, 3, 4, 9, 10], 20), ([2, 3, 5, 5, 5], 20), ([1, 1, 1], 20), ([2, 6, 6, 6, 9], 18), ([4, 5], 5)],
    hint="The first n sentences fit if n times the longest of them, lengths[n - 1], is at most max_tokens",
)
def sentences_that_fit(lengths: list[int], max_tokens: int) -> Iterator:
    """The reader's `sentences_that_fit(lengths, max_tokens)` says how many fit, padding included."""

    def most(fits: Callable) -> int:
        return max((n for n in range(1, len(lengths) + 1) if fits(n)), default=0)

    right = most(lambda n: n * lengths[n - 1] <= max_tokens)
    yield right, "a batch is a rectangle, and padding takes space too"
    yield (
        most(lambda n: sum(lengths[:n]) <= max_tokens),
        "this adds the lengths: in a rectangle each sentence takes as much as the longest",
    )
    yield (
        most(lambda n: n == 1 or n * lengths[n - 1] < max_tokens),
        "a batch may fill its budget to the last token: compare with <=",
    )
    first = max_tokens // lengths[0]
    yield first, "longer sentences follow, and they make the rectangle wider"
    yield min(len(lengths), first), "the rectangle is as wide as its longest sentence"
    yield max_tokens // lengths[-1], "the longest of all need not be in this batch"
    yield right - 1, "one less than fit: is the last one that fits counted?"


class _Killed(BaseException):
    """Stands for the moment when a process is killed."""


# What tells the system to bring a file from its buffers to the disk.
_SYNCS = [getattr(os, name) for name in ("fsync", "fdatasync", "sync") if hasattr(os, name)]
_OLD, _NEW = b"old", b"new weights"
_ELSEWHERE = "write the new file into the same folder: between two disks a file can be copied, but not renamed"


@contextmanager
def _at_each_moment(attempt: Callable, look: Callable[[], None], sync: Callable[[], None]) -> Iterator[None]:
    """Call `look` between any two operations of Python code while the reader's function `attempt` runs, and what it calls.

    `sync` is called where one of `_SYNCS` is.
    """
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

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "c_call" and argument in _SYNCS:
            sync()

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])


@check
def write_safely(attempt: Callable) -> str:
    """The reader's `write_safely(path, pieces)` leaves the old file whole until the new one is complete, and on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        path, witness = Path(folder, "run.pt"), Path(folder, "witness")
        seen: list[str] = []
        synced: dict[int, bool] = {}  # by the number of the file: whether it was whole when it was sent to the disk

        def sync() -> None:
            synced.update({file.stat().st_ino: file.read_bytes() == _NEW for file in path.parent.iterdir()})

        def look() -> None:
            """Remember what is wrong at the first moment at which something is."""
            if not seen and (wrong := what_is_wrong()):
                seen.append(wrong)

        def what_is_wrong() -> str | None:
            if not path.exists():
                return "for a moment there is no file of that name: os.replace takes the old one's place in one step"
            content = path.read_bytes()
            if content == _OLD:
                return None
            if content == _NEW:
                if not synced:
                    return (
                        "if the power fails now, the name may stand for an empty file: os.fsync(file.fileno()) brings the new "
                        "one to the disk, before os.replace gives it the name"
                    )
                if path.stat().st_ino not in synced:
                    return _ELSEWHERE
                if not synced[path.stat().st_ino]:
                    return "os.fsync came too early: a part still waited in Python's buffer. Call file.flush() before it"
                return None
            if content.startswith(_NEW):
                return "a run that was killed has left its file, and this one writes on behind it: open the new file with 'wb'"
            if path.samefile(witness):
                return "the old file itself is written over, so for a moment it is not whole: write to another file first"
            return "the new file takes the name before it is whole: close it first, or what was written waits in a buffer"

        def pieces(killed: bool) -> Iterator[bytes]:
            yield _NEW[:4]
            yield _NEW[4:]
            if killed:
                raise _Killed

        path.write_bytes(_OLD)
        os.link(path, witness)
        for killed in (True, False):
            synced.clear()
            try:
                with _at_each_moment(attempt, look, sync):
                    attempt(path, pieces(killed))
            except _Killed:
                pass
            except Hint as problem:
                if isinstance(problem.__cause__, FileExistsError) and not killed:
                    raise Hint(
                        "a run that was killed has left its file, and the next one must begin anew: open it with 'wb', not 'xb'"
                    ) from None
                if getattr(problem.__cause__, "errno", None) == errno.EXDEV:
                    raise Hint(_ELSEWHERE) from None
                raise
            look()
            if seen:
                raise Hint(seen[0])
            content = path.read_bytes()
            if killed and content != _OLD:
                raise Hint("the run was killed while it wrote, and the name stands for a file that is not complete")
        if content != _NEW:
            raise Hint(f"at the end the file should hold {_NEW!r}, but it holds {content!r}")
    return "at each moment there is one whole file, the old one or the new one, also when the power fails"
