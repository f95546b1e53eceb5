"""The checks of chapter 11: right answers pass, and each usual mistake gets its own hint."""

import math

import numpy as np
import torch
from answers import two_tests

from transformer_lib.schedule import label_smoothed_loss, noam_rate
from transformer_lib.teaching.exercises import schedule as check


def next_rates(done, count, d_model, warmup, late=0):
    return [noam_rate(max(step + late, 1), d_model, warmup) for step in range(done + 1, done + count + 1)]


def first_move(gradient, rate, epsilon):
    return -rate * gradient / (abs(gradient) + epsilon)


def move_of_torchs_adam(gradient, rate, epsilon):
    weight = torch.zeros((), dtype=torch.float64, requires_grad=True)
    weight.grad = torch.tensor(gradient, dtype=torch.float64)
    torch.optim.Adam([weight], lr=rate, eps=epsilon).step()
    return weight


move_of_torchs_adam(1.0, 0.1, 1e-9)  # torch's first step imports a lot: not to be counted as the reader's time


def soft_target(right, vocab, smoothing):
    target = np.full(vocab, smoothing / vocab)
    target[right] += 1 - smoothing
    return target


def factor_for(wanted, d_model, warmup):
    return wanted / noam_rate(warmup, d_model, warmup)


def lowest_loss(vocab, smoothing):
    target = soft_target(0, vocab, smoothing)
    return -sum(q * math.log(q) for q in target if q)


def loss_at_the_target(vocab, smoothing):
    logits = torch.tensor(soft_target(1, vocab, smoothing)).clamp_min(1e-300).log()
    return label_smoothed_loss(logits[None], torch.tensor([1]), smoothing)


RIGHT = [
    ("factor_for", factor_for),
    ("factor_for", lambda wanted, d_model, warmup: wanted * math.sqrt(d_model * warmup)),
    ("next_rates", next_rates),
    ("next_rates", lambda *given: torch.tensor(next_rates(*given))),
    ("first_move", first_move),
    ("first_move", move_of_torchs_adam),
    ("lowest_loss", lowest_loss),
    ("lowest_loss", loss_at_the_target),
]
WRONG = [
    ("factor_for", lambda wanted, d_model, warmup: wanted * (d_model * warmup) ** -0.5, "divide by the peak"),
    ("factor_for", lambda wanted, d_model, warmup: wanted, "if the peak were 1"),
    ("factor_for", lambda wanted, d_model, warmup: noam_rate(warmup, d_model, warmup), "the peak itself"),
    ("factor_for", lambda wanted, d_model, warmup: math.sqrt(d_model * warmup), "where is `wanted`"),
    ("factor_for", lambda wanted, d_model, warmup: 1 / factor_for(wanted, d_model, warmup), "turn it over"),
    ("factor_for", lambda wanted, d_model, warmup: wanted * d_model * warmup, "the root is missing"),
    ("factor_for", lambda wanted, d_model, warmup: wanted * math.sqrt(warmup), "factor of the width"),
    ("factor_for", lambda wanted, d_model, warmup: 0.25, "must be `wanted`"),
    ("next_rates", lambda *given: next_rates(*given, late=-1), "step 7 is done already: the next one is step 8"),
    ("next_rates", lambda done, *given: next_rates(0, *given), "starts again at step 1, but 7 steps are done"),
    ("next_rates", lambda *given: next_rates(*given, late=1), "step 8 is left out"),
    ("next_rates", lambda *given: next_rates(*given)[:-1], r"for \(7, 5, 512, 4000\) should be \[.*\], not \["),
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
    ("lowest_loss", lambda vocab, smoothing: lowest_loss(vocab, smoothing) if smoothing else math.log(0), "counts as 0"),
    ("lowest_loss", lambda vocab, smoothing: lowest_loss(vocab, smoothing) if smoothing else math.nan, "counts as 0"),
    (
        "lowest_loss",
        lambda vocab, smoothing: lowest_loss(vocab, smoothing or 0.1),
        r"the result for \(10, 0.0\) should be 0, not 0.5",
    ),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
