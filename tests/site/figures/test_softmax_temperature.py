"""The weights that the figure shows are torch's."""

import re

import pytest
import torch

from transformer_lib.teaching.figures import live


@pytest.mark.parametrize(("index", "d_k"), [(0, 1), (1, 4), (3, 64), (5, 1024)])
@pytest.mark.parametrize("divide", [False, True])
def test_the_weights_are_those_of_torch(touch, slide, index, d_k, divide):
    figure = live.softmax_temperature()
    seen = touch(figure)
    slide(seen, "d_k", index)
    if divide:
        seen.figure.get_by_label("divide by").press("Space")
    scores = torch.tensor(figure.data["scores"], dtype=torch.float64)
    weights = (scores * (1 if divide else d_k**0.5)).softmax(dim=-1)
    shown = seen.figure.locator("svg rect + text").all_text_contents()
    assert [float(text) for text in shown] == pytest.approx(weights.tolist(), abs=0.00051)
    largest, moves = map(float, re.findall(r"\d\.\d{3}", seen.figure.locator(".tl-says").inner_text()))
    assert [largest, moves] == pytest.approx([weights.max().item(), (weights * (1 - weights)).sum().item()], abs=0.00051)
