"""The weights that the figure shows are torch's."""

import re

import pytest
import torch

from transformer_lib.teaching.figures import live


@pytest.mark.parametrize(("index", "d_k"), [(0, 1), (1, 4), (3, 64), (5, 1024)])
@pytest.mark.parametrize("divide", [False, True])
@pytest.mark.parametrize(("place", "temperature"), [(0, 0.25), (2, 1), (7, 32)])
def test_the_weights_are_those_of_torch(touch, slide, index, d_k, divide, place, temperature):
    figure = live.softmax_temperature()
    seen = touch(figure)
    slide(seen, "d_k", index)
    slide(seen, "temperature", place)
    if divide:
        seen.figure.get_by_label("divide by").press("Space")
    scores = torch.tensor(figure.data["scores"], dtype=torch.float64) * d_k**0.5
    weights = (scores / (d_k**0.5 if divide else 1) / temperature).softmax(dim=-1)
    shown = seen.figure.locator("svg rect + text").all_text_contents()
    assert [float(text) for text in shown] == pytest.approx(weights.tolist(), abs=0.00051)
    says = seen.figure.locator(".tl-says").inner_text()
    largest, moves = re.findall(r"\d\.\d{3}", says)
    assert float(largest) == pytest.approx(weights.max().item(), abs=0.00051)
    assert float(moves) == pytest.approx((weights * (1 - weights)).sum().item(), abs=0.00051)
    assert ("does here what dividing by √d_k does" in says) == (not divide and d_k > 1 and temperature == d_k**0.5)
