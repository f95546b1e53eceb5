"""Checks for the exercises of chapter 4, Attention as a repair."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.alignment import AdditiveAttention, masked_softmax
from transformer_lib.teaching.exercises import Hint, check, exercise, expect, normal, numbers, same

__all__ = ["additive_attention", "masked_weights", "steer"]


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
        yield torch.full((4,), 0.25), "nothing may be looked at, so nothing gets a weight: not an equal share either"
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
        if entry is None:
            if word != "is":
                raise Hint(
                    f"there is a query for {word}: look for a direction in which its row lies further than all the others"
                )
            continue
        query = torch.from_numpy(numbers(entry, (2,), what=f"the query for {word}"))
        scores = memory @ query
        weights = scores.softmax(dim=0)
        if weights[place] > 0.9:
            continue
        shown = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(_ROWS, weights.tolist(), strict=True))
        if word == "is":
            raise Hint(
                f"with this query: {shown}. Write down the score of is: how does it lie to the scores of the and of white?"
            )
        if scores[place] > scores[torch.arange(len(_ROWS)) != place].max() + 1e-9:
            raise Hint(f"for {word} the direction is right, but the weights are {shown}: what does a longer query do?")
        raise Hint(f"with the query for {word} the weights are {shown}: turn it away from the row that wins")
    return "each corner of the triangle can be reached; a row between two others has the mean of their scores, and never wins"


def _slips(ours: AdditiveAttention, query: Tensor, memory: Tensor, mask: Tensor | None) -> Iterator[tuple]:
    """Return what likely mistakes give, each with its hint."""
    joined = ours.from_query(query).unsqueeze(1) + ours.from_memory(memory)
    scores = ours.to_score(joined.tanh()).squeeze(2)
    context, weights = ours(query, memory, mask)

    def pooled(weights: Tensor) -> tuple[Tensor, Tensor]:
        return (weights.unsqueeze(1) @ memory).squeeze(1), weights

    def masked(scores: Tensor, mask: Tensor | None = mask) -> Tensor:
        return masked_softmax(scores, mask)

    yield (weights, context), "return the context first, then the weights"
    yield pooled(masked(ours.to_score(joined).squeeze(2))), "the tanh is missing: without it the query cancels in the softmax"
    yield pooled(masked(ours.to_score(joined).squeeze(2).tanh())), "the tanh belongs before to_score, on each hidden number"
    yield pooled(scores.softmax(dim=0)), "this softmax runs over the sentences of the batch: it belongs over the words, dim=-1"
    yield (context, scores), "these are the scores: return the weights"
    yield pooled(scores), "these are the scores: turn them into weights with a softmax"
    if mask is not None:
        yield pooled(masked(scores, None)), "the mask is not used"
        yield pooled(masked(scores, ~mask)), "the mask is the other way round: True means that one may look"
        yield pooled(masked(scores, None) * mask), "mask the scores before the softmax: these weights do not sum to 1"
        yield pooled((scores * mask).softmax(dim=-1)), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"


@check
def additive_attention(attempt: Callable) -> str:
    """The reader's class gives the context and the weights of the library's, with and without a mask."""
    mine, ours = attempt(3, 4, 6), AdditiveAttention(3, 4, 6)
    for name in ("from_query", "from_memory", "to_score"):
        part, wanted = getattr(mine, name, None), getattr(ours, name)
        if not isinstance(part, nn.Linear):
            raise Hint(f"{name} should be an nn.Linear, made in __init__")
        if part.weight.shape != wanted.weight.shape:
            sizes = f"nn.Linear({part.in_features}, {part.out_features})"
            raise Hint(f"for AdditiveAttention(3, 4, 6), {name} is {sizes}; look at the sizes in the formula again")
        if part.bias is not None:
            raise Hint(f"{name} has a bias, and the formula has none: bias=False")
        wanted.load_state_dict(part.state_dict())
    query, memory = (values.float() for values in normal((2, 3), (2, 5, 4), seed=4))
    mask = torch.tensor([[True] * 5, [True, True, True, False, False]])
    for case, m in [("without a mask", None), ("with a mask", mask)]:
        try:
            found = mine(query, memory, m)
        except NotImplementedError:
            raise Hint("forward is not written yet") from None
        except Exception as problem:
            raise Hint(f"{case}, forward raises {type(problem).__name__}: {problem}") from problem
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise Hint("forward returns two things: the context and the weights")
        right = ours(query, memory, m)
        if all(map(same, found, right)):
            continue
        for wrong, hint in _slips(ours, query, memory, m):
            if all(map(same, found, wrong)):
                raise Hint(f"{case}: {hint}")
        for name, given, expected in zip(("the context", "the weights"), found, right, strict=True):
            expect(given, expected, "Compare your lines with the formula.", what=f"{case}, {name}")
    return "equal to the library's, without a mask and with one"
