"""Checks for the exercises of chapter 11, The learning rate."""

import math
from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_formula, expect_shape

__all__ = ["first_move", "lowest_loss", "next_rates", "peak_rate", "soft_target"]


@exercise
def peak_rate(attempt: Callable) -> str:
    """The reader's `peak_rate(d_model, warmup)` returns the schedule's highest rate."""
    expect_formula(
        attempt,
        [(512, 4000), (4, 4), (1024, 8000), (32, 1)],
        right=lambda d_model, warmup: (d_model * warmup) ** -0.5,
        mistakes=[
            (lambda d_model, warmup: 1 / (d_model * warmup), "the root is missing: both numbers have the exponent −0.5"),
            (lambda d_model, warmup: (d_model * warmup) ** 0.5, "this is 1 divided by the rate: the exponent is negative"),
            (lambda d_model, warmup: warmup**-0.5, "the factor of the width is missing"),
            (lambda d_model, warmup: d_model**-0.5, "the step is missing: at the peak it is `warmup`"),
            (lambda d_model, warmup: d_model**-0.5 * warmup**-1.5, "this is the rate of step 1; the peak is at step `warmup`"),
        ],
        hint="Put step = warmup into the formula: both sides of the min are then the same",
    )
    return "1 / √(d_model · warmup), which is 0.0007 for the base model"


@exercise
def next_rates(attempt: Callable) -> str:
    """The reader's `next_rates(done, count, d_model, warmup)` lists the rates of the `count` steps that follow."""
    for done, count, d_model, warmup in ((7, 5, 512, 4000), (0, 3, 16, 2), (3, 4, 4, 5), (9, 1, 64, 4)):
        what = f"the rates of {count} steps after {done} with d_model {d_model} and warm-up {warmup}"
        given = expect_shape(attempt(done, count, d_model, warmup), (count,), what)
        expected = [_rate(step, d_model, warmup) for step in range(done + 1, done + count + 1)]
        for mistake, hint in (
            (range(done, done + count), f"step {done} is done already: the next one is step {done + 1}"),
            (range(1, count + 1), f"the schedule starts again at step 1, but {done} steps are done"),
            (range(done + 2, done + count + 2), f"step {done + 1} is left out"),
        ):
            wrong = [_rate(step, d_model, warmup) for step in mistake]
            if not np.allclose(wrong, expected) and np.allclose(given, wrong, rtol=1e-4, atol=0):
                raise Hint(hint)
        expect_close(given, expected, "Step number n has the rate transformer_rate(n, d_model, warmup)", what=what)
    return "after 7 steps comes step 8, and a run that was stopped goes on as if nothing had happened"


@exercise
def first_move(attempt: Callable) -> str:
    """The reader's `first_move(gradient, rate, epsilon)` returns how far Adam's first step moves a weight."""
    expect_formula(
        attempt,
        [(5.0, 0.1, 1e-9), (-3.0, 0.1, 1e-9), (0.5, 0.2, 0.5), (-1e-9, 1.0, 1e-9), (2e-5, 0.1, 1e-9)],
        right=lambda gradient, rate, epsilon: -rate * gradient / (abs(gradient) + epsilon),
        mistakes=[
            (lambda gradient, rate, epsilon: rate * gradient / (abs(gradient) + epsilon), "the sign: go against the gradient"),
            (lambda gradient, rate, epsilon: -rate * gradient, "this is plain gradient descent: divide by √v̂ + ε"),
            (lambda gradient, rate, epsilon: -rate * math.copysign(1, gradient), "ε is missing: it matters for tiny gradients"),
            (lambda gradient, rate, epsilon: -rate * gradient / (gradient + epsilon), "√(g²) is |g|, never negative"),
            (lambda gradient, rate, epsilon: -rate, "the sign of the gradient decides the direction"),
            (
                lambda gradient, rate, epsilon: -rate * gradient / math.sqrt(gradient**2 + epsilon),
                "ε is added to the root, not inside it",
            ),
            (
                lambda gradient, rate, epsilon: -rate * gradient / (gradient**2 + epsilon),
                "the root is missing: divide by √v̂ + ε",
            ),
            (
                lambda gradient, rate, epsilon: -rate * 0.1 * gradient / (0.02**0.5 * abs(gradient) + epsilon),
                "the averages start at 0: divide m by 1 − β₁ and v by 1 − β₂ first",
            ),
        ],
        hint="In the first step m̂ is g and v̂ is g²",
    )
    return "− rate · g / (|g| + ε): the full rate, whatever the size of the gradient"


