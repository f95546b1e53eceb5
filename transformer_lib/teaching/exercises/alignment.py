"""Checks for the exercises of chapter 4, Attention as a repair."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import Hint, check, exercise, normal, numbers

__all__ = ["attend", "masked_weights", "road", "steer"]


@exercise(
    cases=[normal((4,), (3, 4), seed=4), normal((2,), (5, 2), seed=4)],
    hint="A row's score is its dot product with the query; the weights are the softmax of the scores; the context is the sum "
    "of the memory's rows, each times its weight",
    parts=("the context", "the weights"),
)
def attend(query: Tensor, memory: Tensor) -> Iterator:
    """The reader's `attend(query, memory)` returns the context (d,) and the weights (seq,) of dot-product attention."""
    scores = memory @ query
    weights = scores.softmax(dim=0)
    context = weights @ memory
    yield (context, weights), "scores, softmax, weighted sum: the context has the width of the memory, for any number of words"
    yield (weights, context), "the two are in the wrong order: return the context first, then the weights"
    yield (..., scores), "these are the scores: turn them into weights with a softmax"
    yield (
        (..., scores / scores.sum()),
        "the scores are divided by their sum; take the exponential of each score first (softmax)",
    )
    yield (
        (..., (scores / math.sqrt(len(query))).softmax(dim=0)),
        "these scores were divided by √d; here they are not (chapter 6 does that)",
    )
    yield (..., scores.exp()), "these do not sum to 1: divide each exponential by their sum"
    yield (
        (..., torch.eye(len(scores))[scores.argmax()]),
        "this takes the best row alone; a softmax gives every row a share, the better ones more",
    )
    yield (
        (weights[:, None] * memory, weights),
        f"the context still has one row for each of the {len(memory)} words: add them up over the words",
    )
    yield (memory.mean(dim=0), ...), "the context is the plain mean of the rows: multiply each row by its weight, then add"


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


_ROWS = {"I": (1.0, 0.0), "am": (0.0, 1.0), "late": (2.0, 1.0), "too": (0.5, 0.5)}


@check
def steer(attempt: Callable) -> str:
    """The reader's `steer()` returns, for each of four rows, a query that gives it more than 0.9 of the weight, or None."""
    entries = attempt()
    if not isinstance(entries, list | tuple) or len(entries) != len(_ROWS):
        raise Hint("return four entries, for I, am, late and too: each a query (two numbers), or None")
    memory = torch.tensor([*_ROWS.values()], dtype=torch.float64)
    for place, (word, entry) in enumerate(zip(_ROWS, entries, strict=True)):
        if entry is None:
            if word != "too":
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
        if word == "too":
            raise Hint(f"with this query: {shown}. Write down the score of too: how does it lie to the scores of I and of am?")
        if scores[place] > scores[torch.arange(len(_ROWS)) != place].max() + 1e-9:
            raise Hint(f"for {word} the direction is right, but the weights are {shown}: what does a longer query do?")
        raise Hint(f"with the query for {word} the weights are {shown}: turn it away from the row that wins")
    return "each corner of the triangle can be reached; a row between two others has the mean of their scores, and never wins"


@exercise(
    cases=[(0, 0, 4), (3, 0, 4), (1, 2, 6), (0, 9, 10)],
    hint="Walk from the word's own cell to the end of the encoder, over to the decoder, and on to the target's cell",
)
def road(source_place: int, target_place: int, length: int) -> Iterator:
    """The reader's `road(source_place, target_place, length)` counts the arrows between cells, without attention."""
    yield length - source_place + target_place, "the road grows with the sentence; with attention it is one step"
    yield (
        length - 1 - source_place + target_place,
        "the arrow from the encoder's last cell to the decoder's first one is missing",
    )
    yield length - source_place + target_place + 1, "that is the number of cells on the road; there is one arrow less"
    yield (
        length + source_place + target_place,
        "a word further right in the source has a shorter way to the end: subtract its place",
    )
    yield length + target_place, "that is the road of the first word; the others begin further right"
    yield length - source_place, "that is the road to the first target word; go on to `target_place`"
    yield 1, "that is the road with attention; here there is none"
