"""Checks for the exercises of chapter 4, Attention as a repair."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.alignment import AdditiveAttention, masked_softmax
from transformer_lib.teaching.exercises import Attempt, Hint, _, check, exercise, expect, normal, numbers, same

_SCORES = torch.tensor([1.0, 2.0, 0.5, -1.0], dtype=torch.float64)


@exercise(
    cases=[
        *((_SCORES, torch.tensor(mask, dtype=torch.bool)) for mask in ([1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0])),
        (_SCORES - 200, torch.tensor([True, False, True, False])),
    ],
    hint=_("The softmax of the scores whose mask is True, and 0 for all others"),
)
def masked_weights(scores: Tensor, mask: Tensor) -> Iterator:
    """The reader's `masked_weights(scores, mask)` returns the weights (seq,), exactly 0 where the mask is False."""

    def masked(mask: Tensor) -> Tensor:
        return scores.masked_fill(~mask, -math.inf).softmax(dim=0)

    says = _("masked places get exactly 0, the others sum to 1, and a row with nothing to see is all zeros")
    yield masked(mask).nan_to_num(), says
    if not mask.any():
        yield masked(mask), _("where nothing may be looked at, the weights are NaN: 0 / 0. They must all be 0")
        return
    yield scores.softmax(dim=0), _("the mask changes nothing yet: give the masked places the score −∞ before the softmax")
    yield scores.softmax(dim=0) * mask, _("these do not sum to 1: mask the scores before the softmax, not the weights after it")
    yield (scores * mask).softmax(dim=0), _("a score of 0 is not a weight of 0, because e⁰ = 1: use −∞")
    if not mask.all():
        yield masked(~mask), _("the mask is used the wrong way round: True means that one may look")
    if scores.max() < -100:
        yield (
            (~mask).double() / (~mask).sum(),
            _("here all real scores are below −100, and the masked places get the weight: use −∞, not a large negative number"),
        )


_ROWS = {"the": (1.0, 0.0), "white": (0.0, 1.0), "cow": (2.0, 1.0), "is": (0.5, 0.5)}


@check
def steer(attempt: Callable) -> str:
    """The reader's `steer()` returns, for each of four rows, a query that gives it more than 0.9 of the weight, or None."""
    entries = attempt()
    if not isinstance(entries, list | tuple) or len(entries) != len(_ROWS):
        raise Hint(_("return four entries, for the, white, cow and is: each a query (two numbers), or None"))
    memory = torch.tensor([*_ROWS.values()], dtype=torch.float64)
    for place, (word, entry) in enumerate(zip(_ROWS, entries, strict=True)):
        if entry is None and word == "is":
            continue
        if entry is None:
            further = _(
                "there is a query for {word}: look for a direction in which its row lies further than all the others", word=word
            )
            raise Hint(further)
        query = torch.from_numpy(numbers(entry, (2,), what=_("the query for {word}", word=word)))
        scores = memory @ query
        weights = scores.softmax(dim=0)
        if weights[place] > 0.9:
            continue
        shown = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(_ROWS, weights.tolist(), strict=True))
        found = {"word": word, "shown": shown}
        if word == "is":
            says = _("with this query: {shown}. How does the score of is lie to the scores of the and of white?", shown=shown)
            raise Hint(says)
        if scores[place] > scores[torch.arange(len(_ROWS)) != place].max() + 1e-9:
            longer = _("for {word} the direction is right, but the weights are {shown}: what does a longer query do?", **found)
            raise Hint(longer)
        raise Hint(_("with the query for {word} the weights are {shown}: turn it away from the row that wins", **found))
    says = _(
        "each corner of the triangle can be reached; a row between two others has the mean of their scores, and never wins"
    )
    return says


def _slips(ours: AdditiveAttention, query: Tensor, memory: Tensor, mask: Tensor) -> Iterator[tuple]:
    """Return what likely mistakes give, each with its hint."""
    joined = ours.from_query(query).unsqueeze(1) + ours.from_memory(memory)
    scores = ours.to_score(joined.tanh()).squeeze(2)
    context, weights = ours(query, memory, mask)

    def pooled(weights: Tensor) -> tuple[Tensor, Tensor]:
        return (weights.unsqueeze(1) @ memory).squeeze(1), weights

    yield (weights, context), _("return the context first, then the weights")
    linear = masked_softmax(ours.to_score(joined).squeeze(2), mask)
    yield pooled(linear), _("the tanh is missing: without it the query cancels in the softmax")
    yield (..., scores), _("these are the scores: turn them into weights with a softmax")
    yield pooled(scores.softmax(dim=-1)), _("the mask is not used")
    yield pooled(masked_softmax(scores, ~mask)), _("the mask is the other way round: True means that one may look")
    yield pooled(scores.softmax(dim=-1) * mask), _("mask the scores before the softmax: these weights do not sum to 1")
    yield pooled((scores * mask).softmax(dim=-1)), _("a score of 0 is not a weight of 0, because e⁰ = 1: use −∞")


@check
def additive_attention(attempt: Callable) -> str:
    """The reader's class gives the context and the weights of the library's, with and without a mask."""
    mine, ours = attempt(3, 4, 6), AdditiveAttention(3, 4, 6)
    parts = {"from_query": "3, 6", "from_memory": "4, 6", "to_score": "6, 1"}
    for name, sizes in parts.items():
        try:
            getattr(ours, name).load_state_dict(getattr(mine, name).state_dict())
        except (AttributeError, RuntimeError):
            says = _("for the sizes 3, 4 and 6, self.{name} should be nn.Linear({sizes}, bias=False)", name=name, sizes=sizes)
            raise Hint(says) from None
    query, memory = (values.float() for values in normal((2, 3), (2, 5, 4), seed=4))
    some = torch.tensor([[True] * 5, [True, True, True, False, False]])
    for case, mask in [(_("without a mask"), torch.ones(2, 5).bool()), (_("with a mask"), some)]:
        found = Attempt(mine.forward)(query, memory, mask if mask is some else None)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise Hint(_("forward returns two things: the context and the weights"))
        right = ours(query, memory, mask)
        if same(found, right):
            continue
        for wrong, hint in _slips(ours, query, memory, mask):
            if same(found, wrong):
                raise Hint(_("{case}: {hint}", case=case, hint=hint))
        for name, given, expected in zip((_("the context"), _("the weights")), found, right, strict=True):
            expect(given, expected, _("Compare your lines with the formula."), what=_("{case}, {name}", case=case, name=name))
    return _("equal to the library's, without a mask and with one")
