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


CASES = [(0, False), (0, True), (-9, True), (-12, False), (-12, True), (2, True), (-5, False)]


@pytest.mark.parametrize(("power", "by_turns"), CASES)
def test_the_moves_are_those_of_adam(touch, slide, power, by_turns):
    seen = touch(live.adam_move())
    opened = seen.figure.locator(".tl-says").inner_text()
    assert opened == live.adam_move().says
    slide(seen, "size of the gradient", power + 12)
    if by_turns:
        seen.figure.get_by_label("later gradients").select_option(index=1)
    wanted = moves_of_torch([10.0**power * (-1 if by_turns and step % 2 else 1) for step in range(8)])

    bars = seen.figure.locator("rect.tl-bar").evaluate_all(
        "all => all.map(bar => [+bar.getAttribute('y'), +bar.getAttribute('height')])"
    )
    drawn = [(high if y < 282 else -high) / 70 for y, high in bars]
    assert drawn == pytest.approx(wanted, abs=1e-6)

    said = seen.figure.locator(".tl-says").inner_text()
    found = re.fullmatch(
        r"A gradient of (\S+): the first move is ([\d.]+) rates? long\. "
        r"After eight gradients that (.+), the move is (less than 0\.001|[\d.]+) rates? long\.",
        said,
    )
    assert found[1] == {-12: "10⁻¹²", -9: "10⁻⁹", -5: "0.00001", 0: "1", 2: "100"}[power]
    assert float(found[2]) == pytest.approx(abs(wanted[0]), abs=5.1e-4)
    if found[4].startswith("less"):
        assert abs(wanted[-1]) < 0.0005
    else:
        assert float(found[4]) == pytest.approx(abs(wanted[-1]), abs=5.1e-4) and float(found[4])
    assert found[3] == ("contradict each other" if by_turns else "agree")

    points = seen.figure.locator("polyline").get_attribute("points").split()
    heights = [(140 - float(point.split(",")[1])) / 100 for point in points]
    for place in (0, 30, 60, 140):
        assert heights[place] == pytest.approx(abs(moves_of_torch([10 ** (-12 + place / 10)])[0]), abs=1e-3)
    dot = seen.figure.locator("circle")
    assert (140 - float(dot.get_attribute("cy"))) / 100 == pytest.approx(abs(wanted[0]), abs=1e-6)
