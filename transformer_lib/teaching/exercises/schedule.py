"""Checks for the exercises of chapter 11, The learning rate."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_formula, expect_shape, formula

__all__ = ["factor_for", "first_move", "lowest_loss", "next_rates", "same_smoothing"]


@formula(
    cases=[(0.0044, 32, 100), (0.001, 512, 4000), (0.5, 4, 4), (0.02, 32, 1)],
    hint="The factor times the schedule's peak, which is 1 / √(d_model · warmup), must be `wanted`",
)
def factor_for(wanted: float, d_model: int, warmup: int) -> Iterator:
    """The reader's `factor_for(wanted, d_model, warmup)` is the factor that gives a run the highest rate `wanted`."""
    yield wanted * (d_model * warmup) ** 0.5, "factor · peak = wanted; for the deep stack of this chapter it is 0.25"
    yield wanted / (d_model * warmup) ** 0.5, "this is wanted *times* the peak: divide by the peak"
    yield wanted, "this would be right if the peak were 1: divide by the peak"
    yield (d_model * warmup) ** -0.5, "this is the peak itself: by what must it be multiplied to become `wanted`?"
    yield (d_model * warmup) ** 0.5, "this makes the highest rate 1: where is `wanted`?"
    yield (d_model * warmup) ** -0.5 / wanted, "this is the peak divided by wanted: turn it over"
    yield wanted * d_model * warmup, "the root is missing: the peak is 1 / √(d_model · warmup)"
    yield wanted * warmup**0.5, "the factor of the width is missing in the peak"


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
        expect_close(given, expected, "Step number n has the rate noam_rate(n, d_model, warmup)", what=what)
    return "after 7 steps comes step 8, and a run that was stopped goes on as if nothing had happened"


@exercise
def first_move(attempt: Callable) -> str:
    """The reader's `first_move(gradient, rate, epsilon)` returns how far Adam's first step moves a weight."""
    expect_formula(
        attempt,
        [(5.0, 0.1, 1e-9), (-3.0, 0.1, 1e-9), (0.5, 0.2, 0.5), (-2e-9, 1.0, 1e-9), (2e-5, 0.1, 1e-9)],
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


@formula(
    cases=[(0.1, 5), (0.1, 37_000), (0.2, 3), (0.3, 2)],
    hint="A wrong word must get the same from both programs: smoothing / vocab = epsilon / (vocab − 1)",
)
def same_smoothing(epsilon: float, vocab: int) -> Iterator:
    """The reader's `same_smoothing(epsilon, vocab)` makes torch's target the one of ε/(V−1)."""
    yield epsilon * vocab / (vocab - 1), "ε · V / (V − 1): a little more, since the right word gets a share back"
    yield epsilon, "with the same ε the right word would get ε/V more than it should"
    yield epsilon * (vocab - 1) / vocab, "turned over: torch gives a part back to the right word, so it needs more, not less"
    yield epsilon / (vocab - 1), "this is what one wrong word gets; asked is what they get together from torch, over all words"
    yield epsilon / vocab, "this is what torch would give one word for this ε: you need the whole `smoothing`"
    yield epsilon + 1 / vocab, "compare what one wrong word gets from each of the two: ε/(V−1) and smoothing/V"


@exercise
def lowest_loss(attempt: Callable) -> str:
    """The reader's `lowest_loss(vocab, smoothing)` returns the entropy of the smoothed target."""
    expect_formula(
        attempt,
        [(5, 0.1), (37_000, 0.1), (2, 0.5), (10, 0.3)],
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
        hint="It is the entropy of the target, −Σ q · log q",
    )
    zero = "with smoothing 0 the other words have q = 0, and log 0 has no value: 0 · log 0 counts as 0, so return 0"
    try:
        lowest = float(expect_shape(attempt(10, 0.0), ()))
    except Hint as problem:
        raise Hint(zero if "raises" in str(problem) else str(problem)) from None
    if not abs(lowest) < 1e-9:
        raise Hint(zero if math.isnan(lowest) else f"with smoothing 0 a perfect model reaches 0, and this gives {lowest:.4g}")
    return "the entropy of the target: 0.3897 for five words, and 1.38 for 37,000"


def _rate(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) if step else 0.0


def _part(share: float) -> float:
    return -share * math.log(share) if share > 0 else 0.0


def _entropy(vocab: int, share: float) -> float:
    """Return the entropy of a target that gives `share` to each word but one, and the rest to that one."""
    return _part(1 - (vocab - 1) * share) + (vocab - 1) * _part(share)
