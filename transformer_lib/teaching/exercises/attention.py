"""Checks for the exercises of chapter 6, Attention."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_shape, formula, softmax

__all__ = ["cost", "look_up", "score_deviation", "split"]


@exercise
def look_up(attempt: Callable) -> str:
    """The reader's `look_up(query, keys, values)` returns the output (d_v,) of attention for one query."""
    generator = np.random.default_rng(6)
    for seq, d_k, d_v in ((3, 4, 2), (5, 9, 3)):
        query, keys, values = (generator.normal(size=size) for size in ((d_k,), (seq, d_k), (seq, d_v)))
        result = attempt(*map(torch.from_numpy, (query, keys, values)))
        scores = keys @ query
        weights = softmax(scores / math.sqrt(d_k))
        if getattr(result, "shape", None) == (seq,) and seq != d_v:
            if np.allclose(result, weights, rtol=1e-4, atol=1e-6):
                raise Hint("these are the weights: now multiply them with the values")
            raise Hint(f"this is one number for each of the {seq} words; the output has the width of a value, {d_v}")
        given = expect_shape(result, (d_v,), "the output")
        for mistake, hint in (
            (softmax(scores), "the scale is missing: divide the scores by √d_k before the softmax"),
            (softmax(scores / d_k), "the scores are divided by d_k; divide by its square root"),
            (softmax(scores / math.sqrt(seq)), "the scores are divided by the root of the number of words; √d_k is the width"),
            (softmax(scores) / math.sqrt(d_k), "divide the scores, not the weights: the scale comes before the softmax"),
            (scores / math.sqrt(d_k), "the softmax is missing: the weights must be positive and sum to 1"),
            (scores, "the scale and the softmax are missing"),
        ):
            if np.allclose(given, mistake @ values, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(given, weights @ values, "Scores keys @ query / √d_k, softmax, then weights @ values", what="the output")
    return "one score per word, one weight per word, and an output as wide as a value"


@formula(
    cases=[(3.0, 16), (0.5, 64), (2.0, 4)],
    hint="The variance of a product is s² · s², and the variances of d_k products add up",
)
def score_deviation(s: float, d_k: int) -> Iterator:
    """The reader's `score_deviation(s, d_k)` returns the standard deviation of the scaled score."""
    yield s**2, "s²: with the scale the width has no effect, the size of the vectors has"
    yield 1.0, "that holds only for variance 1: the size of the vectors still counts"
    yield s, "a product of two such numbers has the deviation s · s"
    yield s**4, "that is the variance; take its square root"
    yield math.sqrt(d_k) * s**2, "that is the deviation before the scale; now divide by √d_k"
    yield s**2 / math.sqrt(d_k), "the sum of d_k products has a deviation √d_k times as large as one product"


@exercise
def split(attempt: Callable) -> str:
    """The reader's `split(x, num_heads)` turns (batch, seq, d_model) into (batch, heads, seq, d_k)."""
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
                f"each head must get numbers that stand side by side in the row; your head 0 gets the numbers 0, {heads}, "
                f"{2 * heads}, …: cut each row into (heads, d_k), not into (d_k, heads)",
            ),
        ):
            if np.array_equal(given, mistake):
                raise Hint(hint)
        expect_close(given, right, "Cut each row into heads, then swap words and heads", what="the heads")
    return "each head sees its part of every word"


@formula(cases=[(3, 5, 8), (10, 7, 64)], hint="A matrix product (a, b) @ (b, c) takes a · b · c multiplications")
def cost(queries: int, keys: int, d_model: int) -> Iterator:
    """The reader's `cost(queries, keys, d_model)` counts the multiplications of multi-head cross-attention."""
    square, look = d_model**2, queries * keys * d_model
    projections = (2 * queries + 2 * keys) * square
    yield projections + 2 * look, "the projections grow with the length, the attention with the product of both lengths"
    yield 2 * look, "the four linear layers are missing"
    yield projections, "the scores and the weighted sum are missing"
    yield projections + look, "the scores take queries · keys · d_model multiplications, and the weighted sum as many again"
    yield (
        (queries + 2 * keys) * square + 2 * look,
        "there are four linear layers: the last one, after the heads are joined, is missing",
    )
    yield (
        4 * queries * square + 2 * look,
        "keys and values have as many rows as there are keys: two of the linear layers see `keys` rows",
    )
    yield (
        (queries + 3 * keys) * square + 2 * look,
        "the last linear layer sees one row for each query: two of the four see `queries` rows, two see `keys` rows",
    )
    yield 2 * (projections + 2 * look), "that counts additions as well: count multiplications only"
