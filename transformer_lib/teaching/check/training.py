"""Checks for the exercises of chapter 12, The training loop."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from transformer_lib.teaching.check import Hint, exercise, expect_formula

__all__ = ["joined_loss", "loss_per_token", "sentences_that_fit", "write_safely"]


@exercise
def loss_per_token(attempt: Callable) -> str:
    """The reader's `loss_per_token(losses, real)` is the mean over the real places only."""
    import torch

    generator = torch.Generator().manual_seed(12)
    cases = []
    for lengths, longest in (([4, 2], 4), ([1, 3, 2], 5), ([6], 6)):
        losses = torch.rand(len(lengths), longest, generator=generator)
        cases.append((losses, torch.arange(longest) < torch.tensor(lengths)[:, None]))
    expect_formula(
        attempt,
        cases=cases,
        right=lambda losses, real: losses[real].mean().item(),
        mistakes=[
            (lambda losses, real: losses.mean().item(), "this counts the padding as if it were words"),
            (
                lambda losses, real: (losses * real).mean().item(),
                "the sum is right, but it is divided by all places: divide by the real ones",
            ),
            (
                lambda losses, real: ((losses * real).sum(dim=1) / real.sum(dim=1)).mean().item(),
                "this is a mean of each sentence's mean: a word in a short sentence would count for more",
            ),
            (lambda losses, real: (losses * real).sum().item(), "this is the sum: divide by the number of real places"),
            (
                lambda losses, real: ((losses * real).sum() / len(losses)).item(),
                "this is the loss per sentence: divide by the number of real places",
            ),
        ],
        hint="Add the losses where `real` is True, and divide by how many there are",
    )
    return "each word counts the same, and padding does not count"


@exercise
def joined_loss(attempt: Callable) -> str:
    """The reader's `joined_loss(means, tokens)` is the loss per token of all micro-batches together."""
    expect_formula(
        attempt,
        cases=[([0.3, 0.9], [4, 2]), ([2.0], [7]), ([1.0, 2.0, 4.0], [10, 5, 1])],
        right=lambda means, tokens: sum(m * n for m, n in zip(means, tokens)) / sum(tokens),
        mistakes=[
            (lambda means, tokens: sum(means) / len(means), "this is a mean of means: the parts have different numbers of tokens"),
            (lambda means, tokens: sum(means), "this is the sum: with k parts the step would be k times too large"),
            (lambda means, tokens: sum(m * n for m, n in zip(means, tokens)), "now divide by the number of all tokens"),
            (
                lambda means, tokens: sum(m * n for m, n in zip(means, tokens)) / len(means),
                "divide by the number of all tokens, not by the number of parts",
            ),
        ],
        hint="Turn each mean back into a sum (times its tokens), add, and divide by all tokens",
    )
    return "the parts join to the loss of one large batch"


@exercise
def sentences_that_fit(attempt: Callable) -> str:
    """The reader's `sentences_that_fit(lengths, max_tokens)` says how many fit, padding included."""

    def fitting(fits: Callable) -> Callable:
        return lambda lengths, budget: max(n for n in range(1, len(lengths) + 1) if fits(n, lengths[:n], budget))

    def summed(lengths: list[int], budget: int) -> int:
        return fitting(lambda n, taken, budget: sum(taken) <= budget)(lengths, budget)

    expect_formula(
        attempt,
        cases=[([3, 3, 4, 9, 10], 20), ([2, 3, 5, 5, 5], 20), ([1, 1, 1], 20), ([2, 6, 6, 6, 9], 18), ([4, 5], 5)],
        right=fitting(lambda n, taken, budget: n * taken[-1] <= budget),
        mistakes=[
            (summed, "this adds the lengths: in a rectangle each sentence takes as much as the longest"),
            (
                lambda lengths, budget: max(1, fitting(lambda n, taken, budget: n == 1 or n * taken[-1] < budget)(lengths, budget)),
                "a batch may fill its budget to the last token: compare with <=",
            ),
            (lambda lengths, budget: budget // lengths[0], "longer sentences follow, and they make the rectangle wider"),
            (lambda lengths, budget: min(len(lengths), budget // lengths[0]), "the rectangle is as wide as its longest sentence"),
            (lambda lengths, budget: budget // lengths[-1], "the longest of all need not be in this batch"),
        ],
        hint="The first n sentences fit if n times the longest of them, lengths[n - 1], is at most max_tokens",
    )
    return "a batch is a rectangle, and padding takes space too"


class _Killed(BaseException):
    """Stands for the moment when a process is killed."""


@exercise
def write_safely(attempt: Callable) -> str:
    """The reader's `write_safely(path, pieces)` leaves the old file whole until the new one is complete."""
    with tempfile.TemporaryDirectory() as folder:
        path, witness = Path(folder, "run.pt"), Path(folder, "witness")

        def pieces(killed: bool) -> Iterator[bytes]:
            yield b"new "
            if path.exists() and path.read_bytes() != b"old":
                raise _Killed
            yield b"weights"
            if killed:
                raise _Killed

        path.write_bytes(b"old")
        os.link(path, witness)
        for killed in (True, False):
            try:
                attempt(path, pieces(killed))
            except _Killed:
                pass
            content = path.read_bytes() if path.exists() else None
            if killed and content != b"old":
                raise Hint("the run was killed while it wrote, and the old file is no longer whole: write to another file first")
        if content != b"new weights":
            raise Hint(f"at the end the file should hold b'new weights', but it holds {content!r}")
        if witness.read_bytes() != b"old":
            raise Hint("the old file itself is written over, at once but not in one moment: let the new file take its name")
    return "at each moment there is one whole file, the old one or the new one"
