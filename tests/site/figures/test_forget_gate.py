"""What the figure draws is what the library's cells do: their states, and the gradients of those."""

import math

import pytest
import torch

from transformer_lib.recurrent import LSTMCell, RNNCell
from transformer_lib.teaching.figures import live

GATES = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.96, 0.97, 0.98, 0.982, 0.984, 0.986, 0.988, 0.99, 0.995, 0.999, 1]
STEPS = [3, 5, 10, 20, 50, 100, 200, 500, 1000]
SIGNS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
ZERO = torch.zeros(1, 1, dtype=torch.float64)


def with_parameters(cell, **numbers):
    with torch.no_grad():
        for name, parameter in cell.double().named_parameters():
            parameter.copy_(torch.tensor(numbers.get(name, 0.0)))
    return cell


def run(step, first, last):
    """Return the state at each time step, and how it moves with the first one."""

    def states(state):
        found = [state]
        while len(found) < last:
            found.append(step(found[-1]))
        return torch.cat(found)[:, 0]

    return [part.tolist() for part in torch.func.jvp(states, (first,), (torch.ones_like(first),))]


def lines(seen, at, value, log=False):
    """Return the heights of the neuron's curve and of the cell state's, by the tick with number `at`, whose value is known."""
    ticks = seen.figure.locator("svg text[text-anchor=end]")
    low, high = (float(ticks.nth(place).get_attribute("y")) - 4 for place in (0, at))
    unit = (0 - value if log else value) / (low - high)
    points = seen.figure.locator("polyline").evaluate_all("lines => lines.map(line => line.getAttribute('points').split(' '))")
    return [[(low - float(point.split(",")[1])) * unit + (value if log else 0) for point in line] for line in points]


@pytest.mark.parametrize(("f", "w_h", "last"), [(0.9, 0.8, 3), (1, 1, 100), (0.98, 1.1, 50)])
def test_the_curves_are_those_of_the_cells(touch, slide, choose, f, w_h, last):
    seen, written = touch(live.forget_gate()), 0.5
    seen.figure.get_by_role("group", name="weight w_h").get_by_role("button", name=str(w_h), exact=True).press("Enter")
    slide(seen, "forget gate", GATES.index(f))
    slide(seen, "time steps", STEPS.index(last))
    lstm = with_parameters(LSTMCell(1, 1), bias_ih=[-100.0, math.log(f / (1 - f)) if f < 1 else 100.0, 0.0, 0.0])
    rnn = with_parameters(RNNCell(1, 1), weight_ih=0.5, weight_hh=w_h)
    neuron = run(lambda state: rnn(ZERO, state), rnn(ZERO + 2 * written, ZERO).detach(), last)
    cell = run(lambda state: lstm(ZERO, (ZERO, state))[1], ZERO + written, last)
    top = float(seen.figure.locator("svg text[text-anchor=end]").nth(1).text_content())
    for drawn, (states, _) in zip(lines(seen, 1, top), (neuron, cell), strict=True):
        assert drawn == pytest.approx(states, abs=2e-4)
    assert f"{cell[0][-1]:.3f}" in seen.figure.locator(".tl-says").inner_text()
    choose(seen, "what is left", 1)
    lowest = seen.figure.locator("svg text[text-anchor=end]").first.text_content().removeprefix("10").translate(SIGNS)
    for drawn, (_, gradients) in zip(lines(seen, 4, float(lowest), log=True), (neuron, cell), strict=True):
        assert drawn == pytest.approx([math.log10(gradient) for gradient in gradients], abs=0.02)
