"""Checks for the exercises of chapter 4, Attention as a repair."""

from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_formula, expect_shape, softmax

__all__ = ["additive_parameters", "attend", "masked_weights", "road"]


@exercise
def attend(attempt: Callable) -> str:
    """The reader's `attend(query, memory)` returns the context (d,) and the weights (seq,) of dot-product attention."""
    import torch

    generator = np.random.default_rng(4)
    for seq, d in ((3, 2), (5, 4)):
        query, memory = generator.normal(size=d), generator.normal(size=(seq, d))
        result = attempt(torch.from_numpy(query), torch.from_numpy(memory))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise Hint("return two things: the context and the weights")
        weights = softmax(memory @ query)
        if [getattr(part, "shape", None) for part in result] == [(seq,), (d,)]:
            raise Hint("the two are in the wrong order: return the context first, then the weights")
        given = expect_shape(result[1], (seq,), "the weights")
        for mistake, hint in (
            (memory @ query, "these are the scores: turn them into weights with a softmax"),
            (softmax(memory @ query / np.sqrt(d)), "these scores were divided by √d; here they are not (chapter 6 does that)"),
            (np.exp(memory @ query), "these do not sum to 1: divide each exponential by their sum"),
        ):
            if np.allclose(given, mistake, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(given, weights, "Score each row of the memory by its dot product with the query", what="the weights")
        expect_close(
            result[0], weights @ memory, "It is the sum of the memory's rows, each times its weight", what="the context"
        )
    return "scores, softmax, weighted sum: the context has the width of the memory, for any number of words"


@exercise
def masked_weights(attempt: Callable) -> str:
    """The reader's `masked_weights(scores, mask)` returns the weights (seq,), exactly 0 where the mask is False."""
    import torch

    scores = np.array([1.0, 2.0, 0.5, -1.0])
    for allowed in ([1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]):
        mask = np.array(allowed, dtype=bool)
        given = expect_shape(attempt(torch.from_numpy(scores), torch.from_numpy(mask)), (4,), "the weights")
        if not mask.any():
            if np.isnan(given).any():
                raise Hint("where nothing may be looked at, the weights are NaN: 0 / 0. They must all be 0")
            expect_close(given, np.zeros(4), "Nothing may be looked at, so nothing gets a weight", what="the weights")
            continue
        expected = np.where(mask, np.exp(scores), 0) / np.exp(scores)[mask].sum()
        for mistake, hint in (
            (softmax(scores), "the mask changes nothing yet: give the masked places the score −∞ before the softmax"),
            (softmax(scores) * mask, "these do not sum to 1: mask the scores before the softmax, not the weights after it"),
            (softmax(scores * mask), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"),
            (_masked_softmax(scores, ~mask), "the mask is used the wrong way round: True means that one may look"),
        ):
            if not mask.all() and np.allclose(given, mistake, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(given, expected, "It is the softmax of the scores whose mask is True", what="the weights")
        if given[~mask].any():
            raise Hint("masked places must get exactly 0, not a small number: use −∞, not a large negative number")
    return "masked places get exactly 0, the others sum to 1, and a row with nothing to see is all zeros"


@exercise
def additive_parameters(attempt: Callable) -> str:
    """The reader's `additive_parameters(query_size, memory_size, hidden)` counts the numbers that are learned."""
    expect_formula(
        attempt,
        cases=[(3, 5, 7), (64, 64, 64), (512, 1024, 256)],
        right=lambda query_size, memory_size, hidden: hidden * (query_size + memory_size + 1),
        mistakes=[
            (
                lambda query_size, memory_size, hidden: hidden * (query_size + memory_size),
                "the last layer is missing: v has one number for each hidden one",
            ),
            (
                lambda query_size, memory_size, hidden: hidden * (query_size + memory_size + 1) + 2 * hidden + 1,
                "this counts biases, and there are none",
            ),
            (
                lambda query_size, memory_size, hidden: hidden * (query_size + memory_size + 2),
                "this counts the biases of one layer, and there are none",
            ),
            (
                lambda query_size, memory_size, hidden: query_size + memory_size + 1,
                "that is a single neuron with its bias, the one that cannot steer; count the hidden layer",
            ),
        ],
        hint="Add the sizes of W_q (hidden, query_size), W_m (hidden, memory_size) and v (hidden,)",
    )
    return "two projections to `hidden` numbers, and one weight for each of them"


@exercise
def road(attempt: Callable) -> str:
    """The reader's `road(source_place, target_place, length)` counts the arrows between cells, without attention."""
    expect_formula(
        attempt,
        cases=[(0, 0, 4), (3, 0, 4), (1, 2, 6), (0, 9, 10)],
        right=lambda source_place, target_place, length: length - source_place + target_place,
        mistakes=[
            (
                lambda source_place, target_place, length: length - 1 - source_place + target_place,
                "the arrow from the encoder's last cell to the decoder's first one is missing",
            ),
            (
                lambda source_place, target_place, length: length - source_place + target_place + 1,
                "that is the number of cells on the road; there is one arrow less",
            ),
            (
                lambda source_place, target_place, length: length + source_place + target_place,
                "a word further right in the source has a shorter way to the end: subtract its place",
            ),
            (lambda source_place, target_place, length: 1, "that is the road with attention; here there is none"),
        ],
        hint="Walk from the word's own cell to the end of the encoder, over to the decoder, and on to the target's cell",
    )
    return "the road grows with the sentence; with attention it is one step"


def _masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    exponentials = np.where(mask, np.exp(scores), 0)
    return exponentials / max(exponentials.sum(), 1e-300)
