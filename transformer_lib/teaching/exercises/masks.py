"""Checks for the exercises of chapter 8, Masking."""

from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_formula, expect_shape, softmax

__all__ = ["causal_weights", "first_leak", "hidden_scores", "target_mask"]


@exercise
def hidden_scores(attempt: Callable) -> str:
    """The reader's `hidden_scores(length)` counts the cells above the diagonal."""
    expect_formula(
        attempt,
        [(4,), (1,), (2,), (9,), (100,)],
        right=lambda length: length * (length - 1) / 2,
        mistakes=[
            (lambda length: length * (length + 1) / 2, "these are the scores that stay: the triangle with its diagonal"),
            (lambda length: length * (length - 1), "this counts both triangles, and only the upper one is hidden"),
            (lambda length: length**2 / 2, "the diagonal is not hidden, and not a half of it either"),
        ],
        hint="Row 0 hides length − 1 scores, the next row one less, and the last row none",
    )
    return "length · (length − 1) / 2 of the scores are hidden: 6 of 16 for four words"


@exercise
def causal_weights(attempt: Callable) -> str:
    """The reader's `causal_weights(scores)` returns the weights (seq, seq) of a softmax over each token's past."""
    import torch

    generator = np.random.default_rng(8)
    for length in (4, 1, 6):
        scores = generator.normal(size=(length, length))
        given = expect_shape(attempt(torch.from_numpy(scores.copy())), (length, length), "the weights")
        past = np.tri(length, dtype=bool)
        expected = softmax(np.where(past, scores, -np.inf))
        blind = np.isnan(given).all(axis=1)
        if blind[-1] and not blind[0]:
            raise Hint("the last row is NaN: masked_fill writes where its mask is True, so turn the triangle around with ~")
        if np.isnan(given).any():
            raise Hint("there is NaN: some row may look at nothing. Each token may look at itself, so keep the diagonal")
        for mistake, hint in (
            (softmax(scores), "the mask changes nothing yet: put −∞ into the future's scores before the softmax"),
            (softmax(scores) * past, "the rows do not sum to 1: mask the scores before the softmax, not the weights after"),
            (softmax(scores * past), "a score of 0 is not a weight of 0, because e⁰ = 1: use −∞"),
            (softmax(np.where(past.T, scores, -np.inf)), "this hides the past: keep the lower triangle, tril, not triu"),
            (softmax(np.where(past, scores, -np.inf), axis=0), "the columns sum to 1: take the softmax along the keys, dim=-1"),
            (np.where(past, scores, -np.inf), "these are the masked scores: the softmax is missing"),
        ):
            if not np.allclose(mistake, expected) and np.allclose(given, mistake, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(given, expected, "Softmax along the keys (the last axis), over the past alone", what="the weights")
        if (given[~past] != 0).any():
            raise Hint("the future's weights are small, but not 0: use −∞, not a large negative number")
    return "each row sums to 1, and the future has a weight of exactly 0"


@exercise
def target_mask(attempt: Callable) -> str:
    """The reader's `target_mask(tokens, pad_id)` joins the padding mask and the causal mask to (batch, seq, seq)."""
    import torch

    cases = (
        ([[5, 6, 7, 0], [5, 0, 0, 0]], 0),
        ([[0, 0, 5, 6], [0, 5, 6, 7]], 0),
        ([[4, 9, 9], [4, 5, 9]], 9),
    )
    for ids, pad_id in cases:
        tokens = np.array(ids)
        batch, length = tokens.shape
        result = attempt(torch.tensor(ids), pad_id)
        if getattr(result, "shape", None) == (batch, 1, length, length):
            raise Hint("the shape is (batch, 1, seq, seq); here, leave out the axis of the heads: (batch, seq, seq)")
        given = expect_shape(result, (batch, length, length), "the mask")
        real, past = tokens != pad_id, np.tri(length, dtype=bool)
        expected = real[:, None, :] & past
        for mistake, hint in (
            (~expected, "the mask is the wrong way round: True means that one may look"),
            (real[:, :, None] & past, "padding hides rows (queries) here; it must hide columns (keys)"),
            (real[:, None, :] | past, "`or` lets through what one of the two masks hides: join them with `and`, &"),
            (np.broadcast_to(past, expected.shape), "the padding is not hidden yet"),
            (np.broadcast_to(real[:, None, :], expected.shape), "the future is not hidden yet"),
            (real[:, None, :] & past.T, "this hides the past: keep the lower triangle, tril, not triu"),
        ):
            if not np.array_equal(mistake, expected) and np.array_equal(given, mistake):
                raise Hint(f"{hint} (ids {ids}, padding {pad_id})")
        expect_close(given, expected, f"The ids were {ids}, padding is {pad_id}", what="the mask")
    return "a key must be real and not in the future, whichever side the padding is on"


@exercise
def first_leak(attempt: Callable) -> str:
    """The reader's `first_leak(before, after, changed)` returns the first earlier output that moved, or -1."""
    import torch

    generator = np.random.default_rng(5)
    both, up, down = (-0.5, 0.5), (0.5, 0.0), (-0.5, 0.0)
    for moved, changed, expected, change in (
        ([1, 3, 4], 3, 1, both),
        ([3, 4], 3, -1, both),
        ([0, 1, 2, 3, 4], 4, 0, both),
        ([2, 4], 3, 2, up),
        ([2, 4], 3, 2, down),
        ([1], 4, 1, (1e-4, 0.0)),
        ([0], 0, -1, both),
    ):
        before = generator.normal(size=(5, 3))
        # Rounding moves each number a little, and is no leak.
        after = before + generator.choice([-1e-9, 1e-9], size=(5, 3))
        after[moved, 1:] += change
        given = float(expect_shape(attempt(torch.from_numpy(before), torch.from_numpy(after), changed), (), "the result"))
        if given == expected:
            continue
        what = f"outputs {moved} moved when input {changed} changed"
        if given == changed:
            raise Hint(f"{what}: output {changed} may move, because it sees itself. Only earlier ones are leaks")
        if given > changed:
            raise Hint(f"{what}: later outputs may move, they see their past. Only earlier ones are leaks")
        if given >= 0 and given not in moved:
            raise Hint(f"{what}: output {given:g} differs by 1e-9 only. That is rounding: ask for more than 1e-6")
        if given == -1 and change == down:
            raise Hint(f"{what}, downwards: take the absolute value (abs) of the difference")
        if given == -1 and change == up:
            raise Hint(f"{what}, upwards: take the absolute value (abs) of the difference")
        if given == -1 and change == both:
            raise Hint(f"{what}, one number up and one down: look at each number, a sum cancels them")
        if given == -1:
            raise Hint(f"{what} by 0.0001: that is more than 1e-6, so it is a leak")
        raise Hint(f"{what}: the result is {given:g}, expected {expected}")
    return "only an output before the changed input proves that the future was seen"
