"""Checks for the exercises of chapter 10, The whole Transformer."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_shape, formula

__all__ = ["attention_biases", "embed", "logit_spread", "overtaking_length"]


@exercise
def embed(attempt: Callable) -> str:
    """The reader's `embed(tokens, matrix)` looks up each token's row and multiplies it by √d_model."""
    generator = np.random.default_rng(10)
    for shape, (vocab, d_model) in (((2, 3), (5, 4)), ((1, 4), (7, 16))):
        tokens, matrix = generator.integers(vocab, size=shape), generator.normal(size=(vocab, d_model))
        result = attempt(torch.from_numpy(tokens), torch.from_numpy(matrix))
        given = expect_shape(result, (*shape, d_model), "the vectors")
        for factor, hint in (
            (1, "these are the rows as they stand: multiply them by √d_model"),
            (d_model, "these were multiplied by d_model, not by its square root"),
            (d_model**-0.5, "these were divided by √d_model: multiply"),
            (vocab**0.5, "this takes the root of the vocabulary: d_model is the width of a row"),
        ):
            if factor != d_model**0.5 and np.allclose(given, matrix[tokens] * factor, rtol=1e-4, atol=1e-6):
                raise Hint(hint)
        expect_close(
            given, matrix[tokens] * d_model**0.5, "Take row `t` of the matrix for token `t`, times √d_model", what="the vectors"
        )
    return "each word has its row, as large as the positions that are added next"


@formula(
    cases=[(math.log(8000) + 0.5, 8000), (11.0, 8000), (math.log(100) + 0.02, 100), (12.5, 37_000)],
    hint="Solve loss = log V + σ²/2 for σ",
)
def logit_spread(loss: float, vocab: int) -> Iterator:
    """The reader's `logit_spread(loss, vocab)` is √(2 (loss - log V))."""
    excess = loss - math.log(vocab)
    yield math.sqrt(2 * excess), "1 for log V and a half; a first loss tells how large the logits are"
    yield 2 * excess, "that is the variance; the standard deviation is its square root"
    yield math.sqrt(excess), "the excess is half of the variance: double it before you take the root"
    yield excess, "that is the excess over log V; it is half of the variance"
    yield math.sqrt(excess / 2), "the excess is half of the variance: double it, do not halve it"
    yield math.sqrt(2 * loss), "take log V away first: that much a model has to pay that knows nothing"
    yield math.sqrt(2) * excess, "the root is of the whole 2 (loss - log V), not of the 2 alone"
    for log in (math.log2, math.log10):
        yield math.sqrt(2 * abs(loss - log(vocab))), "use the natural logarithm, as the cross-entropy does"


@formula(
    cases=[(6, 512), (2, 64), (1, 10)],
    hint="3 attentions for each pair of an encoder layer and a decoder layer, 4 projections each, d_model biases each",
)
def attention_biases(num_layers: int, d_model: int) -> Iterator:
    """The reader's `attention_biases(num_layers, d_model)` counts the biases of all projections of attention."""
    yield 12 * num_layers * d_model, "36,864 in the base model: 63,082,496 with them, 63,045,632 without"
    yield 8 * num_layers * d_model, "a decoder layer has two attentions: to itself and to the memory"
    yield 9 * num_layers * d_model, "an attention has a fourth projection, for its output"
    yield 6 * num_layers * d_model, "each attention has four projections, and a decoder layer has two attentions"
    yield 4 * num_layers * d_model, "that is one attention in each layer of one stack: count both stacks"
    yield 3 * num_layers * d_model, "that is one bias vector for each attention; it has four projections"
    yield 12 * d_model, "that is one layer of each stack: there are num_layers of them"
    yield 12 * num_layers * d_model**2, "those are the matrices; a bias has one number for each output, d_model"


@formula(
    cases=[(512, 2048), (64, 128), (10, 6)],
    hint="Set n · 8d² + n · 4 d f equal to 4 n² d, and divide by 4 n d",
)
def overtaking_length(d_model: int, d_ff: int) -> Iterator:
    """The reader's `overtaking_length(d_model, d_ff)` is the length at which pairs cost as much as tokens."""
    yield (
        2 * d_model + d_ff,
        "3,072 tokens in the base model's encoder: shorter sentences pay for their tokens, not for their pairs",
    )
    yield 2 * d_model, "the feed-forward network takes each token, too"
    yield d_ff, "the four projections take each token, too"
    yield 4 * d_model + 2 * d_ff, "the pairs are paid twice: once for the scores, once for mixing the values"
    yield 2 * d_model + d_ff / 2, "the feed-forward network has two matrices"
    yield 1.5 * d_model + d_ff, "attention has a fourth projection, for its output"
    yield (
        d_model + d_ff,
        "count both sides in the same unit: a product of (a, b) with (b, c) takes 2 a b c operations, also here",
    )
    yield (
        d_model + d_ff / 2,
        "count both sides in the same unit: a product of (a, b) with (b, c) takes 2 a b c operations, also here",
    )
    yield math.sqrt(2 * d_model + d_ff), "divide by n, not by n²: the tokens' side has an n as well"
