"""Checks for the exercises of chapter 11, The learning rate."""

import math
from collections.abc import Iterator, Sequence

from transformer_lib.teaching.exercises import exercise


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


def _moves(
    gradients: Sequence[float],
    d_model: int,
    warmup: int,
    first: int = 1,
    corrected: tuple[bool, bool] = (True, True),
    betas: tuple[float, float] = (0.9, 0.98),
    signed: bool = False,
    scheduled: bool = True,
) -> list[float]:
    """Return the moves of one weight under the paper's Adam and schedule, or under one that is wrong in a usual way."""
    m = v = 0.0
    moves = []
    for step, gradient in enumerate(gradients, start=1):
        m = betas[0] * m + (1 - betas[0]) * gradient
        v = betas[1] * v + (1 - betas[1]) * (gradient if signed else gradient**2)
        m_hat = m / (1 - betas[0] ** step) if corrected[0] else m
        v_hat = v / (1 - betas[1] ** step) if corrected[1] else v
        number = step + first - 1
        rate = d_model**-0.5 * min(number**-0.5, number * warmup**-1.5) if number else 0.0
        size = math.sqrt(v_hat) if v_hat > 0 else math.nan
        moves.append(-(rate if scheduled else 1.0) * m_hat / (size + 1e-9))
    return moves


@exercise(
    cases=[([5.0, -5.0], 4, 4), ([0.3, -0.1, 0.2, 0.2, -0.4, 0.0], 16, 3), ([2e-5, 1.0, -3.0], 32, 100)],
    hint="For 5, then –5, with d_model 4 and warm-up 4, the moves are –0.0625 and 0.00658",
)
def adam_with_warmup(gradients: list[float], d_model: int, warmup: int) -> Iterator:
    """The reader's `adam_with_warmup(gradients, d_model, warmup)` lists the moves that Adam and the schedule make."""
    given = (gradients, d_model, warmup)
    right = _moves(*given)
    yield right, "the moves of torch's Adam under NoamSchedule"
    yield [-move for move in right], "the sign: a move goes against the gradient"
    yield _moves(*given, scheduled=False), "these are the moves in rates: multiply each by the rate of its step"
    yield _moves(*given, first=0), "the first step has number 1, not 0, so its rate is not 0"
    yield _moves(*given, first=2), "the first step has the rate of step 1, and this is the rate of step 2"
    yield _moves(*given, corrected=(False, False)), "the averages start at 0: divide m and v by the sums of their shares"
    yield _moves(*given, corrected=(True, False)), "v starts at 0, too: divide it by 1 - 0.98**step"
    yield _moves(*given, corrected=(False, True)), "m starts at 0, too: divide it by 1 - 0.9**step"
    yield _moves(*given, betas=(0.98, 0.9)), "β₁ = 0.9 belongs to m, and β₂ = 0.98 to v"
    yield _moves(*given, betas=(0.9, 0.999)), "this is torch's default for β₂; the paper's is 0.98"
    yield _moves(*given, signed=True), "v is the average of the *squares* of the gradients"
    yield [sum(right[: step + 1]) for step in range(len(right))], "these are the places of the weight: return the moves"