@exercise
def soft_target(attempt: Callable) -> str:
    """The reader's `soft_target(right, vocab, smoothing)` returns the smoothed target (vocab,) by torch's formula."""
    for right, vocab, smoothing in ((3, 5, 0.1), (0, 4, 0.2), (6, 7, 0.0), (1, 3, 0.5)):
        what = f"the target for word {right} of {vocab} with smoothing {smoothing}"
        given = expect_shape(attempt(right, vocab, smoothing), (vocab,), what)
        only = np.eye(vocab)[right]
        expected = (1 - smoothing) * only + smoothing / vocab
        for mistake, hint in (
            (only, "nothing is smoothed yet"),
            (np.where(only, 1 - smoothing, smoothing / (vocab - 1)), "this is ε/(V−1): torch gives the right word a share too"),
            (np.where(only, 1 - smoothing, smoothing / (vocab - 2)), "this is ε/(V−2): here all words get ε/V"),
            (np.where(only, 1 - smoothing, smoothing / vocab), "it does not sum to 1: the right word gets its share ε/V too"),
            (np.where(only, 1 - smoothing, smoothing), "ε is handed out to all words together, not to each"),
            (np.where(only, smoothing, (1 - smoothing) / (vocab - 1)), "the right word keeps 1 − ε, it does not get ε"),
        ):
            if not np.allclose(mistake, expected) and np.allclose(given, mistake, rtol=1e-4, atol=1e-6):
                raise Hint(f"{hint} ({what})")
        expect_close(given, expected, "Each word gets ε/V, and the right one 1 − ε more", what=what)
    return "ε/V for each word and 1 − ε more for the right one: it sums to 1"


@exercise
def lowest_loss(attempt: Callable) -> str:
    """The reader's `lowest_loss(vocab, smoothing)` returns the entropy of the smoothed target."""
    expect_formula(
        attempt,
        [(5, 0.1), (37_000, 0.1), (2, 0.5), (10, 0.0)],
        right=lambda vocab, smoothing: _entropy(vocab, smoothing / vocab),
        mistakes=[
            (lambda vocab, smoothing: 0.0, "a perfect model reaches 0 only without smoothing"),
            (lambda vocab, smoothing: -_entropy(vocab, smoothing / vocab), "the sign: an entropy is never negative"),
            (
                lambda vocab, smoothing: -math.log(1 - smoothing + smoothing / vocab),
                "this counts the right word alone, with weight 1: sum −q · log q over all words",
            ),
            (
                lambda vocab, smoothing: _part(1 - smoothing + smoothing / vocab) + _part(smoothing / vocab),
                "there are vocab − 1 other words, not one",
            ),
            (lambda vocab, smoothing: _entropy(vocab, smoothing / (vocab - 1)), "this is the floor of ε/(V−1), not of ε/V"),
            (
                lambda vocab, smoothing: _entropy(vocab, smoothing / vocab) / math.log(2),
                "this is in bits: use the natural logarithm",
            ),
        ],
        hint="It is the entropy of the target, −Σ q · log q, where 0 · log 0 counts as 0",
    )
    return "the entropy of the target: 0.3897 for five words, and 1.38 for 37,000"


def _rate(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) if step else 0.0


def _part(share: float) -> float:
    return -share * math.log(share) if share > 0 else 0.0


def _entropy(vocab: int, share: float) -> float:
    """Return the entropy of a target that gives `share` to each word but one, and the rest to that one."""
    return _part(1 - (vocab - 1) * share) + (vocab - 1) * _part(share)
