"""The checks of chapter 17: right answers pass, and each usual mistake gets its own hint."""

import math

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import scaling as check


def left(memory, parameters, per_token, each=16):
    return (memory - each * parameters) // per_token


def to_bits(x, round=round, bits=8):
    m, e = math.frexp(x)
    return round(m * 2**bits) / 2**bits * 2.0**e


def ring(seconds, parameters, processes, bandwidth, rounds=2):
    return seconds / processes + rounds * (processes - 1) / processes * 4 * parameters / bandwidth


RIGHT = [
    ("tokens_that_fit", lambda *given: max(0, left(*given))),
    ("round_to_bfloat16", to_bits),
    ("round_to_bfloat16", lambda x: torch.tensor(x).bfloat16().item()),
    ("loss_factor", lambda tokens: len(tokens) / sum(tokens)),
    ("step_seconds", ring),
]
WRONG = [
    ("tokens_that_fit", left, "not a negative number"),
    ("tokens_that_fit", lambda m, p, t: max(0, (m - 16 * p) / t), "half a token"),
    ("tokens_that_fit", lambda *given: max(0, left(*given, each=4)), "the weights alone"),
    ("tokens_that_fit", lambda *given: max(0, left(*given, each=8)), "two moments are missing"),
    ("tokens_that_fit", lambda *given: max(0, left(*given, each=12)), "two moments for each"),
    ("tokens_that_fit", lambda m, p, t: m // t, "the model takes memory too"),
    ("tokens_that_fit", lambda m, p, t: 1, "Take 16 bytes"),
    ("round_to_bfloat16", lambda x: to_bits(x, math.trunc), "cuts the bits off"),
    ("round_to_bfloat16", lambda x: to_bits(x, math.floor), "rounds down"),
    ("round_to_bfloat16", lambda x: to_bits(x, bits=7), "7 significant bits"),
    ("round_to_bfloat16", lambda x: to_bits(x, lambda y: math.floor(y + 0.5)), "even number"),
    ("round_to_bfloat16", lambda x: round(x * 256) / 256, "exponent is missing"),
    ("round_to_bfloat16", lambda x: x, "nothing is rounded"),
    ("round_to_bfloat16", lambda x: 0.0, "Multiply m"),
    ("loss_factor", lambda tokens: 1 / sum(tokens), "take that back"),
    ("loss_factor", lambda tokens: sum(tokens) / len(tokens), "the other way round"),
    ("loss_factor", lambda tokens: 1 / len(tokens), "what is missing are the tokens"),
    ("loss_factor", lambda tokens: sum(n > 0 for n in tokens) / sum(tokens), "whose part is empty"),
    ("loss_factor", lambda tokens: 1 / tokens[0], "mean of means"),
    ("loss_factor", lambda tokens: len(tokens) / tokens[0], "not those of the first"),
    ("loss_factor", lambda tokens: 0.0, "must become the sum"),
    ("step_seconds", lambda s, n, p, b: s + 2 * (p - 1) / p * 4 * n / b, "the computing is shared"),
    ("step_seconds", lambda *given: ring(*given, rounds=1), "go round twice"),
    ("step_seconds", lambda s, n, p, b: s / p + 8 * n / b, "its own last piece"),
    ("step_seconds", lambda s, n, p, b: s / p + 2 * (p - 1) / p * n / b, "4 bytes"),
    ("step_seconds", lambda s, n, p, b: s / p + 4 * n / b, "in a ring each process"),
    ("step_seconds", lambda s, n, p, b: s / p, "have to travel too"),
    ("step_seconds", lambda s, n, p, b: 0.0, "is divided by the processes"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
