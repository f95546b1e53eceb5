"""Checks for the exercises of chapter 6, Attention."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["cost", "look_up", "score_deviation", "split", "whisper_and_shout"]


@exercise(
    cases=[normal((4,), (3, 4), (3, 2), seed=6), normal((9,), (5, 9), (5, 3), seed=6)],
    hint="Scores keys @ query / √d_k, softmax, then weights @ values",
)
def look_up(query: Tensor, keys: Tensor, values: Tensor) -> Iterator:
    """The reader's `look_up(query, keys, values)` returns the output (d_v,) of attention for one query."""
    seq, d_k = keys.shape
    scores, scale = keys @ query, math.sqrt(d_k)
    weights = (scores / scale).softmax(dim=0)
    yield weights @ values, "one score per word, one weight per word, and an output as wide as a value"
    yield weights, "these are the weights: now multiply them with the values"
    for one in (scores, scores / scale, scores.softmax(dim=0)):
        yield one, f"this is one number for each of the {seq} words; the output has the width of a value, {values.size(1)}"
    plain = scores.softmax(dim=0) @ values
    yield plain, "the scale is missing: divide the scores by √d_k before the softmax"
    yield (scores / d_k).softmax(dim=0) @ values, "the scores are divided by d_k; divide by its square root"
    yield (
        (scores / math.sqrt(seq)).softmax(dim=0) @ values,
        "the scores are divided by the root of the number of words; √d_k is the width",
    )
    yield plain / scale, "divide the scores, not the weights: the scale comes before the softmax"
    yield scores @ values / scale, "the softmax is missing: the weights must be positive and sum to 1"
    yield scores @ values, "the scale and the softmax are missing"


@exercise(
    cases=[()],
    hint="Compute the three dot products of each query, and by how much one of them leads",
    parts=("the weights of the whisper", "the weights of the shout"),
)
def whisper_and_shout() -> Iterator:
    """The reader's `whisper_and_shout()` returns the weights of two queries: one of zeros, and one that is very large."""
    average, strict = [1 / 3] * 3, [0.0, 1.0, 0.0]
    yield (average, strict), "a whisper hears the plain average, a shout gets the strict dictionary"
    yield ([0.0] * 3, ...), "three scores of 0 are no weights of 0: the softmax turns them into positive numbers that sum to 1"
    for digits in (1, 2, 3):
        yield ([round(1 / 3, digits)] * 3, ...), "nearly: write 1 / 3, so that the three weights sum to 1"
    yield ([1.0] * 3, ...), "e to the 0 is 1, and then each is divided by the sum of all three"
    yield (
        ([0.026, 0.858, 0.116], ...),
        "these are the weights of (0, 3, 0, 1); this query has a dot product of 0 with every key",
    )
    yield (strict, average), "the two are the other way round: first the whisper, then the shout"
    yield (..., [0.026, 0.858, 0.116]), "scores 100 times as large are 100 times as far apart: how much does the best one lead?"
    yield (..., [1.0, 0.0, 0.0]), "the order is They, played, chess; which key fits the question best?"
    yield (..., average), "a larger query makes larger differences between the scores, so the weights become less alike"


@exercise(
    cases=[(3.0, 16), (0.5, 64), (2.0, 4)],
    hint="How many times as large is one product, how many times as large the sum?",
)
def score_deviation(s: float, d_k: int) -> Iterator:
    """The reader's `score_deviation(s, d_k)` returns the standard deviation of the scaled score."""
    yield s**2, "s²: with the scale the width has no effect, the size of the vectors has"
    yield 1.0, "that holds only for s = 1: the size of the vectors still counts"
    yield s, "both numbers of a product are s times as large, so the product is s · s times as large"
    yield s**4, "that is the variance, the square of the size; take its root"
    yield math.sqrt(d_k) * s**2, "that is the size before the scale; now divide by √d_k"
    yield s**2 / math.sqrt(d_k), "the sum of d_k products has a size √d_k times that of one product"


@exercise(
    cases=[(torch.arange(48.0).view(2, 3, 8), 2), (torch.arange(30.0).view(1, 5, 6), 3)],
    hint="Cut each row into heads, then swap words and heads",
)
def split(x: Tensor, num_heads: int) -> Iterator:
    """The reader's `split(x, num_heads)` turns (batch, seq, d_model) into (batch, heads, seq, d_k)."""
    cut = x.unflatten(-1, (num_heads, -1))
    right = cut.transpose(1, 2)
    yield right, "each head sees its part of every word"
    yield cut, "the rows are cut, but the heads must come before the words: transpose axes 1 and 2"
    yield x.view(right.shape), "the shape is right, the content is not: cut each row first, then transpose"
    yield (
        x.transpose(1, 2).reshape(right.shape),
        "the axes are swapped before the rows are cut, so a row of a head mixes several words: cut first, then transpose",
    )
    yield (
        x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2),
        f"each head must get numbers that stand side by side in the row; your head 0 gets the numbers 0, {num_heads}, "
        f"{2 * num_heads}, …: cut each row into (heads, d_k), not into (d_k, heads)",
    )


@exercise(cases=[(3, 5, 8), (10, 7, 64)], hint="A matrix product (a, b) @ (b, c) takes a · b · c multiplications")
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
