"""Checks for the exercises of chapter 10, The whole Transformer."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["attention_biases", "embed", "next_word", "overtaking_length"]


@exercise(
    cases=[
        (torch.tensor([[3, 0, 4], [1, 1, 2]]), *normal((5, 4), seed=10)),
        (torch.tensor([[6, 2, 0, 5]]), *normal((7, 16), seed=10)),
    ],
    hint="Take row `t` of the matrix for token `t`, times √d_model",
)
def embed(tokens: Tensor, matrix: Tensor) -> Iterator:
    """The reader's `embed(tokens, matrix)` looks up each token's row and multiplies it by √d_model."""
    rows, (vocab, d_model) = matrix[tokens], matrix.shape
    right = rows * d_model**0.5
    yield right, "each word has its row, as large as the positions that are added next"
    yield rows, "these are the rows as they stand: multiply them by √d_model"
    yield rows * d_model, "these were multiplied by d_model, not by its square root"
    yield rows / d_model**0.5, "these were divided by √d_model: multiply"
    yield rows * vocab**0.5, "this takes the root of the vocabulary: d_model is the width of a row"
    table = sinusoidal_table(tokens.size(1), d_model)
    for one in (right, rows):
        yield one + table, "the positions are added too: that is the next step. Here it is the words alone, times √d_model"


@exercise(
    cases=[(*normal((2, 3, 4), seed=11), *normal((5, 4), seed=12)), (*normal((1, 2, 16), seed=13), *normal((7, 16), seed=14))],
    hint="Each row of `x` meets each row of the matrix, and the softmax runs over the words",
)
def next_word(x: Tensor, matrix: Tensor) -> Iterator:
    """The reader's `next_word(x, matrix)` compares each row with all words and returns probabilities (batch, target, vocab)."""
    logits = x @ matrix.T
    yield logits.softmax(dim=-1), "one probability for each word of the vocabulary, at each place"
    yield logits, "these are the logits: the softmax is missing"
    yield logits.softmax(dim=1), "the softmax runs over the places: let it run over the words, dim=-1"
    yield logits.softmax(dim=0), "the softmax runs over the sentences: let it run over the words, dim=-1"
    scaled = logits * matrix.size(1) ** 0.5
    yield scaled.softmax(dim=-1), "the factor √d_model belongs to the entrance: at the exit the rows stand as they are"
    yield (logits / matrix.size(1) ** 0.5).softmax(dim=-1), "the division by √d_k belongs to attention: here the logits stay"
    yield logits.log_softmax(dim=-1), "these are logarithms of the probabilities: take softmax, not log_softmax"
    chosen = logits.argmax(dim=-1)
    yield chosen, "this is the best word alone: return the probability of each word"


@exercise(
    cases=[(6, 512), (2, 64), (1, 10)],
    hint="3 attentions for each pair of an encoder layer and a decoder layer, 4 projections each, d_model biases each",
)
def attention_biases(num_layers: int, d_model: int) -> Iterator:
    """The reader's `attention_biases(num_layers, d_model)` counts the biases of all projections of attention."""
    yield (
        12 * num_layers * d_model,
        "36,864 in the base model, 0.06 %: a bias grows with d, a matrix with its square",
    )
    yield 8 * num_layers * d_model, "a decoder layer has two attentions: to itself and to the memory"
    yield 9 * num_layers * d_model, "an attention has a fourth projection, for its output"
    yield 6 * num_layers * d_model, "each attention has four projections, and a decoder layer has two attentions"
    yield 4 * num_layers * d_model, "that is one attention in each layer of one stack: count both stacks"
    yield 3 * num_layers * d_model, "that is one bias vector for each attention; it has four projections"
    yield 12 * d_model, "that is one layer of each stack: there are num_layers of them"
    yield 12 * num_layers * d_model**2, "those are the matrices; a bias has one number for each output, d_model"


@exercise(
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
    yield (
        2 * d_model + 2 * d_ff,
        "each matrix of the feed-forward network takes 2 d f operations: 4 d f together, not 8",
    )
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
