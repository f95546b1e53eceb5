"""Checks for the exercises of chapter 2, Inside the cell: RNN, LSTM, GRU."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["gates", "half_life", "last_outputs", "lstm_step", "recurrent_layer"]


def _outputs(
    x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor, activation: Callable = torch.tanh, hand_on: bool = True
) -> Tensor:
    outputs = []
    for step in x.unbind(dim=1):
        outputs.append(activation(step @ w_x + h @ w_h + b))
        h = outputs[-1] if hand_on else h
    return torch.stack(outputs, dim=1)


@exercise(
    cases=[normal((2, 4, 3), (2, 5), (3, 5), (5, 5), (5,)), normal((3, 5, 4), (3, 2), (4, 2), (2, 2), (2,))],
    hint="Each step is tanh(step @ w_x + h @ w_h + b), and its output is the next h",
)
def recurrent_layer(x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Iterator:
    """The reader's `recurrent_layer(x, h, w_x, w_h, b)` returns the outputs of all steps, (batch, seq, hidden)."""
    right = _outputs(x, h, w_x, w_h, b)
    yield right, "one cell for all steps, and each step reads the output of the one before"
    yield right[:, -1], "that is the output of the last step alone: keep the outputs of all steps, and stack them"
    yield right.transpose(0, 1), "the steps come first: stack them along dim=1, for (batch, seq, hidden)"
    yield (
        _outputs(x, h, w_x, w_h, b, hand_on=False),
        "each step reads the h from the beginning: give the new output to the next step",
    )
    yield _outputs(x, h, w_x, w_h, b, activation=lambda total: total), "the activation is missing: put the sum through tanh"
    yield _outputs(x, h, w_x, w_h, b, activation=torch.relu), "that is ReLU; this exercise asks for tanh"
    yield _outputs(x, h, w_x, w_h, 0 * b), "the bias b is missing"
    yield _outputs(x, h, w_x, 0 * w_h, b), "the output of the step before is missing: add h @ w_h, or there is no memory"
    yield _outputs(x, 0 * h, w_x, w_h, b), "the first step must read the h that is given"
    yield _outputs(x, h, w_x, w_h.T, b), "w_h is transposed: its rows belong to the old output, so it is h @ w_h"
    backwards = _outputs(x.flip(1), h, w_x, w_h, b)
    yield backwards, "that reads from the last step to the first"
    yield backwards.flip(1), "that reads from the last step to the first"


# Forget gate and input gate of each order: how much of the old stays, and how much of the new is written.
_ORDERS = {"keep": (1, 0), "replace": (0, 1), "erase": (0, 0), "add": (1, 1), "mix": (0.75, 0.25)}


@exercise(
    cases=[(order,) for order in _ORDERS],
    hint="In c = f * c + i * g, f is the share of the old that stays, i the share of the new that is written",
    parts=("the forget gate f", "the input gate i"),
)
def gates(order: str) -> Iterator:
    """The reader's `gates(order)` returns the pair (f, i) that carries out an order: keep, replace, erase, add or mix."""
    f, i = _ORDERS[order]
    yield (f, i), "two numbers carry out every order; with c = 4 and g = -2 it becomes 4, -2, 0, 2 and 2.5"
    yield (1 - f, i), "mind the name: a forget gate of 1 forgets nothing"
    yield (1 - f, 1 - i), "both are upside down: at 1 all of it passes, at 0 nothing does"
    yield (i, f), "the pair is in the wrong order: return (f, i), the forget gate first"
    yield (f, 1 - f), "that is a GRU, whose shares add up to 1: it can neither erase nor add; an LSTM's i is free"


