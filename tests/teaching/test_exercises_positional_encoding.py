"""The checks of chapter 5: right answers pass, and each usual mistake gets its own hint."""

import itertools
import math

import numpy as np
import torch
from answers import two_tests

from transformer_lib.teaching.exercises import positional_encoding as check


def apart(word_vectors, table, first, second):
    without = word_vectors[first] - word_vectors[second]
    return without, without + table[first] - table[second]


def shift_matrix(shift, d_model, sign=1, exponent=2):
    matrix = np.zeros((d_model, d_model))
    for pair in range(d_model // 2):
        angle = sign * shift / 10000 ** (exponent * pair / d_model)
        block = slice(2 * pair, 2 * pair + 2)
        matrix[block, block] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return matrix


def by_least_squares(shift, d_model):
    table = check._table(100 + shift, d_model)
    return torch.linalg.lstsq(table[:100], table[shift:]).solution.T


def first_slow_pair(n, d_model, turn=2 * math.pi, exponent=2):
    return next(pair for pair in itertools.count() if turn * 10000 ** (exponent * pair / d_model) > n)


def sines_first(d_model):
    """The order that puts all sines first, then all cosines."""
    return [*range(0, d_model, 2), *range(1, d_model, 2)]


def only_from_zero(shift, d_model):
    angles = np.outer([0, shift], 1 / 10000 ** (np.arange(0, d_model, 2) / d_model))
    start, end = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(2, d_model)
    return np.outer(end, start) / (start @ start)


def with_a_stray_number(shift, d_model):
    matrix = shift_matrix(shift, d_model)
    matrix[0, -1] = 1
    return matrix


RIGHT = [
    ("table_shape", lambda max_len, d_model: (1, max_len, d_model)),
    ("table_shape", lambda max_len, d_model: torch.zeros(1, max_len, d_model).shape),
    ("table_shape", lambda max_len, d_model: [1, max_len, d_model]),
    ("same_word_twice", lambda *given: [part.norm() for part in apart(*given)]),
    ("same_word_twice", lambda *given: torch.stack([part.float().norm() for part in apart(*given)])),
    ("first_slow_pair", first_slow_pair),
    ("first_slow_pair", lambda n, d_model: torch.tensor(first_slow_pair(n, d_model))),
    ("first_slow_pair", lambda n, d_model: math.ceil(d_model / 2 * math.log(n / 2 / math.pi) / math.log(10000))),
    ("looked_at_by", lambda pos, k: pos - k),
    ("looked_at_by", lambda pos, k: torch.tensor(pos - k)),
    ("shift_matrix", shift_matrix),
    ("shift_matrix", by_least_squares),
    ("shift_matrix", lambda shift, d_model: torch.tensor(shift_matrix(shift, d_model), dtype=torch.float32)),
    ("shift_matrix", lambda shift, d_model: shift_matrix(shift, d_model).tolist()),
]
WRONG = [
    ("table_shape", lambda max_len, d_model: (max_len, d_model), "Add an axis of size 1 in front"),
    ("table_shape", lambda max_len, d_model: (1, d_model, max_len), "two axes are swapped"),
    ("table_shape", lambda max_len, d_model: (d_model, max_len), "swapped .* and the batch axis"),
    ("table_shape", lambda max_len, d_model: (max_len, 1, d_model), "the batch comes first"),
    ("table_shape", lambda max_len, d_model: max_len * d_model, "return its shape"),
    ("table_shape", lambda max_len, d_model: (2, max_len, d_model), r"should be \[1, 30, 256\], not \[2, 30, 256\]"),
    ("table_shape", lambda max_len, d_model: (1, 30, 256), r"the result for \(50, 128\)"),
    ("same_word_twice", lambda *given: [part.norm() for part in apart(*given)][::-1], "wrong order"),
    ("same_word_twice", lambda *given: (0.0, 0.0), "add to each word the row of the table"),
    ("same_word_twice", lambda *given: [part.square().sum() for part in apart(*given)], "squared distance"),
    ("same_word_twice", lambda *given: [part.abs().sum() for part in apart(*given)], "sum of the absolute"),
    ("same_word_twice", lambda *given: [part.square().mean().sqrt() for part in apart(*given)], "root of the mean"),
    (
        "same_word_twice",
        lambda *given: [part.norm() * 3 for part in apart(*given)],
        "the distance after .* Compare the two word vectors",
    ),
    (
        "same_word_twice",
        lambda *given: apart(*given)[1].norm(),
        "return two things: the distance before and the distance after",
    ),
    ("same_word_twice", lambda w, t, a, b: (w[0].norm(), 1), "the distance before .* should be 0, not .* Compare"),
    ("same_word_twice", apart, "a distance is the length of one: its norm"),
    ("same_word_twice", lambda *given: torch.stack(apart(*given)), "a distance is the length of one: its norm"),
    ("same_word_twice", lambda w, t, a, b: (w.norm(dim=1), (w + t).norm(dim=1)), "of the two places alone"),
    ("table_shape", lambda max_len, d_model: (max_len, d_model, 1), "the batch comes first"),
    ("first_slow_pair", lambda n, d_model: first_slow_pair(n, d_model) - 1, "last pair with a turn within n"),
    ("first_slow_pair", lambda n, d: d / 2 * math.log(n / 2 / math.pi) / math.log(10000), "a whole number"),
    ("first_slow_pair", lambda n, d_model: 2 * first_slow_pair(n, d_model), "that is a dimension"),
    ("first_slow_pair", lambda n, d_model: first_slow_pair(n, d_model, turn=1), "factor 2π is missing"),
    ("first_slow_pair", lambda n, d_model: first_slow_pair(n, d_model, exponent=1), "half of what it should be"),
    ("first_slow_pair", lambda n, d_model: first_slow_pair(n, d_model, exponent=4), "twice what it should be"),
    ("first_slow_pair", lambda n, d_model: 0, "pair 0 is the fastest"),
    ("first_slow_pair", lambda n, d_model: d_model // 2 - 1, "the slowest pair"),
    ("first_slow_pair", lambda n, d_model: d_model // 2 - first_slow_pair(n, d_model), "how many pairs are slow"),
    ("first_slow_pair", lambda n, d_model: 1, r"the result for \(90, 8\) should be 2, not 1. Pair number i needs"),
    ("looked_at_by", lambda pos, k: pos + k, "whose own hands are turned"),
    ("looked_at_by", lambda pos, k: pos, "has been turned away too"),
    ("looked_at_by", lambda pos, k: k, "depends on where it stands"),
    ("looked_at_by", lambda pos, k: -k, "depends on where it stands"),
    ("looked_at_by", lambda pos, k: pos + 3, r"the result for \(20, 5\) should be 15, not 23. A row that is turned"),
    ("shift_matrix", lambda shift, d_model: shift_matrix(shift, d_model).T, "turns the wrong way"),
    ("shift_matrix", lambda shift, d_model: shift_matrix(-shift, d_model), "turns the wrong way"),
    (
        "shift_matrix",
        lambda shift, d_model: shift_matrix(shift, d_model)[np.ix_(sines_first(d_model), sines_first(d_model))],
        "all sines first, then all cosines.*stands on the diagonal$",
    ),
    (
        "shift_matrix",
        lambda shift, d_model: shift_matrix(-shift, d_model)[np.ix_(sines_first(d_model), sines_first(d_model))],
        "all sines first, then all cosines.*signs of the two sines are exchanged",
    ),
    ("shift_matrix", only_from_zero, "must not depend on the position"),
    ("shift_matrix", lambda shift, d_model: np.eye(d_model), "the identity moves nothing"),
    ("shift_matrix", lambda shift, d_model: shift_matrix(shift, d_model, exponent=1), "block of pair 1 .* should be"),
    ("shift_matrix", lambda shift, d_model: shift_matrix(1, d_model), r"the block of pair 0 for \(3, 8\)"),
    ("shift_matrix", with_a_stray_number, "everything outside them must be 0"),
    ("shift_matrix", lambda shift, d_model: np.eye(2), r"should have the shape \(4, 4\), not \(2, 2\)"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)


def test_the_table_of_the_checks_is_the_papers():
    table = check._table(3, 6)
    assert np.allclose(table[1, :2], [0.8415, 0.5403], atol=1e-4)
    assert np.allclose(table[2, 2], math.sin(2 / 10000 ** (2 / 6)))
