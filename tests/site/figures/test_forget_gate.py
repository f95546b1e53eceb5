"""What the figure draws is what the library's cells do: their states, and the gradients of those."""

import math
import re

import pytest
import torch

from transformer_lib.recurrent import LSTMCell, RNNCell
from transformer_lib.teaching.figures import live

GATES = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.96, 0.97, 0.98, 0.982, 0.984, 0.986, 0.988, 0.99, 0.995, 0.999, 1]
STEPS = [3, 5, 10, 20, 50, 100, 200, 500, 1000]
SIGNS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
ZERO = torch.zeros(1, 1, dtype=torch.float64)


def values_and_gradients(run, first):
    """Return the state at each time step, and how it moves with the first one."""
    states, gradients = torch.func.jvp(lambda first: torch.cat(run(first)), (first,), (torch.ones_like(first),))
    return states[:, 0].tolist(), gradients[:, 0].tolist()


def with_parameters(cell, **numbers):
    with torch.no_grad():
        for name, parameter in cell.double().named_parameters():
            parameter.copy_(torch.tensor(numbers.get(name, 0.0)))
    return cell


def cell_states(f, last, written):
    """Write a number into an LSTM's cell state, and let it run with this forget gate and closed input gate."""
    gate = math.log(f / (1 - f)) if f < 1 else 100.0
    lstm = with_parameters(LSTMCell(1, 1), bias_ih=[-100.0, gate, 0.0, 0.0])

    def run(first):
        states = [first]
        for _ in range(last - 1):
            states.append(lstm(ZERO, (ZERO, states[-1]))[1])
        return states

    return values_and_gradients(run, ZERO + written)


def neuron_outputs(w_h, last, written):
    """The neuron of the chapter: w_x is 0.5, and the input is a number (0.5 of it comes in) and then zeros."""
    rnn = with_parameters(RNNCell(1, 1), weight_ih=0.5, weight_hh=w_h)

    def run(first):
        outputs = [first]
        for _ in range(last - 1):
            outputs.append(rnn(ZERO, outputs[-1]))
        return outputs

    return values_and_gradients(run, rnn(ZERO + 2 * written, ZERO).detach())


def press(seen, group, value):
    seen.figure.get_by_role("group", name=group).get_by_role("button", name=str(value), exact=True).press("Enter")


def curves(seen):
    """Return the heights of the neuron's curve and of the cell state's, in the units of the axis."""
    tick = "([...svg.querySelectorAll('text[text-anchor=end]')].slice(0, 2).map(text => +text.getAttribute('y') - 4))"
    low, middle = seen.figure.locator("svg").evaluate(f"svg => {tick}")
    unit = float(seen.figure.locator("svg text[text-anchor=end]").nth(1).text_content()) / (low - middle)
    lines = seen.figure.locator("polyline").evaluate_all("lines => lines.map(line => line.getAttribute('points'))")
    return [[(low - float(point.split(",")[1])) * unit for point in line.split()] for line in lines]


def powers(seen):
    """The same on the axis of powers of ten, from the power at the lowest line to the highest, 1."""
    ends = [seen.figure.locator("svg text[text-anchor=end]").nth(place) for place in (0, 4)]
    low, high = (float(end.get_attribute("y")) - 4 for end in ends)
    lowest = int(ends[0].text_content().removeprefix("10").translate(SIGNS))
    lines = seen.figure.locator("polyline").evaluate_all("lines => lines.map(line => line.getAttribute('points'))")
    return [[lowest * (1 - (low - float(point.split(",")[1])) / (low - high)) for point in line.split()] for line in lines]


def numbers(seen):
    says = seen.figure.locator(".tl-says").inner_text()
    return [float(number) for number in re.findall(r"(?<![\d.])\d+(?:\.\d+)?", says.replace("less than 0.001", "0.000"))]


@pytest.mark.parametrize(
    ("f", "w_h", "last", "written"),
    [
        (0.9, 0.8, 3, 0.5),
        (0.5, 0.5, 20, 1),
        (1, 1, 100, 0.25),
        (0.98, 1.1, 50, 0.25),
        (0.999, 0.9, 1000, 1),
        (0.5, 0.5, 1000, 1),
    ],
)
def test_the_curves_are_those_of_the_cells(touch, slide, f, w_h, last, written):
    seen = touch(live.forget_gate())
    press(seen, "comes in", written)
    press(seen, "weight w_h", w_h)
    for label, index in [("forget gate", GATES.index(f)), ("time steps", STEPS.index(last))]:
        slide(seen, label, index)
    cell, neuron = cell_states(f, last, written), neuron_outputs(w_h, last, written)

    drawn_neuron, drawn_cell = curves(seen)
    assert drawn_cell == pytest.approx(cell[0], abs=2e-4) and drawn_neuron == pytest.approx(neuron[0], abs=2e-4)
    at, held, share, *half, output, first = numbers(seen)
    assert at == last
    assert [held, share, output] == pytest.approx([cell[0][-1], cell[1][-1], neuron[0][-1]], abs=6e-4)
    assert first == pytest.approx(math.tanh(written), abs=6e-4)
    if f < 1:
        assert f ** half[0] == pytest.approx(0.5, abs=0.02)
    else:
        assert half == [] and "nothing is ever lost" in seen.figure.locator(".tl-says").inner_text()
    assert seen.figure.locator(".tl-half").count() == (f < 1 and half[0] < last)

    select = seen.figure.get_by_role("combobox", name="what is left")
    select.focus()
    seen.page.keyboard.press("ArrowDown")
    assert select.input_value() == "gradient"
    for drawn, gradients in zip(powers(seen), (neuron[1], cell[1]), strict=True):
        assert drawn == pytest.approx([math.log10(gradient) for gradient in gradients], abs=0.02)
    says = seen.figure.locator(".tl-says").inner_text()
    found = re.sub(r"(\S+) · 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda match: f"{match[1]}e{match[2].translate(SIGNS)}", says)
    shown = [float(text) for text in re.findall(r"(?<![\d.])\d+(?:\.\d+)?(?:e-\d+)?", found)]
    at, _, through_cell, times, factor, through_neuron, times_too, weight = shown
    assert [at, times, factor, times_too, weight] == [last, last - 1, f, last - 1, w_h]
    for number, gradient in ((through_cell, cell[1][-1]), (through_neuron, neuron[1][-1])):
        assert number == pytest.approx(gradient, rel=0.06 if gradient < 5e-4 else 0, abs=0 if gradient < 5e-4 else 6e-4)
