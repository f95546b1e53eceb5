"""The moves that the figure draws and says are those of torch's Adam."""

import itertools
import re

import pytest
import torch

from transformer_lib.schedule import transformer_optimizer
from transformer_lib.teaching.figures import live


def moves_of_torch(gradients):
    """Return by how much each step moves a weight, in rates."""
    weight = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer, places = transformer_optimizer(torch.nn.ParameterList([weight])), [0.0]
    for gradient in gradients:
        weight.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
        places.append(weight.item())
    return [after - before for before, after in itertools.pairwise(places)]


@pytest.mark.parametrize(("power", "by_turns"), [(0, True), (-9, True), (-12, False), (2, False)])
def test_the_moves_are_those_of_adam(touch, slide, choose, power, by_turns):
    seen = touch(live.adam_move())
    assert seen.figure.locator(".tl-says").inner_text() == live.adam_move().says
    slide(seen, "size of the gradient", power + 12)
    choose(seen, "later gradients", int(by_turns))
    wanted = moves_of_torch([10.0**power * (-1 if by_turns and step % 2 else 1) for step in range(8)])
    bars = seen.figure.locator("rect.tl-bar").evaluate_all("all => all.map(b => ['y', 'height'].map(n => +b.getAttribute(n)))")
    assert [(high if y < 282 else -high) / 70 for y, high in bars] == pytest.approx(wanted, abs=1e-6)
    first, last = re.findall(r"the (?:first )?move is (less than 0\.001|[\d.]+)", seen.figure.locator(".tl-says").inner_text())
    assert float(first) == pytest.approx(abs(wanted[0]), abs=5.1e-4)
    assert float(last.replace("less than 0.001", "0")) == pytest.approx(abs(wanted[-1]), abs=5.1e-4)
    points = seen.figure.locator("polyline").get_attribute("points").split()
    for place in (0, 30, 60, 140):
        height = (140 - float(points[place].split(",")[1])) / 100
        assert height == pytest.approx(abs(moves_of_torch([10 ** (-12 + place / 10)])[0]), abs=1e-3)
