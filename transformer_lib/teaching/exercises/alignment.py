"""Checks for the exercises of chapter 4, Attention as a repair."""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_shape, formula, softmax

__all__ = ["additive_parameters", "attend", "masked_weights", "road"]


@exercise
def attend(attempt: Callable) -> str:
    """The reader's `attend(query, memory)` returns the context (d,) and the weights (seq,) of dot-product attention."""
    generator = np.random.default_rng(4)
    for seq, d in ((3, 2), (5, 4)):
        query, memory = generator.normal(size=d), generator.normal(size=(seq, d))
        result = attempt(torch.from_numpy(query), torch.from_numpy(memory))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise Hint("return two things: the context and the weights")
        scores = memory @ query
        weights = softmax(scores)
        if [getattr(part, "shape", None) for part in result] == [(seq,), (d,)]:
            raise Hint("the two are in the wrong order: return the context first, then the weights")
        given = expect_shape(result[1], (seq,), "the second result, the weights,")
        for mistake, hint in (
            (scores, "these are the scores: turn them into weights with a softmax"),
            (scores / scores.sum(), "the scores are divided by their sum; take the exponential of each score first (softmax)"),
            (
                softmax(scores / np.sqrt(d)),
                "these scores were divided by √d; here they are not (chapter 6 does that)",
            ),
            (np.exp(scores), "these do not sum to 1: divide each exponential by their sum"),
        ):
            if np.allclose(given, mistake, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        hint = "A row's score is its dot product with the query; the weights are the softmax of the scores"
        expect_close(given, weights, hint, what="the array of weights")
        context = _one_row(result[0], seq, d)
        if np.allclose(context, memory.mean(axis=0), rtol=1e-4, atol=1e-6):
            raise Hint("the context is the plain mean of the rows: multiply each row by its weight, then add")
        expect_close(context, weights @ memory, "It is the sum of the memory's rows, each times its weight", what="the context")
    return "scores, softmax, weighted sum: the context has the width of the memory, for any number of words"


def _one_row(value: object, seq: int, d: int) -> np.ndarray:
    """Return the context as an array; raise `Hint` if the rows were weighted and not added, or for another shape."""
    if getattr(value, "shape", None) == (seq, d):
        raise Hint(f"the context still has one row for each of the {seq} words: add them up over the words")
    return expect_shape(value, (d,), "the context")


@exercise
def masked_weights(attempt: Callable) -> str:
    """The reader's `masked_weights(scores, mask)` returns the weights (seq,), exactly 0 where the mask is False."""
    scores = np.array([1.0, 2.0, 0.5, -1.0])

    def masked(mask: np.ndarray) -> np.ndarray:
        return softmax(np.where(mask, scores, -np.inf)) if mask.any() else np.zeros(4)

    for allowed in ([1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]):
        mask = np.array(allowed, dtype=bool)
        given = expect_shape(attempt(torch.from_numpy(scores), torch.from_numpy(mask)), (4,), "the weights")
        if not mask.any():
            if np.isnan(given).any():
                raise Hint("where nothing may be looked at, the weights are NaN: 0 / 0. They must all be 0")
            expect_close(given, np.zeros(4), "Nothing may be looked at, so nothing gets a weight", what="the weights")
            continue
        expected = masked(mask)
        for mistake, hint in (
            (softmax(scores), "the mask changes nothing yet: give the masked places the score −∞ before the softmax"),
            (softmax(scores) * mask, "these do not sum to 1: mask the scores before the softmax, not the weights after it"),
            (softmax(scores * mask), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"),
            (masked(~mask), "the mask is used the wrong way round: True means that one may look"),
        ):
            if not mask.all() and np.allclose(given, mistake, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(given, expected, "It is the softmax of the scores whose mask is True", what="the weights")
        if given[~mask].any():
            raise Hint("masked places must get exactly 0, not a small number: use −∞, not a large negative number")
    return "masked places get exactly 0, the others sum to 1, and a row with nothing to see is all zeros"


@formula(
    cases=[(3, 5, 7), (64, 64, 64), (512, 1024, 256)],
    hint="Write down the shape of each matrix in v · tanh(W_q q + W_m m), and how many numbers each holds",
)
def additive_parameters(query_size: int, memory_size: int, hidden_size: int) -> Iterator:
    """The reader's `additive_parameters(query_size, memory_size, hidden_size)` counts the numbers that are learned."""
    matrices = hidden_size * (query_size + memory_size)
    yield matrices + hidden_size, "two projections to `hidden_size` numbers, and one weight for each of them"
    yield matrices, "the last layer is missing: v has one number for each hidden one"
    yield matrices + 3 * hidden_size + 1, "this counts biases, and there are none"
    yield matrices + 2 * hidden_size, "this counts the biases of one layer, and there are none"
    yield matrices + 1, "v is not one number: it has one for each hidden one"
    yield hidden_size * query_size * memory_size, "W_q and W_m are two matrices: their sizes add up"
    yield (
        query_size + memory_size + 1,
        "that is a single neuron with its bias, the one that cannot steer; count the hidden layer",
    )


@formula(
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
