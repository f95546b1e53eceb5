"""The checks of chapter 10: right answers pass, and each usual mistake gets its own hint."""

import math
import re

import pytest

from transformer_lib.teaching.check import transformer as check


def embed(tokens, matrix):
    return matrix[tokens] * matrix.size(1) ** 0.5


def decoder_layer(d, f, attentions=2, norms=3, bias=1):
    return attentions * 4 * (d * d + bias * d) + 2 * d * f + bias * (f + d) + norms * 2 * d


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("embed", embed),
        ("embed", lambda tokens, matrix: embed(tokens, matrix).tolist()),
        ("embed", lambda tokens, matrix: embed(tokens, matrix.float())),
        ("expected_first_loss", lambda vocab, spread: math.log(vocab) + spread**2 / 2),
        ("decoder_layer_parameters", decoder_layer),
        ("saved_by_tying", lambda vocab, d_model: 3 * vocab * d_model - vocab * d_model),
    ],
)
def test_a_right_answer_passes(says, name, answer):
    assert says(getattr(check, name), answer).startswith(f"✓ {name}: ")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("embed", lambda tokens, matrix: matrix[tokens], "as they stand"),
        ("embed", lambda tokens, matrix: matrix[tokens] * matrix.size(1), "not by its square root"),
        ("embed", lambda tokens, matrix: matrix[tokens] / matrix.size(1) ** 0.5, "divided by"),
        ("embed", lambda tokens, matrix: matrix[tokens] * matrix.size(0) ** 0.5, "root of the vocabulary"),
        ("embed", lambda tokens, matrix: -embed(tokens, matrix), "Take row"),
        ("embed", lambda tokens, matrix: embed(tokens, matrix)[0], "has shape"),
        ("expected_first_loss", lambda vocab, spread: math.log(vocab), "equal logits only"),
        ("expected_first_loss", lambda vocab, spread: math.log(vocab) + spread**2, "half of the variance"),
        ("expected_first_loss", lambda vocab, spread: math.log(vocab) + spread / 2, "spread squared"),
        ("expected_first_loss", lambda vocab, spread: math.log(vocab) - spread**2 / 2, "larger, not smaller"),
        ("expected_first_loss", lambda vocab, spread: math.log2(vocab) + spread**2 / 2, "natural logarithm"),
        ("expected_first_loss", lambda vocab, spread: math.log10(vocab) + spread**2 / 2, "natural logarithm"),
        ("expected_first_loss", lambda vocab, spread: vocab, "Add log V"),
        ("decoder_layer_parameters", lambda d, f: decoder_layer(d, f, 1, 2), "that is an encoder layer"),
        ("decoder_layer_parameters", lambda d, f: decoder_layer(d, f, 1, 3), "two attentions"),
        ("decoder_layer_parameters", lambda d, f: decoder_layer(d, f, 2, 2), "a norm of its own"),
        ("decoder_layer_parameters", lambda d, f: decoder_layer(d, f, 2, 0), "three norms are missing"),
        ("decoder_layer_parameters", lambda d, f: decoder_layer(d, f, bias=0), "biases are missing"),
        ("decoder_layer_parameters", lambda d, f: decoder_layer(d, f) - 2 * (d * d + d), "fourth matrix"),
        ("decoder_layer_parameters", lambda d, f: 0, "Two attentions of"),
        ("saved_by_tying", lambda vocab, d_model: vocab * d_model, "two are saved"),
        ("saved_by_tying", lambda vocab, d_model: 3 * vocab * d_model, "still needed"),
        ("saved_by_tying", lambda vocab, d_model: (2 * d_model + 1) * vocab, "no bias here"),
        ("saved_by_tying", lambda vocab, d_model: 0, "become one"),
    ],
)
def test_a_usual_mistake_gets_its_hint(says, name, answer, hint):
    line = says(getattr(check, name), answer)
    assert line.startswith(f"✗ {name}: ")
    assert re.search(hint, line), line
