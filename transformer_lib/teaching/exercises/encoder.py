"""Checks for the exercises of chapter 7, The encoder."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import Hint, check, exercise, normal, numbers, same

__all__ = ["layer_of", "normalise_rows", "pour", "two_bends"]


@exercise(
    cases=[(torch.tensor([[4.0, 0.0], [0.0, 4.0]]), 2, add) for add in (True, False)]
    + [(*normal((3, 4), seed=7), 3, add) for add in (True, False)],
    hint="Each round: the average of the tokens as they are now, x.mean(dim=0); then x + average, or the average for each",
)
def pour(x: Tensor, rounds: int, add: bool) -> Iterator:
    """The reader's `pour(x, rounds, add)` adds the tokens' average to each token, or replaces each by it, `rounds` times."""

    def poured(x: Tensor, rounds: int, add: bool, dim: int = 0) -> Tensor:
        for _ in range(rounds):
            average = x.mean(dim, keepdim=True).expand_as(x)
            x = x + average if add else average
        return x

    yield (
        poured(x, rounds, add),
        "added, the two tokens are [10, 6] and [6, 10] and still differ by 4 and -4; replaced, both are [2, 2]",
    )
    yield (
        poured(x, rounds, not add),
        "`add` is the wrong way round: True adds the average, False puts it in the place of the token",
    )
    yield poured(x, 1, add), "this is one round, however many are asked for"
    if add:
        first = x.mean(0, keepdim=True)
        yield x + rounds * first, "the average of the first round is added each time: take that of the tokens as they are now"
    yield (
        poured(x, rounds, add, dim=1),
        "this averages the numbers within a token; the tokens are the rows, so average over dim=0",
    )
    shape = (
        "each of the tokens gets the average, so the result keeps the shape of x: expand_as(x), or an average with keepdim=True"
    )
    if not add:
        yield poured(x, rounds, False)[0], shape
        yield x.mean(), shape
    for _ in range(rounds):
        x = x + x.sum(0) if add else x.sum(0, keepdim=True).expand_as(x)
    yield x, "this takes the sum of the tokens; their average is the sum divided by how many they are"


@exercise(
    cases=[(*normal((3, 4), seed=7), eps) for eps in (0.0, 0.5)],
    hint="Subtract each row's mean, then divide by the root of (variance + eps)",
)
def normalise_rows(x: Tensor, eps: float) -> Iterator:
    """The reader's `normalise_rows(x, eps)` gives each row of x mean 0 and variance 1."""
    x = x + 1

    def normalised(dim: int | tuple[int, int] = -1, correction: int = 0) -> Tensor:
        variance = x.var(dim, correction=correction, keepdim=True)
        return (x - x.mean(dim, keepdim=True)) / (variance + eps).sqrt()

    centred, deviation = x - x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
    yield normalised(), "each row has mean 0 and variance 1, and eps stands inside the root"
    yield normalised(correction=1), "the variance is divided by n - 1; here it is the plain mean of the squares"
    yield (
        normalised(dim=(0, 1)),
        "this normalises the whole matrix at once: each row, a token, needs a mean and a variance of its own",
    )
    yield normalised(dim=0), "this normalises columns; a token is a row, so work along the last axis"
    yield centred, "the mean is 0, but the variance is not 1 yet: divide by its root"
    yield centred / (deviation + eps), "eps is outside the root: add it to the variance first, then take the root"
    yield centred / deviation, "eps is not used: add it to the variance, inside the root"


def attention(rows: Tensor) -> Tensor:
    return rows.mean(dim=0, keepdim=True) * 2 + 1


def network(rows: Tensor) -> Tensor:
    return rows.square() + 3


def norm(rows: Tensor) -> Tensor:
    return (rows * 0.5).tanh() - 1


