"""The checks of chapter 10: right answers pass, and each usual mistake gets its own hint."""

import math

import torch
from answers import two_tests

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.exercises import transformer as check


def embed(tokens, matrix):
    return matrix[tokens] * matrix.size(1) ** 0.5


def next_word(x, matrix):
    return (x @ matrix.T).softmax(dim=-1)


RIGHT = [
    ("embed", embed),
    ("embed", lambda tokens, matrix: embed(tokens, matrix).tolist()),
    ("embed", lambda tokens, matrix: embed(tokens, matrix.float())),
    ("embed", lambda tokens, matrix: matrix.mul_(matrix.size(1) ** 0.5)[tokens]),
    ("next_word", next_word),
    ("next_word", lambda x, matrix: next_word(x, matrix).tolist()),
    ("next_word", lambda x, matrix: torch.einsum("btd,vd->btv", x, matrix).softmax(dim=2)),
    ("attention_biases", lambda n, d: n * 3 * 4 * d),
    ("overtaking_length", lambda d, f: 2 * d + f),
    ("overtaking_length", lambda d, f: (8 * d**2 + 4 * d * f) / (4 * d)),
]
WRONG = [
    ("embed", lambda tokens, matrix: matrix[tokens], "as they stand"),
    ("embed", lambda tokens, matrix: matrix[tokens] * matrix.size(1), "not by its square root"),
    ("embed", lambda tokens, matrix: matrix[tokens] / matrix.size(1) ** 0.5, "divided by"),
    ("embed", lambda tokens, matrix: matrix[tokens] * matrix.size(0) ** 0.5, "root of the vocabulary"),
    ("embed", lambda t, matrix: embed(t, matrix) + sinusoidal_table(t.size(1), matrix.size(1)), "positions are added too"),
    ("embed", lambda tokens, matrix: -embed(tokens, matrix), "Take row"),
    ("embed", lambda tokens, matrix: embed(tokens, matrix)[0], r"the shape \(2, 3, 4\), not \(3, 4\)"),
    ("next_word", lambda x, matrix: x @ matrix.T, "these are the logits"),
    ("next_word", lambda x, matrix: (x @ matrix.T).softmax(dim=1), "over the places"),
    ("next_word", lambda x, matrix: (x @ matrix.T).softmax(dim=0), "over the sentences"),
    ("next_word", lambda x, matrix: next_word(x * matrix.size(1) ** 0.5, matrix), "belongs to the entrance"),
    ("next_word", lambda x, matrix: next_word(x / matrix.size(1) ** 0.5, matrix), "belongs to attention"),
    ("next_word", lambda x, matrix: next_word(x, matrix).log(), "logarithms of the probabilities"),
    ("next_word", lambda x, matrix: (x @ matrix.T).argmax(dim=-1), "the best word alone"),
    ("next_word", lambda x, matrix: next_word(x, matrix) / 2, "Each row of `x` meets"),
    ("attention_biases", lambda n, d: n * 2 * 4 * d, "two attentions"),
    ("attention_biases", lambda n, d: n * 3 * 3 * d, "fourth projection"),
    ("attention_biases", lambda n, d: n * 2 * 3 * d, "four projections, and"),
    ("attention_biases", lambda n, d: n * 4 * d, "both stacks"),
    ("attention_biases", lambda n, d: n * 3 * d, "one bias vector"),
    ("attention_biases", lambda n, d: 12 * d, "one layer of each stack"),
    ("attention_biases", lambda n, d: 12 * n * d * d, "those are the matrices"),
    ("attention_biases", lambda n, d: 0, "3 attentions for each pair"),
    ("overtaking_length", lambda d, f: 2 * d, "feed-forward network takes each token"),
    ("overtaking_length", lambda d, f: f, "four projections take each token"),
    ("overtaking_length", lambda d, f: 2 * (2 * d + f), "paid twice"),
    ("overtaking_length", lambda d, f: 2 * d + f / 2, "two matrices"),
    ("overtaking_length", lambda d, f: 1.5 * d + f, "fourth projection"),
    ("overtaking_length", lambda d, f: d + f / 2, "in the same unit"),
    ("overtaking_length", lambda d, f: math.sqrt(2 * d + f), "divide by n"),
    ("overtaking_length", lambda d, f: 2 * d + 2 * f, "4 d f together"),
    ("overtaking_length", lambda d, f: 0, "Set n"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
