"""Checks for the exercises of chapter 2, Inside the cell: RNN, LSTM, GRU."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import _, exercise, normal

# Forget gate and input gate of each order: how much of the old stays, and how much of the new is written.
_ORDERS = {"keep": (1, 0), "replace": (0, 1), "erase": (0, 0), "add": (1, 1), "mix": (0.75, 0.25)}


@exercise(
    cases=[(order,) for order in _ORDERS],
    hint=_("In c = f * c + i * g, f is the share of the old that stays, i the share of the new that is written"),
    parts=(_("the forget gate f"), _("the input gate i")),
)
def gates(order: str) -> Iterator:
    """The reader's `gates(order)` returns the pair (f, i) that carries out an order: keep, replace, erase, add or mix."""
    f, i = _ORDERS[order]
    yield (f, i), _("two numbers carry out every order; with c = 4 and g = -0.5 it becomes 4, -0.5, 0, 3.5 and 2.875")
    yield (1 - f, i), _("mind the name: a forget gate of 1 forgets nothing")
    yield (1 - f, 1 - i), _("both are upside down: at 1 all of it passes, at 0 nothing does")
    yield (i, f), _("the pair is in the wrong order: return (f, i), the forget gate first")
    yield (f, 1 - f), _("that is a GRU, whose shares add up to 1: it can neither erase nor add; an LSTM's i is free")


@exercise(cases=[(2.0,), (0.5,), (3.0,)], hint=_("After n steps gate ** n is left, with gate = sigmoid(bias)"))
def half_life(bias: float) -> Iterator:
    """The reader's `half_life(bias)` returns after how many steps a gate at sigmoid(bias) has kept one half."""
    gate, half = 1 / (1 + math.exp(-bias)), math.log(0.5)
    yield half / math.log(gate), _("a bias of 0 keeps one half for 1 step, a bias of 3 for about 14")
    yield -half / math.log(gate), _("the sign: a number of steps is positive, and both logarithms are negative")
    yield half / math.log(bias), _("the bias is not the gate: the gate stands at sigmoid(bias) = 1 / (1 + exp(-bias))")
    yield math.log(gate) / half, _("that is the inverse: solve gate ** steps = 0.5 for the number of steps")
    yield 0.5 / (1 - gate), _("each step takes a share of what is left, not the same amount: solve gate ** steps = 0.5")
    yield gate, _("that is where the gate stands; now solve gate ** steps = 0.5 for the steps")


def _lstm(x: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor, order: str = "ifgo", **slip: Callable) -> tuple[Tensor, Tensor]:
    """Return the outputs and the last c of an LSTM, in which a `slip` may stand for a curve."""
    curves = {"gate": torch.sigmoid, "propose": torch.tanh, "show": torch.tanh} | slip
    h = c = x.new_zeros(len(x), w_h.size(1))
    outputs = []
    for step in x.unbind(dim=1):
        parts = dict(zip(order, (step @ w_x.T + h @ w_h.T + b).chunk(4, dim=1)))
        i, f, o = (curves["gate"](parts[name]) for name in "ifo")
        c = f * c + i * curves["propose"](parts["g"])
        h = o * curves["show"](c)
        outputs.append(h)
    return torch.stack(outputs, dim=1), c


@exercise(
    cases=[normal((2, 5, 3), (16, 3), (16, 4), (16,)), normal((3, 4, 2), (12, 2), (12, 3), (12,))],
    hint=_("c = f * c + i * g, and h = o * tanh(c), at each step"),
    parts=(_("the outputs"), _("the last c")),
)
def lstm_layer(x: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Iterator:
    """The reader's `lstm_layer(x, w_x, w_h, b)` returns the outputs of all steps and the last cell state."""
    layer = torch.nn.LSTM(w_x.size(1), w_h.size(1), batch_first=True, dtype=x.dtype)
    with torch.no_grad():
        for parameter, given in zip(layer.parameters(), (w_x, w_h, b, 0 * b), strict=True):
            parameter.copy_(given)
        outputs, (_h, c) = layer(x)
    yield (outputs, c[0]), _("equal to nn.LSTM: the memory is kept in part and added to, and the output shows a part of it")
    yield (c[0], outputs), _("the two are in the wrong order: return the outputs first, then c")
    yield (outputs.transpose(0, 1), c[0]), _("the steps come first: stack the outputs along dim=1, for (batch, seq, hidden)")
    yield (outputs[:, -1], c[0]), _("that is the last output alone: keep the outputs of all steps, and stack them")
    yield (outputs, outputs[:, -1]), _("the second result is the last h; return the last c")
    yield _lstm(x, w_x, w_h, b, order="figo"), _("input gate and forget gate are exchanged: the input gate comes first")
    yield _lstm(x, w_x, w_h, b, show=lambda c: c), _("c passes tanh before the output gate: h = o * tanh(c)")
    yield _lstm(x, w_x, w_h, b, propose=torch.sigmoid), _("the proposal g needs tanh; only the gates have the sigmoid")
    yield _lstm(x, w_x, w_h, b, gate=lambda a: a), _("the gates need the sigmoid")
    yield _lstm(x, w_x, w_h, 0 * b), _("the bias b is missing")
    yield _lstm(x, w_x, 0 * w_h, b), _("the gates do not see the last h: add h @ w_h.T, and give the new h to the next step")
