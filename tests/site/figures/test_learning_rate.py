"""The rates that the figure shows and draws are the library's."""

import re

import pytest

from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.figures import live

VALUES = {"d_model": [32, 64, 128, 256, 512, 1024], "warm-up": [500, 1000, 2000, 4000, 8000, 16_000]}


@pytest.mark.parametrize("sizes", [(512, 4000), (64, 8000), (256, 500)])
def test_the_rates_are_the_librarys(touch, slide, sizes):
    seen = touch(live.learning_rate())
    for (label, values), value in zip(VALUES.items(), sizes, strict=True):
        slide(seen, label, values.index(value))
    d_model, warmup = sizes
    said = seen.figure.locator(".tl-says").inner_text()
    found = re.match(r"Width ([\d,]+), warm-up ([\d,]+): the rate is highest at step \2, ([\d.]+\d)", said)
    assert [int(found[place].replace(",", "")) for place in (1, 2)] == [d_model, warmup]
    assert float(found[3]) == pytest.approx(noam_rate(warmup, d_model, warmup), rel=0.006)
    # The picture: from its axis back to numbers, for these sizes and for the paper's.
    ticks = seen.figure.locator("svg text[x='60']").evaluate_all(
        "all => all.map(t => [+t.textContent, t.getAttribute('y') - 4])"
    )
    (_, bottom), *_, (top, height) = ticks
    lines = seen.figure.locator("polyline").evaluate_all("all => all.map(line => line.getAttribute('points').split(' '))")
    for points, (width, length) in zip(lines, [sizes, (512, 4000)], strict=True):
        drawn = [tuple(map(float, point.split(","))) for point in points]
        for x, y in drawn:
            at = max(1, round((x - 68) / (drawn[-1][0] - 68) * 20_000))
            assert (bottom - y) / (bottom - height) * top == pytest.approx(noam_rate(at, width, length), abs=0.002 * top)