@exercise(cases=[(2.0,), (0.5,), (3.0,)], hint="After n steps gate ** n is left, with gate = sigmoid(bias)")
def half_life(bias: float) -> Iterator:
    """The reader's `half_life(bias)` returns after how many steps a gate at sigmoid(bias) has kept one half."""
    gate, half = 1 / (1 + math.exp(-bias)), math.log(0.5)
    yield half / math.log(gate), "a bias of 0 keeps one half for 1 step, a bias of 3 for about 14"
    yield (
        -half / math.log(gate),
        "the sign: a number of steps is positive, and the logarithms of ½ and of the gate are both negative",
    )
    yield half / math.log(bias), "the bias is not the gate: the gate stands at sigmoid(bias) = 1 / (1 + exp(-bias))"
    yield half / math.log(math.tanh(bias)), "that is tanh; a gate stands at sigmoid(bias) = 1 / (1 + exp(-bias))"
    yield math.log(gate) / half, "that is the inverse: solve gate ** steps = 0.5 for the number of steps"
    yield -1 / math.log(gate), "after that many steps 1/e is left, not one half"
    yield 0.5 / (1 - gate), "each step takes a share of what is left, not the same amount: solve gate ** steps = 0.5"
    yield gate, "that is where the gate stands; now solve gate ** steps = 0.5 for the steps"


@exercise(
    # One column more than the longest has: the reader's step too far is then a wrong answer, and no IndexError.
    cases=[(*normal((3, 6, 3)), torch.tensor([5, 2, 4])), (*normal((2, 6, 3)), torch.tensor([1, 3]))],
    hint="Row by row, take the step lengths - 1",
)
def last_outputs(outputs: Tensor, lengths: Tensor) -> Iterator:
    """The reader's `last_outputs(outputs, lengths)` returns each sequence's output at its own last step."""
    rows = torch.arange(len(outputs))
    yield outputs[rows, lengths - 1], "each sequence gives the output of its own last step, and the padding is left alone"
    yield outputs[:, -1], "that is the last place of the padded batch; a short sequence ended before it"
    yield outputs[:, 0], "that is the first step of each sequence"
    yield outputs[rows, lengths], "one step too far: a sequence of length 2 has the steps 0 and 1"
    yield outputs[:, lengths.max() - 1], "that is the last step of the longest sequence; each has its own"
    yield outputs[rows, lengths - 2], "one step too early: a sequence of length 2 has the steps 0 and 1"


def _lstm(i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise(
    cases=[
        normal((5, 3), (5, 4), (5, 4), (7, 16), (16,)),
        normal((2, 2), (2, 3), (2, 3), (5, 12), (12,)),
    ],
    hint="c = f * c + i * g, and h = o * tanh(c)",
    parts=("the output h", "the cell state c"),
)
def lstm_step(x: Tensor, h: Tensor, c: Tensor, weight: Tensor, bias: Tensor) -> Iterator:
    """The reader's `lstm_step(x, h, c, weight, bias)` returns the pair (h, c) after one step."""

    def blocks(*inputs: Tensor) -> tuple[Tensor, ...]:
        return (torch.cat(inputs, dim=1) @ weight + bias).chunk(4, dim=1)

    def out(new: Tensor) -> tuple[Tensor, Tensor]:
        return o.sigmoid() * new.tanh(), new

    i, f, g, o = blocks(x, h)
    right = _lstm(i, f, g, o, c)
    yield right, "the memory is kept in part and added to; the output is a filtered view of it"
    yield (
        _lstm(*blocks(h, x), c),
        "the order of the inputs is exchanged: the first rows of the weight belong to x, so it is [x, h]",
    )
    yield (
        out(f.sigmoid() * c + (1 - f.sigmoid()) * g.tanh()),
        "that is the GRU's way, 1 - f in place of i: an LSTM has an input gate of its own",
    )
    yield out(f.sigmoid() * c + i.sigmoid() * g), "the proposal g needs tanh"
    yield right[::-1], "the two states are in the wrong order: return (h, c), the output first"
    yield _lstm(f, i, g, o, c), "input gate and forget gate are exchanged: the input gate comes first"
    yield _lstm(i, f, o, g, c), "proposal and output gate are exchanged: the proposal is the third block"
    yield (o.sigmoid() * right[1], right[1]), "the cell state passes tanh before the output gate: h = o * tanh(c)"
    yield (o.sigmoid() * c.tanh(), right[1]), "the output is made from the new cell state, not from the old one"
    yield out(i * g + f * c), "the gates need the sigmoid, and the proposal needs tanh"
