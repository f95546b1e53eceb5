"""The checks of chapter 11: right answers pass, and each usual mistake gets its own hint."""

import math
import re

import numpy as np
import pytest
import torch

from transformer_lib.schedule import label_smoothed_loss, transformer_rate
from transformer_lib.teaching.check import schedule as check


def next_rates(done, count, d_model, warmup, late=0):
    return [transformer_rate(max(step + late, 1), d_model, warmup) for step in range(done + 1, done + count + 1)]


def first_move(gradient, rate, epsilon):
    return -rate * gradient / (abs(gradient) + epsilon)


def move_of_torchs_adam(gradient, rate, epsilon):
    weight = torch.zeros((), dtype=torch.float64, requires_grad=True)
    weight.grad = torch.tensor(gradient, dtype=torch.float64)
    torch.optim.Adam([weight], lr=rate, eps=epsilon).step()
    return weight


def soft_target(right, vocab, smoothing):
    target = np.full(vocab, smoothing / vocab)
    target[right] += 1 - smoothing
    return target


def shares(right_share, other_share):
    def attempt(right, vocab, smoothing):
        target = [other_share(vocab, smoothing)] * vocab
        target[right] = right_share(vocab, smoothing)
        return target

    return attempt


def lowest_loss(vocab, smoothing):
    target = soft_target(0, vocab, smoothing)
    return -sum(q * math.log(q) for q in target if q)


def loss_at_the_target(vocab, smoothing):
    logits = torch.tensor(soft_target(1, vocab, smoothing)).clamp_min(1e-300).log()
    return label_smoothed_loss(logits[None], torch.tensor([1]), smoothing)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("peak_rate", lambda d_model, warmup: (d_model * warmup) ** -0.5),
        ("peak_rate", lambda d_model, warmup: transformer_rate(warmup, d_model, warmup)),
        ("next_rates", next_rates),
        ("next_rates", lambda *given: torch.tensor(next_rates(*given))),
        ("first_move", first_move),
        ("first_move", move_of_torchs_adam),
        ("soft_target", soft_target),
        ("soft_target", lambda *given: torch.tensor(soft_target(*given)).float()),
        ("soft_target", lambda *given: soft_target(*given).tolist()),
        ("lowest_loss", lowest_loss),
        ("lowest_loss", loss_at_the_target),
    ],
)
def test_a_right_answer_passes(says, name, answer):
    assert says(getattr(check, name), answer).startswith(f"✓ {name}: ")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("peak_rate", lambda d_model, warmup: 1 / (d_model * warmup), "the root is missing"),
        ("peak_rate", lambda d_model, warmup: math.sqrt(d_model * warmup), "the exponent is negative"),
        ("peak_rate", lambda d_model, warmup: warmup**-0.5, "factor of the width"),
        ("peak_rate", lambda d_model, warmup: d_model**-0.5, "the step is missing"),
        ("peak_rate", lambda d_model, warmup: transformer_rate(1, d_model, warmup), "the rate of step 1"),
        ("peak_rate", lambda d_model, warmup: 0.0007, "both sides of the min"),
        ("next_rates", lambda *given: next_rates(*given, late=-1), "step 7 is done already: the next one is step 8"),
        ("next_rates", lambda done, *given: next_rates(0, *given), "starts again at step 1, but 7 steps are done"),
        ("next_rates", lambda *given: next_rates(*given, late=1), "step 8 is left out"),
        ("next_rates", lambda *given: next_rates(*given)[:-1], r"shape \(4,\), expected \(5,\)"),
        ("next_rates", lambda *given: [1.0] * given[1], "Step number n has the rate"),
        ("first_move", lambda *given: -first_move(*given), "the sign: go against"),
        ("first_move", lambda gradient, rate, epsilon: -rate * gradient, "plain gradient descent"),
        ("first_move", lambda gradient, rate, epsilon: -rate * np.sign(gradient), "ε is missing"),
        ("first_move", lambda gradient, rate, epsilon: -rate * gradient / (gradient + epsilon), "never negative"),
        ("first_move", lambda gradient, rate, epsilon: -rate, "decides the direction"),
        ("first_move", lambda gradient, rate, epsilon: -rate * gradient / (gradient**2 + epsilon) ** 0.5, "not inside"),
        ("first_move", lambda gradient, rate, epsilon: -rate * gradient / (gradient**2 + epsilon), "the root is missing"),
        (
            "first_move",
            lambda gradient, rate, epsilon: -rate * 0.1 * gradient / (math.sqrt(0.02 * gradient**2) + epsilon),
            "the averages start at 0",
        ),
        ("first_move", lambda *given: 0.5, "In the first step m̂ is g"),
        ("soft_target", lambda right, vocab, smoothing: np.eye(vocab)[right], "nothing is smoothed"),
        ("soft_target", shares(lambda v, e: 1 - e, lambda v, e: e / (v - 1)), r"ε/\(V−1\)"),
        ("soft_target", shares(lambda v, e: 1 - e, lambda v, e: e / (v - 2)), r"ε/\(V−2\)"),
        ("soft_target", shares(lambda v, e: 1 - e, lambda v, e: e / v), "does not sum to 1"),
        ("soft_target", shares(lambda v, e: 1 - e, lambda v, e: e), "to all words together"),
        ("soft_target", shares(lambda v, e: e, lambda v, e: (1 - e) / (v - 1)), "keeps 1 − ε"),
        ("soft_target", lambda right, vocab, smoothing: soft_target(0, vocab, smoothing), "Each word gets ε/V"),
        ("soft_target", lambda right, vocab, smoothing: soft_target(right, 5, smoothing), r"shape \(5,\), expected \(4,\)"),
        ("lowest_loss", lambda vocab, smoothing: 0, "only without smoothing"),
        ("lowest_loss", lambda *given: -lowest_loss(*given), "never negative"),
        ("lowest_loss", lambda vocab, smoothing: -math.log(1 - smoothing + smoothing / vocab), "the right word alone"),
        (
            "lowest_loss",
            lambda vocab, smoothing: -sum(q * math.log(q) for q in soft_target(0, vocab, smoothing)[:2] if q),
            "vocab − 1 other words",
        ),
        (
            "lowest_loss",
            lambda vocab, smoothing: lowest_loss(vocab, smoothing * vocab / (vocab - 1)),
            r"the floor of ε/\(V−1\)",
        ),
        ("lowest_loss", lambda *given: lowest_loss(*given) / math.log(2), "in bits"),
        ("lowest_loss", lambda vocab, smoothing: math.log(vocab), "the entropy of the target"),
        ("lowest_loss", lambda vocab, smoothing: smoothing * math.log(smoothing), "ValueError"),
    ],
)
def test_a_usual_mistake_gets_its_hint(says, name, answer, hint):
    line = says(getattr(check, name), answer)
    assert line.startswith(f"✗ {name}: ")
    assert re.search(hint, line), line
