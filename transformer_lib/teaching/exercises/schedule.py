"""Checks for the exercises of chapter 11, The learning rate."""

import math
from collections.abc import Iterator

from transformer_lib.teaching.exercises import exercise

__all__ = ["factor_for", "first_move", "lowest_loss", "next_rates"]


@exercise(
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


def _rate(step: int, d_model: int, warmup: int) -> float:
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) if step else 0.0


@exercise(
    cases=[(7, 5, 512, 4000), (0, 3, 16, 2), (3, 4, 4, 5), (9, 1, 64, 4)],
    hint="Step number n has the rate noam_rate(n, d_model, warmup)",
)
def next_rates(done: int, count: int, d_model: int, warmup: int) -> Iterator:
    """The reader's `next_rates(done, count, d_model, warmup)` lists the rates of the `count` steps that follow."""

    def rates(first: int) -> list[float]:
        return [_rate(step, d_model, warmup) for step in range(first, first + count)]

    yield rates(done + 1), "after 7 steps comes step 8, and a run that was stopped goes on as if nothing had happened"
    yield rates(done), f"step {done} is done already: the next one is step {done + 1}"
    if done:
        yield rates(1), f"the schedule starts again at step 1, but {done} steps are done"
    yield rates(done + 2), f"step {done + 1} is left out"


@exercise(
    cases=[(5.0, 0.1, 1e-9), (-3.0, 0.1, 1e-9), (0.5, 0.2, 0.5), (-2e-9, 1.0, 1e-9), (2e-5, 0.1, 1e-9)],
    hint="In the first step m̂ is g and v̂ is g²",
)
def first_move(gradient: float, rate: float, epsilon: float) -> Iterator:
    """The reader's `first_move(gradient, rate, epsilon)` returns how far Adam's first step moves a weight."""
    size = abs(gradient)
    yield -rate * gradient / (size + epsilon), "− rate · g / (|g| + ε): the full rate, whatever the size of the gradient"
    yield rate * gradient / (size + epsilon), "the sign: go against the gradient"
    yield -rate * gradient, "this is plain gradient descent: divide by √v̂ + ε"
    yield -rate * math.copysign(1, gradient), "ε is missing: it matters for tiny gradients"
    yield -rate * gradient / (gradient + epsilon), "√(g²) is |g|, never negative"
    yield -rate, "the sign of the gradient decides the direction"
    yield -rate * gradient / math.sqrt(gradient**2 + epsilon), "ε is added to the root, not inside it"
    yield -rate * gradient / (gradient**2 + epsilon), "the root is missing: divide by √v̂ + ε"
    yield (
        -rate * 0.1 * gradient / (0.02**0.5 * size + epsilon),
        "the averages start at 0: divide m by 1 − β₁ and v by 1 − β₂ first",
    )


def _part(share: float) -> float:
    return -share * math.log(share) if share > 0 else 0.0


def _entropy(vocab: int, share: float) -> float:
    """Return the entropy of a target that gives `share` to each word but one, and the rest to that one."""
    return _part(1 - (vocab - 1) * share) + (vocab - 1) * _part(share)


@exercise(
    cases=[(5, 0.1), (37_000, 0.1), (2, 0.5), (10, 0.3), (10, 0.0)],
    hint="It is the entropy of the target, −Σ q · log q",
)
def lowest_loss(vocab: int, smoothing: float) -> Iterator:
    """The reader's `lowest_loss(vocab, smoothing)` returns the entropy of the smoothed target."""
    share = smoothing / vocab
    right = _entropy(vocab, share)
    yield right, "the entropy of the target: 0.3897 for five words, and 1.38 for 37,000"
    if not smoothing:
        for nothing in (ValueError, math.nan):
            yield (
                nothing,
                "with smoothing 0 the other words have q = 0, and log 0 has no value: 0 · log 0 counts as 0, so return 0",
            )
        return
    yield 0.0, "a perfect model reaches 0 only without smoothing"
    yield -right, "the sign: an entropy is never negative"
    yield -math.log(1 - smoothing + share), "this counts the right word alone, with weight 1: sum −q · log q over all words"
    yield _part(1 - smoothing + share) + _part(share), "there are vocab − 1 other words, not one"
    yield _entropy(vocab, smoothing / (vocab - 1)), "this is the floor of ε/(V−1), not of ε/V"
    yield right / math.log(2), "this is in bits: use the natural logarithm"
