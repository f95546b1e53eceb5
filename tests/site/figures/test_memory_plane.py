"""The weights and the context of the plane are the library's, by slider and by mouse."""

import re

import pytest
import torch

from transformer_lib.alignment import DotProductAttention
from transformer_lib.teaching.figures import live

STEP = 0.25


def shown(seen):
    """Return the scores, the weights and the context that the figure writes."""
    texts = seen.figure.locator("svg text").all_text_contents()
    scores = [float(text) for text in texts if re.fullmatch(r"-?\d+\.\d\d", text)]
    weights = [float(text) for text in texts if re.fullmatch(r"\d\.\d{3}", text)]
    (context,) = [text for text in texts if text.startswith("context")]
    return scores, weights, [float(number) for number in re.findall(r"-?\d+\.\d{3}", context)]


def expected(query):
    memory = torch.tensor([live.memory_plane().data["memory"]], dtype=torch.float64)
    query = torch.tensor([query], dtype=torch.float64)
    context, weights = DotProductAttention()(query, memory)
    return (memory[0] @ query[0]).tolist(), weights[0].tolist(), context[0].tolist()


def assert_shows(seen, query):
    for numbers, right in zip(shown(seen), expected(query), strict=True):
        assert numbers == pytest.approx(right, abs=0.00051)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("query", [(1.0, 2.0), (-3.0, 3.0), (0.0, 0.0), (2.25, -2.0)])
def test_weights_and_context_are_the_librarys(touch, slide, query, width):
    seen = touch(live.memory_plane(), width=width)
    slide(seen, "q, to the right", round((query[0] + 3) / STEP))
    slide(seen, "q, upwards", round((query[1] + 3) / STEP))
    assert_shows(seen, query)
    assert f"({query[0]:.2f}, {query[1]:.2f})" in seen.figure.locator(".tl-says").inner_text()


def test_the_query_follows_the_mouse_and_the_sliders_follow_the_query(touch):
    seen = touch(live.memory_plane())
    box = seen.figure.locator("svg rect").first.bounding_box()
    unit = 0.94 * box["width"] / 6
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen.page.mouse.move(*middle)
    seen.page.mouse.down()
    assert_shows(seen, (0.0, 0.0))
    seen.page.mouse.move(middle[0] - 2 * unit, middle[1] - 1.5 * unit, steps=3)
    assert_shows(seen, (-2.0, 1.5))
    seen.page.mouse.up()
    seen.page.mouse.move(*middle)
    assert_shows(seen, (-2.0, 1.5))
    sliders = seen.figure.get_by_role("slider")
    assert [slider.get_attribute("aria-valuetext") for slider in sliders.all()] == ["-2.00", "1.50"]
