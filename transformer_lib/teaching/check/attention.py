"""Checks for the exercises of chapter 6, Attention."""

import math
from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_formula, expect_shape

__all__ = ["cost", "look_up", "score_deviation", "split"]


@exercise
def look_up(attempt: Callable) -> str:
    """The reader's `look_up(query, keys, values)` returns the output (d_v,) of attention for one query."""
    import torch

    generator = np.random.default_rng(6)
    for seq, d_k, d_v in ((3, 4, 2), (5, 9, 3)):
        query, keys, values = (generator.normal(size=size) for size in ((d_k,), (seq, d_k), (seq, d_v)))
        result = attempt(*map(torch.from_numpy, (query, keys, values)))
        scores = keys @ query
        weights = _softmax(scores / math.sqrt(d_k))
        if getattr(result, "shape", None) == (seq,) and seq != d_v:
            if np.allclose(result, weights, rtol=1e-4, atol=1e-6):
                raise Hint("these are the weights: now multiply them with the values")
            raise Hint(f"this is one number for each of the {seq} words; the output has the width of a value, {d_v}")
        given = expect_shape(result, (d_v,), "the output")
        for mistake, hint in (
            (_softmax(scores), "the scale is missing: divide the scores by √d_k before the softmax"),
            (_softmax(scores / d_k), "the scores are divided by d_k; divide by its square root"),
            (_softmax(scores / math.sqrt(seq)), "the scores are divided by the root of the number of words; √d_k is the width"),
            (_softmax(scores) / math.sqrt(d_k), "divide the scores, not the weights: the scale comes before the softmax"),
            (scores / math.sqrt(d_k), "the softmax is missing: the weights must be positive and sum to 1"),
            (scores, "the scale and the softmax are missing"),
        ):
            if np.allclose(given, mistake @ values, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(
            given, weights @ values, "Scores keys @ query / √d_k, softmax, then weights @ values", what="the output"
        )
    return "one score per word, one weight per word, and an output as wide as a value"


@exercise
def score_deviation(attempt: Callable) -> str:
    """The reader's `score_deviation(s, d_k)` returns the standard deviation of the scaled score."""
    expect_formula(
        attempt,
        cases=[(3.0, 16), (0.5, 64), (2.0, 4)],
        right=lambda s, d_k: s**2,
        mistakes=[
            (lambda s, d_k: 1.0, "that holds only for variance 1: the size of the vectors still counts"),
            (lambda s, d_k: s, "a product of two such numbers has the deviation s · s"),
            (lambda s, d_k: s**4, "that is the variance; take its square root"),
            (lambda s, d_k: math.sqrt(d_k) * s**2, "that is the deviation before the scale; now divide by √d_k"),
            (lambda s, d_k: s**2 / math.sqrt(d_k), "the sum of d_k products has a deviation √d_k times as large as one product"),
        ],
        hint="The variance of a product is s² · s², and the variances of d_k products add up",
    )
    return "s²: with the scale the width has no effect, the size of the vectors has"


@exercise
def split(attempt: Callable) -> str:
    """The reader's `split(x, num_heads)` turns (batch, seq, d_model) into (batch, heads, seq, d_k)."""
    import torch

    for batch, seq, heads, d_k in ((2, 3, 2, 4), (1, 5, 3, 2)):
        x = np.arange(batch * seq * heads * d_k, dtype=float).reshape(batch, seq, heads * d_k)
        right = x.reshape(batch, seq, heads, d_k).swapaxes(1, 2)
        result = attempt(torch.from_numpy(x), heads)
        if getattr(result, "shape", None) == (batch, seq, heads, d_k):
            raise Hint("the rows are cut, but the heads must come before the words: transpose axes 1 and 2")
        given = expect_shape(result, right.shape, "the heads")
        for mistake, hint in (
            (x.reshape(right.shape), "the shape is right, the content is not: cut each row first, then transpose"),
            (
                x.reshape(batch, seq, d_k, heads).transpose(0, 3, 1, 2),
                "each head must get numbers that stand side by side; yours takes every so many-th number",
            ),
        ):
            if np.array_equal(given, mistake):
                raise Hint(hint)
        expect_close(given, right, "Cut each row into heads, then swap words and heads", what="the heads")
    return "each head sees its part of every word"


@exercise
def cost(attempt: Callable) -> str:
    """The reader's `cost(queries, keys, d_model)` counts the multiplications of multi-head cross-attention."""
    expect_formula(
        attempt,
        cases=[(3, 5, 8), (10, 7, 64)],
        right=lambda n, m, d: (2 * n + 2 * m) * d**2 + 2 * n * m * d,
        mistakes=[
            (lambda n, m, d: 2 * n * m * d, "the four linear layers are missing"),
            (lambda n, m, d: (2 * n + 2 * m) * d**2, "the scores and the weighted sum are missing"),
            (
                lambda n, m, d: (2 * n + 2 * m) * d**2 + n * m * d,
                "the scores take queries · keys · d_model multiplications, and the weighted sum as many again",
            ),
            (
                lambda n, m, d: (n + 2 * m) * d**2 + 2 * n * m * d,
                "there are four linear layers: the last one, after the heads are joined, is missing",
            ),
            (
                lambda n, m, d: 4 * n * d**2 + 2 * n * m * d,
                "keys and values have as many rows as there are keys: two of the linear layers see `keys` rows",
            ),
            (
                lambda n, m, d: 2 * ((2 * n + 2 * m) * d**2 + 2 * n * m * d),
                "that counts additions as well: count multiplications only",
            ),
        ],
        hint="A matrix product (a, b) @ (b, c) takes a · b · c multiplications",
    )
    return "the projections grow with the length, the attention with the product of both lengths"


def _softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()
