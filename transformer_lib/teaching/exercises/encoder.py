"""Checks for the exercises of chapter 7, The encoder."""

from collections.abc import Callable

import numpy as np
import torch

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_formula, expect_shape

__all__ = ["feed_forward", "head_shapes", "normalise_rows", "pre_norm_step"]


@exercise
def head_shapes(attempt: Callable) -> str:
    """The reader's `head_shapes(seq, d_model, heads)` returns the shapes of W_Q, of Q and of the weights of one head."""
    expect_formula(
        attempt,
        cases=[(3, 8, 4), (50, 512, 8), (5, 12, 3)],
        right=lambda seq, d, heads: ((d, d // heads), (seq, d // heads), (seq, seq)),
        mistakes=[
            (
                lambda seq, d, heads: ((d, d), (seq, d), (seq, seq)),
                "these are all heads side by side; one head is d_model / heads wide",
            ),
            (
                lambda seq, d, heads: ((d // heads, d), (seq, d // heads), (seq, seq)),
                "W_Q is transposed: X (seq, d_model) stands on its left, so W_Q has d_model rows",
            ),
            (
                lambda seq, d, heads: ((d, d // heads), (seq, d // heads), (d // heads, d // heads)),
                "the weights compare tokens with tokens, so both their sizes are seq",
            ),
            (
                lambda seq, d, heads: ((seq, d // heads), (seq, d // heads), (seq, seq)),
                "W_Q is learned, so its shape cannot depend on the length of a sentence: X @ W_Q says how many rows it has",
            ),
            (
                lambda seq, d, heads: ((d, d // heads), (seq, d // heads), (seq, d // heads)),
                "(seq, d_k) is the shape of the head's output; the weights are one row per query, one column per key",
            ),
            (
                lambda seq, d, heads: ((d, heads), (seq, heads), (seq, seq)),
                "a head's width is d_model / heads, not the number of heads",
            ),
        ],
        hint="One head is d_k = d_model / heads wide; Q is X @ W_Q, and the weights are as Q @ K.T",
    )
    return "(3, 8, 4) gives (8, 2), (3, 2) and (3, 3), as in the drawing"


@exercise
def normalise_rows(attempt: Callable) -> str:
    """The reader's `normalise_rows(x, eps)` gives each row of x mean 0 and variance 1."""
    generator = np.random.default_rng(7)
    for eps in (0.0, 0.5):
        x = generator.normal(size=(3, 4)) + 1
        result = expect_shape(attempt(torch.from_numpy(x), eps), (3, 4))

        def normalised(axis: int = 1, ddof: int = 0, outside: bool = False, x=x, eps=eps) -> np.ndarray:
            centred = x - x.mean(axis=axis, keepdims=True)
            if outside:
                return centred / (x.std(axis=axis, ddof=ddof, keepdims=True) + eps)
            return centred / np.sqrt(x.var(axis=axis, ddof=ddof, keepdims=True) + eps)

        for mistake, hint in (
            (normalised(ddof=1), "the variance is divided by n - 1; here it is the plain mean of the squares"),
            (
                (x - x.mean()) / np.sqrt(x.var() + eps),
                "this normalises the whole matrix at once: each row, a token, needs a mean and a variance of its own",
            ),
            (normalised(axis=0), "this normalises columns; a token is a row, so work along the last axis"),
            (x - x.mean(axis=1, keepdims=True), "the mean is 0, but the variance is not 1 yet: divide by its root"),
        ):
            if np.allclose(result, mistake, rtol=1e-4, atol=1e-5):
                raise Hint(hint)
        if eps and np.allclose(result, normalised(outside=True), rtol=1e-4, atol=1e-5):
            raise Hint("eps is outside the root: add it to the variance first, then take the root")
        if eps and np.allclose(result, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), rtol=1e-4):
            raise Hint("eps is not used: add it to the variance, inside the root")
        expect_close(
            result,
            normalised(),
            "Subtract each row's mean, then divide by the root of (variance + eps)",
            what=f"for eps {eps} the result",
        )
    return "each row has mean 0 and variance 1, and eps stands inside the root"


@exercise
def pre_norm_step(attempt: Callable) -> str:
    """The reader's `pre_norm_step(x, norm, sublayer)` returns x + sublayer(norm(x))."""

    def norm(rows: torch.Tensor) -> torch.Tensor:
        return rows * 0.5 - 1

    def sublayer(rows: torch.Tensor) -> torch.Tensor:
        return rows.square() + 3

    x = torch.from_numpy(np.random.default_rng(8).normal(size=(3, 4)))
    result = expect_shape(attempt(x, norm, sublayer), (3, 4))
    for mistake, hint in (
        (norm(x + sublayer(x)), "this is post-norm, the paper's order: it normalises the sum"),
        (x + norm(sublayer(x)), "the norm belongs before the sublayer, not after it"),
        (norm(x) + sublayer(norm(x)), "add the x that was not normalised: the residual path stays untouched"),
        (sublayer(norm(x)), "the residual is missing: add x"),
        (x + sublayer(x), "nothing is normalised: the sublayer's input is norm(x)"),
    ):
        if np.allclose(result, mistake.numpy()):
            raise Hint(hint)
    expect_close(result, (x + sublayer(norm(x))).numpy(), "Normalise, call the sublayer, add the untouched x")
    return "the sublayer sees the normalised x, and the untouched x is added"


@exercise
def feed_forward(attempt: Callable) -> str:
    """The reader's `feed_forward(x, w_1, b_1, w_2, b_2)` returns relu(x W_1 + b_1) W_2 + b_2."""
    generator = np.random.default_rng(9)
    x, w_1, b_1, w_2, b_2 = (generator.normal(size=size) for size in ((3, 4), (4, 6), (6,), (6, 4), (4,)))
    result = expect_shape(attempt(*map(torch.from_numpy, (x, w_1, b_1, w_2, b_2))), (3, 4))
    wide = x @ w_1 + b_1
    inside = np.maximum(wide, 0)
    expected = inside @ w_2 + b_2
    for mistake, hint in (
        (wide @ w_2 + b_2, "the ReLU is missing: without it the two products are one linear map"),
        (np.maximum(expected, 0), "the ReLU stands between the products; the output keeps its negative numbers"),
        (np.maximum(wide @ w_2 + b_2, 0), "the ReLU stands between the two products, not at the end"),
        (np.maximum(x @ w_1, 0) @ w_2 + b_2, "b_1 is missing: add it before the ReLU"),
        (inside @ w_2, "b_2 is missing: add it after the second product"),
        ((np.maximum(x @ w_1, 0) + b_1) @ w_2 + b_2, "b_1 is added after the ReLU: add it before, so that it moves the bend"),
        (x + expected, "this adds x: that is the part of add & norm, which stands around the network"),
    ):
        if np.allclose(result, mistake, rtol=1e-4, atol=1e-5):
            raise Hint(hint)
    expect_close(result, expected, "First x @ w_1 + b_1, then the ReLU, then @ w_2 + b_2")
    return "wider, ReLU, narrow again; the same two matrices for each row"
