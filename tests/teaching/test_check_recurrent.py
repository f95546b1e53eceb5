"""The checks of chapter 2: right answers pass, and each usual mistake gets its own hint."""

import math
import re

import numpy as np
import pytest
import torch

from transformer_lib.teaching.check import recurrent as check


def picked(outputs, steps):
    return outputs[torch.arange(len(outputs)), steps]


def lstm(order="ifgo", swap=False, cell=torch.tanh, gate=torch.sigmoid, proposal=torch.tanh, show_new=True):
    def step(x, h, c, weight, bias):
        block = dict(zip(order, (torch.cat([x, h], dim=1) @ weight + bias).chunk(4, dim=1), strict=True))
        new = gate(block["f"]) * c + gate(block["i"]) * proposal(block["g"])
        output = torch.sigmoid(block["o"]) * cell(new if show_new else c)
        return (new, output) if swap else (output, new)

    return step


def itself(x):
    return x


def half_life(bias):
    return math.log(0.5) / math.log(1 / (1 + math.exp(-bias)))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("recurrent_step", lambda x, y, w_x, w_y, b: torch.tanh(x @ w_x + y @ w_y + b)),
        ("recurrent_step", lambda x, y, *w: np.tanh((torch.cat([x, y], 1) @ torch.cat(w[:2]) + w[2]).numpy())),
        ("parameter_count", lambda blocks, i, h, directions: directions * blocks * h * (i + h + 2)),
        ("half_life", half_life),
        ("last_outputs", lambda outputs, lengths: picked(outputs, lengths - 1)),
        ("last_outputs", lambda outputs, lengths: torch.stack([o[n - 1] for o, n in zip(outputs, lengths, strict=True)])),
        ("lstm_step", lstm()),
        ("lstm_step", lambda *given: torch.stack(lstm()(*given))),
        ("lstm_step", lambda *given: [part.float().requires_grad_() for part in lstm()(*given)]),
    ],
)
def test_a_right_answer_passes(says, name, answer):
    assert says(getattr(check, name), answer).startswith(f"✓ {name}: ")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("recurrent_step", lambda x, y, w_x, w_y, b: x @ w_x + y @ w_y + b, "activation is missing"),
        ("recurrent_step", lambda x, y, w_x, w_y, b: torch.relu(x @ w_x + y @ w_y + b), "that is ReLU"),
        ("recurrent_step", lambda x, y, w_x, w_y, b: torch.tanh(x @ w_x + y @ w_y), "the bias b is missing"),
        ("recurrent_step", lambda x, y, w_x, w_y, b: torch.tanh(x @ w_x + b), "there is no memory"),
        ("recurrent_step", lambda x, y, w_x, w_y, b: torch.tanh(x @ w_x + y @ w_y.T + b), "w_y is transposed"),
        ("recurrent_step", lambda x, y, w_x, w_y, b: torch.sigmoid(x @ w_x + y @ w_y + b), r"It is tanh\(x @ w_x"),
        ("recurrent_step", lambda x, y, w_x, w_y, b: x, r"shape \(2, 3\), expected \(2, 4\)"),
        ("parameter_count", lambda blocks, i, h, directions: directions * blocks * h * (i + h + 1), "you counted one"),
        ("parameter_count", lambda blocks, i, h, directions: directions * blocks * h * (i + h), "biases are missing"),
        ("parameter_count", lambda blocks, i, h, directions: blocks * h * (i + h + 2), "second direction"),
        ("parameter_count", lambda blocks, i, h, directions: directions * h * (i + h + 2), "multiply by blocks"),
        ("parameter_count", lambda blocks, i, h, directions: directions * blocks * h * (i + 2), "weights from the old"),
        ("parameter_count", lambda blocks, i, h, directions: 36, r"result for \(3, 128, 64, 2\)"),
        ("half_life", lambda bias: 1 / half_life(bias), "that is the inverse"),
        ("half_life", lambda bias: half_life(bias) / math.log(2), "1/e is left"),
        ("half_life", lambda bias: 0.5 * (1 + math.exp(bias)), "a share of what is left"),
        ("half_life", lambda bias: 1 / (1 + math.exp(-bias)), "where the gate stands"),
        ("half_life", lambda bias: 1.0, r"result for \(1.0\)"),
        ("last_outputs", lambda outputs, lengths: outputs[:, -1], "last place of the padded batch"),
        ("last_outputs", lambda outputs, lengths: outputs[:, 0], "first step of each"),
        ("last_outputs", lambda outputs, lengths: picked(outputs, lengths % 5), "one step too far"),
        ("last_outputs", lambda outputs, lengths: picked(outputs, lengths - 2), "one step too early"),
        ("last_outputs", lambda outputs, lengths: outputs.mean(dim=1), "Row by row"),
        ("last_outputs", lambda outputs, lengths: outputs, r"expected \(3, 3\)"),
        ("lstm_step", lstm(swap=True), r"return \(h, c\), the output first"),
        ("lstm_step", lstm(order="figo"), "the input gate comes first"),
        ("lstm_step", lstm(order="ifog"), "the proposal is the third block"),
        ("lstm_step", lstm(cell=itself), "the cell state passes tanh"),
        ("lstm_step", lstm(show_new=False), "from the new cell state"),
        ("lstm_step", lstm(gate=itself, proposal=itself), "the gates need the sigmoid"),
        ("lstm_step", lstm(proposal=itself), r"the cell state is .*c = f \* c"),
        ("lstm_step", lambda *given: lstm()(*given)[0], r"expected \(2, 2, 4\)"),
    ],
)
def test_a_usual_mistake_gets_its_hint(says, name, answer, hint):
    line = says(getattr(check, name), answer)
    assert line.startswith(f"✗ {name}: ")
    assert re.search(hint, line), line
