"""Checks for the exercises of chapter 8, Masking."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["causal_weights", "first_leak", "hidden_scores", "target_mask"]


@exercise(
    cases=[(4,), (1,), (2,), (9,), (100,)],
    hint="Row 0 hides length − 1 scores, the next row one less, and the last row none",
)
def hidden_scores(length: int) -> Iterator:
    """The reader's `hidden_scores(length)` counts the cells above the diagonal."""
    yield length * (length - 1) / 2, "length · (length − 1) / 2 of the scores are hidden: 6 of 16 for four words"
    yield length * (length + 1) / 2, "these are the scores that stay: the triangle with its diagonal"
    yield length * (length - 1), "this counts both triangles, and only the upper one is hidden"
    yield length**2 / 2, "the diagonal is not hidden, and not a half of it either"


@exercise(
    # With scores far below 0, a large negative number in the place of −∞ is no small weight any more.
    cases=[*((scores,) for scores in normal((4, 4), (1, 1), (6, 6), seed=8)), (normal((4, 4), seed=9)[0] - 200,)],
    hint="Softmax along the keys (the last axis), over the past alone",
)
def causal_weights(scores: Tensor) -> Iterator:
    """The reader's `causal_weights(scores)` returns the weights (seq, seq) of a softmax over each token's past."""
    past = torch.ones_like(scores, dtype=torch.bool).tril()
    masked = scores.masked_fill(~past, -math.inf)
    yield masked.softmax(dim=-1), "each row sums to 1, and the future has a weight of exactly 0"
    yield (
        scores.masked_fill(past, -math.inf).softmax(dim=-1),
        "the last row is NaN: masked_fill writes where its mask is True, so turn the triangle around with ~",
    )
    yield (
        scores.masked_fill(~past.tril(-1), -math.inf).softmax(dim=-1),
        "there is NaN: the first row may look at nothing. Each token may look at itself, so keep the diagonal",
    )
    yield scores.softmax(dim=-1), "the mask changes nothing yet: put −∞ into the future's scores before the softmax"
    yield scores.softmax(dim=-1) * past, "the rows do not sum to 1: mask the scores before the softmax, not the weights after"
    yield (scores * past).softmax(dim=-1), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"
    yield scores.masked_fill(~past.T, -math.inf).softmax(dim=-1), "this hides the past: keep the lower triangle, tril, not triu"
    yield masked.softmax(dim=0), "the columns sum to 1: take the softmax along the keys, dim=-1"
    yield masked, "these are the masked scores: the softmax is missing"
    if scores.max() < -100:
        yield (
            scores.masked_fill(~past, 0.0).softmax(dim=-1),
            "here all real scores are below −100, and the future gets the weight: use −∞, not a large negative number",
        )


@exercise(
    cases=[
        (torch.tensor([[5, 6, 7, 0], [5, 0, 0, 0]]), 0),
        (torch.tensor([[0, 0, 5, 6], [0, 5, 6, 7]]), 0),
        (torch.tensor([[4, 9, 9], [4, 5, 9]]), 9),
    ],
    hint="A key must be real (its id is not `pad_id`), and not in the future",
)
def target_mask(tokens: Tensor, pad_id: int) -> Iterator:
    """The reader's `target_mask(tokens, pad_id)` joins the padding mask and the causal mask to (batch, seq, seq)."""
    length = tokens.size(1)
    past = torch.ones(length, length, dtype=torch.bool).tril()
    keys, queries = (tokens != pad_id)[:, None, :], (tokens != pad_id)[:, :, None]
    right = keys & past
    yield right, "a key must be real and not in the future, whichever side the padding is on"
    yield right[:, None], "the shape is (batch, 1, seq, seq); here, leave out the axis of the heads: (batch, seq, seq)"
    yield ~right, "the mask is the wrong way round: True means that one may look"
    yield queries & past, "padding hides rows (queries) here; it must hide columns (keys)"
    yield queries & keys & past, "padding hides rows (queries) too; it must hide columns (keys) alone"
    yield keys | past, "`or` lets through what one of the two masks hides: join them with `and`, &"
    yield past.expand_as(right), "the padding is not hidden yet"
    yield keys.expand_as(right), "the future is not hidden yet"
    yield keys & past.T, "this hides the past: keep the lower triangle, tril, not triu"
    yield (tokens != 0)[:, None, :] & past, "use `pad_id`: the id of padding is not always 0"


def _outputs(moved: list[int], changed: int, *change: float, size: float = 1.0) -> tuple[Tensor, Tensor, int]:
    """Return outputs before and after, and where the input changed: `change` is added to two numbers of those that moved."""
    (before,) = normal((5, 3), seed=5)
    before *= size
    # Rounding moves each number a little, and is no leak.
    after = before + 1e-9 * normal((5, 3), seed=6)[0].sign()
    after[moved, 1:] += torch.tensor(change, dtype=torch.float64)
    return before, after, changed


@exercise(
    cases=[
        _outputs([1, 3, 4], 3, -0.5, 0.5),
        _outputs([3, 4], 3, -0.5, 0.5),
        _outputs([0, 1, 2, 3, 4], 4, -0.5, 0.5),
        _outputs([2, 4], 3, 0.5, 0.0),
        _outputs([2, 4], 3, -0.5, 0.0),
        _outputs([1], 4, 1e-4, 0.0),
        _outputs([1, 4], 4, 1e-4, 0.0, size=1000.0),
        _outputs([0], 0, -0.5, 0.5),
    ],
    hint="Look for the first position before `changed` where one of the numbers differs by more than 1e-6",
)
def first_leak(before: Tensor, after: Tensor, changed: int) -> Iterator:
    """The reader's `first_leak(before, after, changed)` returns the first earlier output that moved, or -1."""
    move = after - before

    def first(moved: Callable[[Tensor], Tensor], end: int = changed) -> int:
        return next((place for place in range(end) if moved(move[place])), -1)

    def leaks(row: Tensor) -> Tensor:
        return row.abs().max() > 1e-6

    yield first(leaks), "only an output before the changed input proves that the future was seen"
    for end in (changed + 1, len(move)):
        yield (
            first(leaks, end),
            "output `changed` may move, because it sees itself, and later ones may too: they see their past. Only earlier ones "
            "are leaks",
        )
    yield first(lambda row: (row != 0).any()), "outputs that differ by 1e-9 only: that is rounding. Ask for more than 1e-6"
    yield first(lambda row: row.sum().abs() > 1e-6), "one number moves up and one down: look at each number, a sum cancels them"
    yield first(lambda row: row.max() > 1e-6), "a number may also move down: take the absolute value (abs)"
    yield first(lambda row: row.min() < -1e-6), "a number may also move up: take the absolute value (abs)"
    for bound in (1e-3, 1e-2, 0.1):
        yield first(lambda row, bound=bound: row.abs().max() > bound), "0.0001 is more than 1e-6, so it is a leak"
    close = [torch.allclose(one, other) for one, other in zip(before, after, strict=True)]
    yield (
        next((place for place in range(changed) if not close[place]), -1),
        "allclose allows more where the numbers are large: ask whether one differs by more than 1e-6",
    )
