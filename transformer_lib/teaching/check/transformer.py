"""Checks for the exercises of chapter 10, The whole Transformer."""

import math
from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_formula, expect_shape

__all__ = ["decoder_layer_parameters", "embed", "expected_first_loss", "saved_by_tying"]


@exercise
def embed(attempt: Callable) -> str:
    """The reader's `embed(tokens, matrix)` looks up each token's row and multiplies it by √d_model."""
    import torch

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


@exercise
def expected_first_loss(attempt: Callable) -> str:
    """The reader's `expected_first_loss(vocab, spread)` is log V + spread² / 2."""
    expect_formula(
        attempt,
        cases=[(8000, 1.0), (13, 0.0), (37_000, 0.5), (100, 2.0)],
        right=lambda vocab, spread: math.log(vocab) + spread**2 / 2,
        mistakes=[
            (lambda vocab, spread: math.log(vocab), "that is right for equal logits only: their spread adds something"),
            (lambda vocab, spread: math.log(vocab) + spread**2, "half of the variance is enough"),
            (lambda vocab, spread: math.log(vocab) + spread / 2, "the variance is the spread squared"),
            (lambda vocab, spread: math.log(vocab) - spread**2 / 2, "unequal logits make the loss larger, not smaller"),
            (lambda vocab, spread: math.log2(vocab) + spread**2 / 2, "use the natural logarithm, as the cross-entropy does"),
            (lambda vocab, spread: math.log10(vocab) + spread**2 / 2, "use the natural logarithm, as the cross-entropy does"),
        ],
        hint="Add log V and half of the variance; the variance is the standard deviation squared",
    )
    return "log V if the logits are equal, and half a variance more if they are not"


@exercise
def decoder_layer_parameters(attempt: Callable) -> str:
    """The reader's `decoder_layer_parameters(d_model, d_ff)` counts two attentions, a feed-forward network and three norms."""

    def count(attentions: int, norms: int, bias: int = 1) -> Callable:
        return lambda d, f: attentions * 4 * (d * d + bias * d) + 2 * d * f + bias * (f + d) + norms * 2 * d

    expect_formula(
        attempt,
        cases=[(512, 2048), (64, 128), (6, 10)],
        right=count(2, 3),
        mistakes=[
            (count(1, 2), "that is an encoder layer: a decoder layer has one attention and one norm more"),
            (count(1, 3), "a decoder layer has two attentions: to itself and to the memory"),
            (count(2, 2), "each of the three parts has a norm of its own"),
            (count(2, 0), "the three norms are missing"),
            (count(2, 3, bias=0), "the biases are missing: each of the matrices has one"),
            (lambda d, f: 2 * 3 * (d * d + d) + 2 * d * f + f + d + 6 * d, "an attention has a fourth matrix, for its output"),
        ],
        hint="Two attentions of 4 (d² + d), a feed-forward network of 2 d f + f + d, three norms of 2 d",
    )
    return "4,204,032 in the paper's base model, and six such layers"


@exercise
def saved_by_tying(attempt: Callable) -> str:
    """The reader's `saved_by_tying(vocab, d_model)` counts the parameters that one shared matrix saves."""
    expect_formula(
        attempt,
        cases=[(37_000, 512), (13, 64), (8000, 256)],
        right=lambda vocab, d_model: 2 * vocab * d_model,
        mistakes=[
            (lambda vocab, d_model: vocab * d_model, "of three matrices one is left: two are saved"),
            (lambda vocab, d_model: 3 * vocab * d_model, "one of the three is still needed"),
            (lambda vocab, d_model: 2 * vocab * d_model + vocab, "the output layer has no bias here"),
        ],
        hint="Three matrices of vocab · d_model numbers become one",
    )
    return "37,888,000 in the paper's base model: more than half of what it has left"
