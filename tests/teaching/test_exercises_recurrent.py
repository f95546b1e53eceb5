"""The checks of chapter 2: right answers pass, and each usual mistake gets its own hint."""

import math

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import recurrent as check


def picked(outputs, steps):
    return outputs[torch.arange(len(outputs)), steps]


def lstm(order="ifgo", swap=False, cell=torch.tanh, gate=torch.sigmoid, proposal=torch.tanh, show_new=True):
    def step(x, h, c, weight, bias):
        block = dict(zip(order, (torch.cat([x, h], dim=1) @ weight + bias).chunk(4, dim=1), strict=True))
        new = gate(block["f"]) * c + gate(block["i"]) * proposal(block["g"])
        output = torch.sigmoid(block["o"]) * cell(new if show_new else c)
        return (new, output) if swap else (output, new)

    return step


def gru_like(x, h, c, weight, bias):
    _, f, g, o = (torch.cat([x, h], dim=1) @ weight + bias).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + (1 - torch.sigmoid(f)) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def layer(activation=torch.tanh, hand_on=True, bias=1, own=1, first=1, transposed=False, backwards=False, dim=1):
    def outputs(x, h, w_x, w_h, b):
        made, h = [], first * h
        for step in x.flip(1).unbind(dim=1) if backwards else x.unbind(dim=1):
            made.append(activation(step @ w_x + own * h @ (w_h.T if transposed else w_h) + bias * b))
            h = made[-1] if hand_on else h
        return torch.stack(made, dim=dim)

    return outputs


def itself(x):
    return x


def half_life(bias):
    return math.log(0.5) / math.log(1 / (1 + math.exp(-bias)))


ORDERS = {"keep": (1, 0), "replace": (0, 1), "erase": (0, 0), "add": (1, 1), "mix": (0.75, 0.25)}


def changed(change):
    return lambda order: change(*ORDERS[order])


RIGHT = [
    ("recurrent_layer", layer()),
    ("recurrent_layer", lambda *given: layer()(*given).numpy()),
    ("gates", ORDERS.get),
    ("gates", lambda order: torch.tensor(ORDERS[order])),
    ("half_life", half_life),
    ("last_outputs", lambda outputs, lengths: picked(outputs, lengths - 1)),
    ("last_outputs", lambda outputs, lengths: torch.stack([o[n - 1] for o, n in zip(outputs, lengths, strict=True)])),
    ("lstm_step", lstm()),
    ("lstm_step", lambda *given: torch.stack(lstm()(*given))),
    ("lstm_step", lambda *given: [part.float().requires_grad_() for part in lstm()(*given)]),
]
WRONG = [
    ("recurrent_layer", layer(activation=itself), "activation is missing"),
    ("recurrent_layer", layer(activation=torch.relu), "that is ReLU"),
    ("recurrent_layer", layer(activation=torch.sigmoid), r"Each step is tanh\(step @ w_x"),
    ("recurrent_layer", layer(hand_on=False), "the h from the beginning"),
    ("recurrent_layer", layer(bias=0), "the bias b is missing"),
    ("recurrent_layer", layer(own=0), "there is no memory"),
    ("recurrent_layer", layer(first=0), "the h that is given"),
    ("recurrent_layer", layer(transposed=True), "w_h is transposed"),
    ("recurrent_layer", layer(backwards=True), "from the last step to the first"),
    ("recurrent_layer", layer(dim=0), "along dim=1"),
    ("recurrent_layer", lambda *given: layer()(*given)[:, -1], "the last step alone"),
    ("recurrent_layer", lambda *given: list(layer()(*given).unbind(dim=1)), "along dim=1"),
    ("recurrent_layer", lambda x, *rest: x, r"the shape \(2, 4, 5\), not \(2, 4, 3\)"),
    ("gates", changed(lambda f, i: (1 - f, i)), "a forget gate of 1 forgets nothing"),
    ("gates", changed(lambda f, i: (1 - f, 1 - i)), "both are upside down"),
    ("gates", changed(lambda f, i: (i, f)), r"return \(f, i\), the forget gate first"),
    ("gates", changed(lambda f, i: (f, 1 - f)), "that is a GRU"),
    ("gates", changed(lambda f, i: f), "return two things"),
    ("gates", lambda order: (1, 0), "the share of the old that stays"),
    ("half_life", lambda bias: 1 / half_life(bias), "that is the inverse"),
    ("half_life", lambda bias: half_life(bias) / math.log(2), "1/e is left"),
    ("half_life", lambda bias: 0.5 * (1 + math.exp(bias)), "a share of what is left"),
    ("half_life", lambda bias: 1 / (1 + math.exp(-bias)), "where the gate stands"),
    ("half_life", lambda bias: math.log(0.5) / math.log(bias), "the bias is not the gate"),
    ("half_life", lambda bias: math.log(0.5) / math.log(math.tanh(bias)), "that is tanh"),
    ("half_life", lambda bias: -half_life(bias), "the sign"),
    ("half_life", lambda bias: 1.0, r"result for \(2.0,?\)"),
    ("last_outputs", lambda outputs, lengths: outputs[:, -1], "last place of the padded batch"),
    ("last_outputs", lambda outputs, lengths: outputs[:, 0], "first step of each"),
    ("last_outputs", lambda outputs, lengths: picked(outputs, lengths), "one step too far"),
    ("last_outputs", lambda outputs, lengths: picked(outputs, lengths - 2), "one step too early"),
    ("last_outputs", lambda outputs, lengths: outputs[:, lengths.max() - 1], "of the longest sequence"),
    ("last_outputs", lambda outputs, lengths: outputs.mean(dim=1), "Row by row"),
    ("last_outputs", lambda outputs, lengths: outputs, r"the shape \(3, 3\), not \(3, 6, 3\)"),
    ("lstm_step", lstm(swap=True), r"return \(h, c\), the output first"),
    ("lstm_step", lstm(order="figo"), "the input gate comes first"),
    ("lstm_step", lstm(order="ifog"), "the proposal is the third block"),
    ("lstm_step", lstm(cell=itself), "the cell state passes tanh"),
    ("lstm_step", lstm(show_new=False), "from the new cell state"),
    ("lstm_step", lstm(gate=itself, proposal=itself), "the gates need the sigmoid"),
    ("lstm_step", lstm(proposal=itself), "the proposal g needs tanh"),
    ("lstm_step", lstm(proposal=torch.relu), r"the output h should .*c = f \* c"),
    ("lstm_step", lambda x, h, c, w, b: lstm()(h, x, c, w, b), "the order of the inputs"),
    ("lstm_step", gru_like, "1 - f in place of i"),
    ("lstm_step", lambda *given: lstm()(*given)[0], "return two things: the output h and the cell state c"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
