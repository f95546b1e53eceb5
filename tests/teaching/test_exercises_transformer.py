"""The checks of chapter 10: right answers pass, and each usual mistake gets its own hint."""

import math

from answers import two_tests

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.exercises import transformer as check


def embed(tokens, matrix):
    return matrix[tokens] * matrix.size(1) ** 0.5


def spread(loss, vocab):
    return math.sqrt(2 * (loss - math.log(vocab)))


RIGHT = [
    ("embed", embed),
    ("embed", lambda tokens, matrix: embed(tokens, matrix).tolist()),
    ("embed", lambda tokens, matrix: embed(tokens, matrix.float())),
    ("embed", lambda tokens, matrix: matrix.mul_(matrix.size(1) ** 0.5)[tokens]),
    ("logit_spread", spread),
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
    ("logit_spread", lambda loss, vocab: spread(loss, vocab) ** 2, "that is the variance"),
    ("logit_spread", lambda loss, vocab: spread(loss, vocab) / math.sqrt(2), "double it before"),
    ("logit_spread", lambda loss, vocab: loss - math.log(vocab), "that is the excess"),
    ("logit_spread", lambda loss, vocab: spread(loss, vocab) / 2, "do not halve it"),
    ("logit_spread", lambda loss, vocab: math.sqrt(2 * loss), "take log V away first"),
    ("logit_spread", lambda loss, vocab: math.sqrt(2) * (loss - math.log(vocab)), "not of the 2 alone"),
    ("logit_spread", lambda loss, vocab: math.sqrt(2 * abs(loss - math.log2(vocab))), "natural logarithm"),
    ("logit_spread", lambda loss, vocab: math.sqrt(2 * (loss - math.log10(vocab))), "natural logarithm"),
    ("logit_spread", lambda loss, vocab: math.sqrt(2 * (loss - math.log2(vocab))), "natural logarithm"),
    ("logit_spread", lambda loss, vocab: 1.0, "Solve loss"),
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
