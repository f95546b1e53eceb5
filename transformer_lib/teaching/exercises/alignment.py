"""Checks for the exercises of chapter 4, Attention as a repair."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.alignment import AdditiveAttention, masked_softmax
from transformer_lib.teaching.exercises import Attempt, Hint, check, exercise, expect, normal, numbers, same

_SCORES = torch.tensor([1.0, 2.0, 0.5, -1.0], dtype=torch.float64)


@exercise(
    cases=[
        *((_SCORES, torch.tensor(mask, dtype=torch.bool)) for mask in ([1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0])),
        (_SCORES - 200, torch.tensor([True, False, True, False])),
    ],
    hint="The softmax of the scores whose mask is True, and 0 for all others",
)
def masked_weights(scores: Tensor, mask: Tensor) -> Iterator:
    """The reader's `masked_weights(scores, mask)` returns the weights (seq,), exactly 0 where the mask is False."""

    def masked(mask: Tensor) -> Tensor:
        return scores.masked_fill(~mask, -math.inf).softmax(dim=0)

    yield (
        masked(mask).nan_to_num(),
        "masked places get exactly 0, the others sum to 1, and a row with nothing to see is all zeros",
    )
    if not mask.any():
        yield masked(mask), "where nothing may be looked at, the weights are NaN: 0 / 0. They must all be 0"
        return
    yield scores.softmax(dim=0), "the mask changes nothing yet: give the masked places the score −∞ before the softmax"
    yield scores.softmax(dim=0) * mask, "these do not sum to 1: mask the scores before the softmax, not the weights after it"
    yield (scores * mask).softmax(dim=0), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"
    if not mask.all():
        yield masked(~mask), "the mask is used the wrong way round: True means that one may look"
    if scores.max() < -100:
        yield (
            (~mask).double() / (~mask).sum(),
            "here all real scores are below −100, and the masked places get the weight: use −∞, not a large negative number",
        )


_ROWS = {"the": (1.0, 0.0), "white": (0.0, 1.0), "cow": (2.0, 1.0), "is": (0.5, 0.5)}


@check
def steer(attempt: Callable) -> str:
    """The reader's `steer()` returns, for each of four rows, a query that gives it more than 0.9 of the weight, or None."""
    entries = attempt()
    if not isinstance(entries, list | tuple) or len(entries) != len(_ROWS):
        raise Hint("return four entries, for the, white, cow and is: each a query (two numbers), or None")
    memory = torch.tensor([*_ROWS.values()], dtype=torch.float64)
    for place, (word, entry) in enumerate(zip(_ROWS, entries, strict=True)):
        if entry is None and word == "is":
            continue
        if entry is None:
            raise Hint(f"there is a query for {word}: look for a direction in which its row lies further than all the others")
        query = torch.from_numpy(numbers(entry, (2,), what=f"the query for {word}"))
        scores = memory @ query
        weights = scores.softmax(dim=0)
        if weights[place] > 0.9:
            continue
        shown = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(_ROWS, weights.tolist(), strict=True))
        if word == "is":
            raise Hint(f"with this query: {shown}. How does the score of is lie to the scores of the and of white?")
        if scores[place] > scores[torch.arange(len(_ROWS)) != place].max() + 1e-9:
            raise Hint(f"for {word} the direction is right, but the weights are {shown}: what does a longer query do?")
        raise Hint(f"with the query for {word} the weights are {shown}: turn it away from the row that wins")
    return "each corner of the triangle can be reached; a row between two others has the mean of their scores, and never wins"


def _slips(ours: AdditiveAttention, query: Tensor, memory: Tensor, mask: Tensor) -> Iterator[tuple]:
    """Return what likely mistakes give, each with its hint."""
    joined = ours.from_query(query).unsqueeze(1) + ours.from_memory(memory)
    scores = ours.to_score(joined.tanh()).squeeze(2)
    context, weights = ours(query, memory, mask)

    def pooled(weights: Tensor) -> tuple[Tensor, Tensor]:
        return (weights.unsqueeze(1) @ memory).squeeze(1), weights

    yield (weights, context), "return the context first, then the weights"
    linear = masked_softmax(ours.to_score(joined).squeeze(2), mask)
    yield pooled(linear), "the tanh is missing: without it the query cancels in the softmax"
    yield (..., scores), "these are the scores: turn them into weights with a softmax"
    yield pooled(scores.softmax(dim=-1)), "the mask is not used"
    yield pooled(masked_softmax(scores, ~mask)), "the mask is the other way round: True means that one may look"
    yield pooled(scores.softmax(dim=-1) * mask), "mask the scores before the softmax: these weights do not sum to 1"
    yield pooled((scores * mask).softmax(dim=-1)), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"


@check
def additive_attention(attempt: Callable) -> str:
    """The reader's class gives the context and the weights of the library's, with and without a mask."""
    mine, ours = attempt(3, 4, 6), AdditiveAttention(3, 4, 6)
    parts = {"from_query": "3, 6", "from_memory": "4, 6", "to_score": "6, 1"}
    for name, sizes in parts.items():
        try:
            getattr(ours, name).load_state_dict(getattr(mine, name).state_dict())
        except (AttributeError, RuntimeError):
            raise Hint(f"for the sizes 3, 4 and 6, self.{name} should be nn.Linear({sizes}, bias=False)") from None
    query, memory = (values.float() for values in normal((2, 3), (2, 5, 4), seed=4))
    some = torch.tensor([[True] * 5, [True, True, True, False, False]])
    for case, mask in [("without a mask", torch.ones(2, 5).bool()), ("with a mask", some)]:
        found = Attempt(mine.forward)(query, memory, mask if mask is some else None)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise Hint("forward returns two things: the context and the weights")
        right = ours(query, memory, mask)
        if same(found, right):
            continue
        for wrong, hint in _slips(ours, query, memory, mask):
            if same(found, wrong):
                raise Hint(f"{case}: {hint}")
        for name, given, expected in zip(("the context", "the weights"), found, right, strict=True):
            expect(given, expected, "Compare your lines with the formula.", what=f"{case}, {name}")
    return "equal to the library's, without a mask and with one"
