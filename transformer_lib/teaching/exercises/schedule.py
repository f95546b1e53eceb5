"""Checks for the exercises of chapter 11, The learning rate."""

import math
from collections.abc import Iterator, Sequence

from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.exercises import _, exercise


@exercise(
    cases=[(0.0044, 32, 100), (0.001, 512, 4000), (0.02, 32, 1)],
    hint=_("The factor times the schedule's peak, which is 1 / √(d_model · warmup), must be `wanted`"),
)
def factor_for(wanted: float, d_model: int, warmup: int) -> Iterator:
    """The reader's `factor_for(wanted, d_model, warmup)` is the factor that gives a run the highest rate `wanted`."""
    yield wanted * (d_model * warmup) ** 0.5, _("factor · peak = wanted; for the deep stack of this chapter it is 0.25")
    yield wanted / (d_model * warmup) ** 0.5, _("this is wanted *times* the peak: divide by the peak")
    yield (d_model * warmup) ** -0.5, _("this is the peak itself: by what must it be multiplied to become `wanted`?")
    yield wanted * d_model * warmup, _("the root is missing: the peak is 1 / √(d_model · warmup)")


@exercise(
    cases=[(5.0, 0.1, 1e-9), (-3.0, 0.1, 1e-9), (0.5, 0.2, 0.5), (-2e-9, 1.0, 1e-9)],
    hint=_("In the first step m̂ is g and v̂ is g²"),
)
def first_move(gradient: float, rate: float, epsilon: float) -> Iterator:
    """The reader's `first_move(gradient, rate, epsilon)` returns how far Adam's first step moves a weight."""
    size = abs(gradient)
    yield -rate * gradient / (size + epsilon), _("− rate · g / (|g| + ε): the full rate, whatever the size of the gradient")
    yield rate * gradient / (size + epsilon), _("the sign: go against the gradient")
    yield -rate * gradient, _("this is plain gradient descent: divide by √v̂ + ε")
    yield -rate * math.copysign(1, gradient), _("ε is missing: it matters for tiny gradients")
    yield -rate * gradient / (gradient + epsilon), _("√(g²) is |g|, never negative")
    yield -rate * gradient / math.sqrt(gradient**2 + epsilon), _("ε is added to the root, not inside it")
    yield -rate * gradient / (gradient**2 + epsilon), _("the root is missing: divide by √v̂ + ε")


def _moves(
    gradients: Sequence[float], rates: Sequence[float], betas: tuple[float, float] = (0.9, 0.98), corrected: bool = True
) -> list[float]:
    """Return the moves of one weight under Adam, or under one whose averages are not divided by their shares."""
    m = v = 0.0
    moves = []
    for step, (gradient, rate) in enumerate(zip(gradients, rates), start=1):
        m = betas[0] * m + (1 - betas[0]) * gradient
        v = betas[1] * v + (1 - betas[1]) * gradient**2
        shares = [1 - beta**step if corrected else 1.0 for beta in betas]
        moves.append(-rate * m / shares[0] / (math.sqrt(v / shares[1]) + 1e-9))
    return moves


@exercise(
    cases=[([5.0, -5.0], 4, 4), ([0.3, -0.1, 0.2, 0.2, -0.4, 0.0], 16, 3), ([2e-5, 1.0, -3.0], 32, 100)],
    hint=_("For 5, then –5, with d_model 4 and warm-up 4, the moves are –0.0625 and 0.00658"),
)
def adam_with_warmup(gradients: list[float], d_model: int, warmup: int) -> Iterator:
    """The reader's `adam_with_warmup(gradients, d_model, warmup)` lists the moves that Adam and the schedule make."""
    rates = [noam_rate(step, d_model, warmup) for step in range(1, len(gradients) + 2)]
    right = _moves(gradients, rates)
    yield right, _("the moves of torch's Adam under NoamSchedule")
    yield [-move for move in right], _("the sign: a move goes against the gradient")
    yield _moves(gradients, [1.0] * len(rates)), _("these are the moves in rates: multiply each by the rate of its step")
    yield _moves(gradients, [0.0, *rates]), _("the first step has number 1, not 0, so its rate is not 0")
    yield _moves(gradients, rates[1:]), _("the first step has the rate of step 1, and this is the rate of step 2")
    yield _moves(gradients, rates, corrected=False), _("the averages start at 0: divide m and v by the sums of their shares")
    yield _moves(gradients, rates, betas=(0.98, 0.9)), _("β₁ = 0.9 belongs to m, and β₂ = 0.98 to v")
    yield _moves(gradients, rates, betas=(0.9, 0.999)), _("this is torch's default for β₂; the paper's is 0.98")