@exercise(
    cases=[(*normal((3, 4), seed=8), attention, network, norm)],
    hint="First z = norm(x + attention(x)); then the same frame around the feed-forward network, with z in the place of x",
)
def layer_of(x: Tensor, attention: Callable, feed_forward: Callable, norm: Callable) -> Iterator:
    """The reader's `layer_of(x, attention, feed_forward, norm)` is one encoder layer in the paper's order."""
    z = norm(x + attention(x))
    yield norm(z + feed_forward(z)), "two boxes, a way around each, and a norm behind each plus"
    yield norm(x + feed_forward(z)), "the second way around starts at z, behind the first norm, and not at x"
    yield norm(z + feed_forward(x)), "the feed-forward network works on z, which has been through attention, and not on x"
    yield norm(feed_forward(z)), "the way around the second box is missing: add z"
    first = norm(attention(x))
    yield norm(first + feed_forward(first)), "the way around the first box is missing: add x"
    yield norm(feed_forward(first)), "both ways around are missing: this replaces the tokens, twice"
    yield z, "this is the first box alone: the feed-forward network is missing"
    yield z + feed_forward(z), "the second norm is missing"
    bare = x + attention(x)
    yield bare + feed_forward(bare), "both norms are missing: the sums would grow"
    yield norm(bare + feed_forward(bare)), "the first norm is missing: there is one behind each plus"
    before = x + attention(norm(x))
    yield before + feed_forward(norm(before)), "this is pre-norm; in the paper's order the norm stands behind the plus"
    inside = x + norm(attention(x))
    yield inside + norm(feed_forward(inside)), "the norm stands behind the plus: it takes the sum, not what the box gives"
    other = norm(x + feed_forward(x))
    yield norm(other + attention(other)), "attention comes first, then the feed-forward network"
    yield norm(x + attention(x) + feed_forward(x)), "one after the other: the second box gets what the first frame gives"


PARTS = ("w_1", "b_1", "w_2", "b_2")


@check
def two_bends(attempt: Callable) -> str:
    """The reader's `two_bends()` returns the numbers of a feed-forward network that is 0, then a, then 1."""
    given = attempt()
    if not isinstance(given, list | tuple) or len(given) != len(PARTS):
        raise Hint(f"return four things: {', '.join(PARTS[:3])} and {PARTS[3]}")
    try:
        width = len(given[1])
    except TypeError:
        raise Hint("b_1 is a vector: one number for each number inside, as in [0, 0]") from None
    shapes = ((1, width), (width,), (width, 1), (1,))
    w_1, b_1, w_2, b_2 = (
        torch.from_numpy(numbers(value, shape, name)) for value, shape, name in zip(given, shapes, PARTS, strict=True)
    )

    def network(a: Tensor) -> Tensor:
        return ((a @ w_1 + b_1).relu() @ w_2 + b_2).squeeze(1)

    a = torch.tensor([[-2.0], [-0.5], [0.0], [0.25], [0.75], [1.0], [1.5], [4.0]], dtype=torch.float64)
    found, expected = network(a), a.squeeze(1).clamp(0, 1)
    mistakes = [
        (a.squeeze(1).relu(), "it never stops: one bend at 0 is there. A second one, at 1, must take away what the first adds"),
        (a.squeeze(1), "this is a straight line: let a number inside be negative for a below 0, so that the ReLU cuts it"),
        (a.squeeze(1).abs(), "this is the V of the text: both bends stand at 0. A bias in b_1 moves a bend to another place"),
        (
            torch.zeros(len(a), dtype=a.dtype),
            "this is 0 everywhere: the numbers inside cancel, or none of them survives the ReLU",
        ),
        (
            a.squeeze(1).relu() + (a.squeeze(1) - 1).relu(),
            "the second bend goes the wrong way: from 1 on it must take away, so w_2 has a -1",
        ),
        (
            a.squeeze(1).relu() - (a.squeeze(1) + 1).relu(),
            "the second bend stands at -1: a - 1 inside, with -1 in b_1, bends at 1",
        ),
    ]
    if same(found, expected):
        return "0, then a, then 1: each number inside makes one bend, and its bias says where"
    for mistake, hint in mistakes:
        if same(found, mistake):
            raise Hint(hint)
    wrong = next(n for n in range(len(a)) if abs(found[n] - expected[n]) > 1e-4)
    raise Hint(
        f"for a = {a[wrong].item():g} it gives {found[wrong].item():.4g}, not {expected[wrong].item():g}. "
        "Put a and a - 1 inside, which bend at 0 and at 1, and add them up with the right signs"
    )
